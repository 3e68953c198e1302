// SPDX-License-Identifier: Apache-2.0
#include "../threads/case.hpp"
#include "row.hpp"

#include <corymb/boost/stack_task.hpp>
#include <corymb/finish.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <cstdio>
#include <unistd.h>
#include <vector>

namespace corymb::bench {

namespace {

constexpr int rounds = 11;

Task<> turn() {
    co_await this_task::yield();
}

/// Memory of the process, in bytes.
double resident() {
    long pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%*d %ld", &pages) != 1) {
            pages = 0;
        }
        std::fclose(file);
    }
    return static_cast<double>(pages * ::sysconf(_SC_PAGESIZE));
}

Row spawned() {
    constexpr int count = 20'000;
    std::vector<double> ns;
    for (int round = 0; round < rounds; ++round) {
        Scheduler scheduler;
        const auto begin = Clock::now();
        scheduler.run([]() -> Task<> {
            for (int i = 0; i < count; ++i) {
                co_await on_stack([] {});
            }
        }());
        ns.push_back(ns_since(begin) / count);
    }
    return {"stack", 1, quartiles(ns)};
}

Row turns(std::size_t tasks) {
    const std::size_t each = 200'000 / tasks;
    std::vector<double> ns;
    double bytes = 0;
    for (int round = 0; round < rounds; ++round) {
        Scheduler scheduler;
        const double before = resident();
        std::size_t started = 0;
        for (std::size_t i = 0; i < tasks; ++i) {
            scheduler.spawn(on_stack([each, &started] {
                ++started;
                for (std::size_t turns = 0; turns < each; ++turns) {
                    this_task::await(turn());
                }
            }));
        }
        while (started < tasks) {
            scheduler.poll();
        }
        bytes = (resident() - before) / static_cast<double>(tasks);
        const auto begin = Clock::now();
        while (scheduler.poll() != 0) {
        }
        ns.push_back(ns_since(begin) / static_cast<double>(each * tasks));
    }
    return {"stack turn", tasks, quartiles(ns), bytes};
}

} // namespace

std::vector<Row> stacks() {
    return {spawned(), turns(2), turns(1'000)};
}

} // namespace corymb::bench
