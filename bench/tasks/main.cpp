// SPDX-License-Identifier: Apache-2.0
// corymb-bench-tasks: what tasks cost on one thread. Prints a table, or one
// JSON object a line with --json.
//
//     turn     a task gives the others their turn (yield), among so many tasks
//     await    a task awaits another one that ends at once
//     spawn    a task is spawned, runs and ends
//     suspend  a task is spawned and waits; then all are woken: time and memory of each
//     stack    a task with a stack of its own is spawned, runs and ends; `stack turn` such tasks
//              give others their turn (only if there was Boost.Context)
//
// With --shared those of shared structures on two ranks, for one element, key or item:
//
//     get      an element of a SharedArray that the other rank has, `put`, `add` (accumulate),
//              `get_row` one of 1,000; `get_call` and `row_call` when the rank is called
//     map_get  a key that the other rank has, `map_put`, `map_own` a put of the rank's own;
//              `get_all` and `put_all` one key of 1,000
//     item     an item of a WorkQueue that does nothing
//     map_grow percentiles of a put (_50, _999) while the other rank puts 10^7 keys; `map_full`
//              while it puts them again; `mutex_grow`, `mutex_full` for a std::unordered_map with a
//              mutex between two threads
//
// With --groups those of groups with a member on each rank; the column of tasks has the ranks:
//
//     step     a step of all members, `step_cpu` its CPU time for one rank, `step64` a step of 64
//              members on each rank
//     loop     calls of all members one after the other, `loop_cpu` as above, `at_once` all begun
//              together
//
// With --replicated reads and updates of a table by two ranks or threads; the number is the share
// of reads in percent:
//
//     near     a Replicated with one replica for both, `apart` with one for each
//     mutex    in a mutex, `shared` in a shared mutex, `rcu` by liburcu (only if there was one)
//
// With --memory what 1 GiB that eight processes read takes, in bytes of all: `one` shared array,
// and `copies`, one in each (9 GiB in all). The time is that of reading an element.
//
// With --moves those of an object that moves between two ranks:
//
//     move     64 bytes go to the other rank; `sent_back` a first call by a rank that takes them to
//              be where they were, `moved` one that goes where they are
//
// With --streamcluster the time in which two ranks decide whether a point becomes the centre of a
// cluster; the number is that of points:
//
//     owned    each rank has a half of the points, `copies` all of them (Placement::replicated),
//              with corymb::barrier; `owned_std`, `copies_std` with std::barrier
//     std/ours owned_std over owned, round by round: no time; `cop/owned` copies over owned
//
// With --far calls of two ranks over connections of this machine, with an argument and a result:
//
//     tcp      by a TcpCarrier, `sockets` as many bytes there and back without corymb
#include "row.hpp"

#include <corymb/scheduler.hpp>
#include <corymb/task_semaphore.hpp>
#include <corymb/this_task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <malloc.h>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace corymb::bench;
using corymb::Scheduler;
using corymb::Task;

constexpr int rounds = 11;

Task<> take_turns(std::size_t turns) {
    for (std::size_t i = 0; i < turns; ++i) {
        co_await corymb::this_task::yield();
    }
}

Row turns(std::size_t tasks) {
    const std::size_t each = std::max<std::size_t>(2'000'000 / tasks, 10);
    std::vector<double> ns;
    for (int round = 0; round < rounds; ++round) {
        Scheduler scheduler;
        for (std::size_t i = 0; i < tasks; ++i) {
            scheduler.spawn(take_turns(each));
        }
        const auto begin = Clock::now();
        scheduler.run(take_turns(each));
        ns.push_back(ns_since(begin) / static_cast<double>(each * (tasks + 1)));
    }
    return {"turn", tasks + 1, quartiles(ns)};
}

Task<int> one() {
    co_return 1;
}

Task<int> await_many(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += co_await one();
    }
    co_return sum;
}

Task<> spawn_many(int count) {
    for (int i = 0; i < count; ++i) {
        corymb::spawn(one());
        co_await corymb::this_task::yield();
    }
}

/// `run(count)` is a task that does something `count` times.
template <class Run>
Row repeated(const char* what, int count, const Run& run) {
    std::vector<double> ns;
    for (int round = 0; round < rounds; ++round) {
        Scheduler scheduler;
        const auto begin = Clock::now();
        scheduler.run(run(count));
        ns.push_back(ns_since(begin) / count);
    }
    return {what, 1, quartiles(ns)};
}

Task<> wait_for(corymb::TaskSemaphore& permits) {
    co_await permits.acquire();
}

Row suspended(std::size_t tasks) {
    std::vector<double> ns;
    double bytes = 0;
    for (int round = 0; round < 3; ++round) {
        Scheduler scheduler;
        corymb::TaskSemaphore permits(0);
        const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
        const auto begin = Clock::now();
        for (std::size_t i = 0; i < tasks; ++i) {
            scheduler.spawn(wait_for(permits));
        }
        while (permits.waiting() != tasks) {
            scheduler.poll();
        }
        const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
        for (std::size_t i = 0; i < tasks; ++i) {
            permits.release();
        }
        while (scheduler.poll() != 0) {
        }
        ns.push_back(ns_since(begin) / static_cast<double>(tasks));
        bytes = static_cast<double>(after - before) / static_cast<double>(tasks);
    }
    return {"suspend", tasks, quartiles(ns), bytes};
}

std::vector<Row> tasks() {
    std::vector<Row> rows;
    for (const std::size_t tasks : {1U, 9U, 99U, 999U, 9'999U}) {
        rows.push_back(turns(tasks));
    }
    rows.push_back(repeated("await", 1'000'000, await_many));
    rows.push_back(repeated("spawn", 500'000, spawn_many));
    for (const std::size_t tasks : {1'000U, 1'000'000U}) {
        rows.push_back(suspended(tasks));
    }
#if defined(CORYMB_BENCH_STACKS)
    const auto of_stacks = stacks();
    rows.insert(rows.end(), of_stacks.begin(), of_stacks.end());
#endif
    return rows;
}

void print_json(const Row& row) {
    std::printf("{\"type\":\"row\",\"op\":\"%s\",\"tasks\":%zu,\"median_ns\":%.2f,"
                "\"q25_ns\":%.2f,\"q75_ns\":%.2f,\"bytes\":%.0f}\n",
                row.what.c_str(), row.tasks, row.ns.median, row.ns.q25, row.ns.q75, row.bytes);
}

void print_line(const Row& row) {
    std::printf("%-10s %9zu %10.1f %8.1f %8.1f", row.what.c_str(), row.tasks, row.ns.median,
                row.ns.q25, row.ns.q75);
    if (row.bytes > 0) {
        std::printf(" %12.0f", row.bytes);
    }
    std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
    bool is_json = false;
    std::string which;
    for (const std::string argument : std::span(argv + 1, static_cast<std::size_t>(argc - 1))) {
        is_json = is_json || argument == "--json";
        if (argument == "--shared" || argument == "--groups" || argument == "--memory" ||
            argument == "--replicated" || argument == "--moves" || argument == "--streamcluster" ||
            argument == "--far") {
            which = argument;
        } else if (argument != "--json") {
            std::fprintf(stderr,
                         "usage: %s [--json] [--shared | --groups | --memory | --replicated | "
                         "--moves | --streamcluster | --far]\n",
                         argv[0]);
            return 2;
        }
    }
    const std::vector<Row> rows = which == "--shared"          ? shared_structures()
                                  : which == "--groups"        ? group_steps()
                                  : which == "--memory"        ? memory()
                                  : which == "--replicated"    ? replicated_table()
                                  : which == "--moves"         ? moves()
                                  : which == "--streamcluster" ? streamcluster()
                                  : which == "--far"           ? far_calls()
                                                               : tasks();
    if (!is_json) {
        std::printf("%-10s %9s %10s %8s %8s %12s\n", "what", "tasks", "median ns", "q25", "q75",
                    "bytes");
    }
    for (const Row& row : rows) {
        is_json ? print_json(row) : print_line(row);
    }
    return 0;
}
