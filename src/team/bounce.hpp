// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::team {

/// Memory that copies out of another process, or into it, go through.
class Bounce {
public:
    /// Room for `bytes` that lies in its page as `other` does in its own, so that the kernel's copy
    /// is a fast one (`lie_badly`). Throws std::bad_alloc.
    [[nodiscard]] std::byte* room(const void* other, std::size_t bytes) {
        constexpr std::uintptr_t page = 4096;
        if (memory_.size() < bytes + page) {
            memory_.resize(bytes + page);
        }
        std::byte* const begin = memory_.data();
        const auto behind =
            std::bit_cast<std::uintptr_t>(other) - std::bit_cast<std::uintptr_t>(begin);
        return begin + behind % page;
    }

private:
    std::vector<std::byte> memory_;
};

} // namespace corymb::team
