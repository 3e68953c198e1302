// SPDX-License-Identifier: Apache-2.0
// Looks once at a group of each kind, through an arena whose memory is only read.
#pragma once

#include "base/arena.hpp"
#include "group/group.hpp"

#include <corymb/trace.hpp>

#include <cstdint>
#include <optional>

namespace corymb::trace {

// Empty: the arena holds something else.
[[nodiscard]] std::optional<TracedGroup> look_at_multicast(const Arena& arena);
[[nodiscard]] std::optional<TracedGroup> look_at_broadcast(const Arena& arena);
[[nodiscard]] std::optional<TracedGroup> look_at_mailboxes(const Arena& arena);

/// A word that another process writes with a lock that a looker does not take.
[[nodiscard]] std::uint32_t unlocked(const std::uint32_t& word) noexcept;
/// The holder of a place or, if there is none, the last one that was lost; 0: there was none.
[[nodiscard]] std::uint32_t process_of(const group::Place& place) noexcept;
/// TracedMember::process.
[[nodiscard]] std::string process_of(std::uint32_t pid);

} // namespace corymb::trace
