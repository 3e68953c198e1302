// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "../threads/arguments.hpp"

#include <algorithm>
#include <string>

namespace corymb::bench {

MessageOptions message_options(int argc, char** argv) {
    MessageOptions options;
    const std::vector<int> known = options.bytes;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const std::string value = i + 1 < argc ? argv[i + 1] : "";
        if (name == "--seconds") {
            options.seconds = number(value, 0.1, 86400.0, name);
        } else if (name == "--bytes") {
            options.bytes = numbers(value, 8, 256, name);
            for (const int bytes : options.bytes) {
                if (std::ranges::find(known, bytes) == known.end()) {
                    throw UsageError("--bytes may be 8, 256 or 8,256");
                }
            }
        } else if (name == "--peers") {
            options.peers = numbers(value, 1, 4096, name);
        } else if (name == "--readers") {
            options.readers = numbers(value, 1, 4096, name);
        } else {
            throw UsageError("unknown option " + name +
                             "; there are --seconds, --bytes, --peers and --readers");
        }
    }
    return options;
}

} // namespace corymb::bench
