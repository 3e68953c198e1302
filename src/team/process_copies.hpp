// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "base/copy_bytes.hpp"
#include "team/addresses.hpp"
#include "team/bounce.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace corymb::team {

/// Copies of one rank between this process's memory and other processes' memory. If the copy
/// combines or the places lie badly (`lie_badly`), it goes through memory of this object.
///
/// An `arrive(incoming, offset, to)` copies or combines a piece that has come, the bytes of the
/// message from `offset` on, into `to`. A `guarded(write)` calls `write()` if the team is whole, as
/// the copy gate wants it. Each function returns false when a copy is refused.
template <class Env>
class ProcessCopies {
public:
    /// Copies from `there` in another process to as many bytes at `to`. Calls `arrive` if the
    /// message `folds`, whose elements have `element` bytes, or if the places lie badly.
    template <class Arrive>
    [[nodiscard]] bool fetch(std::uint32_t process, const Address& there, const Address& to,
                             bool folds, std::size_t element, const Arrive& arrive) {
        if (!folds && !lie_badly(to.data, there.data)) {
            return Env::read_process(process, there.data, written(to.data), there.bytes);
        }
        return in_parts(there.bytes, most(element), [&](std::size_t offset, std::size_t part) {
            const std::byte* const from = there.data + offset;
            std::byte* const here = incoming_.room(from, part);
            if (!Env::read_process(process, from, here, part)) {
                return false;
            }
            arrive(here, offset, Address{to.data + offset, part});
            return true;
        });
    }

    /// `own` to `room.to` in the process that `peer` is in.
    template <class Peer, class Guarded>
    [[nodiscard]] bool put(Peer& peer, const Room& room, const Address& own,
                           const Guarded& guarded) {
        // A rank that gives up waits for one write at most.
        constexpr std::size_t write_bytes = std::size_t{4} << 20;
        const bool lies_badly = lie_badly(room.to.data, own.data);
        const std::size_t bytes = lies_badly ? most(1) : write_bytes;
        return in_parts(own.bytes, bytes, [&](std::size_t offset, std::size_t part) {
            const std::byte* from = own.data + offset;
            if (lies_badly) {
                std::byte* const out = outgoing_.room(room.to.data + offset, part);
                copy_bytes(out, from, part);
                from = out;
            }
            return guarded([&] { return write(peer, room.to.data + offset, from, part); });
        });
    }

    /// Writes to `room.to` the result of `arrive` for `room.from`, both in the peer's process.
    template <class Peer, class Arrive, class Guarded>
    [[nodiscard]] bool put_folded(Peer& peer, const Room& room, std::size_t element,
                                  const Arrive& arrive, const Guarded& guarded) {
        return in_parts(room.to.bytes, most(element), [&](std::size_t offset, std::size_t part) {
            const std::byte* const from = room.from.data + offset;
            std::byte* const here = incoming_.room(from, part);
            if (!Env::read_process(peer.process, from, here, part)) {
                return false;
            }
            std::byte* const out = outgoing_.room(room.to.data + offset, part);
            arrive(here, offset, Address{out, part});
            return guarded([&] { return write(peer, room.to.data + offset, out, part); });
        });
    }

private:
    /// Bytes that bounce at a time: whole elements, and they stay in a core's cache.
    static constexpr std::size_t most(std::size_t element) noexcept {
        constexpr std::size_t bounce_bytes = std::size_t{128} << 10;
        return std::max(bounce_bytes / element, std::size_t{1}) * element;
    }

    /// Calls move(offset, bytes) for parts of at most `most` bytes until one call returns false.
    template <class Move>
    static bool in_parts(std::size_t bytes, std::size_t most, const Move& move) {
        for (std::size_t offset = 0; offset < bytes;) {
            const std::size_t part = std::min(most, bytes - offset);
            if (!move(offset, part)) {
                return false;
            }
            offset += part;
        }
        return true;
    }

    template <class Peer>
    static bool write(Peer& peer, const std::byte* there, const std::byte* here,
                      std::size_t bytes) noexcept {
        return is_alive(peer) && Env::write_process(peer.process, written(there), here, bytes);
    }

    /// Whether the peer's process is still there, and not one that has got its number: nothing may
    /// be written into that. To have been sure within a millisecond is good enough for a write that
    /// follows: the kernel hands out all other numbers first, which are thousands.
    template <class Peer>
    static bool is_alive(Peer& peer) noexcept {
        constexpr std::int64_t sure_ns = 1'000'000;
        const std::int64_t now = now_ns();
        if (now >= peer.alive_until_ns) {
            if (!Env::is_marked(peer.process, peer.mark)) {
                return false;
            }
            peer.alive_until_ns = now + sure_ns;
        }
        return true;
    }

    /// Addresses of both directions are const (Engine::bytes_of); this one is never an `input`.
    static std::byte* written(const std::byte* data) noexcept {
        return const_cast<std::byte*>(data);
    }

    Bounce incoming_, outgoing_;
};

} // namespace corymb::team
