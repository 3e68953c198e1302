// SPDX-License-Identifier: Apache-2.0
// corymb-bench: measures corymb and its peers side by side. Without options of its own for it, the
// same program is also a contestant's worker and the busy neighbour.
#include "driver/interrupt.hpp"
#include "driver/run.hpp"
#include "options.hpp"
#include "peers/waiting.hpp"
#include "worker/native.hpp"
#include "worker/serve.hpp"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace corymb::bench;

constexpr int exit_failed = 1, exit_usage = 2, exit_interrupted = 130;

/// The neighbour: never ends by itself; its parent's death or SIGKILL ends it.
[[noreturn]] void hog(int cpu) {
    bind_this_thread(cpu);
    while (true) {
        relax();
    }
}

int work(const std::vector<std::string>& words) {
    const auto what = case_from_words({words.begin() + 2, words.end()});
    return what ? serve_native(words[1], *what) : refuse("a malformed case");
}

int drive(const std::vector<std::string>& words) {
    const Options options = parse_options(words);
    prepare_interrupts();
    switch (options.mode) {
    case Mode::help:
        std::fputs(usage().c_str(), stdout);
        return 0;
    case Mode::list:
        return list_contestants(options);
    default:
        return run_cases(options);
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() > 2 && words[0] == "--worker") {
        return work(words);
    }
    if (words.size() == 2 && words[0] == "--hog") {
        hog(std::atoi(words[1].c_str()));
    }
    try {
        return drive(words);
    } catch (const UsageError& error) {
        std::fprintf(stderr, "corymb-bench: %s\n", error.what());
        return exit_usage;
    } catch (const Interrupted&) {
        std::fputs("corymb-bench: interrupted\n", stderr);
        return exit_interrupted;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "corymb-bench: %s\n", error.what());
        return exit_failed;
    }
}
