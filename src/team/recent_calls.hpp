// SPDX-License-Identifier: Apache-2.0
// The last calls of a rank. Programs repeat a few calls, with the same or other buffers:
// checking and preparing each anew would take a good part of a small operation.
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

class RecentCalls {
public:
    RecentCalls() noexcept {
        for (Entry& entry : entries_) {
            entry.follower = &entry;
        }
    }
    RecentCalls(const RecentCalls&) = delete;
    RecentCalls& operator=(const RecentCalls&) = delete;

    /// The call for `wish`, valid until the next one is asked for. Throws as collective_call.
    PreparedCall& call_for(const Member& member, const Wish& wish) {
        Entry* next = last_->follower;
        if (!next->is_for(wish)) {
            next = last_->follower = &entry_for(member, wish);
        }
        last_ = next;
        Entry& entry = *next;
        entry.wish.input = wish.input;
        entry.wish.output = wish.output;
        team::Operands& operands = entry.prepared.call.operands;
        operands.input = static_cast<const std::byte*>(wish.input);
        operands.output = static_cast<std::byte*>(wish.output);
        return entry.prepared;
    }

private:
    struct Entry {
        bool is_known = false;
        Wish wish;
        std::vector<std::size_t> lists; ///< What the parts of the wish point to.
        PreparedCall prepared;
        Entry* follower = nullptr; ///< What was called after it the last time.

        /// Whether all that collective_call would check and compute is known. What is not plainly
        /// so goes the long way.
        [[nodiscard]] bool is_for(const Wish& other) const noexcept {
            return is_known && other.is_vector == wish.is_vector && other.op == wish.op &&
                   other.root == wish.root && other.count == wish.count &&
                   other.reduction == wish.reduction &&
                   (has_buffers_of(other) || are_apart(other.input, other.output)) &&
                   (!other.is_vector || has_parts_of(other));
        }
        [[nodiscard]] bool has_parts_of(const Wish& other) const noexcept {
            return other.input_size == wish.input_size && other.output_size == wish.output_size &&
                   are_equal(other.input_parts, wish.input_parts) &&
                   are_equal(other.output_parts, wish.output_parts);
        }
        [[nodiscard]] static bool are_equal(const Parts& one, const Parts& two) noexcept {
            return std::ranges::equal(one.counts, two.counts) &&
                   std::ranges::equal(one.displacements, two.displacements);
        }
        /// The caller's lists are gone after the call.
        void keep_lists() {
            lists.clear(); // Programs whose lists change come here at each call.
            for (const std::span<const std::size_t>* list : lists_of_wish()) {
                lists.insert(lists.end(), list->begin(), list->end());
            }
            const std::size_t* begin = lists.data();
            for (std::span<const std::size_t>* list : lists_of_wish()) {
                *list = {begin, list->size()};
                begin += list->size();
            }
        }
        [[nodiscard]] std::array<std::span<const std::size_t>*, 4> lists_of_wish() noexcept {
            return {&wish.input_parts.counts, &wish.input_parts.displacements,
                    &wish.output_parts.counts, &wish.output_parts.displacements};
        }
        [[nodiscard]] bool has_buffers_of(const Wish& other) const noexcept {
            return other.input == wish.input && other.output == wish.output;
        }
        [[nodiscard]] bool are_apart(const void* input, const void* output) const noexcept {
            const auto in = reinterpret_cast<std::uintptr_t>(input);
            const auto out = reinterpret_cast<std::uintptr_t>(output);
            return in != 0 && out != 0 &&
                   (in + prepared.call.input_bytes <= out ||
                    out + prepared.call.output_bytes <= in);
        }
    };

    /// Operation, root and count are what differs between the calls of a program.
    [[nodiscard]] static std::size_t index_of(const Wish& wish) noexcept {
        return (static_cast<std::size_t>(wish.op) * 3 + static_cast<std::size_t>(wish.root) +
                wish.count) %
               entry_count;
    }

    /// Apart: programs repeat the same calls in the same order.
    [[gnu::noinline]] Entry& entry_for(const Member& member, const Wish& wish) {
        Entry& entry = entries_[index_of(wish)];
        if (!entry.is_for(wish)) {
            prepare(entry, member, wish);
        }
        return entry;
    }

    static void prepare(Entry& entry, const Member& member, const Wish& wish) {
        entry.is_known = false;
        entry.prepared = {collective_call(member, wish), nullptr};
        entry.wish = wish;
        if (wish.is_vector) {
            entry.keep_lists();
        }
        entry.is_known = true;
    }

    static constexpr std::size_t entry_count = 8;
    std::array<Entry, entry_count> entries_;
    Entry* last_ = entries_.data(); ///< Of the last call.
};

} // namespace corymb::detail
