// SPDX-License-Identifier: Apache-2.0
// The command line of corymb-bench-messages.
#pragma once

#include <vector>

namespace corymb::bench {

struct MessageOptions {
    std::vector<int> bytes{8, 256};
    std::vector<int> peers{1, 8, 64, 256, 1024};
    std::vector<int> readers{1, 8, 64, 200};
    double seconds = 30;
};

/// Throws UsageError.
MessageOptions message_options(int argc, char** argv);

} // namespace corymb::bench
