// SPDX-License-Identifier: Apache-2.0
// A team of threads that the program made itself, and what happens when one of them stays away.
#include <corymb/team.hpp>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
    corymb::TeamOptions options;
    options.deadline = std::chrono::milliseconds(200);
    corymb::ThreadTeam thread_team(3, options);

    std::vector<std::jthread> workers;
    for (corymb::Rank rank = 0; rank < 3; ++rank) {
        workers.emplace_back([&thread_team, rank] {
            corymb::Team team = thread_team.join(rank);
            team.barrier();
            if (rank == 1) {
                return; // Never comes to the second barrier.
            }
            try {
                team.barrier();
            } catch (const corymb::Error& error) {
                std::printf("rank %d: %s\n", rank, error.what());
            }
        });
    }
}
