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

    /// Keeps `wish` for buffers that are not known yet; it is prepared when they are.
    void expect(const Wish& wish) {
        is_known_ = false;
        wish_ = wish;
    }
    /// Throws as collective_call; then nothing has changed but that nothing is known.
    void prepare(const Member& member, const Wish& wish) {
        is_known_ = false;
        prepared_ = {collective_call(member, wish), nullptr};
        wish_ = wish;
        if (wish.is_vector) {
            keep_lists();
        }
        is_known_ = true;
    }
    /// Whether `other` equals the known wish, so that nothing is to be checked or computed. False
    /// negatives are allowed: such a call takes the long way.
    [[nodiscard]] bool is_for(const Wish& other) const noexcept {
        return other.is_vector == wish_.is_vector && other.is_scatter == wish_.is_scatter &&
               other.op == wish_.op && other.root == wish_.root && other.count == wish_.count &&
               other.reduction == wish_.reduction && may_have(other.input, other.output) &&
               (!other.is_vector || has_parts_of(other));
    }
    /// Whether the known wish may run with these buffers.
    [[nodiscard]] bool may_have(const void* input, const void* output) const noexcept {
        return is_known_ &&
               ((input == wish_.input && output == wish_.output) || are_apart(input, output));
    }
    /// Sets the buffers of the known wish. Only after `may_have` is true for them.
    void set_buffers(const void* input, void* output) noexcept {
        wish_.input = input;
        wish_.output = output;
        team::Operands& operands = prepared_.call.operands;
        operands.input = static_cast<const std::byte*>(input);
        operands.output = static_cast<std::byte*>(output);
    }
    [[nodiscard]] const Wish& wish() const noexcept { return wish_; }
    [[nodiscard]] PreparedCall& prepared() noexcept { return prepared_; }

private:
    [[nodiscard]] bool has_parts_of(const Wish& other) const noexcept {
        return other.input_size == wish_.input_size && other.output_size == wish_.output_size &&
               are_equal(other.input_parts, wish_.input_parts) &&
               are_equal(other.output_parts, wish_.output_parts);
    }
    [[nodiscard]] static bool are_equal(const Parts& one, const Parts& two) noexcept {
        return std::ranges::equal(one.counts, two.counts) &&
               std::ranges::equal(one.displacements, two.displacements);
    }
    /// A buffer that is not used here is mostly null, as it was before.
    [[nodiscard]] bool are_apart(const void* input, const void* output) const noexcept {
        const auto in = reinterpret_cast<std::uintptr_t>(input);
        const auto out = reinterpret_cast<std::uintptr_t>(output);
        return (in == 0) == (wish_.input == nullptr) && (out == 0) == (wish_.output == nullptr) &&
               (in + prepared_.call.input_bytes <= out || out + prepared_.call.output_bytes <= in);
    }
    /// The caller's lists are gone after the call.
    void keep_lists() {
        lists_.clear(); // A program whose lists change comes here at each call.
        for (const std::span<const std::size_t>* list : lists_of_wish()) {
            lists_.insert(lists_.end(), list->begin(), list->end());
        }
        const std::size_t* begin = lists_.data();
        for (std::span<const std::size_t>* list : lists_of_wish()) {
            *list = {begin, list->size()};
            begin += list->size();
        }
    }
    [[nodiscard]] std::array<std::span<const std::size_t>*, 4> lists_of_wish() noexcept {
        return {&wish_.input_parts.counts, &wish_.input_parts.displacements,
                &wish_.output_parts.counts, &wish_.output_parts.displacements};
    }

    bool is_known_ = false;
    Wish wish_;
    std::vector<std::size_t> lists_; ///< Memory of the lists of parts in the wish.
    PreparedCall prepared_;
};

} // namespace corymb::detail
