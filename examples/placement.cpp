// SPDX-License-Identifier: Apache-2.0
// Where ranks run: each bound to a CPU, and a team whose CPUs others use as well.
#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <cstdio>
#include <sched.h>
#include <thread>
#include <vector>

int main() {
    corymb::TeamOptions bound;
    bound.pin = true;
    corymb::threads(
        corymb::usable_cpus().count(),
        [](corymb::Team& team) {
            std::printf("rank %d is on CPU %d\n", team.rank(), sched_getcpu());
            team.barrier();
        },
        bound);

    corymb::TeamOptions shared;
    shared.ranks_per_cpu = 2; // Another program has the same CPUs.
    corymb::ThreadTeam members(2, shared);
    std::vector<std::jthread> workers;
    for (corymb::Rank rank = 0; rank < members.size(); ++rank) {
        workers.emplace_back([&members, rank] { members.join(rank).barrier(); });
    }
}
