// SPDX-License-Identifier: Apache-2.0
// An arena is a list of chunks. Objects are cut from the front of a chunk, table entries from its
// end, so that entries never share a cache line with an object. The first chunk begins with the
// root. Entries are a tree by the bits of their keys' hashes: a team of 32 ranks has ten thousands
// of edges, and a tree, unlike a table, grows without moving entries that others may be reading.
// Every change ends in a commit: a process that is killed meanwhile leaks some bytes, nothing else.
//
// Roles: one writer at a time, which has the memory's lock; any number of ranks that search, with
// the
// lock or without. Neither entries nor objects move or go until the arena is dropped, and no rank
// may
// search then.
//
// Protocol: a search follows the words that name entries from a root on and ends at the key, or at
// a word that was 0 when it was read, once: then the key was not there. A thread that wants to make
// the key takes the lock and searches again. A writer finishes object and entry and then commits
// the entry to the word at which its own search has ended. Invariant: such a word changes only
// once,
// from 0 to an entry.
//
// Order: A1: commit of that word (release) <-> `committed` of a search (acquire). A thread that
// sees
// an entry sees its key, its zeros and its object as it was made. Later writes of an object's users
// have orders of their own.
//
// Progress: a search is wait-free, in steps as many as the tree is deep.
//
// Checked by: tests/unit/base/arena_test.cpp, two threads that search and publish at the same place
// in every instant of each other, also under ThreadSanitizer.
#include "base/arena.hpp"

#include "base/assert.hpp"
#include "base/commit.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <vector>

namespace corymb {

namespace {

constexpr unsigned bucket_bits = 6;
constexpr unsigned branch_bits = 2;

} // namespace

struct Arena::Chunk {
    Offset self; ///< Invariant: the chunk's own place.
    Offset next; ///< The chunk before it; 0: this is the first.
    std::uint64_t bytes;
    std::uint64_t front; ///< First free byte, from the chunk's begin. Invariant: at most `back`.
    std::uint64_t back;  ///< End of the free bytes. Invariant: at most `bytes`.
};

struct Arena::Root {
    Offset newest;       ///< The chunk that small objects are cut from.
    std::uint64_t bytes; ///< Invariant: at least the bytes of all chunks.
    std::array<Offset, 1U << bucket_bits> buckets;
};

struct Arena::Entry {
    ArenaKey key;  ///< Invariant: no other entry has it.
    Offset object; ///< Invariant: behind the head of a chunk and aligned as objects are.
    std::array<Offset, 1U << branch_bits> below; ///< Entries below, by further bits of the hash.
};

namespace {

constexpr std::size_t first_chunk_bytes = 4096;
constexpr std::size_t large_chunk_bytes = std::size_t{64} << 10;
constexpr std::size_t large_object_bytes = first_chunk_bytes / 2;

/// For assertions: memory is handed out once.
bool is_zero(const std::byte* memory, std::uint64_t bytes) noexcept {
    return std::all_of(memory, memory + bytes, [](std::byte one) { return one == std::byte{}; });
}

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

std::uint64_t hash_of(const ArenaKey& key) noexcept {
    std::uint64_t mixed = key.id;
    for (const auto part :
         {static_cast<std::uint64_t>(key.kind), std::uint64_t{key.lane},
          static_cast<std::uint64_t>(key.from), static_cast<std::uint64_t>(key.to)}) {
        mixed = (mixed ^ part) * 0x9e3779b97f4a7c15u;
        mixed ^= mixed >> 29;
    }
    return mixed;
}

} // namespace

Arena::Arena(Memory& memory) : memory_(&memory), root_(0) {
    const std::lock_guard lock(memory);
    const Offset first = memory.take(first_chunk_bytes);
    constexpr std::uint64_t root_at = rounded_up(sizeof(Chunk), object_alignment);
    auto& start = *new (memory.at(first)) Chunk{};
    start.self = first;
    start.bytes = start.back = first_chunk_bytes;
    start.front = rounded_up(root_at + sizeof(Root), object_alignment);
    auto& root = *new (memory.at(first + root_at)) Root{};
    root.newest = first;
    root.bytes = first_chunk_bytes;
    root_ = first + root_at;
}

Arena::Root& Arena::header() const noexcept {
    return *std::launder(reinterpret_cast<Root*>(memory_->at(root_)));
}

Arena::Chunk& Arena::chunk(Offset offset) const {
    auto& found = *std::launder(reinterpret_cast<Chunk*>(memory_->at(offset)));
    CORYMB_ASSERT(found.self == offset);
    CORYMB_ASSERT(found.front <= found.back && found.back <= found.bytes);
    return found;
}

Arena::Entry& Arena::entry(Offset offset) const noexcept {
    return *std::launder(reinterpret_cast<Entry*>(memory_->at(offset)));
}

Arena::Place Arena::place_of(const ArenaKey& key) const noexcept {
    Root& root = header();
    std::uint64_t hash = hash_of(key);
    Offset* word = &root.buckets[hash % root.buckets.size()];
    hash >>= bucket_bits;
    for (;;) {
        const Offset at = committed(*word); // A1 acquire
        if (at == 0) {
            return {*word, nullptr};
        }
        Entry& here = entry(at);
        if (here.key == key) {
            return {*word, &here};
        }
        word = &here.below[hash % here.below.size()]; // Bits that have run out are zeros.
        hash >>= branch_bits;
    }
}

std::byte* Arena::find(const ArenaKey& key) const noexcept {
    const Entry* const found = place_of(key).entry;
    return found == nullptr ? nullptr : memory_->at(found->object);
}

/// For assertions: the bytes of all chunks that can be reached.
std::uint64_t Arena::bytes_of_chunks() const {
    std::uint64_t bytes = 0;
    for (Offset at = header().newest; at != 0; at = chunk(at).next) {
        bytes += chunk(at).bytes;
    }
    return bytes;
}

void Arena::visit(const std::function<void(const ArenaKey&, std::byte*)>& see) const {
    const auto& buckets = header().buckets;
    std::vector<const Offset*> places;
    std::ranges::transform(buckets, std::back_inserter(places),
                           [](const Offset& of) { return &of; });
    while (!places.empty()) {
        const Offset at = committed(*places.back());
        places.pop_back();
        if (at != 0) {
            const Entry& here = entry(at);
            see(here.key, memory_->at(here.object));
            std::ranges::transform(here.below, std::back_inserter(places),
                                   [](const Offset& of) { return &of; });
        }
    }
}

Arena::Chunk& Arena::new_chunk(std::size_t bytes, Offset next) {
    constexpr std::uint64_t head = rounded_up(sizeof(Chunk), object_alignment);
    const std::size_t whole = rounded_up(head + bytes, first_chunk_bytes);
    const Offset made = memory_->take(whole);
    auto& start = *new (memory_->at(made)) Chunk{};
    start.self = made;
    start.bytes = start.back = whole;
    start.front = head;
    start.next = next;
    header().bytes += whole;
    CORYMB_ASSERT(start.front >= sizeof(Chunk) && start.front + bytes <= start.back);
    CORYMB_ASSERT(start.self == made && start.back <= start.bytes && start.bytes <= whole);
    return start;
}

Arena::Chunk& Arena::chunk_with_room(std::size_t bytes) {
    Root& root = header();
    Chunk& newest = chunk(root.newest);
    if (newest.front + bytes <= newest.back) {
        return newest;
    }
    // A large object has a chunk of its own; the rest of the newest chunk stays in use.
    if (bytes >= large_object_bytes) {
        Chunk& made = new_chunk(bytes, newest.next);
        commit(newest.next, made.self);
        CORYMB_DEBUG_ASSERT(bytes_of_chunks() <= root.bytes);
        return made;
    }
    // Small teams stay small, large ones take few chunks.
    Chunk& made =
        new_chunk(std::clamp<std::size_t>(root.bytes, first_chunk_bytes / 2, large_chunk_bytes / 2),
                  root.newest);
    commit(root.newest, made.self);
    CORYMB_DEBUG_ASSERT(bytes_of_chunks() <= root.bytes);
    return made;
}

Offset Arena::allocate(std::size_t bytes) {
    const std::uint64_t length = rounded_up(bytes, object_alignment);
    Chunk& from = chunk_with_room(length);
    const std::uint64_t before = from.front;
    const Offset object = from.self + before;
    commit(from.front, before + length);
    CORYMB_ASSERT(from.front >= before + bytes && from.front <= from.back);
    CORYMB_ASSERT(object % object_alignment == 0 && object >= from.self + sizeof(Chunk));
    CORYMB_DEBUG_ASSERT(is_zero(memory_->at(object), length));
    return object;
}

void Arena::publish(const ArenaKey& key, Offset object) {
    constexpr std::uint64_t length = rounded_up(sizeof(Entry), alignof(std::uint64_t));
    Chunk& from = chunk_with_room(length);
    const std::uint64_t before = from.back;
    commit(from.back, before - length);
    CORYMB_ASSERT(from.back + sizeof(Entry) <= before && from.front <= from.back);
    const Offset made = from.self + from.back;
    new (memory_->at(made)) Entry{key, object, {}};
    const Place place = place_of(key);
    CORYMB_ASSERT(place.entry == nullptr);
    commit(place.word, made); // A1 release
    CORYMB_DEBUG_ASSERT(find(key) == memory_->at(object));
}

std::size_t Arena::bytes() const {
    const std::lock_guard lock(*memory_);
    return header().bytes;
}

void Arena::drop() noexcept {
    change_if_possible(*memory_, [this] { drop_locked(); });
}

void Arena::drop_locked() noexcept {
    Offset at = header().newest;
    root_ = 0;
    while (at != 0) {
        const auto& one = *std::launder(reinterpret_cast<const Chunk*>(memory_->at(at)));
        if (one.self != at) { // What cannot be trusted is left, rather than given to others.
            return;
        }
        const Offset next = one.next;
        memory_->give_back(at, one.bytes);
        at = next;
    }
}

} // namespace corymb
