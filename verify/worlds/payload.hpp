// SPDX-License-Identifier: Apache-2.0
// Eight bytes as payload: what the worlds send and check.
#pragma once

#include "explorer/env.hpp"

#include <cstring>

namespace corymb::verify {

/// Uses a payload in place, as a receiver does some time after it got the address.
inline std::uint64_t use(const std::byte* payload,
                         std::source_location where = std::source_location::current()) {
    ExplorerEnv::note_read(payload, sizeof(std::uint64_t), where);
    std::uint64_t value = 0;
    std::memcpy(&value, payload, sizeof value);
    return value;
}

/// Plain memory that one thread writes and others read.
struct Letter {
    ExplorerEnv::Bytes<8> bytes;

    void write(std::uint64_t value, std::source_location where = std::source_location::current()) {
        bytes.put(&value, sizeof value, where);
    }
    [[nodiscard]] std::uint64_t
    read(std::source_location where = std::source_location::current()) const {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.view(sizeof value, where), sizeof value);
        return value;
    }
};

} // namespace corymb::verify
