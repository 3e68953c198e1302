// SPDX-License-Identifier: Apache-2.0
// corymb::barrier where std::barrier stood: only the name of the namespace changes.
#include <corymb/barrier.hpp>

#include <cstdio>
#include <thread>
#include <vector>

int main() {
    int phase = 0;
    auto report = [&phase]() noexcept {
        std::printf("phase %d done\n", ++phase);
    };
    corymb::barrier barrier(2, report);

    const auto work = [&barrier] {
        for (int i = 0; i < 3; ++i) {
            barrier.arrive_and_wait();
        }
    };
    std::jthread other(work);
    work();
}
