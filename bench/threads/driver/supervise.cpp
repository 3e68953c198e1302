// SPDX-License-Identifier: Apache-2.0
#include "supervise.hpp"

#include "../worker/time.hpp"
#include "child.hpp"
#include "contestants.hpp"
#include "output.hpp"

#include <cstdio>

namespace corymb::bench {

int supervise(const std::vector<std::string>& words, double seconds) {
    std::vector<std::string> command{program_path(Program::native)};
    command.insert(command.end(), words.begin(), words.end());
    const auto patience = static_cast<std::int64_t>((seconds * 1.5 + 30) * 1e9);
    const std::int64_t deadline = wall_ns() + patience;
    Child child(command, {});
    while (const auto line = child.receive(deadline)) {
        print_line(*line);
    }
    const auto status = child.exit_status();
    if (!status) {
        std::fputs("corymb-bench: the measurement took far longer than its time and was ended\n",
                   stderr);
        return 1;
    }
    return *status;
}

} // namespace corymb::bench
