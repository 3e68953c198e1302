// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes. Started by `corymb run -n 4 -- example_process_team` this is one rank;
// started alone it makes a team of two with a child of its own.
#include <corymb/process.hpp>

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void work(corymb::Team team) {
    const int sum = team.allreduce(team.rank() + 1);
    if (team.rank() == 0) {
        std::printf("%d processes, the sum of their numbers is %d\n", team.size(), sum);
    }
}

} // namespace

int main() {
    try {
        if (std::getenv("CORYMB_TEAM") != nullptr) {
            work(corymb::Team::attach());
            return 0;
        }
        corymb::AttachOptions options;
        options.descriptor = corymb::make_team_descriptor(2);
        const pid_t child = fork();
        work(corymb::Team::attach(options));
        int status = 0;
        return child == 0 || (waitpid(child, &status, 0) == child && status == 0) ? 0 : 1;
    } catch (const corymb::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
