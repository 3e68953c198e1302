// SPDX-License-Identifier: Apache-2.0
#include "c/places.hpp"

#include "c/status.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

namespace corymb::c {

namespace {

[[noreturn]] void refuse_in_place(const CollectiveOperation& operation, const char* what) {
    const bool elsewhere = is_rooted(operation.op) && operation.op != Collective::broadcast;
    refuse(std::string(to_string(operation.op)) + ": CORYMB_IN_PLACE cannot stand for the " + what +
           (elsewhere ? " here, or not on this rank" : " of this operation") +
           "; see CORYMB_IN_PLACE in corymb.h");
}

/// The address of this rank's part of a buffer that has one for each rank; sets the count to the
/// part's length. Overflow is refused when the buffer is checked.
std::uintptr_t own_part(CollectiveOperation& operation, const void* buffer, const Parts& parts,
                        Rank rank) {
    const auto own = static_cast<std::size_t>(rank);
    std::size_t first = own * operation.count;
    if (operation.is_vector) {
        operation.count = parts.counts[own];
        first =
            parts.displacements.empty()
                ? std::accumulate(parts.counts.begin(), parts.counts.begin() + rank, std::size_t{0})
                : parts.displacements[own];
    }
    return reinterpret_cast<std::uintptr_t>(buffer) + first * operation.reduction.element_bytes;
}

/// The input is where the output is, or this rank's part of it.
void take_input_from_output(CollectiveOperation& operation, Rank rank) {
    const bool is_root = rank == operation.root || !is_rooted(operation.op);
    switch (operation.op) {
    case Collective::allreduce:
    case Collective::scan:
    case Collective::exscan:
    case Collective::reduce:
        if (is_root) {
            operation.input = operation.output;
            return;
        }
        break;
    case Collective::gather:
    case Collective::allgather:
        if (is_root) {
            operation.input = reinterpret_cast<const void*>(
                own_part(operation, operation.output, operation.output_parts, rank));
            return;
        }
        break;
    default: break;
    }
    refuse_in_place(operation, "input");
}

/// The opposite.
void take_output_from_input(CollectiveOperation& operation, Rank rank) {
    const bool has_parts_here = operation.op == Collective::reduce_scatter ||
                                (operation.op == Collective::scatter && rank == operation.root);
    if (!has_parts_here) {
        refuse_in_place(operation, "output");
    }
    operation.output =
        reinterpret_cast<void*>(own_part(operation, operation.input, operation.input_parts, rank));
}

Parts parts_of(const CollectiveOperation& operation, const std::size_t* counts,
               const std::size_t* displacements, int ranks) {
    if (counts == nullptr) {
        refuse(std::string(to_string(operation.op)) +
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
void set_parts(CollectiveOperation& operation, const PartLists& lists, Rank rank, int size) {
    operation.is_vector = true;
    if (is_rooted(operation.op) && rank != operation.root) {
        return;
    }
    if (operation.op != Collective::gather && operation.op != Collective::allgather) {
        operation.input_parts = parts_of(operation, lists.in_counts, lists.in_displacements, size);
    }
    if (operation.op != Collective::scatter && operation.op != Collective::reduce_scatter) {
        operation.output_parts =
            parts_of(operation, lists.out_counts, lists.out_displacements, size);
    }
    if (operation.op == Collective::reduce_scatter) {
        operation.count = lists.in_counts[rank];
    }
}

} // namespace

void set_special_places(CollectiveOperation& operation, const Arguments& arguments, Rank rank,
                        int size) {
    if (arguments.parts) {
        set_parts(operation, *arguments.parts, rank, size);
    }
    const bool input_in_place = operation.input == CORYMB_IN_PLACE;
    const bool output_in_place = operation.output == CORYMB_IN_PLACE;
    if (input_in_place && output_in_place) {
        refuse(std::string(to_string(operation.op)) +
               ": input and output are both CORYMB_IN_PLACE");
    }
    if (input_in_place) {
        take_input_from_output(operation, rank);
    } else if (output_in_place) {
        take_output_from_input(operation, rank);
    }
}

} // namespace corymb::c
