// SPDX-License-Identifier: Apache-2.0
// Memory of probes that copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace corymb::discover {

/// Aligned, so that no time depends on where the memory happens to lie.
struct alignas(4096) Page {
    std::array<std::byte, 4096> bytes;
};
using Pages = std::unique_ptr<Page[]>;

/// Touched by the calling thread, so that it lies near its CPU; null where there is no memory.
[[nodiscard]] inline Pages touched_pages(std::size_t bytes) {
    Pages made(new (std::nothrow) Page[(bytes + sizeof(Page) - 1) / sizeof(Page)]);
    if (made) {
        std::memset(made.get(), 1, bytes);
    }
    return made;
}

} // namespace corymb::discover
