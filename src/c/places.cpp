// SPDX-License-Identifier: Apache-2.0
#include "c/places.hpp"

#include "c/status.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

namespace corymb::c {

namespace {

using detail::Wish;

[[noreturn]] void refuse_in_place(const Wish& wish, const char* what) {
    const bool elsewhere = is_rooted(wish.op) && wish.op != Collective::broadcast;
    refuse(std::string(to_string(wish.op)) + ": CORYMB_IN_PLACE cannot stand for the " + what +
           (elsewhere ? " here, or not on this rank" : " of this operation") +
           "; see CORYMB_IN_PLACE in corymb.h");
}

/// The address of this rank's part of a buffer that has one for each rank; sets the count to the
/// part's length. Overflow is refused when the buffer is checked.
std::uintptr_t own_part(Wish& wish, const void* buffer, const Parts& parts, Rank rank) {
    const auto own = static_cast<std::size_t>(rank);
    std::size_t first = own * wish.count;
    if (wish.is_vector) {
        wish.count = parts.counts[own];
        first =
            parts.displacements.empty()
                ? std::accumulate(parts.counts.begin(), parts.counts.begin() + rank, std::size_t{0})
                : parts.displacements[own];
    }
    return reinterpret_cast<std::uintptr_t>(buffer) + first * wish.reduction.element_bytes;
}

/// The input is where the output is, or this rank's part of it.
void take_input_from_output(Wish& wish, Rank rank) {
    const bool is_root = rank == wish.root || !is_rooted(wish.op);
    switch (wish.op) {
    case Collective::allreduce:
    case Collective::scan:
    case Collective::exscan:
    case Collective::reduce:
        if (is_root) {
            wish.input = wish.output;
            return;
        }
        break;
    case Collective::gather:
    case Collective::allgather:
        if (is_root) {
            wish.input =
                reinterpret_cast<const void*>(own_part(wish, wish.output, wish.output_parts, rank));
            return;
        }
        break;
    default: break;
    }
    refuse_in_place(wish, "input");
}

/// The opposite.
void take_output_from_input(Wish& wish, Rank rank) {
    const bool has_parts_here = wish.op == Collective::reduce_scatter ||
                                (wish.op == Collective::scatter && rank == wish.root);
    if (!has_parts_here) {
        refuse_in_place(wish, "output");
    }
    wish.output = reinterpret_cast<void*>(own_part(wish, wish.input, wish.input_parts, rank));
}

Parts parts_of(const Wish& wish, const std::size_t* counts, const std::size_t* displacements,
               int ranks) {
    if (counts == nullptr) {
        refuse(std::string(to_string(wish.op)) +
               "v: counts is NULL; it has an entry for each rank");
    }
    const auto size = static_cast<std::size_t>(ranks);
    Parts parts{{counts, size}};
    if (displacements != nullptr) {
        parts.displacements = {displacements, size};
    }
    return parts;
}

/// The lists of a buffer that this rank does not use may be null.
void set_parts(Wish& wish, const PartLists& lists, Rank rank, int size) {
    wish.is_vector = true;
    if (is_rooted(wish.op) && rank != wish.root) {
        return;
    }
    if (wish.op != Collective::gather && wish.op != Collective::allgather) {
        wish.input_parts = parts_of(wish, lists.in_counts, lists.in_displacements, size);
    }
    if (wish.op != Collective::scatter && wish.op != Collective::reduce_scatter) {
        wish.output_parts = parts_of(wish, lists.out_counts, lists.out_displacements, size);
    }
    if (wish.op == Collective::reduce_scatter) {
        wish.count = lists.in_counts[rank];
    }
}

} // namespace

void set_special_places(Wish& wish, const Arguments& arguments, Rank rank, int size) {
    if (arguments.parts) {
        set_parts(wish, *arguments.parts, rank, size);
    }
    const bool input_in_place = wish.input == CORYMB_IN_PLACE;
    const bool output_in_place = wish.output == CORYMB_IN_PLACE;
    if (input_in_place && output_in_place) {
        refuse(std::string(to_string(wish.op)) + ": input and output are both CORYMB_IN_PLACE");
    }
    if (input_in_place) {
        take_input_from_output(wish, rank);
    } else if (output_in_place) {
        take_output_from_input(wish, rank);
    }
}

} // namespace corymb::c
