// SPDX-License-Identifier: Apache-2.0
// Operations that combine. The standard wants one count, type and operator on all ranks. So all
// ranks know whether there is a kernel, and whether the MPI's can stand in for one.
#include "below/library.hpp"
#include "data/aliasing.hpp"
#include "data/elements.hpp"
#include "data/operators.hpp"
#include "entry/calls.hpp"
#include "entry/dispatch.hpp"

#include <optional>

namespace corymb::mpi {

namespace {

const void* input_of(const void* in) noexcept {
    return in == MPI_IN_PLACE ? CORYMB_IN_PLACE : in;
}

/// The terms of a reduction that is taken over, or the reason why it is not.
struct Reducing {
    Reducing() noexcept {} // NOLINT(modernize-use-equals-default): leaves room of by_host as it is.

    corymb_type type = CORYMB_NO_TYPE;
    corymb_op op = CORYMB_NO_OP;
    std::size_t bytes = 0; ///< From one element to the next.
    Reason refused = Reason::none;
    /// Both libraries give the same answer (Answer); if not, one of them does all calls.
    bool may_choose = true;
    std::optional<HostKernel> by_host; ///< Without a kernel of corymb's.
    const Layout* gapped = nullptr;    ///< With a kernel of corymb, whose elements have gaps.
};

/// The program's memory keeps the gaps of its elements; null: they have none.
const Layout* gapped(const Reducing& how) noexcept {
    return how.by_host && how.by_host->has_gaps ? &how.by_host->layout : how.gapped;
}

Reducing reducing(const Dispatch& dispatch, MPI_Count count, MPI_Datatype type, MPI_Op op) {
    Reducing how;
    if (!dispatch.has_team()) {
        how.refused = Reason::no_team;
    } else if (count < 0 || type == host().type_null || op == host().op_null) {
        how.refused = Reason::arguments;
    } else if (const Kernel* const kernel = kernel_of(type, op)) [[likely]] {
        how.type = kernel->type;
        how.op = kernel->op;
        how.bytes = kernel->bytes;
        how.may_choose = is_one_answer(kernel->answer, dispatch.size());
        how.gapped = kernel->gapped;
    } else if (!is_usable(type)) {
        how.refused = Reason::arguments;
    } else if (how.by_host = host_kernel_of(type, op); !how.by_host) {
        how.refused = Reason::no_kernel;
    } else if (dispatch.is_by_thread()) {
        how.refused = Reason::not_by_thread;
    } else {
        how.bytes = static_cast<std::size_t>(how.by_host->layout.extent);
        how.type = library().type_of_bytes(how.bytes);
        how.may_choose = is_one_answer(how.by_host->answer, dispatch.size());
    }
    return how;
}

std::size_t elements(MPI_Count count) noexcept {
    return static_cast<std::size_t>(count);
}

Work reduction_work(corymb_collective op, const Call& call, std::size_t count,
                    const Reducing& how) {
    Work work(op, count, how.type);
    work.with = how.op;
    if (how.by_host) [[unlikely]] {
        work.combine_by(*how.by_host, call.form);
    }
    return work;
}

/// Nothing is to be copied before and after.
bool may_keep(const Reducing& how) noexcept {
    return !how.by_host && how.gapped == nullptr;
}

CallMeaning meaning_of(corymb_collective op, MPI_Count count, const Reducing& how) noexcept {
    CallMeaning meaning{
        op, elements(count), how.type, how.op, elements(count) * how.bytes, how.may_choose};
    meaning.in_bytes = meaning.out_bytes = meaning.bytes;
    return meaning;
}

/// Sets the buffers of operations that read as much as they write.
void set_buffers(Work& work, const Reducing& how, const void* in, void* out, MPI_Count count,
                 bool has_output) {
    const bool in_place = in == MPI_IN_PLACE;
    work.input = input_of(in);
    work.output = has_output ? out : nullptr;
    work.input_bytes = in_place ? 0 : elements(count) * how.bytes;
    work.output_bytes = has_output ? elements(count) * how.bytes : 0;
    if (const Layout* const layout = gapped(how); layout != nullptr) [[unlikely]] {
        if (!in_place && how.by_host) {
            work.read_whole(in, count, *layout);
        }
        if (has_output) {
            work.write_whole(out, count, *layout, in_place);
        }
    }
}

/// Sets the buffers of operations that read `all` elements and write `own` of them.
void set_scattered(Work& work, const Reducing& how, const void* in, void* out, MPI_Count all,
                   MPI_Count own) {
    const bool in_place = in == MPI_IN_PLACE;
    work.input = in_place ? out : in;
    work.output = out;
    work.input_bytes = elements(all) * how.bytes;
    work.output_bytes = elements(own) * how.bytes;
    if (const Layout* const layout = gapped(how); layout != nullptr) [[unlikely]] {
        if (how.by_host) {
            work.read_whole(work.input, all, *layout);
        }
        work.write_whole(out, own, *layout, false);
    } else if (in_place) {
        work.write_apart(out, elements(own) * how.bytes);
    }
}

int on_all_ranks(corymb_collective operation, const Call& call, const void* in, void* out,
                 MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    CallShape shape{call.operation, count, type, op};
    shape.in_place = in == MPI_IN_PLACE;
    if (const KeptCall* const known = dispatch.kept(shape, in, out)) [[likely]] {
        return dispatch.take(*known, in, out);
    }
    const Reducing how = reducing(dispatch, count, type, op);
    if (how.refused != Reason::none) {
        return dispatch.pass_on(how.refused, count, type);
    }
    const bool has_result = operation != CORYMB_EXSCAN || dispatch.rank() != 0;
    if (has_result && out == MPI_IN_PLACE) {
        return dispatch.pass_on(Reason::arguments);
    }
    if (is_aliased({in, count, type}, {out, count, type})) {
        return dispatch.refuse_aliased();
    }
    if (may_keep(how)) {
        dispatch.keep(shape, meaning_of(operation, count, how), in, out);
    }
    return dispatch.take(
        elements(count) * how.bytes,
        [=, &dispatch, &call, &how] {
            Work work = reduction_work(operation, call, elements(count), how);
            set_buffers(work, how, in, out, count, true);
            if (operation == CORYMB_EXSCAN && dispatch.rank() == 0) { // Rank 0 gets no result.
                work.do_not_store();
            }
            return work;
        },
        how.may_choose);
}

} // namespace

int allreduce(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm) {
    return on_all_ranks(CORYMB_ALLREDUCE, call, in, out, count, type, op, comm);
}

int scan(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
         MPI_Comm comm) {
    return on_all_ranks(CORYMB_SCAN, call, in, out, count, type, op, comm);
}

int exscan(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
           MPI_Op op, MPI_Comm comm) {
    return on_all_ranks(CORYMB_EXSCAN, call, in, out, count, type, op, comm);
}

int reduce(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
           MPI_Op op, int root, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    CallShape shape{call.operation, count, type, op, root};
    shape.in_place = in == MPI_IN_PLACE;
    if (const KeptCall* const known = dispatch.kept(shape, in, out)) [[likely]] {
        return dispatch.take(*known, in, out);
    }
    const Reducing how = reducing(dispatch, count, type, op);
    if (how.refused != Reason::none) {
        return dispatch.pass_on(how.refused, count, type);
    }
    const bool is_root = dispatch.rank() == root;
    if (!dispatch.is_rank(root) || (is_root ? out : in) == MPI_IN_PLACE) {
        return dispatch.pass_on(Reason::arguments);
    }
    if (is_root && is_aliased({in, count, type}, {out, count, type})) {
        return dispatch.refuse_aliased();
    }
    if (may_keep(how)) {
        CallMeaning meaning = meaning_of(CORYMB_REDUCE, count, how);
        meaning.has_output = is_root;
        meaning.out_bytes = is_root ? meaning.out_bytes : 0;
        dispatch.keep(shape, meaning, in, out);
    }
    return dispatch.take(
        elements(count) * how.bytes,
        [=, &dispatch, &call, &how] {
            Work work = reduction_work(CORYMB_REDUCE, call, elements(count), how);
            work.root = root;
            set_buffers(work, how, in, out, count, is_root);
            return work;
        },
        how.may_choose);
}

int reduce_scatter_block(const Call& call, const void* in, void* out, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    const CallShape shape{call.operation, count, type, op};
    if (const KeptCall* const known = dispatch.kept(shape, in, out)) [[likely]] {
        return dispatch.take(*known, in, out);
    }
    const Reducing how = reducing(dispatch, count, type, op);
    if (how.refused != Reason::none) {
        return dispatch.pass_on(how.refused, count, type);
    }
    if (out == MPI_IN_PLACE) {
        return dispatch.pass_on(Reason::arguments);
    }
    if (is_aliased({in, count, type}, {out, count, type})) {
        return dispatch.refuse_aliased();
    }
    const MPI_Count all = count * dispatch.size();
    if (may_keep(how)) {
        CallMeaning meaning = meaning_of(CORYMB_REDUCE_SCATTER, count, how);
        meaning.bytes *= static_cast<std::uint64_t>(dispatch.size());
        meaning.in_bytes = meaning.bytes;
        dispatch.keep(shape, meaning, in, out);
    }
    return dispatch.take(
        elements(all) * how.bytes,
        [=, &dispatch, &call, &how] {
            Work work = reduction_work(CORYMB_REDUCE_SCATTER, call, elements(count), how);
            set_scattered(work, how, in, out, all, count);
            return work;
        },
        how.may_choose);
}

int reduce_scatter(const Call& call, const void* in, void* out, Counts counts, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
    Dispatch dispatch(call, comm);
    const Reducing how = reducing(dispatch, 0, type, op);
    if (how.refused != Reason::none) {
        return dispatch.pass_on_list(how.refused,
                                     [&] { return listed_bytes(dispatch.size(), counts, type); });
    }
    if (!counts.exists() || out == MPI_IN_PLACE) {
        return dispatch.pass_on(Reason::arguments);
    }
    bool is_valid = true;
    bool is_uniform = true;
    MPI_Count all = 0;
    for (int rank = 0; rank < dispatch.size(); ++rank) {
        is_valid = is_valid && counts[rank] >= 0;
        is_uniform = is_uniform && counts[rank] == counts[0];
        all += counts[rank];
    }
    if (!is_valid) {
        return dispatch.pass_on(Reason::arguments);
    }
    if (is_aliased({in, all, type}, {out, all, type})) {
        return dispatch.refuse_aliased();
    }
    return dispatch.take(
        elements(all) * how.bytes,
        [=, &dispatch, &call, &how] {
            const MPI_Count own = counts[dispatch.rank()];
            Work work = reduction_work(CORYMB_REDUCE_SCATTER, call, elements(own), how);
            set_scattered(work, how, in, out, all, own);
            if (!is_uniform) {
                auto& list = work.parts.emplace().in.counts;
                list.reserve(static_cast<std::size_t>(dispatch.size()));
                for (int rank = 0; rank < dispatch.size(); ++rank) {
                    list.push_back(elements(counts[rank]));
                }
            }
            return work;
        },
        how.may_choose);
}

} // namespace corymb::mpi
