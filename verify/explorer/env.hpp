// SPDX-License-Identifier: Apache-2.0
// The Env (src/channel/env.hpp) and the Waiter that hand every access to the explorer. Each takes
// the place in the source as a defaulted parameter, for the printed interleaving.
#pragma once

#include "base/reach.hpp"
#include "base/remote_memory.hpp"
#include "explorer/explorer.hpp"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb::verify {

struct ExplorerEnv {
    using Where = std::source_location;

    template <class T>
    class Atomic {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));

    public:
        Atomic() noexcept : Atomic(T{}) {}
        explicit Atomic(T value) noexcept
            : location_(Explorer::current().add_location(this, encode(value))) {}
        Atomic(const Atomic&) = delete;
        Atomic& operator=(const Atomic&) = delete;

        T load(std::memory_order order, Where where = Where::current()) const noexcept {
            return decode(Explorer::current().load(location_, order, where));
        }
        void store(T value, std::memory_order order, Where where = Where::current()) noexcept {
            Explorer::current().store(location_, encode(value), order, where);
        }
        T exchange(T value, std::memory_order order, Where where = Where::current()) noexcept {
            return modify(order, [value](T) { return value; }, where);
        }
        T fetch_add(T value, std::memory_order order, Where where = Where::current()) noexcept {
            return modify(order, [value](T old) { return static_cast<T>(old + value); }, where);
        }
        T fetch_sub(T value, std::memory_order order, Where where = Where::current()) noexcept {
            return modify(order, [value](T old) { return static_cast<T>(old - value); }, where);
        }
        T fetch_or(T value, std::memory_order order, Where where = Where::current()) noexcept {
            return modify(order, [value](T old) { return static_cast<T>(old | value); }, where);
        }
        /// One that fails may have read an old value.
        bool replace(T expected, T value, std::memory_order order,
                     Where where = Where::current()) noexcept {
            if (load(std::memory_order_relaxed, where) != expected) {
                return false;
            }
            return modify(
                       order, [=](T old) { return old == expected ? value : old; }, where) ==
                   expected;
        }
        /// Not part of Env: a load that waits until it can return a value that satisfies.
        template <class P>
        T await(std::memory_order order, const P& holds, Where where = Where::current()) const {
            const Predicate predicate{&holds, [](const void* closure, std::uint64_t value) {
                                          return static_cast<bool>(
                                              (*static_cast<const P*>(closure))(decode(value)));
                                      }};
            return decode(Explorer::current().await(location_, order, predicate, where));
        }
        /// Env::peek: no access of the thread's, only for assertions.
        [[nodiscard]] T peek() const { return decode(Explorer::current().newest(location_)); }
        [[nodiscard]] LocationId location() const noexcept { return location_; }

    private:
        static std::uint64_t encode(T value) noexcept {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof value);
            return bits;
        }
        static T decode(std::uint64_t bits) noexcept {
            T value;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        }
        template <class F>
        T modify(std::memory_order order, const F& change, Where where) noexcept {
            return decode(Explorer::current().modify(
                location_, order,
                [&change](std::uint64_t old) { return encode(change(decode(old))); }, where));
        }

        /// As large and aligned as a T of four bytes or more, so that layouts stay as they are.
        alignas(T) LocationId location_;
    };

    /// Plain memory of a slot. A view is a read of its whole; who uses it later says so again with
    /// note_read.
    template <std::size_t N>
    class Bytes {
    public:
        struct Writer {};
        void put(const void* from, std::size_t count, Writer& /*writer*/,
                 Where where = Where::current()) noexcept {
            put(from, count, where);
        }
        void put(const void* from, std::size_t count, Where where = Where::current()) noexcept {
            Explorer::current().note(bytes_.data(), count, true, where);
            std::memcpy(bytes_.data(), from, count);
        }
        const std::byte* view(std::size_t count, Where where = Where::current()) const noexcept {
            Explorer::current().note(bytes_.data(), count, false, where);
            return bytes_.data();
        }

    private:
        std::array<std::byte, N> bytes_{};
    };

    static void prefetch_for_write(const void* /*line*/) noexcept {}
    static void note_read(const void* from, std::size_t count,
                          Where where = Where::current()) noexcept {
        Explorer::current().note(from, count, false, where);
    }
    static void note_write(void* to, std::size_t count, Where where = Where::current()) noexcept {
        Explorer::current().note(to, count, true, where);
    }

    /// Of channels of cells: worlds are small.
    static constexpr std::size_t cell_ring_slots = 8;

    /// Worlds have one process.
    static bool read_process(std::uint32_t /*pid*/, const void* /*there*/, void* /*here*/,
                             std::size_t /*bytes*/) noexcept {
        return false;
    }

    static bool is_marked(std::uint32_t /*pid*/, const ProcessMark& /*mark*/) noexcept {
        return false;
    }
    static bool write_process(std::uint32_t /*pid*/, void* /*there*/, const void* /*here*/,
                              std::size_t /*bytes*/) noexcept {
        return false;
    }

    template <class T>
    static T peek(const Atomic<T>& word) {
        return word.peek();
    }

    static void light_fence(Where where = Where::current()) noexcept {
        Explorer::current().light_fence(where);
    }
    static void heavy_fence(Reach /*reach*/ = Reach::process,
                            Where where = Where::current()) noexcept {
        Explorer::current().heavy_fence(where);
    }
    static void full_fence(Where where = Where::current()) noexcept {
        Explorer::current().full_fence(where);
    }
    static void fence(std::memory_order order, Where where = Where::current()) noexcept {
        Explorer::current().fence(order, where);
    }

    static void futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::int64_t /*timeout_ns*/, Reach /*reach*/ = Reach::process,
                           Where where = Where::current()) noexcept {
        Explorer::current().futex_wait(word.location(), expected, where);
    }
    template <class Words>
    static bool futex_wait_any(const Words& words, std::int64_t /*timeout_ns*/,
                               Where where = Where::current()) {
        std::vector<std::pair<LocationId, std::uint32_t>> locations;
        for (const auto& one : words) {
            locations.emplace_back(one.word->location(), one.expected);
        }
        Explorer::current().futex_wait_any(locations, where);
        return true;
    }
    static void futex_wake(const Atomic<std::uint32_t>& word, int count,
                           Reach /*reach*/ = Reach::process,
                           Where where = Where::current()) noexcept {
        Explorer::current().futex_wake(word.location(), count, where);
    }
    static void futex_move(const Atomic<std::uint32_t>& word, const Atomic<std::uint32_t>& other,
                           Reach /*reach*/ = Reach::process,
                           Where where = Where::current()) noexcept {
        Explorer::current().futex_move(word.location(), other.location(), where);
    }
};

/// Waits as long as it takes.
struct AwaitWaiter {
    void expect(auto... /*whom*/) const noexcept {}

    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen,
               std::source_location where = std::source_location::current()) {
        seen = word.await(order, holds, where);
        return true;
    }
};

} // namespace corymb::verify
