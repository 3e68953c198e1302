// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "../worker/time.hpp"

#include <corymb/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace corymb::bench {

void print_line(const std::string& json) {
    if (std::fputs((json + "\n").c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
        throw std::runtime_error("standard output is closed");
    }
}

void print_progress(double part, std::string_view what) {
    static std::int64_t last = 0;
    const std::int64_t now = wall_ns();
    if (part < 1 && now - last < 100'000'000) {
        return;
    }
    last = now;
    std::fprintf(stderr, "progress %.3f %.*s\n", std::clamp(part, 0.0, 1.0),
                 static_cast<int>(what.size()), what.data());
}

void print_run_line(const Options& options) {
    print_line(nlohmann::ordered_json{{"type", "run"},
                                      {"format", "corymb-bench/1"},
                                      {"version", corymb::version()},
                                      {"cpus", allowed_cpus()},
                                      {"seconds", options.seconds},
                                      {"seed", options.seed}}
                   .dump());
}

} // namespace corymb::bench
