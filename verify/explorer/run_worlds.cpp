// SPDX-License-Identifier: Apache-2.0
#include "explorer/run_worlds.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace corymb::verify {

namespace {

struct Request {
    bool list = false;
    bool holds = false;
    bool quick = false;
    std::string world;
    std::optional<std::string> replay;
    std::optional<std::uint64_t> random;
    std::optional<std::uint64_t> seed;
    std::optional<int> preemptions;
};

[[noreturn]] void refuse(std::string_view argument) {
    std::fprintf(stderr,
                 "unknown or incomplete argument '%.*s'; there are --list, --world TEXT, "
                 "--replay TEXT, --random N, --seed S, --preemptions N, --holds, --quick\n",
                 static_cast<int>(argument.size()), argument.data());
    std::exit(2);
}

Request parse(int argc, char** argv) {
    Request request;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const auto value = [&] {
            return ++i < argc ? std::string(argv[i]) : (refuse(argument), "");
        };
        const auto number = [&] {
            return std::strtoull(value().c_str(), nullptr, 10);
        };
        if (argument == "--list") {
            request.list = true;
        } else if (argument == "--holds") {
            request.holds = true;
        } else if (argument == "--quick") {
            request.quick = true;
        } else if (argument == "--world") {
            request.world = value();
        } else if (argument == "--replay") {
            request.replay = value();
        } else if (argument == "--random") {
            request.random = number();
        } else if (argument == "--seed") {
            request.seed = number();
        } else if (argument == "--preemptions") {
            request.preemptions = static_cast<int>(number());
        } else {
            refuse(argument);
        }
    }
    return request;
}

Options adjusted(Options options, const Request& request) {
    if (request.random) {
        options.random = true;
        options.executions_max = *request.random;
    }
    options.seed = request.seed.value_or(options.seed);
    options.preemptions_max = request.preemptions.value_or(options.preemptions_max);
    return options;
}

void print_failure(const Result& result) {
    std::printf("    %s\n", result.error.c_str());
    for (const std::string& line : result.trace) {
        std::printf("    %s\n", line.c_str());
    }
    std::printf("    again with: --replay %s\n", result.replay.c_str());
}

/// Whether the world did what it must.
bool run(const World& world, const Request& request) {
    const auto begin = std::chrono::steady_clock::now();
    const Options options = adjusted(world.options, request);
    Explorer explorer;
    const Result result = request.replay ? explorer.replay(world.program, options, *request.replay)
                                         : explorer.explore(world.program, options);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;

    const bool good = result.violated == world.must_fail && (result.violated || result.complete);
    const char* verdict = result.violated    ? (world.must_fail ? "caught" : "VIOLATED")
                          : world.must_fail  ? "NOT CAUGHT"
                          : !result.complete ? "UNFINISHED"
                          : options.random   ? "survives"
                                             : "holds";
    std::printf("%-10s %-64s executions %8llu  pruned %8llu  steps %9llu  %.2f s\n", verdict,
                world.name.c_str(), static_cast<unsigned long long>(result.executions),
                static_cast<unsigned long long>(result.pruned),
                static_cast<unsigned long long>(result.steps), elapsed.count());
    if (request.replay) {
        print_failure(result);
        return true;
    }
    if (result.violated && !world.must_fail) {
        print_failure(result);
    } else if (result.violated) {
        std::printf("           %s (--replay %s)\n", result.error.c_str(), result.replay.c_str());
    }
    return good;
}

} // namespace

int run_worlds(int argc, char** argv, const std::vector<World>& worlds) {
    const Request request = parse(argc, argv);
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // What was found stays when a time limit ends it.
    bool all_good = true;
    bool any = false;
    for (const World& world : worlds) {
        const bool wanted = world.name.find(request.world) != std::string::npos &&
                            !(request.holds && world.must_fail) && !(request.quick && world.large);
        if (!wanted) {
            continue;
        }
        any = true;
        if (request.list) {
            std::printf("%s\n", world.name.c_str());
        } else if (!run(world, request)) {
            all_good = false;
            if (request.holds) {
                break; // Order mutation wants to know no more.
            }
        }
    }
    if (!any) {
        std::fprintf(stderr, "no world has '%s' in its name\n", request.world.c_str());
        return 2;
    }
    return all_good ? 0 : 1;
}

} // namespace corymb::verify
