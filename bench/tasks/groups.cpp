// SPDX-License-Identifier: Apache-2.0
// Steps of a group with a member on each rank, beside a loop of calls of its members. Ranks may be
// more than CPUs, so they sleep while they wait: CPU time is that of work alone.
#include "row.hpp"

#include <corymb/object_group.hpp>
#include <corymb/remote.hpp>
#include <corymb/wait_policy.hpp>

#include <cstddef>
#include <ctime>
#include <numeric>
#include <thread>
#include <vector>

namespace corymb::bench {
namespace {

constexpr int rounds = 7;
constexpr int steps = 500;
constexpr std::size_t members_of_many = 64;

struct Member {
    long count = 0;
    void add(long by) { count += by; }
};

double cpu_ns_of_process() {
    std::timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

struct Times {
    std::vector<double> wall, cpu;
};
/// For one of `steps` calls of `one`.
template <class One>
Task<> time_steps(Times& times, One one) {
    for (int round = 0; round < rounds; ++round) {
        const double cpu = cpu_ns_of_process();
        const auto begin = Clock::now();
        for (int i = 0; i < steps; ++i) {
            co_await one();
        }
        times.wall.push_back(ns_since(begin) / steps);
        times.cpu.push_back((cpu_ns_of_process() - cpu) / steps / ranks());
    }
}

Task<> call_member(Remote<Member> member) {
    co_await member.call<&Member::add>(1L);
}

Task<> lead(std::vector<Row>& rows) {
    std::vector<Rank> on(static_cast<std::size_t>(ranks()));
    std::iota(on.begin(), on.end(), 0);
    const auto group = co_await create_group<Member>(on);
    const auto members = co_await group.members();
    Times step, loop, at_once, many;
    co_await time_steps(step, [&] { return group.step<&Member::add>(1L); });
    co_await time_steps(loop, [&]() -> Task<> {
        for (const Remote<Member>& member : members) {
            co_await member.call<&Member::add>(1L);
        }
    });
    co_await time_steps(at_once, [&] {
        return finish([&] {
            for (const Remote<Member>& member : members) {
                spawn(call_member(member));
            }
        });
    });
    const auto large = co_await create_group<Member>(
        spread(on.size() * members_of_many, ArrayMapping::cyclic(), on));
    co_await time_steps(many, [&] { return large.step<&Member::add>(1L); });
    rows.push_back({"step", on.size(), quartiles(step.wall)});
    rows.push_back({"step_cpu", on.size(), quartiles(step.cpu)});
    rows.push_back({"step64", on.size(), quartiles(many.wall)});
    rows.push_back({"loop", on.size(), quartiles(loop.wall)});
    rows.push_back({"loop_cpu", on.size(), quartiles(loop.cpu)});
    rows.push_back({"at_once", on.size(), quartiles(at_once.wall)});
}

} // namespace

std::vector<Row> group_steps() {
    std::vector<Row> rows;
    for (const int ranks : {2, 4, 8, 16}) {
        RemoteGroup group(ranks, {.wait = WaitPolicy::park});
        std::vector<std::jthread> threads;
        for (Rank rank = 0; rank < ranks; ++rank) {
            threads.emplace_back([&group, &rows, rank] {
                group.join(rank).run([](Rank own, std::vector<Row>& of_first) -> Task<> {
                    if (own == 0) {
                        co_await lead(of_first);
                    }
                }(rank, rows));
            });
        }
    }
    return rows;
}

} // namespace corymb::bench
