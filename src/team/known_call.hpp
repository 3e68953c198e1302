// SPDX-License-Identifier: Apache-2.0
// A call of which all is known that can be known before it is made again: checked, prepared, and
// with its program once it has run.
#pragma once

#include "team/call.hpp"

#include <corymb/team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corymb::detail {

/// A call, and the program that performs its blocking form: null until there was one.
struct PreparedCall {
    Call call;
    LaneEnd::Program* program = nullptr;
};

class KnownCall {
public:
    KnownCall() noexcept = default;
    KnownCall(const KnownCall&) = delete;
    KnownCall& operator=(const KnownCall&) = delete;

    /// Keeps `operation` for buffers that are not known yet; it is prepared when they are.
    void expect(const CollectiveOperation& operation) {
        is_known_ = false;
        operation_ = operation;
    }
    /// Throws as collective_call; then nothing has changed but that nothing is known.
    void prepare(const Member& member, const CollectiveOperation& operation) {
        is_known_ = false;
        prepared_ = {collective_call(member, operation), nullptr};
        operation_ = operation;
        if (operation.is_vector) {
            keep_lists();
        }
        is_known_ = true;
    }
    /// Whether `other` equals the known operation, so that nothing is to be checked or computed.
    /// False negatives are allowed: such a call takes the long way.
    [[nodiscard]] bool is_for(const CollectiveOperation& other) const noexcept {
        return other.is_vector == operation_.is_vector &&
               other.is_scatter == operation_.is_scatter && other.op == operation_.op &&
               other.root == operation_.root && other.count == operation_.count &&
               other.reduction == operation_.reduction && may_have(other.input, other.output) &&
               (!other.is_vector || has_parts_of(other));
    }
    /// Whether the known operation may run with these buffers.
    [[nodiscard]] bool may_have(const void* input, const void* output) const noexcept {
        return is_known_ && ((input == operation_.input && output == operation_.output) ||
                             are_apart(input, output));
    }
    /// Sets the buffers of the known operation. Only after `may_have` is true for them.
    void set_buffers(const void* input, void* output) noexcept {
        operation_.input = input;
        operation_.output = output;
        team::Operands& operands = prepared_.call.operands;
        operands.input = static_cast<const std::byte*>(input);
        operands.output = static_cast<std::byte*>(output);
    }
    [[nodiscard]] const CollectiveOperation& operation() const noexcept { return operation_; }
    [[nodiscard]] PreparedCall& prepared() noexcept { return prepared_; }

private:
    [[nodiscard]] bool has_parts_of(const CollectiveOperation& other) const noexcept {
        return other.input_size == operation_.input_size &&
               other.output_size == operation_.output_size &&
               are_equal(other.input_parts, operation_.input_parts) &&
               are_equal(other.output_parts, operation_.output_parts);
    }
    [[nodiscard]] static bool are_equal(const Parts& one, const Parts& two) noexcept {
        return std::ranges::equal(one.counts, two.counts) &&
               std::ranges::equal(one.displacements, two.displacements);
    }
    /// A buffer that is not used here is mostly null, as it was before.
    [[nodiscard]] bool are_apart(const void* input, const void* output) const noexcept {
        const auto in = reinterpret_cast<std::uintptr_t>(input);
        const auto out = reinterpret_cast<std::uintptr_t>(output);
        return (in == 0) == (operation_.input == nullptr) &&
               (out == 0) == (operation_.output == nullptr) &&
               (in + prepared_.call.input_bytes <= out || out + prepared_.call.output_bytes <= in);
    }
    /// The caller's lists are gone after the call.
    void keep_lists() {
        lists_.clear(); // A program whose lists change comes here at each call.
        for (const std::span<const std::size_t>* list : lists_of_operation()) {
            lists_.insert(lists_.end(), list->begin(), list->end());
        }
        const std::size_t* begin = lists_.data();
        for (std::span<const std::size_t>* list : lists_of_operation()) {
            *list = {begin, list->size()};
            begin += list->size();
        }
    }
    [[nodiscard]] std::array<std::span<const std::size_t>*, 4> lists_of_operation() noexcept {
        return {&operation_.input_parts.counts, &operation_.input_parts.displacements,
                &operation_.output_parts.counts, &operation_.output_parts.displacements};
    }

    bool is_known_ = false;
    CollectiveOperation operation_;
    std::vector<std::size_t> lists_; ///< Memory of the lists of parts in the operation.
    PreparedCall prepared_;
};

} // namespace corymb::detail
