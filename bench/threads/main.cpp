// SPDX-License-Identifier: Apache-2.0
// corymb-bench: measures corymb and its peers side by side. Without options of its own for it, the
// same program is also a contestant's worker and the busy neighbour.
#include "driver/interrupt.hpp"
#include "driver/run.hpp"
#include "driver/supervise.hpp"
#include "options.hpp"
#include "peers/waiting.hpp"
#include "predict/predict.hpp"
#include "worker/native.hpp"
#include "worker/serve.hpp"

#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace corymb::bench;

constexpr int exit_failed = 1, exit_usage = 2, exit_interrupted = 130;

/// The neighbour: never ends by itself; its parent's death or SIGKILL ends it.
[[noreturn]] void hog(const std::string& cpu) {
    int number = -1;
    std::from_chars(cpu.data(), cpu.data() + cpu.size(), number);
    bind_this_thread(number);
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
    case Mode::help: std::fputs(usage().c_str(), stdout); return 0;
    case Mode::list: return list_contestants(options);
    case Mode::predict: {
        // In a process of its own: a plan that hangs must not take the driver with it.
        std::vector<std::string> again{"--predict-worker"};
        again.insert(again.end(), words.begin(), words.end());
        return supervise(again, options.seconds);
    }
    case Mode::measure: break;
    }
    return run_cases(options);
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() > 2 && words[0] == "--worker") {
        return work(words);
    }
    if (words.size() == 2 && words[0] == "--hog") {
        hog(words[1]);
    }
    try {
        if (!words.empty() && words[0] == "--predict-worker") {
            return predict(parse_options({words.begin() + 1, words.end()}));
        }
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
