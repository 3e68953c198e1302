// SPDX-License-Identifier: Apache-2.0
// TCP sockets that do not block, and what the kernel knows of their peers.
#pragma once

#include "base/descriptor.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace corymb::tcp {

/// A moment of now_ns().
using Moment = std::int64_t;

/// Where a socket is. The host of a socket is a number, such as 10.0.0.1.
struct Place {
    std::string host;
    std::uint16_t port = 0;
};
[[nodiscard]] Place place_of(int socket);
[[nodiscard]] Place place_of_peer(int socket);
/// Whether no other node reaches it.
[[nodiscard]] bool is_loopback(int socket) noexcept;

/// A listener for so many ranks at a free port of `host`, a name or an address. Throws Errc::io.
[[nodiscard]] Descriptor listen_at(const std::string& host, int ranks);
/// The next connection; -1: there is none now. Throws Errc::io if there is no descriptor for it.
[[nodiscard]] Descriptor accept_at(int listener);
/// Throws Errc::io, and Errc::timeout after `end`. `whom` is for people.
[[nodiscard]] Descriptor connect_to(const Place& place, Moment end, const std::string& whom);
/// Whether all bytes were written, or read; false: the peer has closed the connection or it has
/// failed. Throw Errc::timeout after `end`.
bool write_all(int socket, std::span<const std::byte> bytes, Moment end);
bool read_all(int socket, std::span<std::byte> bytes, Moment end);

/// Has the kernel ask the peer's kernel for a sign of life when the peer has been silent.
void keep_asking(int socket, std::chrono::seconds lost_after);
/// How long ago the peer's node has answered, if it owes an answer; 0: it owes none. A peer that
/// reads nothing is answered for by its kernel.
[[nodiscard]] std::chrono::milliseconds silence_of(int socket) noexcept;
/// Whether the peer's kernel has everything, or nothing more can be done.
[[nodiscard]] bool has_delivered(int socket) noexcept;
/// What errno means.
[[nodiscard]] std::string text_of(int error);

} // namespace corymb::tcp
