// SPDX-License-Identifier: Apache-2.0
// What a call of another thread costs, and how small work may be that is given to one, for
// `corymb bench calls`: corymb and others in turns. One JSON object a line; bench/README.md says
// how to read them.
#include "../engine/turns.hpp"
#include "../threads/arguments.hpp"
#include "../threads/statistics.hpp"
#include "caller.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

constexpr std::size_t rounds = 9;
constexpr std::array ops{CallOp::empty,   CallOp::bytes64, CallOp::own,
                         CallOp::one_way, CallOp::half,    CallOp::most};

double measured(const CallContestant& who, CallOp op, Clock::duration budget) {
    const std::unique_ptr<Caller> caller = who.make();
    switch (op) {
    case CallOp::half: return smallest_work(*caller, 0.5, budget);
    case CallOp::most: return smallest_work(*caller, 0.9, budget);
    default: return caller->time(op, budget);
    }
}

void compare(CallOp op, const std::vector<CallContestant>& all, double seconds) {
    std::vector<CallContestant> some;
    std::ranges::copy_if(all, std::back_inserter(some), [op](const CallContestant& who) {
        return std::ranges::find(who.ops, op) != who.ops.end();
    });
    const auto budget = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
        seconds / static_cast<double>(ops.size() * some.size() * rounds)));
    const auto times = times_in_turns(
        some.size(), rounds, [&](std::size_t who) { return measured(some[who], op, budget); });
    for (std::size_t who = 0; who < some.size(); ++who) {
        const Quartiles found = quartiles(times[who]);
        std::printf("{\"type\":\"row\",\"op\":\"%s\",\"contestant\":\"%s\","
                    "\"family\":\"%s\",\"median_ns\":%.2f,\"q25\":%.2f,\"q75\":%.2f}\n",
                    std::string(to_string(op)).c_str(), some[who].name.c_str(),
                    some[who].family.c_str(), found.median, found.q25, found.q75);
    }
    std::fflush(stdout);
}

void run(int argc, char** argv) {
    double seconds = 20;
    for (int i = 1; i < argc; i += 2) {
        if (std::string(argv[i]) != "--seconds") {
            throw UsageError("unknown option " + std::string(argv[i]) + "; there is --seconds");
        }
        seconds = number(i + 1 < argc ? argv[i + 1] : "", 0.1, 86400.0, "--seconds");
    }
    std::vector<CallContestant> all = plain_callers();
    for (auto* const more : {corymb_callers, caf_callers}) {
        std::ranges::move(more(), std::back_inserter(all));
    }
    static_cast<void>(work_per_ns());
    for (std::size_t done = 0; done < ops.size(); ++done) {
        compare(ops.at(done), all, seconds);
        std::fprintf(stderr, "progress %.3f %s\n",
                     static_cast<double>(done + 1) / static_cast<double>(ops.size()),
                     std::string(to_string(ops.at(done))).c_str());
    }
}

} // namespace
} // namespace corymb::bench

int main(int argc, char** argv) {
    try {
        corymb::bench::run(argc, argv);
    } catch (const corymb::bench::UsageError& error) {
        std::fprintf(stderr, "corymb-bench-calls: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "corymb-bench-calls: %s\n", error.what());
        return 1;
    }
    return 0;
}
