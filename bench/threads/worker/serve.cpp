// SPDX-License-Identifier: Apache-2.0
#include "serve.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

namespace corymb::bench {

namespace {

void answer(const std::string& line) {
    std::fputs((line + "\n").c_str(), stdout);
    std::fflush(stdout);
}

/// A failed rank leaves the others waiting inside the contestant; only the process can end that.
[[noreturn]] void fail(const std::string& reason) {
    answer("failed " + reason);
    _exit(1);
}

RunAll guarded(const RunAll& run_all) {
    return [&run_all](const Job& job) {
        run_all([&job](int rank) {
            try {
                job(rank);
            } catch (const std::exception& error) {
                fail("rank " + std::to_string(rank) + ": " + error.what());
            }
        });
    };
}

} // namespace

int refuse(std::string_view reason) {
    answer("skip " + std::string(reason));
    return 0;
}

int serve(const Case& what, Workload& workload, const RunAll& run_all) {
    const RunAll run = guarded(run_all);
    run([&](int rank) { workload.enter(rank); });
    answer("ready");
    std::string line;
    while (std::getline(std::cin, line)) {
        if (line == "first") {
            const FirstCalls first = run_first(what, workload, run);
            std::string text = "first " + std::to_string(first.wrong);
            for (const double time : first.operation_ns) {
                text += " " + std::to_string(time);
            }
            answer(text);
            continue;
        }
        const std::size_t space = line.find(' ');
        std::uint64_t count = 0;
        if (space != std::string::npos) {
            std::from_chars(line.data() + space + 1, line.data() + line.size(), count);
        }
        if (count == 0) {
            fail("cannot read the command \"" + line + "\"");
        }
        if (line.starts_with("verify ")) {
            answer("verified " + std::to_string(run_verification(what, workload, run, count)));
        } else if (line.starts_with("run ")) {
            const SlotResult result = run_slot(what, workload, run, count);
            answer("done " + std::to_string(result.operation_ns) + " " +
                   std::to_string(result.cpu_ns) + " " + std::to_string(result.wrong));
        } else {
            fail("unknown command \"" + line + "\"");
        }
    }
    return 0;
}

} // namespace corymb::bench
