// SPDX-License-Identifier: Apache-2.0
// Operations of a corymb_operation that are more than a collective of whole buffers: messages, and
// data that does not lie in one piece.
#pragma once

#include "c/calls.hpp"

#include <corymb/packed.hpp>
#include <corymb/request.hpp>
#include <corymb/team.hpp>

#include <cstddef>

namespace corymb::c {

[[nodiscard]] inline bool is_message(const corymb_operation& operation) noexcept {
    return operation.op == CORYMB_SEND || operation.op == CORYMB_RECV;
}
[[nodiscard]] inline bool is_packed(const corymb_operation& operation) noexcept {
    return operation.packed_input != nullptr || operation.packed_output != nullptr;
}

/// A layout's elements as bytes; of none for NULL. Throws Errc::invalid_argument.
[[nodiscard]] Packed<std::byte> bytes_of(const corymb_packed* layout, corymb_type type);

/// A packed collective, staged: its staging packs and unpacks. Throws Errc::invalid_argument.
[[nodiscard]] Arguments packed_arguments(const corymb_operation& operation, const Team& team);

// The three forms of a message. They throw its errors.
void run_message(const corymb_operation& message, Team& team);
[[nodiscard]] Request start_message(const corymb_operation& message, Team& team);
[[nodiscard]] Request prepare_message(const corymb_operation& message, Team& team);

} // namespace corymb::c
