// SPDX-License-Identifier: Apache-2.0
// Race check of plain memory: every byte remembers its last write and everybody's last read.
#pragma once

#include "explorer/knowledge.hpp"

#include <cstddef>
#include <source_location>
#include <unordered_map>

namespace corymb::verify {

/// The other half of a race.
struct Conflict {
    int thread = -1;
    bool is_write = false;
    std::source_location where;
};

class Shadow {
public:
    void reset() { bytes_.clear(); }

    /// Notes an access of `thread`, whose clock is `now`, to `count` bytes. True: it races, and
    /// `conflict` says with what.
    bool access(const void* address, std::size_t count, bool is_write, int thread, const Clock& now,
                std::source_location where, Conflict& conflict);

private:
    struct Byte {
        int writer = -1;
        std::uint32_t write_time = 0;
        std::source_location written_at;
        Clock read_time{};
        std::array<std::source_location, threads_max> read_at;
    };

    std::unordered_map<const std::byte*, Byte> bytes_;
};

} // namespace corymb::verify
