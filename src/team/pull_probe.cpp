// SPDX-License-Identifier: Apache-2.0
#include "team/pull_probe.hpp"

#include "base/clock.hpp"
#include "base/copy_bytes.hpp"
#include "base/fork_count.hpp"
#include "team/bounce.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <mutex>
#include <random>
#include <vector>

namespace corymb::team {

namespace {

constexpr std::size_t block_bytes = std::size_t{32} << 10;

struct alignas(4096) Block {
    std::uint64_t value = 0;
    std::array<std::byte, block_bytes - sizeof(std::uint64_t)> rest{};
};

void* there(const ProcessMark& mark) noexcept {
    return std::bit_cast<void*>(mark.address);
}

/// Least time of one copy; infinity when one fails.
double least_ns(std::uint32_t pid, const ProcessMark& mark, std::size_t bytes, int tries) {
    Bounce bounce;
    std::byte* const here = bounce.room(there(mark), bytes);
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < tries; ++i) {
        const std::int64_t begin = now_ns();
        if (!read_process(pid, there(mark), here, bytes)) {
            return std::numeric_limits<double>::infinity();
        }
        least = std::min(least, static_cast<double>(now_ns() - begin));
    }
    return least;
}

} // namespace

ProcessMark own_mark() {
    static Block block; // The pages are written, so that they are there when others copy them.
    static std::mutex mutex;
    static std::uint32_t forks = 0;
    const std::lock_guard lock(mutex);
    if (block.value == 0 || forks != fork_count()) { // A forked child needs a mark of its own.
        forks = fork_count();
        block.rest.fill(std::byte{1});
        std::random_device source;
        block.value = std::uint64_t{source()} << 32 | source() | 1;
    }
    return {std::bit_cast<std::uint64_t>(&block), block.value};
}

bool can_write(std::uint32_t pid, const ProcessMark& mark) noexcept {
    return is_marked(pid, mark) && write_process(pid, there(mark), &mark.value, sizeof mark.value);
}

KernelCopy time_copies(std::uint32_t pid, const ProcessMark& mark) {
    constexpr int small_tries = 16;
    constexpr int large_tries = 6;
    const double start = least_ns(pid, mark, sizeof(std::uint64_t), small_tries);
    const double whole = least_ns(pid, mark, block_bytes, large_tries);
    const double moving = std::max(whole - start, 1.0);
    return {start, static_cast<double>(block_bytes) / moving};
}

double time_own_copies() {
    constexpr int tries = 6;
    const std::vector<std::byte> from(block_bytes, std::byte{1});
    std::vector<std::byte> to(block_bytes);
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < tries; ++i) {
        const std::int64_t begin = now_ns();
        copy_bytes(to.data(), from.data(), block_bytes);
        least = std::min(least, static_cast<double>(std::max<std::int64_t>(now_ns() - begin, 1)));
    }
    return static_cast<double>(block_bytes) / least;
}

} // namespace corymb::team
