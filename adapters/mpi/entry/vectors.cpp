// SPDX-License-Identifier: Apache-2.0
// Operations that move parts of different lengths. As in moves.cpp all are taken over, as bytes;
// ranks may know different lists. Where they do, calls of all sizes are tried together.
#include "data/aliasing.hpp"
#include "data/elements.hpp"
#include "entry/calls.hpp"
#include "entry/dispatch.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace corymb::mpi {

namespace {

/// Takes down the parts of a buffer as a program's lists have them; none when MPI would refuse
/// them.
void take_down(ProgramParts& parts, int size, Counts counts, Displacements places,
               MPI_Datatype type) {
    if (!counts.exists() || !places.exists() || !is_usable(type)) {
        return;
    }
    parts.layout = layout_of(type);
    parts.list.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
        if (counts[rank] < 0) {
            parts.list.clear();
            return;
        }
        parts.list.push_back({places[rank] * parts.layout.extent, counts[rank], &parts.layout});
    }
}

/// As the other `take_down`, for alltoallw, whose places are bytes.
void take_down(ProgramParts& parts, int size, Counts counts, Displacements places,
               const MPI_Datatype* types) {
    if (!counts.exists() || !places.exists() || types == nullptr) {
        return;
    }
    parts.layouts.reserve(static_cast<std::size_t>(size));
    parts.list.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
        // For empty parts MPI libraries do not look at the type.
        const MPI_Datatype type = counts[rank] == 0 ? host().type_byte : types[rank];
        if (counts[rank] < 0 || !is_usable(type)) {
            parts.list.clear();
            return;
        }
        parts.layouts.push_back(layout_of(type));
        parts.list.push_back({places[rank], counts[rank], parts.layouts.end() - 1});
    }
}

std::size_t bytes_of(MPI_Count count, const Layout& layout) noexcept {
    return static_cast<std::size_t>(count) * layout.size;
}

bool is_valid(MPI_Count count, MPI_Datatype type) noexcept {
    return count >= 0 && is_usable(type);
}

/// The sum of all ranks' counts; -1: one is negative, or the sum is too large.
MPI_Count sum_of(Counts counts, int size) noexcept {
    MPI_Count sum = 0;
    for (int rank = 0; rank < size; ++rank) {
        if (counts[rank] < 0 || __builtin_add_overflow(sum, counts[rank], &sum)) {
            return -1;
        }
    }
    return sum;
}

Described part_at(const void* buffer, MPI_Aint offset, MPI_Count count,
                  MPI_Datatype type) noexcept {
    const auto* const begin = static_cast<const std::byte*>(buffer);
    return {begin == nullptr ? nullptr : begin + offset, count, type};
}

Described part_of(int rank, const void* buffer, Counts counts, Displacements places,
                  MPI_Datatype type) {
    return part_at(buffer, places[rank] * layout_of(type).extent, counts[rank], type);
}

/// Whether MPI would take the lists.
bool are_valid(int size, Counts counts, Displacements places, MPI_Datatype type) noexcept {
    return counts.exists() && places.exists() && is_valid(sum_of(counts, size), type);
}

/// Bytes that lists of alltoallw describe; -1: MPI would refuse them.
MPI_Count bytes_of(int size, Counts counts, const MPI_Datatype* types) {
    if (!counts.exists() || types == nullptr) {
        return -1;
    }
    MPI_Count bytes = 0;
    for (int rank = 0; rank < size; ++rank) {
        if (counts[rank] == 0) { // For empty parts MPI libraries do not look at the type.
            continue;
        }
        if (!is_valid(counts[rank], types[rank])) {
            return -1;
        }
        bytes += counts[rank] * static_cast<MPI_Count>(layout_of(types[rank]).size);
    }
    return bytes;
}

/// `count` is the length of this rank's own part, if a buffer has only one.
Work vector_work(corymb_collective op, std::size_t count, int root = 0) noexcept {
    Work work(op, count, CORYMB_BYTE);
    work.root = root;
    work.parts.emplace();
    return work;
}

/// Bytes that go to each rank, and that are to come from each.
struct Traffic {
    explicit Traffic(int size)
        : sent(static_cast<std::size_t>(size)), expected(static_cast<std::size_t>(size)) {}
    void set(std::vector<std::uint64_t>& side, int rank, std::size_t bytes) {
        side[static_cast<std::size_t>(rank)] = bytes;
    }
    void set(std::vector<std::uint64_t>& side, const ProgramParts& parts) {
        std::ranges::transform(parts.list, side.begin(), [](const ProgramPart& part) {
            return static_cast<std::uint64_t>(part.elements) * part.layout->size;
        });
    }
    /// Leaves out a rank's data for itself, which stays in place.
    void set_own(int rank) {
        const auto own = static_cast<std::size_t>(rank);
        sent[own] = expected[own] = 0;
    }

    std::vector<std::uint64_t> sent, expected;
};

/// `describe` fills in this rank's. Whether the MPI is to do the call; without memory it is not.
template <class Describe>
bool has_bounds(Dispatch& dispatch, const Describe& describe) {
    if (dispatch.has_bounds()) {
        return true;
    }
    if (!dispatch.compares_lists()) [[likely]] {
        return false;
    }
    Traffic traffic(dispatch.size());
    describe(traffic);
    return dispatch.find_bounds(traffic.sent.data(), traffic.expected.data());
}

/// `take_in` and `take_out` copy lists that describe so many bytes. `is_alike`: both sides have
/// equal lists and types.
template <class TakeIn, class TakeOut>
int exchange(Dispatch& dispatch, const void* in, MPI_Count in_bytes, const TakeIn& take_in,
             void* out, MPI_Count out_bytes, const TakeOut& take_out, bool is_alike) {
    const bool in_place = in == MPI_IN_PLACE;
    if (out == MPI_IN_PLACE || out_bytes < 0 || (!in_place && in_bytes < 0)) {
        return dispatch.pass_on(Reason::arguments);
    }
    // If they are not alike, other parts of the array may be sent and received.
    if (is_alike &&
        is_aliased({in, out_bytes, host().type_byte}, {out, out_bytes, host().type_byte})) {
        return dispatch.refuse_aliased();
    }
    const auto describe = [&](Traffic& traffic) {
        ProgramParts parts;
        take_out(parts);
        traffic.set(traffic.expected, parts);
        ProgramParts in_parts;
        if (!in_place) {
            take_in(in_parts);
        }
        traffic.set(traffic.sent, in_place ? parts : in_parts);
    };
    if (has_bounds(dispatch, describe)) {
        return dispatch.leave_bounds(static_cast<std::uint64_t>(out_bytes));
    }
    return dispatch.take(static_cast<std::size_t>(out_bytes), [&] {
        ProgramParts out_parts;
        take_out(out_parts);
        ProgramParts in_parts;
        if (!in_place) {
            take_in(in_parts);
        }
        Work work = vector_work(CORYMB_ALLTOALL, 0);
        work.write_parts(out, out_parts);
        work.read_parts(in_place ? out : in, in_place ? out_parts : in_parts, in_place);
        return work;
    });
}

} // namespace

std::uint64_t listed_bytes(int parts, Counts counts, MPI_Datatype type) {
    const MPI_Count all = counts.exists() ? sum_of(counts, parts) : 0;
    return all > 0 ? bytes_of(all, layout_of(type)) : 0;
}

std::uint64_t listed_bytes(int parts, Counts counts, const MPI_Datatype* types) {
    return static_cast<std::uint64_t>(std::max<MPI_Count>(bytes_of(parts, counts, types), 0));
}

int gatherv(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
            Counts out_counts, Displacements out_places, MPI_Datatype out_type, int root,
            MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    if (!dispatch.has_team()) {
        return in == MPI_IN_PLACE ? dispatch.pass_on(Reason::no_team)
                                  : dispatch.pass_on(Reason::no_team, in_count, in_type);
    }
    if (dispatch.is_mpis()) {
        return dispatch.leave();
    }
    const bool is_root = dispatch.rank() == root;
    const bool in_place = in == MPI_IN_PLACE;
    if (!dispatch.is_rank(root) || (in_place && !is_root) ||
        (!in_place && !is_valid(in_count, in_type)) ||
        (is_root &&
         (out == MPI_IN_PLACE || !are_valid(dispatch.size(), out_counts, out_places, out_type)))) {
        return dispatch.pass_on(Reason::arguments);
    }
    if (is_root &&
        is_aliased({in, in_count, in_type}, part_of(root, out, out_counts, out_places, out_type))) {
        return dispatch.refuse_aliased();
    }
    const Layout layout = in_place ? Layout{} : layout_of(in_type);
    const std::size_t bytes = bytes_of(in_place ? 0 : in_count, layout);
    const auto describe = [&](Traffic& traffic) {
        traffic.set(traffic.sent, root, bytes);
        ProgramParts parts;
        if (is_root) {
            take_down(parts, dispatch.size(), out_counts, out_places, out_type);
            traffic.set(traffic.expected, parts);
        }
        if (in_place) {
            traffic.set_own(root);
        }
    };
    if (has_bounds(dispatch, describe)) {
        return dispatch.leave_bounds(bytes);
    }
    return dispatch.take(bytes, [&] {
        Work work = vector_work(CORYMB_GATHER, bytes, root);
        ProgramParts parts;
        if (is_root) {
            take_down(parts, dispatch.size(), out_counts, out_places, out_type);
            work.write_parts(out, parts);
        }
        if (in_place) {
            work.input = CORYMB_IN_PLACE;
            work.read_part_from_output(out, parts, root);
        } else {
            work.read(in, in_count, layout);
        }
        return work;
    });
}

int scatterv(const Call& call, const void* in, Counts in_counts, Displacements in_places,
             MPI_Datatype in_type, void* out, MPI_Count out_count, MPI_Datatype out_type, int root,
             MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    if (!dispatch.has_team()) {
        return out == MPI_IN_PLACE ? dispatch.pass_on(Reason::no_team)
                                   : dispatch.pass_on(Reason::no_team, out_count, out_type);
    }
    if (dispatch.is_mpis()) {
        return dispatch.leave();
    }
    const bool is_root = dispatch.rank() == root;
    const bool in_place = out == MPI_IN_PLACE;
    if (!dispatch.is_rank(root) || (in_place && !is_root) ||
        (!in_place && !is_valid(out_count, out_type)) ||
        (is_root &&
         (in == MPI_IN_PLACE || !are_valid(dispatch.size(), in_counts, in_places, in_type)))) {
        return dispatch.pass_on(Reason::arguments);
    }
    if (is_root &&
        is_aliased(part_of(root, in, in_counts, in_places, in_type), {out, out_count, out_type})) {
        return dispatch.refuse_aliased();
    }
    const Layout layout = in_place ? Layout{} : layout_of(out_type);
    const std::size_t bytes = bytes_of(in_place ? 0 : out_count, layout);
    const auto describe = [&](Traffic& traffic) {
        traffic.set(traffic.expected, root, bytes);
        ProgramParts parts;
        if (is_root) {
            take_down(parts, dispatch.size(), in_counts, in_places, in_type);
            traffic.set(traffic.sent, parts);
        }
        if (in_place) {
            traffic.set_own(root);
        }
    };
    if (has_bounds(dispatch, describe)) {
        return dispatch.leave_bounds(bytes);
    }
    return dispatch.take(bytes, [&] {
        Work work = vector_work(CORYMB_SCATTER, bytes, root);
        if (is_root) {
            ProgramParts parts;
            take_down(parts, dispatch.size(), in_counts, in_places, in_type);
            work.read_parts(in, parts, false);
        }
        if (in_place) {
            work.output = CORYMB_IN_PLACE;
        } else {
            work.write(out, out_count, layout);
        }
        return work;
    });
}

int allgatherv(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type,
               void* out, Counts out_counts, Displacements out_places, MPI_Datatype out_type,
               MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    if (!dispatch.has_team()) {
        return dispatch.pass_on_list(
            Reason::no_team, [&] { return listed_bytes(dispatch.size(), out_counts, out_type); });
    }
    const bool in_place = in == MPI_IN_PLACE;
    const bool has_parts = out_counts.exists() && out_places.exists();
    const MPI_Count all = has_parts ? sum_of(out_counts, dispatch.size()) : -1;
    if (out == MPI_IN_PLACE || !is_valid(all, out_type) ||
        (!in_place && !is_valid(in_count, in_type))) {
        return dispatch.pass_on(Reason::arguments);
    }
    const Layout out_layout = layout_of(out_type);
    const Described own = part_at(out, out_places[dispatch.rank()] * out_layout.extent,
                                  out_counts[dispatch.rank()], out_type);
    if (is_aliased({in, in_count, in_type}, own)) {
        return dispatch.refuse_aliased();
    }
    // All ranks know all lengths. Where they lie matters only if corymb does it.
    return dispatch.take(bytes_of(all, out_layout), [&] {
        const Layout layout = in_place ? Layout{} : layout_of(in_type);
        ProgramParts parts;
        take_down(parts, dispatch.size(), out_counts, out_places, out_type);
        Work work = vector_work(CORYMB_ALLGATHER, bytes_of(in_place ? 0 : in_count, layout));
        work.write_parts(out, parts);
        if (in_place) {
            work.input = CORYMB_IN_PLACE;
            work.read_part_from_output(out, parts, dispatch.rank());
        } else {
            work.read(in, in_count, layout);
        }
        return work;
    });
}

int alltoallv(const Call& call, const void* in, Counts in_counts, Displacements in_places,
              MPI_Datatype in_type, void* out, Counts out_counts, Displacements out_places,
              MPI_Datatype out_type, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    if (!dispatch.has_team()) {
        return dispatch.pass_on_list(
            Reason::no_team, [&] { return listed_bytes(dispatch.size(), out_counts, out_type); });
    }
    if (dispatch.is_mpis()) {
        return dispatch.leave();
    }
    const int size = dispatch.size();
    const auto bytes = [size](Counts counts, Displacements places, MPI_Datatype type) {
        return are_valid(size, counts, places, type)
                   ? sum_of(counts, size) * static_cast<MPI_Count>(layout_of(type).size)
                   : -1;
    };
    return exchange(
        dispatch, in, in == MPI_IN_PLACE ? 0 : bytes(in_counts, in_places, in_type),
        [&](ProgramParts& parts) { take_down(parts, size, in_counts, in_places, in_type); }, out,
        bytes(out_counts, out_places, out_type),
        [&](ProgramParts& parts) { take_down(parts, size, out_counts, out_places, out_type); },
        in_counts == out_counts && in_type == out_type);
}

int alltoallw(const Call& call, const void* in, Counts in_counts, Displacements in_places,
              const MPI_Datatype* in_types, void* out, Counts out_counts, Displacements out_places,
              const MPI_Datatype* out_types, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    if (!dispatch.has_team()) {
        return dispatch.pass_on_list(
            Reason::no_team, [&] { return listed_bytes(dispatch.size(), out_counts, out_types); });
    }
    if (dispatch.is_mpis()) {
        return dispatch.leave();
    }
    const int size = dispatch.size();
    const auto bytes = [size](Counts counts, Displacements places, const MPI_Datatype* types) {
        return places.exists() ? bytes_of(size, counts, types) : -1;
    };
    return exchange(
        dispatch, in, in == MPI_IN_PLACE ? 0 : bytes(in_counts, in_places, in_types),
        [&](ProgramParts& parts) { take_down(parts, size, in_counts, in_places, in_types); }, out,
        bytes(out_counts, out_places, out_types),
        [&](ProgramParts& parts) { take_down(parts, size, out_counts, out_places, out_types); },
        in_counts == out_counts && in_types == out_types);
}

} // namespace corymb::mpi
