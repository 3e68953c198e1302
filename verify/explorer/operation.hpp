// SPDX-License-Identifier: Apache-2.0
// What a thread is about to do, and which two operations of different threads commute.
#pragma once

#include "explorer/knowledge.hpp"

#include <atomic>
#include <source_location>

namespace corymb::verify {

enum class Kind : std::uint8_t {
    begin,
    load,
    store,
    exchange, ///< Any read-modify-write.
    await,    ///< A load that is not done before it can return a value that satisfies.
    fence,    ///< seq_cst; weaker fences concern one thread only and are no operations.
    light_fence,
    heavy_begin,
    heavy_moment, ///< Of `other`.
    heavy_end,
    futex_wait,
    asleep, ///< In the kernel, until woken.
    futex_wake,
};

/// A non-owning predicate on the value of a store.
struct Predicate {
    const void* closure = nullptr;
    bool (*call)(const void* closure, std::uint64_t value) = nullptr;

    bool operator()(std::uint64_t value) const { return call == nullptr || call(closure, value); }
};

struct Operation {
    Kind kind = Kind::begin;
    LocationId location = 0;
    std::memory_order order = std::memory_order_relaxed;
    int other = -1;
    Predicate predicate{};
    std::source_location where{};

    [[nodiscard]] bool reads() const noexcept {
        return kind == Kind::load || kind == Kind::exchange || kind == Kind::await ||
               kind == Kind::futex_wait;
    }
    [[nodiscard]] bool is_futex() const noexcept {
        return kind == Kind::futex_wait || kind == Kind::futex_wake;
    }
    [[nodiscard]] bool is_seq_cst() const noexcept {
        const bool access = kind == Kind::store || reads();
        return kind == Kind::fence || kind == Kind::heavy_begin || kind == Kind::heavy_end ||
               (access && order == std::memory_order_seq_cst);
    }
    /// Commutes with everything that others do now or later, so that there is nothing to choose.
    /// A plain store does, because readers and later stores choose their place freely: whoever
    /// would come before it can come after it and not see it.
    [[nodiscard]] bool is_eager() const noexcept {
        return kind == Kind::begin || kind == Kind::asleep ||
               (kind == Kind::store && !is_seq_cst());
    }
};

/// Whether `a` of thread `a_thread` and `b` of thread `b_thread`, in this order, may differ from
/// the other order, apart from a reading operation's choice of a store that the other one made.
inline bool conflict(const Operation& a, int a_thread, const Operation& b, int b_thread) noexcept {
    if (a.is_seq_cst() && b.is_seq_cst()) {
        return true;
    }
    if (a.is_futex() && b.is_futex()) {
        return a.location == b.location && !(a.kind == Kind::futex_wait && b.kind == a.kind);
    }
    return (a.kind == Kind::light_fence && b.kind == Kind::heavy_moment && b.other == a_thread) ||
           (b.kind == Kind::light_fence && a.kind == Kind::heavy_moment && a.other == b_thread);
}

} // namespace corymb::verify
