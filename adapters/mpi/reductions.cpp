// SPDX-License-Identifier: Apache-2.0
// Operations that combine. The standard wants the same count, type and operator on all ranks, so
// whether there is a kernel is known to all.
#include "aliasing.hpp"
#include "calls.hpp"
#include "elements.hpp"
#include "turn.hpp"

namespace corymb::mpi {

namespace {

const void* input_of(const void* in) noexcept {
    return in == MPI_IN_PLACE ? CORYMB_IN_PLACE : in;
}

/// What a reduction needs to be taken over, or the reason why it is not.
struct Reducing {
    Kernel kernel;
    Reason refused = Reason::none;
    /// Sums of more than two floating-point numbers depend on their order: those stay with one.
    bool may_choose = true;
};

Reducing reducing(const Turn& turn, MPI_Count count, MPI_Datatype type, MPI_Op op) {
    if (!turn.has_team()) {
        return {{}, Reason::no_team};
    }
    if (count < 0 || type == host().type_null || op == host().op_null) {
        return {{}, Reason::arguments};
    }
    const auto kernel = kernel_of(type, op);
    if (!kernel) {
        return {{}, Reason::no_kernel};
    }
    return {*kernel, Reason::none, kernel->is_exact || turn.size() == 2};
}

std::size_t elements(MPI_Count count) noexcept {
    return static_cast<std::size_t>(count);
}

Work reduction_work(corymb_collective op, std::size_t count, const Kernel& kernel) noexcept {
    Work work(op, count, kernel.type);
    work.with = kernel.op;
    return work;
}

int on_all_ranks(corymb_collective operation, const Call& call, const void* in, void* out,
                 MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    Turn turn(call, comm);
    const Reducing how = reducing(turn, count, type, op);
    if (how.refused != Reason::none) {
        return turn.pass_on(how.refused, count, type);
    }
    if (is_aliased(in, out, count > 0)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(
        elements(count) * how.kernel.bytes,
        [&] {
            Work work = reduction_work(operation, elements(count), how.kernel);
            work.input = input_of(in);
            work.output = out;
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
    Turn turn(call, comm);
    const Reducing how = reducing(turn, count, type, op);
    if (how.refused != Reason::none) {
        return turn.pass_on(how.refused, count, type);
    }
    const bool is_root = turn.rank() == root;
    if (!turn.is_rank(root) || (in == MPI_IN_PLACE && !is_root) ||
        (is_root && is_aliased(in, out, count > 0))) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(
        elements(count) * how.kernel.bytes,
        [&] {
            Work work = reduction_work(CORYMB_REDUCE, elements(count), how.kernel);
            work.root = root;
            work.input = input_of(in);
            work.output = is_root ? out : nullptr;
            return work;
        },
        how.may_choose);
}

int reduce_scatter_block(const Call& call, const void* in, void* out, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    Turn turn(call, comm);
    const Reducing how = reducing(turn, count, type, op);
    if (how.refused != Reason::none) {
        return turn.pass_on(how.refused, count, type);
    }
    if (is_aliased(in, out, count > 0)) {
        return turn.pass_on(Reason::arguments);
    }
    const std::size_t bytes = elements(count) * how.kernel.bytes;
    return turn.take(
        bytes * static_cast<std::size_t>(turn.size()),
        [&] {
            Work work = reduction_work(CORYMB_REDUCE_SCATTER, elements(count), how.kernel);
            work.input = in;
            work.output = out;
            if (in == MPI_IN_PLACE) {
                work.input = out;
                work.write_apart(out, bytes);
            }
            return work;
        },
        how.may_choose);
}

int reduce_scatter(const Call& call, const void* in, void* out, Counts counts, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
    Turn turn(call, comm);
    const Reducing how = reducing(turn, 0, type, op);
    if (how.refused != Reason::none) {
        return turn.pass_on(how.refused);
    }
    if (!counts.exists()) {
        return turn.pass_on(Reason::arguments);
    }
    bool is_valid = true;
    bool is_uniform = true;
    MPI_Count all = 0;
    for (int rank = 0; rank < turn.size(); ++rank) {
        is_valid = is_valid && counts[rank] >= 0;
        is_uniform = is_uniform && counts[rank] == counts[0];
        all += counts[rank];
    }
    if (!is_valid || is_aliased(in, out, all > 0)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(
        elements(all) * how.kernel.bytes,
        [&] {
            const std::size_t own = elements(counts[turn.rank()]);
            Work work = reduction_work(CORYMB_REDUCE_SCATTER, own, how.kernel);
            work.input = in;
            work.output = out;
            if (in == MPI_IN_PLACE) {
                work.input = out;
                work.write_apart(out, own * how.kernel.bytes);
            }
            if (!is_uniform) {
                work.is_vector = true;
                for (int rank = 0; rank < turn.size(); ++rank) {
                    work.in_parts.counts.push_back(elements(counts[rank]));
                }
            }
            return work;
        },
        how.may_choose);
}

} // namespace corymb::mpi
