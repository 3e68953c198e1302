// SPDX-License-Identifier: Apache-2.0
// Why a call was left to the MPI below.
#pragma once

#include <cstdint>

namespace corymb::mpi {

enum class Reason : std::uint8_t {
    none, ///< The call was taken over.
    early,
    arguments,
    bounds,
    no_kernel,
    no_hook,
    passed_by,
    not_by_thread,
    no_tags,
    no_translation,
    alone,
    between_groups,
    beyond_world,
    no_team,
    trial,
    slower,
    planning,
    nodes_apart,
};

/// Bits that ranks combine when they agree on a team: why there is none.
enum class Objection : std::uint64_t {
    switched_off = 1,
    no_library = 2,
    too_many = 4,
    no_memory = 8,
    not_initialised = 16,
    no_messages = 32,
    not_shared = 64,
    not_attached = 128,
    other_memory = 256,
    wrong_network = 512,
    not_yet = 1024, ///< No reason against one later: the calls have not taken long enough.
};

/// Text for people, for reasons that need no more words.
[[nodiscard]] const char* text_of(Reason reason) noexcept;
[[nodiscard]] const char* text_of(Objection objection) noexcept;

} // namespace corymb::mpi
