// SPDX-License-Identifier: Apache-2.0
// The C++20 memory model as a machine, without load buffering: every location keeps all its stores,
// every thread a view of what it must not miss.
//
//   - A load may return any store that is not older, in modification order, than the thread's view.
//   - A store goes anywhere in the modification order behind the thread's view, but never between a
//     read-modify-write and the store it read. Execution order decides nothing here, so 2+2W shows.
//   - A release store carries the thread's knowledge, a relaxed one that of its last release fence;
//     a read-modify-write also carries what the store it read did (release sequence of C++20).
//   - An acquire load joins what the store carries; a relaxed one keeps it for an acquire fence.
//   - seq_cst fences exchange views through one global view, in the order of execution. They make
//     no happens-before. seq_cst accesses do the same for their own location only. That is C++20
//     but for mixed accesses, where the order of execution is stronger than its order S; and a
//     seq_cst load that follows another in execution never reads an older store.
//   - Light and heavy fences: see the functions.
//
// After "Repairing Sequential Consistency in C/C++11" (Lahav et al., PLDI 2017) and the view
// machine of "A Promising Semantics" (Kang et al., POPL 2017) without promises.
#pragma once

#include "explorer/knowledge.hpp"

#include <atomic>
#include <cstddef>
#include <vector>

namespace corymb::verify {

struct Store {
    std::uint64_t value = 0;
    Knowledge message;
    int writer = -1; ///< -1: the initial value.
    std::uint64_t step = 0;
    bool reads_previous = false; ///< Of a read-modify-write: nothing may come in between.
};

constexpr bool acquires(std::memory_order order) noexcept {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}
constexpr bool releases(std::memory_order order) noexcept {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

class Memory {
public:
    /// Forgets all; `threads` of them begin, knowing every initial value.
    void reset();
    LocationId add_location(std::uint64_t value);

    /// Outside of an execution: the newest value, and the only one.
    [[nodiscard]] std::uint64_t newest(LocationId location) const;
    void overwrite(LocationId location, std::uint64_t value);

    /// Stores that a load may return, newest first. With `exclusive` those that a
    /// read-modify-write may still follow.
    [[nodiscard]] std::vector<StoreId> readable(int thread, LocationId location,
                                                std::memory_order order, bool exclusive) const;
    std::uint64_t read(int thread, LocationId location, StoreId store, std::memory_order order);

    /// Stores that a new store of `thread` may follow directly, newest first.
    [[nodiscard]] std::vector<StoreId> placements(int thread, LocationId location,
                                                  std::memory_order order) const;
    /// Puts a store behind `after`. `read_after`: it is a read-modify-write that read `after`.
    void write(int thread, LocationId location, std::uint64_t value, std::memory_order order,
               StoreId after, bool read_after, std::uint64_t step);

    void fence(int thread, std::memory_order order);

    /// The asymmetric pair, as weak as its two implementations allow together: a heavy fence has a
    /// begin, one moment per other thread in any order, and an end. A light fence of that thread
    /// before its moment is seen by the end, one after it sees the begin. Light fences order
    /// nothing among each other, and a thread without one is not affected. Both membarrier(2)
    /// (where the moment is the interrupt) and a pair of seq_cst fences promise more.
    void light_fence(int thread);
    void heavy_begin(int thread);
    void heavy_moment(int thread, int other);
    void heavy_end(int thread);

    /// The kernel's sleepers of a word: a comparison after a wake-up sees what the waker had seen,
    /// because both hold the lock of the queue. To the program the comparison is a read of that
    /// word and nothing more.
    void kernel_publish(int thread, LocationId location);
    void observe(int thread, LocationId location, StoreId store);
    [[nodiscard]] std::vector<StoreId> kernel_readable(int thread, LocationId location) const;

    [[nodiscard]] const Store& store_at(LocationId location, StoreId id) const {
        return locations_[location].stores[id];
    }
    [[nodiscard]] StoreId store_count(LocationId location) const {
        return static_cast<StoreId>(locations_[location].stores.size());
    }
    [[nodiscard]] Clock& clock(int thread) { return at(thread).now.clock; }

private:
    struct Location {
        std::vector<Store> stores;           // in the order of execution
        std::vector<StoreId> order;          // modification order
        std::vector<std::uint32_t> position; // of each store in `order`
        View kernel;                         // what wakers had seen
    };
    struct Thread {
        Knowledge now;
        Knowledge for_acquire_fence;
        Knowledge of_release_fence;
        View at_light_fence; // what its last light fence publishes to heavy ones
        View from_heavy;     // what its next light fence takes over
        View heavy_begun;    // of its heavy fence under way
        View heavy_collected;
    };

    [[nodiscard]] Thread& at(int thread) { return threads_[static_cast<std::size_t>(thread)]; }
    [[nodiscard]] const Thread& at(int thread) const {
        return threads_[static_cast<std::size_t>(thread)];
    }
    [[nodiscard]] std::uint32_t position(const View& view, LocationId location) const;
    [[nodiscard]] std::uint32_t oldest_allowed(int thread, LocationId location,
                                               std::memory_order order) const;
    [[nodiscard]] std::vector<StoreId> from_position(LocationId location, std::uint32_t oldest,
                                                     bool exclusive) const;
    void raise(View& view, LocationId location, StoreId store) const;
    void join_view(View& into, const View& other) const;
    void join_knowledge(Knowledge& into, const Knowledge& other) const;

    std::vector<Location> locations_;
    std::array<Thread, threads_max> threads_;
    View seq_cst_;
};

} // namespace corymb::verify
