// SPDX-License-Identifier: Apache-2.0
// Purpose: tells one thread which of many peers have something for it, at the price of a look at
// one
// bit each: 512 peers a cache line. The things themselves lie in other channels. After the
// notification vectors of "In-Memory Communication Mechanisms for Many-Cores" (Rotta, Prescher,
// Traue, Nolte, 2012), with bits that are set by read-modify-writes for bytes that change.
//
// Roles: one owner, who collects; any number of peers, each of which has a bit.
//
// Layout:
//   line    bytes  field     written by    read by
//   0       8      words     at the start  owner     how many words there are
//   2 + .   8      word[k]   owner, peers  owner     bit i: peer 64 k + i has something
//
// Protocol:
//   peer   1. make what it has visible in its own channel; 2. set its bit (P1).
//   owner  1. look at every word; 2. exchange those that are not 0 for 0 (P1); 3. look into the
//          channels of the peers whose bits were set, until they are empty.
//   A peer always sets its bit. Whether it is set already is no reason not to: the owner may have
//   looked into the channel before the message was there, and clear the bit afterwards.
//
// Order:
//   P1: release read-modify-write of word[k] in notify -> acquire exchange in collect: the owner
//       finds what the peer made visible before. The bits of peers that share a word form one
//       release sequence, so that an exchange acquires from all of them.
//
// Progress: wait-free on both sides.
//
// Checked by: verify/worlds/notification_world.cpp (two peers, no message stays behind; asleep).
#pragma once

#include "base/cache_line.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace corymb::channel {

template <class Env>
class NotificationVector {
public:
    using Word = typename Env::template Atomic<std::uint64_t>;
    static constexpr std::size_t peers_per_word = 64;

    static constexpr std::size_t words(std::size_t peers) noexcept {
        return (peers + peers_per_word - 1) / peers_per_word;
    }
    /// Bytes of a vector with its words.
    static constexpr std::size_t bytes(std::size_t peers) noexcept {
        return sizeof(NotificationVector) + words(peers) * sizeof(Word);
    }
    /// Constructed in `bytes(peers)` bytes.
    explicit NotificationVector(std::size_t peers) noexcept : words_(words(peers)) {
        for (std::size_t index = 0; index < words_; ++index) {
            new (first() + index * sizeof(Word)) Word;
        }
    }
    NotificationVector(const NotificationVector&) = delete;
    NotificationVector& operator=(const NotificationVector&) = delete;

    /// Peer: has something.
    void notify(std::size_t peer) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << (peer % peers_per_word);
        word(peer / peers_per_word).fetch_or(bit, std::memory_order_release); // P1 release
    }

    /// Owner: calls each(index, bits) for every word that is not 0, which is 0 afterwards. Bit i
    /// belongs to peer index * peers_per_word + i.
    template <class Each>
    void collect(const Each& each) {
        for (std::size_t index = 0; index < words_; ++index) {
            if (word(index).load(std::memory_order_relaxed) != 0) {
                each(index, word(index).exchange(0, std::memory_order_acquire)); // P1 acquire
            }
        }
    }
    /// Owner: whether `collect` would find something now.
    [[nodiscard]] bool any() noexcept {
        // Eight words at a time: that they are atomic keeps a compiler from doing it by itself.
        constexpr std::size_t step = 8;
        const std::size_t count = words_;
        Word* const words = &word(0);
        std::uint64_t bits = 0;
        std::size_t index = 0;
        for (; index + step <= count; index += step) {
            const auto at = [&](std::size_t k) {
                return words[index + k].load(std::memory_order_relaxed);
            };
            bits |= (at(0) | at(1) | at(2) | at(3)) | (at(4) | at(5) | at(6) | at(7));
        }
        for (; index < count; ++index) {
            bits |= words[index].load(std::memory_order_relaxed);
        }
        return bits != 0;
    }
    /// Owner: as `any`, of the first word, but for these bits.
    [[nodiscard]] bool any_besides(std::uint64_t known) noexcept {
        return (word(0).load(std::memory_order_relaxed) & ~known) != 0;
    }
    [[nodiscard]] Word& word(std::size_t index) noexcept {
        return *std::launder(reinterpret_cast<Word*>(first() + index * sizeof(Word)));
    }

private:
    [[nodiscard]] std::byte* first() noexcept {
        return reinterpret_cast<std::byte*>(this) + sizeof(NotificationVector);
    }

    alignas(line_pair_bytes) std::size_t words_;
};

} // namespace corymb::channel
