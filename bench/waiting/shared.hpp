// SPDX-License-Identifier: Apache-2.0
// Memory that a process shares with those that it forks, at the same address.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace corymb::bench {

/// Zeroed, and written to by nobody yet. Throws std::system_error.
class SharedMapping {
public:
    explicit SharedMapping(std::size_t bytes)
        : bytes_(bytes),
          place_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (place_ == MAP_FAILED) {
            throw std::system_error(errno, std::generic_category(), "memory between processes");
        }
    }
    SharedMapping(const SharedMapping&) = delete;
    SharedMapping& operator=(const SharedMapping&) = delete;
    ~SharedMapping() { munmap(place_, bytes_); }

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(place_); }

private:
    std::size_t bytes_;
    void* place_;
};

} // namespace corymb::bench
