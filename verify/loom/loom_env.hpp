// SPDX-License-Identifier: Apache-2.0
// The Env (src/channel/env.hpp) and the Waiter over loom. loom knows no asymmetric fences: both
// ends of a pair are seq_cst fences here, as where the kernel has no membarrier.
#pragma once

#include "base/reach.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
struct LoomWord;
struct LoomCell;
LoomWord* loom_word_new(std::uint64_t value);
void loom_word_free(LoomWord* word);
std::uint64_t loom_load(const LoomWord* word, int order);
void loom_store(LoomWord* word, std::uint64_t value, int order);
std::uint64_t loom_swap(LoomWord* word, std::uint64_t value, int order);
std::uint64_t loom_add(LoomWord* word, std::uint64_t value, int order);
std::uint64_t loom_or(LoomWord* word, std::uint64_t value, int order);
bool loom_replace(LoomWord* word, std::uint64_t expected, std::uint64_t value, int order);
void loom_fence();
void loom_yield();
void loom_futex_wait(const LoomWord* word, std::uint64_t expected);
void loom_futex_wake(const LoomWord* word);
LoomCell* loom_cell_new();
void loom_cell_free(LoomCell* cell);
void loom_cell_access(const LoomCell* cell, bool is_write);
std::uint64_t loom_explore(void* (*make)(), void (*run)(void*, int), void (*free)(void*),
                           int preemptions);
}

namespace corymb::verify {

enum class LoomFault : std::uint8_t {
    none,
    release_is_relaxed,
    acquire_is_relaxed,
    no_light_fence,
    no_heavy_fence,
};
inline LoomFault loom_fault = LoomFault::none;

struct LoomEnv {
    static int number(std::memory_order order) noexcept {
        const bool weaken =
            (order == std::memory_order_release && loom_fault == LoomFault::release_is_relaxed) ||
            (order == std::memory_order_acquire && loom_fault == LoomFault::acquire_is_relaxed);
        return static_cast<int>(weaken ? std::memory_order_relaxed : order);
    }

    /// Integers of at most eight bytes. Narrow ones wrap by themselves; loom adds with 64 bits.
    template <class T>
    class Atomic {
    public:
        Atomic() : Atomic(T{}) {}
        explicit Atomic(T value) : word_(loom_word_new(value)) {}
        Atomic(const Atomic&) = delete;
        Atomic& operator=(const Atomic&) = delete;
        ~Atomic() { loom_word_free(word_); }

        T load(std::memory_order order) const {
            return static_cast<T>(loom_load(word_, number(order)));
        }
        void store(T value, std::memory_order order) { loom_store(word_, value, number(order)); }
        T exchange(T value, std::memory_order order) {
            return static_cast<T>(loom_swap(word_, value, number(order)));
        }
        T fetch_add(T value, std::memory_order order) {
            return static_cast<T>(loom_add(word_, value, number(order)));
        }
        T fetch_sub(T value, std::memory_order order) {
            return static_cast<T>(loom_add(word_, ~std::uint64_t{value} + 1, number(order)));
        }
        T fetch_or(T value, std::memory_order order) {
            return static_cast<T>(loom_or(word_, value, number(order)));
        }
        bool replace(T expected, T value, std::memory_order order) {
            return loom_replace(word_, expected, value, number(order));
        }
        [[nodiscard]] const LoomWord* word() const { return word_; }

    private:
        LoomWord* word_;
    };

    template <std::size_t N>
    class Bytes {
    public:
        Bytes() : cell_(loom_cell_new()) {}
        Bytes(const Bytes&) = delete;
        Bytes& operator=(const Bytes&) = delete;
        ~Bytes() { loom_cell_free(cell_); }

        struct Writer {};
        void put(const void* from, std::size_t count, Writer& /*writer*/) { put(from, count); }
        void put(const void* from, std::size_t count) {
            loom_cell_access(cell_, true);
            std::memcpy(bytes_.data(), from, count);
        }
        const std::byte* view(std::size_t /*count*/) const {
            loom_cell_access(cell_, false);
            return bytes_.data();
        }

    private:
        LoomCell* cell_;
        std::array<std::byte, N> bytes_{};
    };

    static void full_fence() { loom_fence(); }
    static void light_fence() {
        if (loom_fault != LoomFault::no_light_fence) {
            loom_fence();
        }
    }
    static void heavy_fence(Reach /*reach*/ = Reach::process) {
        if (loom_fault != LoomFault::no_heavy_fence) {
            loom_fence();
        }
    }
    static void prefetch_for_write(const void* /*line*/) noexcept {}
    static void futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::int64_t /*timeout_ns*/, Reach /*reach*/ = Reach::process) {
        loom_futex_wait(word.word(), expected);
    }
    static void futex_wake(const Atomic<std::uint32_t>& word, int /*count*/,
                           Reach /*reach*/ = Reach::process) {
        loom_futex_wake(word.word());
    }
};

struct LoomWaiter {
    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen) {
        for (;;) {
            seen = word.load(order);
            if (holds(seen)) {
                return true;
            }
            loom_yield();
        }
    }
};

} // namespace corymb::verify
