// SPDX-License-Identifier: Apache-2.0
#include "base/handover.hpp"

#include "base/cache_line.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace corymb {

namespace {

#if defined(__x86_64__)

constexpr bool has_way_past_caches = true;

void stream_line(std::byte* to, const std::byte* from) noexcept {
    constexpr std::size_t words = cache_line_bytes / sizeof(__m128i);
    for (std::size_t i = 0; i < words; ++i) {
        const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
        _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, word);
    }
}

/// Streaming stores are not in order with other stores without this fence.
void finish_streams() noexcept {
    _mm_sfence();
}

#else

constexpr bool has_way_past_caches = false;

void stream_line(std::byte* to, const std::byte* from) noexcept {
    copy_bytes(to, from, cache_line_bytes);
}

void finish_streams() noexcept {}

#endif

} // namespace

void copy_past_caches(void* to, const void* from, std::size_t count) noexcept {
    auto* out = static_cast<std::byte*>(to);
    const auto* in = static_cast<const std::byte*>(from);
    const std::size_t to_next_line = -std::bit_cast<std::uintptr_t>(to) % cache_line_bytes;
    const std::size_t head = std::min(count, to_next_line);
    copy_bytes(out, in, head);
    std::size_t done = head;
    for (; done + cache_line_bytes <= count; done += cache_line_bytes) {
        stream_line(out + done, in + done);
    }
    copy_bytes(out + done, in + done, count - done);
    finish_streams();
}

void Handover::copy_long(void* to, const void* from, std::size_t count) noexcept {
    if (until_look_ == 0) {
        look(to, from, count);
        return;
    }
    --until_look_;
    if (is_past_caches_) {
        copy_past_caches(to, from, count);
    } else {
        copy_bytes(to, from, count);
    }
}

void Handover::look(void* to, const void* from, std::size_t count) noexcept {
    // Limit of the rate at which a copy counts as handed over fast. Measured on a virtual machine
    // whose two processors are near each other at times: the sender's side has 12 to 20 then and 3
    // to 6 otherwise; past the caches both sides together have 8 to 10 always.
    constexpr std::size_t bytes_per_ns = 8;
    const std::int64_t begin = now_ns();
    copy_bytes(to, from, count);
    const auto spent = static_cast<std::size_t>(now_ns() - begin);
    is_past_caches_ = has_way_past_caches && count < spent * bytes_per_ns;
    until_look_ = is_past_caches_ ? looks_apart_past_caches : looks_apart;
}

} // namespace corymb
