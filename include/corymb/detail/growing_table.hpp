// SPDX-License-Identifier: Apache-2.0
// A hash table of one thread that grows by one bucket at a time. Linear hashing: Litwin, 1980.
#pragma once

#include <corymb/error.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace corymb::detail {

/// Spreads what std::hash gives, which may be the number itself, over all bits. From SplitMix64
/// (Steele, Lea, Flood, 2014).
[[nodiscard]] constexpr std::uint64_t spread(std::uint64_t hash) noexcept {
    hash = (hash ^ hash >> 30U) * 0xbf58'476d'1ce4'e5b9U;
    hash = (hash ^ hash >> 27U) * 0x94d0'49bb'1331'11ebU;
    return hash ^ hash >> 31U;
}

/// Entries by key. The hash of a key is given with it, by `hash(key)` when the table grows. An
/// insertion splits one bucket and allocates pieces of a fixed size, so it takes no longer in a
/// large table. The table never shrinks; places of erased entries are used again.
template <class K, class V, class HashOf>
class GrowingTable {
public:
    struct Entry {
        K key;
        V value;
    };

    GrowingTable() = default;
    GrowingTable(const GrowingTable&) = delete;
    GrowingTable& operator=(const GrowingTable&) = delete;
    ~GrowingTable() {
        for_each([](Entry& entry) { entry.~Entry(); });
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] Entry* find(std::uint64_t hash, const K& key) const noexcept {
        if (buckets_ == 0) {
            return nullptr;
        }
        std::uint32_t place = bucket(hash);
        while (place != none && !(entry(place).key == key)) {
            place = next(place);
        }
        return place == none ? nullptr : &entry(place);
    }
    /// The key is not there. Throws std::bad_alloc; Errc::invalid_argument when it is full.
    template <class... Arguments>
    Entry& add(std::uint64_t hash, K key, Arguments&&... value) {
        grow();
        const std::uint32_t place = take_place();
        Entry& made = entry(place);
        try {
            new (&made) Entry{std::move(key), V(std::forward<Arguments>(value)...)};
        } catch (...) {
            give_back(place);
            throw;
        }
        std::uint32_t& first = bucket(hash);
        next(place) = std::exchange(first, place);
        ++size_;
        return made;
    }
    /// Whether it was there.
    bool erase(std::uint64_t hash, const K& key) noexcept {
        if (buckets_ == 0) {
            return false;
        }
        for (std::uint32_t* link = &bucket(hash); *link != none; link = &next(*link)) {
            const std::uint32_t place = *link;
            if (entry(place).key == key) {
                *link = next(place);
                entry(place).~Entry();
                give_back(place);
                --size_;
                return true;
            }
        }
        return false;
    }
    /// Calls f(entry) for each, which must not change the table.
    template <class F>
    void for_each(const F& f) const {
        for (std::size_t number = 0; number < buckets_; ++number) {
            for (std::uint32_t place = at(number); place != none;) {
                const std::uint32_t behind = next(place);
                f(entry(place));
                place = behind;
            }
        }
    }
    /// All that it has allocated.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return segments_.size() * sizeof(Segment) + chunks_.size() * sizeof(Chunk) +
               (segments_.capacity() + chunks_.capacity()) * sizeof(void*);
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;
    // Pieces of this length are about as large as a page, so one is made in about a microsecond.
    static constexpr std::size_t piece = 512;
    using Segment = std::array<std::uint32_t, piece>; ///< The first places of buckets.
    struct Chunk {
        std::array<std::uint32_t, piece> next;
        alignas(Entry) std::byte room[piece * sizeof(Entry)];
    };

    [[nodiscard]] Entry& entry(std::uint32_t place) const noexcept {
        std::byte* const room = chunks_[place / piece]->room + place % piece * sizeof(Entry);
        return *std::launder(reinterpret_cast<Entry*>(room));
    }
    [[nodiscard]] std::uint32_t& next(std::uint32_t place) const noexcept {
        return chunks_[place / piece]->next[place % piece];
    }
    [[nodiscard]] std::uint32_t& at(std::size_t number) const noexcept {
        return (*segments_[number / piece])[number % piece];
    }
    [[nodiscard]] std::uint32_t& bucket(std::uint64_t hash) const noexcept {
        const std::size_t half = std::bit_floor(buckets_);
        const std::size_t number = hash & (2 * half - 1);
        return at(number < buckets_ ? number : number - half);
    }

    /// As many buckets as entries at least.
    void grow() {
        if (size_ < buckets_) {
            return;
        }
        if (buckets_ % piece == 0) {
            segments_.push_back(std::make_unique<Segment>());
            segments_.back()->fill(none);
        }
        if (buckets_ == 0) {
            buckets_ = 1;
            return;
        }
        const std::size_t made = buckets_++;
        const std::size_t half = std::bit_floor(made);
        for (std::uint32_t* link = &at(made - half); *link != none;) {
            const std::uint32_t place = *link;
            if ((HashOf()(entry(place).key) & (2 * half - 1)) == made) {
                *link = next(place);
                next(place) = std::exchange(at(made), place);
            } else {
                link = &next(place);
            }
        }
    }
    std::uint32_t take_place() {
        if (free_ == none) {
            if (chunks_.size() == none / piece) {
                throw Error(Errc::invalid_argument, "a rank has room for 4 billion entries only");
            }
            chunks_.push_back(std::make_unique_for_overwrite<Chunk>());
            const auto first = static_cast<std::uint32_t>((chunks_.size() - 1) * piece);
            for (auto place = static_cast<std::uint32_t>(first + piece); place-- != first;) {
                give_back(place);
            }
        }
        return std::exchange(free_, next(free_));
    }
    void give_back(std::uint32_t place) noexcept { next(place) = std::exchange(free_, place); }

    std::vector<std::unique_ptr<Segment>> segments_;
    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::size_t buckets_ = 0;
    std::size_t size_ = 0;
    std::uint32_t free_ = none; ///< The first free place.
};

} // namespace corymb::detail
