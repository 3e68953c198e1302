// SPDX-License-Identifier: Apache-2.0
// Operations that combine. The standard wants the same count, type and operator on all ranks, so
// whether there is a kernel is known to all.
#include "calls.hpp"
#include "elements.hpp"
#include "library.hpp"
#include "turn.hpp"

#include <cstring>
#include <numeric>
#include <vector>

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

/// MPICH refuses a buffer that is both without MPI_IN_PLACE, Open MPI does not.
bool is_aliased(const void* in, const void* out, MPI_Count count) noexcept {
#if defined(OPEN_MPI)
    static_cast<void>(in);
    static_cast<void>(out);
    static_cast<void>(count);
    return false;
#else
    return in == out && in != nullptr && count > 0;
#endif
}

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

/// The input lies in the output; the result stays in this rank's part and belongs to its beginning.
void move_to_front(void* buffer, std::size_t first, std::size_t bytes) noexcept {
    if (bytes > 0) {
        std::memmove(buffer, static_cast<std::byte*>(buffer) + first, bytes);
    }
}

using Scanning = corymb_status (*)(const void*, void*, size_t, corymb_type, corymb_op,
                                   corymb_team*) CORYMB_NOEXCEPT;

int on_all_ranks(Scanning operation(const Library&), const Call& call, const void* in, void* out,
                 MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    Turn turn(call, comm);
    const auto [kernel, refused, may_choose] = reducing(turn, count, type, op);
    if (refused != Reason::none) {
        return turn.pass_on(refused);
    }
    if (is_aliased(in, out, count)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(
        elements(count) * kernel.bytes,
        [&] {
            return operation(library())(input_of(in), out, elements(count), kernel.type, kernel.op,
                                        turn.team());
        },
        may_choose);
}

} // namespace

int allreduce(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm) {
    return on_all_ranks([](const Library& all) -> Scanning { return all.allreduce; }, call, in, out,
                        count, type, op, comm);
}

int scan(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
         MPI_Comm comm) {
    return on_all_ranks([](const Library& all) -> Scanning { return all.scan; }, call, in, out,
                        count, type, op, comm);
}

int exscan(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
           MPI_Op op, MPI_Comm comm) {
    return on_all_ranks([](const Library& all) -> Scanning { return all.exscan; }, call, in, out,
                        count, type, op, comm);
}

int reduce(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
           MPI_Op op, int root, MPI_Comm comm) {
    Turn turn(call, comm);
    const auto [kernel, refused, may_choose] = reducing(turn, count, type, op);
    if (refused != Reason::none) {
        return turn.pass_on(refused);
    }
    const bool is_root = turn.rank() == root;
    if (!turn.is_rank(root) || (in == MPI_IN_PLACE && !is_root) ||
        (is_root && is_aliased(in, out, count))) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(
        elements(count) * kernel.bytes,
        [&] {
            return library().reduce(input_of(in), is_root ? out : nullptr, elements(count),
                                    kernel.type, kernel.op, root, turn.team());
        },
        may_choose);
}

int reduce_scatter_block(const Call& call, const void* in, void* out, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    Turn turn(call, comm);
    const auto [kernel, refused, may_choose] = reducing(turn, count, type, op);
    if (refused != Reason::none) {
        return turn.pass_on(refused);
    }
    if (is_aliased(in, out, count)) {
        return turn.pass_on(Reason::arguments);
    }
    const std::size_t bytes = elements(count) * kernel.bytes;
    return turn.take(
        bytes * static_cast<std::size_t>(turn.size()),
        [&] {
            if (in != MPI_IN_PLACE) {
                return library().reduce_scatter(in, out, elements(count), kernel.type, kernel.op,
                                                turn.team());
            }
            const corymb_status status = library().reduce_scatter(
                out, CORYMB_IN_PLACE, elements(count), kernel.type, kernel.op, turn.team());
            move_to_front(out, bytes * static_cast<std::size_t>(turn.rank()), bytes);
            return status;
        },
        may_choose);
}

int reduce_scatter(const Call& call, const void* in, void* out, Counts counts, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
    Turn turn(call, comm);
    const auto [kernel, refused, may_choose] = reducing(turn, 0, type, op);
    if (refused != Reason::none) {
        return turn.pass_on(refused);
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
    if (!is_valid || is_aliased(in, out, all)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(
        elements(all) * kernel.bytes,
        [&] {
            const bool in_place = in == MPI_IN_PLACE;
            const void* const from = in_place ? out : in;
            void* const to = in_place ? CORYMB_IN_PLACE : out;
            std::vector<std::size_t> parts;
            for (int rank = 0; rank < turn.size(); ++rank) {
                parts.push_back(elements(counts[rank]));
            }
            const corymb_status status =
                is_uniform ? library().reduce_scatter(from, to, parts[0], kernel.type, kernel.op,
                                                      turn.team())
                           : library().reduce_scatterv(from, to, parts.data(), kernel.type,
                                                       kernel.op, turn.team());
            if (in_place) {
                const auto own = parts.begin() + turn.rank();
                move_to_front(out,
                              std::accumulate(parts.begin(), own, std::size_t{0}) * kernel.bytes,
                              *own * kernel.bytes);
            }
            return status;
        },
        may_choose);
}

} // namespace corymb::mpi
