// SPDX-License-Identifier: Apache-2.0
// The policy through which a lock-free header reaches its surroundings. Production passes
// StandardEnv; the explorer in verify/ passes its own and so runs the very headers that ship.
//
// An Env has
//   Atomic<T>     load, store, exchange, fetch_add, fetch_sub, fetch_or, replace: the order is
//                 always named, there are no operators;
//   Bytes<N>      plain memory of a shared slot: put copies in, view gives it for reading; the
//                 explorer checks that every access is ordered against those of other threads;
//                 Bytes<N>::Writer is what a sender remembers of the copies that it has made;
//   note_read, note_write   announce an access to memory that belongs to the caller of a collective
//                 (nothing in production, a race check in the explorer);
//   read_process, is_marked, write_process   a copy out of another process's memory, whether it is
//                 the right process, and a copy into it (only the engine needs them);
//   light_fence, heavy_fence   an asymmetric pair: a light one on thread A and a heavy one on
//                 thread B order A's accesses around it against B's as two seq_cst fences would;
//   full_fence    orders everything before it against everything after it;
//   prefetch_for_write   asks for a line that is to be written soon; it is no access;
//   peek          the value of a word that no other thread can store at this moment; for
//                 assertions, so the explorer does not count it as an access;
//   futex_wait, futex_wake   sleep while a word has a value, and wake the sleepers;
//   futex_wait_any   sleeps while each of several words has its value; false: it cannot;
//   futex_move    lets one sleeper of a word go on sleeping on another word.
// The heavy fence and those of the futex take the Reach: whether other processes take part.
#pragma once

#include "base/copy_bytes.hpp"
#include "base/futex.hpp"
#include "base/handover.hpp"
#include "base/membarrier.hpp"
#include "base/prefetch.hpp"
#include "base/reach.hpp"
#include "base/remote_memory.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace corymb::channel {

struct StandardEnv {
    template <class T>
    class Atomic {
    public:
        constexpr Atomic() noexcept = default;
        constexpr explicit Atomic(T value) noexcept : value_(value) {}

        T load(std::memory_order order) const noexcept { return value_.load(order); }
        void store(T value, std::memory_order order) noexcept { value_.store(value, order); }
        T exchange(T value, std::memory_order order) noexcept {
            return value_.exchange(value, order);
        }
        T fetch_add(T value, std::memory_order order) noexcept {
            return value_.fetch_add(value, order);
        }
        T fetch_sub(T value, std::memory_order order) noexcept {
            return value_.fetch_sub(value, order);
        }
        T fetch_or(T value, std::memory_order order) noexcept {
            return value_.fetch_or(value, order);
        }
        /// Stores `value` if there is `expected`; else nothing, without an order.
        bool replace(T expected, T value, std::memory_order order) noexcept {
            return value_.compare_exchange_strong(expected, value, order,
                                                  std::memory_order_relaxed);
        }
        /// The word that the kernel sleeps on; T must have four bytes.
        const std::atomic<T>& futex_word() const noexcept { return value_; }

    private:
        std::atomic<T> value_{};
        static_assert(std::atomic<T>::is_always_lock_free);
    };

    template <std::size_t N>
    class Bytes {
    public:
        struct PlainWriter {
            static void copy(void* to, const void* from, std::size_t count) noexcept {
                copy_bytes(to, from, count);
            }
        };
        using Writer = std::conditional_t<(N < Handover::least_bytes), PlainWriter, Handover>;

        void put(const void* from, std::size_t count, Writer& writer) noexcept {
            writer.copy(bytes_.data(), from, count);
        }
        void put(const void* from, std::size_t count) noexcept {
            copy_bytes(bytes_.data(), from, count);
        }
        const std::byte* view(std::size_t /*count*/) const noexcept { return bytes_.data(); }

    private:
        std::array<std::byte, N> bytes_;
    };

    static void note_read(const void* /*from*/, std::size_t /*count*/) noexcept {}
    static void note_write(void* /*to*/, std::size_t /*count*/) noexcept {}

    /// A copy out of another process; false when it is not to be had.
    static bool read_process(std::uint32_t pid, const void* there, void* here,
                             std::size_t bytes) noexcept {
        return corymb::read_process(pid, there, here, bytes);
    }

    static bool is_marked(std::uint32_t pid, const ProcessMark& mark) noexcept {
        return corymb::is_marked(pid, mark);
    }
    /// A copy into another process; false when it cannot be made.
    static bool write_process(std::uint32_t pid, void* there, const void* here,
                              std::size_t bytes) noexcept {
        return corymb::write_process(pid, there, here, bytes);
    }

    template <class T>
    static T peek(const Atomic<T>& word) noexcept {
        return word.load(std::memory_order_relaxed);
    }

    static void light_fence() noexcept { membarrier::light(); }
    static void heavy_fence(Reach reach = Reach::process) noexcept { membarrier::heavy(reach); }

    static void full_fence() noexcept { membarrier::full(); }

    static void prefetch_for_write(const void* line) noexcept { corymb::prefetch_for_write(line); }

    static void futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::int64_t timeout_ns, Reach reach = Reach::process) noexcept {
        futex::wait(word.futex_word(), expected, timeout_ns, reach);
    }
    /// `words` are FutexWords.
    template <class Words>
    static bool futex_wait_any(const Words& words, std::int64_t timeout_ns) noexcept {
        futex::WordList list;
        for (const auto& one : words) {
            list.add(one.word->futex_word(), one.expected, one.reach);
        }
        return list.wait_any(timeout_ns);
    }
    static void futex_wake(const Atomic<std::uint32_t>& word, int count,
                           Reach reach = Reach::process) noexcept {
        futex::wake(word.futex_word(), count, reach);
    }
    static void futex_move(const Atomic<std::uint32_t>& word, const Atomic<std::uint32_t>& other,
                           Reach reach = Reach::process) noexcept {
        futex::move(word.futex_word(), other.futex_word(), reach);
    }
};

} // namespace corymb::channel
