// SPDX-License-Identifier: Apache-2.0
// The shared objects of one team: found by key, made by the first rank that asks, given back all at
// once. Objects stay where they are until then, so their addresses can be kept. No object may hold
// an address: processes map the memory at different places.
#pragma once

#include "base/cache_line.hpp"
#include "base/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace corymb {

/// The name of an object: its kind and the ranks that it connects. The user defines the fields'
/// meaning.
struct ArenaKey {
    std::uint32_t kind = 0;
    std::uint32_t lane = 0;
    std::int32_t from = -1;
    std::int32_t to = -1;
    std::uint64_t id = 0;

    bool operator==(const ArenaKey&) const = default;
};

/// A handle: copies name the same arena. Does not own the memory; the last user calls `drop`.
class Arena {
public:
    /// A new one.
    explicit Arena(Memory& memory);
    /// The arena whose `root` another handle, perhaps in another process, has told.
    Arena(Memory& memory, Offset root) noexcept : memory_(&memory), root_(root) {}

    [[nodiscard]] Offset root() const noexcept { return root_; }
    [[nodiscard]] Memory& memory() const noexcept { return *memory_; }

    /// The object of a key, made out of `arguments` when there is none; without arguments its
    /// members start as their default initialisers say, the rest as zeros. Takes the lock to make
    /// it. Throws what `Memory::take` throws.
    template <class T, class... Arguments>
    T& find_or_make(const ArenaKey& key, Arguments&&... arguments) {
        return *find_or_make_sized<T>(key, sizeof(T), [&](void* place) {
            if constexpr (sizeof...(Arguments) == 0) {
                new (place) T; // Not T(): payload stays untouched, and so without pages.
            } else {
                new (place) T(std::forward<Arguments>(arguments)...);
            }
        });
    }

    /// As find_or_make for a T that is followed by more, `bytes` in all; `make(place)` constructs
    /// it.
    template <class T, class Make>
    T* find_or_make_sized(const ArenaKey& key, std::size_t bytes, const Make& make) {
        static_assert(std::is_trivially_destructible_v<T>, "an arena is dropped without a look");
        static_assert(alignof(T) <= object_alignment);
        std::byte* place = find(key); // Ranks that wait look at each other's objects all the time.
        if (place == nullptr) {
            const std::lock_guard lock(*memory_);
            place = find(key);
            if (place == nullptr) {
                const Offset object = allocate(bytes);
                place = memory_->at(object);
                make(place);
                publish(key, object);
            }
        }
        return std::launder(reinterpret_cast<T*>(place));
    }

    /// The object of a key, or null. Call it with the lock held, or in an arena that is not dropped
    /// meanwhile. Takes steps in the logarithm of the number of objects.
    [[nodiscard]] std::byte* find(const ArenaKey& key) const noexcept;
    /// Calls `see` for all objects, in no order.
    void visit(const std::function<void(const ArenaKey&, std::byte*)>& see) const;
    /// Memory without a key, zeros. Call it with the lock held. Throws what `Memory::take` throws.
    [[nodiscard]] Offset allocate(std::size_t bytes);

    /// Bytes taken from the memory so far, by all ranks.
    [[nodiscard]] std::size_t bytes() const;

    /// Gives everything back. Nobody may use the arena any more, nor any object in it.
    void drop() noexcept;
    /// As `drop`, with the lock held.
    void drop_locked() noexcept;

    static constexpr std::size_t object_alignment = line_pair_bytes;

private:
    struct Root;
    struct Chunk;
    struct Entry;
    struct Place {
        Offset& word; ///< The word that names the entry of a key, or would.
        Entry* entry; ///< Null where there was none.
    };

    [[nodiscard]] Root& header() const noexcept;
    [[nodiscard]] Chunk& chunk(Offset offset) const;
    [[nodiscard]] Entry& entry(Offset offset) const noexcept;
    [[nodiscard]] Place place_of(const ArenaKey& key) const noexcept;
    [[nodiscard]] Chunk& chunk_with_room(std::size_t bytes);
    [[nodiscard]] Chunk& new_chunk(std::size_t bytes, Offset next);
    [[nodiscard]] std::uint64_t bytes_of_chunks() const;
    void publish(const ArenaKey& key, Offset object);

    Memory* memory_;
    Offset root_;
};

} // namespace corymb
