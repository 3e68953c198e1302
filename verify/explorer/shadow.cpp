// SPDX-License-Identifier: Apache-2.0
#include "explorer/shadow.hpp"

namespace corymb::verify {

bool Shadow::access(const void* address, std::size_t count, bool is_write, int thread,
                    const Clock& now, std::source_location where, Conflict& conflict) {
    const auto self = static_cast<std::size_t>(thread);
    const auto* begin = static_cast<const std::byte*>(address);
    for (std::size_t i = 0; i < count; ++i) {
        Byte& byte = bytes_[begin + i];
        if (byte.writer >= 0 && byte.write_time > now[static_cast<std::size_t>(byte.writer)]) {
            conflict = {byte.writer, true, byte.written_at};
            return true;
        }
        if (!is_write) {
            byte.read_time[self] = now[self];
            byte.read_at[self] = where;
            continue;
        }
        for (std::size_t reader = 0; reader < now.size(); ++reader) {
            if (byte.read_time[reader] > now[reader]) {
                conflict = {static_cast<int>(reader), false, byte.read_at[reader]};
                return true;
            }
        }
        byte.writer = thread;
        byte.write_time = now[self];
        byte.written_at = where;
    }
    return false;
}

} // namespace corymb::verify
