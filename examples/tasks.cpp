// SPDX-License-Identifier: Apache-2.0
// Each rank checks parts of a table, some of which are slow, and all ranks add up what they have
// found so far, every few milliseconds. One thread a rank does both.
#include <corymb/scheduler.hpp>
#include <corymb/team.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <chrono>
#include <cstdio>
#include <span>

namespace {

using namespace std::chrono_literals;
constexpr int parts = 20;

corymb::Task<> check(int part, long& found) {
    if (part % 7 == 0) {
        co_await corymb::this_task::sleep_for(3ms); // Stands for a disk, or another machine.
    }
    found += part;
}

corymb::Task<> check_all(long& found, bool& is_over) {
    co_await corymb::finish([&] {
        for (int part = 0; part < parts; ++part) {
            corymb::spawn(check(part, found));
        }
    });
    is_over = true;
}

/// Until all ranks are through. Gives the sum.
corymb::Task<long> report(corymb::Team& team, const long& found, const bool& is_over) {
    for (;;) {
        const long mine[2] = {found, is_over ? 1 : 0};
        long all[2] = {};
        co_await team.iallreduce(std::span<const long>(mine), std::span<long>(all));
        if (all[1] == team.size()) {
            co_return all[0];
        }
        co_await corymb::this_task::sleep_for(1ms);
    }
}

} // namespace

int main() {
    corymb::threads(3, [](corymb::Team& team) {
        long found = 0;
        bool is_over = false;
        auto both = [&]() -> corymb::Task<long> {
            corymb::spawn(check_all(found, is_over));
            co_return co_await report(team, found, is_over);
        };
        corymb::Scheduler scheduler;
        const long sum = scheduler.run(both());
        if (team.rank() == 0) {
            std::printf("%d ranks have found %ld\n", team.size(), sum);
        }
    });
}
