// SPDX-License-Identifier: Apache-2.0
// Operations that move data. Ranks may describe the data by different datatypes; only its length in
// bytes is common to all. So all of these operations are taken over, as bytes.
#include "data/aliasing.hpp"
#include "data/elements.hpp"
#include "entry/calls.hpp"
#include "entry/dispatch.hpp"

namespace corymb::mpi {

namespace {

bool is_valid(MPI_Count count, MPI_Datatype type) noexcept {
    return count >= 0 && is_usable(type);
}

std::size_t bytes_of(MPI_Count count, const Layout& layout) noexcept {
    return static_cast<std::size_t>(count) * layout.size;
}

Work bytes_work(corymb_collective op, std::size_t bytes, int root = 0) noexcept {
    Work work(op, bytes, CORYMB_BYTE);
    work.root = root;
    return work;
}

CallMeaning moving(corymb_collective op, std::size_t bytes) noexcept {
    return {op, bytes, CORYMB_BYTE, CORYMB_NO_OP, bytes};
}

/// Whether calls of this type always have one meaning.
bool is_kept(const Layout& layout) noexcept {
    return layout.is_dense && layout.is_predefined;
}

/// Bytes of as many parts as there are ranks.
std::size_t bytes_of_all(const Dispatch& dispatch, std::size_t bytes) noexcept {
    return static_cast<std::size_t>(dispatch.size()) * bytes;
}

/// The type of a count. For empty data some libraries take any type in some calls, even none: ranks
/// without data give one.
MPI_Datatype type_of(Operation operation, MPI_Count count, MPI_Datatype type) noexcept {
#if defined(OPEN_MPI)
    constexpr Operation takes_any = Operation::scatter;
#else
    constexpr Operation takes_any = Operation::bcast;
#endif
    return count == 0 && operation == takes_any ? host().type_byte : type;
}

} // namespace

int barrier(const Call& call, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    if (!dispatch.has_team()) {
        return dispatch.pass_on(Reason::no_team);
    }
    return dispatch.take(0, [] { return bytes_work(CORYMB_BARRIER, 0); });
}

int bcast(const Call& call, void* buffer, MPI_Count count, MPI_Datatype type, int root,
          MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    const CallShape shape{call.operation, count, type, {}, root};
    if (const KeptCall* const known = dispatch.kept(shape, nullptr, buffer)) [[likely]] {
        return dispatch.take(*known, nullptr, buffer);
    }
    if (!dispatch.has_team()) {
        return dispatch.pass_on(Reason::no_team, count, type);
    }
    type = type_of(call.operation, count, type);
    if (!is_valid(count, type) || !dispatch.is_rank(root) || buffer == MPI_IN_PLACE) {
        return dispatch.pass_on(Reason::arguments);
    }
    const Layout layout = layout_of(type);
    const std::size_t bytes = bytes_of(count, layout);
    if (is_kept(layout)) {
        CallMeaning meaning = moving(CORYMB_BROADCAST, bytes);
        meaning.has_input = false;
        dispatch.keep(shape, meaning, nullptr, buffer);
    }
    return dispatch.take(bytes, [=, &dispatch, &layout] {
        Work work = bytes_work(CORYMB_BROADCAST, bytes, root);
        work.write(buffer, count, layout);
        if (dispatch.rank() == root) {
            work.read_from_output(buffer, 0, count, layout);
            work.do_not_store();
        }
        return work;
    });
}

int gather(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
           MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    const CallShape shape{call.operation, in_count, in_type, {}, root, out_count, out_type};
    if (const KeptCall* const known = dispatch.kept(shape, in, out)) [[likely]] {
        return dispatch.take(*known, in, out);
    }
    if (!dispatch.has_team()) {
        return in == MPI_IN_PLACE ? dispatch.pass_on(Reason::no_team, out_count, out_type)
                                  : dispatch.pass_on(Reason::no_team, in_count, in_type);
    }
    const bool is_root = dispatch.rank() == root;
    const bool in_place = in == MPI_IN_PLACE;
    if (!dispatch.is_rank(root) || (in_place && !is_root) ||
        (!in_place && !is_valid(in_count, in_type)) ||
        (is_root && (out == MPI_IN_PLACE || !is_valid(out_count, out_type)))) {
        return dispatch.pass_on(Reason::arguments);
    }
    const Layout own = is_root ? layout_of(out_type) : layout_of(in_type);
    const std::size_t bytes = bytes_of(is_root ? out_count : in_count, own);
    if (is_root && is_aliased({in, in_count, in_type},
                              from_element(out_count * root, {out, out_count, out_type}, own))) {
        return dispatch.refuse_aliased();
    }
    if (is_kept(own) && (in_place || is_kept(layout_of(in_type)))) {
        CallMeaning meaning = moving(CORYMB_GATHER, bytes);
        meaning.has_output = is_root;
        meaning.in_bytes = bytes;
        meaning.out_bytes = is_root ? bytes_of_all(dispatch, bytes) : 0;
        dispatch.keep(shape, meaning, in, out);
    }
    return dispatch.take(bytes, [=, &dispatch, &own] {
        Work work = bytes_work(CORYMB_GATHER, bytes, root);
        if (is_root) {
            work.write(out, out_count * dispatch.size(), own);
        }
        if (in_place) {
            work.input = CORYMB_IN_PLACE;
            work.read_from_output(out, out_count * root, out_count, own);
        } else {
            work.read(in, in_count, layout_of(in_type));
        }
        return work;
    });
}

int scatter(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
            MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    const CallShape shape{call.operation, in_count, in_type, {}, root, out_count, out_type};
    if (const KeptCall* const known = dispatch.kept(shape, in, out)) [[likely]] {
        return dispatch.take(*known, in, out);
    }
    if (!dispatch.has_team()) {
        return out == MPI_IN_PLACE ? dispatch.pass_on(Reason::no_team, in_count, in_type)
                                   : dispatch.pass_on(Reason::no_team, out_count, out_type);
    }
    const bool is_root = dispatch.rank() == root;
    const bool in_place = out == MPI_IN_PLACE;
    in_type = type_of(call.operation, in_count, in_type);
    if (!dispatch.is_rank(root) || (in_place && !is_root) ||
        (!in_place && !is_valid(out_count, out_type)) ||
        (is_root && (in == MPI_IN_PLACE || !is_valid(in_count, in_type)))) {
        return dispatch.pass_on(Reason::arguments);
    }
    const Layout own = is_root ? layout_of(in_type) : layout_of(out_type);
    const std::size_t bytes = bytes_of(is_root ? in_count : out_count, own);
    if (is_root && is_aliased(from_element(in_count * root, {in, in_count, in_type}, own),
                              {out, out_count, out_type})) {
        return dispatch.refuse_aliased();
    }
    if (is_kept(own) && (in_place || is_kept(layout_of(out_type)))) {
        CallMeaning meaning = moving(CORYMB_SCATTER, bytes);
        meaning.has_input = is_root;
        meaning.in_bytes = is_root ? bytes_of_all(dispatch, bytes) : 0;
        meaning.out_bytes = bytes;
        dispatch.keep(shape, meaning, in, out);
    }
    return dispatch.take(bytes, [=, &dispatch, &own] {
        Work work = bytes_work(CORYMB_SCATTER, bytes, root);
        if (is_root) {
            work.read(in, in_count * dispatch.size(), own);
        }
        if (in_place) {
            work.output = CORYMB_IN_PLACE;
        } else {
            work.write(out, out_count, layout_of(out_type));
        }
        return work;
    });
}

int allgather(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
              MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    const CallShape shape{call.operation, in_count, in_type, {}, 0, out_count, out_type};
    if (const KeptCall* const known = dispatch.kept(shape, in, out)) [[likely]] {
        return dispatch.take(*known, in, out);
    }
    if (!dispatch.has_team()) {
        return dispatch.pass_on(Reason::no_team, out_count, out_type);
    }
    const bool in_place = in == MPI_IN_PLACE;
    if (out == MPI_IN_PLACE || !is_valid(out_count, out_type) ||
        (!in_place && !is_valid(in_count, in_type))) {
        return dispatch.pass_on(Reason::arguments);
    }
    const Layout layout = layout_of(out_type);
    const std::size_t bytes = bytes_of(out_count, layout);
    if (is_aliased({in, in_count, in_type},
                   from_element(out_count * dispatch.rank(), {out, out_count, out_type}, layout))) {
        return dispatch.refuse_aliased();
    }
    if (is_kept(layout) && (in_place || is_kept(layout_of(in_type)))) {
        CallMeaning meaning = moving(CORYMB_ALLGATHER, bytes);
        meaning.in_bytes = bytes;
        meaning.out_bytes = bytes_of_all(dispatch, bytes);
        dispatch.keep(shape, meaning, in, out);
    }
    return dispatch.take(bytes, [=, &dispatch, &layout] {
        Work work = bytes_work(CORYMB_ALLGATHER, bytes);
        work.write(out, out_count * dispatch.size(), layout);
        if (in_place) {
            work.input = CORYMB_IN_PLACE;
            work.read_from_output(out, out_count * dispatch.rank(), out_count, layout);
        } else {
            work.read(in, in_count, layout_of(in_type));
        }
        return work;
    });
}

int alltoall(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
             MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    const CallShape shape{call.operation, in_count, in_type, {}, 0, out_count, out_type};
    if (const KeptCall* const known = dispatch.kept(shape, in, out)) [[likely]] {
        return dispatch.take(*known, in, out);
    }
    if (!dispatch.has_team()) {
        return dispatch.pass_on_list(Reason::no_team, [&] {
            const MPI_Count all = out_count * dispatch.size();
            return all > 0 ? bytes_of(all, layout_of(out_type)) : 0;
        });
    }
    const bool in_place = in == MPI_IN_PLACE;
    if (out == MPI_IN_PLACE || !is_valid(out_count, out_type) ||
        (!in_place && !is_valid(in_count, in_type))) {
        return dispatch.pass_on(Reason::arguments);
    }
    const Layout layout = layout_of(out_type);
    const std::size_t bytes = bytes_of(out_count, layout);
    if (is_aliased({in, in_count, in_type}, {out, out_count, out_type})) {
        return dispatch.refuse_aliased();
    }
    if (is_kept(layout) && (in_place || is_kept(layout_of(in_type)))) {
        CallMeaning meaning = moving(CORYMB_ALLTOALL, bytes);
        meaning.bytes = meaning.in_bytes = meaning.out_bytes = bytes_of_all(dispatch, bytes);
        dispatch.keep(shape, meaning, in, out);
    }
    return dispatch.take(bytes * static_cast<std::size_t>(dispatch.size()),
                         [=, &dispatch, &layout] {
                             Work work = bytes_work(CORYMB_ALLTOALL, bytes);
                             work.write(out, out_count * dispatch.size(), layout);
                             if (in_place) {
                                 work.read_copy(out, out_count * dispatch.size(), layout);
                             } else {
                                 work.read(in, in_count * dispatch.size(), layout_of(in_type));
                             }
                             return work;
                         });
}

} // namespace corymb::mpi
