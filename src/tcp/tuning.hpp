// SPDX-License-Identifier: Apache-2.0
// The numbers of the carrier over TCP. All are reasoned; none depends on a machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corymb::tcp::tuning {

/// How long a stranger may take to say the key. A connection with its first bytes takes a few round
/// trips. Too small: ranks behind a bad network are refused. Too large: strangers hold descriptors.
inline constexpr std::int64_t stranger_ns = 5'000'000'000;
/// Strangers at once, beside the ranks that are still to come; one more pushes out the oldest. Too
/// small: a scanner delays ranks. Too large: it takes the descriptors of the process.
inline constexpr std::size_t strangers_most = 16;
/// How long a rank that ends waits for its peers' kernels to have its last bytes. Several times the
/// kernel's first repetition of what was lost, 0.2 s. Too small: last messages are lost. Too large:
/// a program ends late when a peer has gone silently.
inline constexpr std::int64_t farewell_ns = 1'000'000'000;
/// A nap in that wait: short against a round trip by a program, long against a system call.
inline constexpr std::int64_t farewell_nap_ns = 1'000'000;
/// Looks after silent peers in the time after which one counts as ended. Too small: that is noticed
/// late. Too large: looks cost.
inline constexpr int looks_of_a_loss = 4;
/// Signs of life that the kernel asks for before it gives a silent peer up. Fewer: one lost packet
/// ends a connection.
inline constexpr int probes = 3;
/// Bytes that one read takes: enough for many short messages, and they stay in a cache.
inline constexpr std::size_t read_bytes = 65'536;

} // namespace corymb::tcp::tuning
