// SPDX-License-Identifier: Apache-2.0
// Operations that move data. Ranks may describe the same data by different datatypes; what they
// have in common is its length in bytes. So all of these are taken over, as bytes.
#include "calls.hpp"
#include "elements.hpp"
#include "library.hpp"
#include "staging.hpp"
#include "turn.hpp"

namespace corymb::mpi {

namespace {

bool is_valid(MPI_Count count, MPI_Datatype type) noexcept {
    return count >= 0 && type != host().type_null;
}

std::size_t bytes_of(MPI_Count count, const Layout& layout) noexcept {
    return static_cast<std::size_t>(count) * layout.size;
}

/// MPICH refuses a buffer that is both without MPI_IN_PLACE, Open MPI does not.
bool is_aliased(const void* in, const void* out, std::size_t bytes) noexcept {
#if defined(OPEN_MPI)
    static_cast<void>(in);
    static_cast<void>(out);
    static_cast<void>(bytes);
    return false;
#else
    return in == out && in != nullptr && bytes > 0;
#endif
}

} // namespace

int barrier(const Call& call, MPI_Comm comm) {
    Turn turn(call, comm);
    if (!turn.has_team()) {
        return turn.pass_on(Reason::no_team);
    }
    return turn.take(0, [&] { return library().barrier(turn.team()); });
}

int bcast(const Call& call, void* buffer, MPI_Count count, MPI_Datatype type, int root,
          MPI_Comm comm) {
    Turn turn(call, comm);
    if (!turn.has_team()) {
        return turn.pass_on(Reason::no_team);
    }
    if (!is_valid(count, type) || !turn.is_rank(root)) {
        return turn.pass_on(Reason::arguments);
    }
    const Layout layout = layout_of(type);
    const std::size_t bytes = bytes_of(count, layout);
    return turn.take(bytes, [&] {
        Output data(buffer, count, layout);
        if (turn.rank() == root) {
            data.load(0, count);
        }
        const corymb_status status =
            library().broadcast(data.data(), bytes, CORYMB_BYTE, root, turn.team());
        if (turn.rank() != root && status == CORYMB_OK) {
            data.store();
        }
        return status;
    });
}

int gather(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
           MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
    Turn turn(call, comm);
    if (!turn.has_team()) {
        return turn.pass_on(Reason::no_team);
    }
    const bool is_root = turn.rank() == root;
    const bool in_place = in == MPI_IN_PLACE;
    if (!turn.is_rank(root) || (in_place && !is_root) ||
        (!in_place && !is_valid(in_count, in_type)) ||
        (is_root && !is_valid(out_count, out_type))) {
        return turn.pass_on(Reason::arguments);
    }
    if (!is_root) {
        const Layout layout = layout_of(in_type);
        const std::size_t bytes = bytes_of(in_count, layout);
        return turn.take(bytes, [&] {
            const Input from(in, in_count, layout);
            return library().gather(from.data(), nullptr, bytes, CORYMB_BYTE, root, turn.team());
        });
    }
    const Layout layout = layout_of(out_type);
    const std::size_t bytes = bytes_of(out_count, layout);
    if (is_aliased(in, out, bytes)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(bytes, [&] {
        Output to(out, out_count * turn.size(), layout);
        corymb_status status = CORYMB_OK;
        if (in_place) {
            to.load(out_count * root, out_count);
            status =
                library().gather(CORYMB_IN_PLACE, to.data(), bytes, CORYMB_BYTE, root, turn.team());
        } else {
            const Input from(in, in_count, layout_of(in_type));
            status =
                library().gather(from.data(), to.data(), bytes, CORYMB_BYTE, root, turn.team());
        }
        if (status == CORYMB_OK) {
            to.store();
        }
        return status;
    });
}

int scatter(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
            MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
    Turn turn(call, comm);
    if (!turn.has_team()) {
        return turn.pass_on(Reason::no_team);
    }
    const bool is_root = turn.rank() == root;
    const bool in_place = out == MPI_IN_PLACE;
    if (!turn.is_rank(root) || (in_place && !is_root) ||
        (!in_place && !is_valid(out_count, out_type)) ||
        (is_root && !is_valid(in_count, in_type))) {
        return turn.pass_on(Reason::arguments);
    }
    const Layout own = is_root ? layout_of(in_type) : layout_of(out_type);
    const std::size_t bytes = bytes_of(is_root ? in_count : out_count, own);
    if (is_root && is_aliased(in, out, bytes)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(bytes, [&] {
        if (is_root && in_place) {
            const Input from(in, in_count * turn.size(), own);
            return library().scatter(from.data(), CORYMB_IN_PLACE, bytes, CORYMB_BYTE, root,
                                     turn.team());
        }
        Output to(out, out_count, layout_of(out_type));
        corymb_status status = CORYMB_OK;
        if (is_root) {
            const Input from(in, in_count * turn.size(), own);
            status =
                library().scatter(from.data(), to.data(), bytes, CORYMB_BYTE, root, turn.team());
        } else {
            status = library().scatter(nullptr, to.data(), bytes, CORYMB_BYTE, root, turn.team());
        }
        if (status == CORYMB_OK) {
            to.store();
        }
        return status;
    });
}

int allgather(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
              MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    Turn turn(call, comm);
    if (!turn.has_team()) {
        return turn.pass_on(Reason::no_team);
    }
    const bool in_place = in == MPI_IN_PLACE;
    if (!is_valid(out_count, out_type) || (!in_place && !is_valid(in_count, in_type))) {
        return turn.pass_on(Reason::arguments);
    }
    const Layout layout = layout_of(out_type);
    const std::size_t bytes = bytes_of(out_count, layout);
    if (is_aliased(in, out, bytes)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(bytes, [&] {
        Output to(out, out_count * turn.size(), layout);
        corymb_status status = CORYMB_OK;
        if (in_place) {
            to.load(out_count * turn.rank(), out_count);
            status =
                library().allgather(CORYMB_IN_PLACE, to.data(), bytes, CORYMB_BYTE, turn.team());
        } else {
            const Input from(in, in_count, layout_of(in_type));
            status = library().allgather(from.data(), to.data(), bytes, CORYMB_BYTE, turn.team());
        }
        if (status == CORYMB_OK) {
            to.store();
        }
        return status;
    });
}

int alltoall(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
             MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    Turn turn(call, comm);
    if (!turn.has_team()) {
        return turn.pass_on(Reason::no_team);
    }
    const bool in_place = in == MPI_IN_PLACE;
    if (!is_valid(out_count, out_type) || (!in_place && !is_valid(in_count, in_type))) {
        return turn.pass_on(Reason::arguments);
    }
    const Layout layout = layout_of(out_type);
    const std::size_t bytes = bytes_of(out_count, layout);
    if (is_aliased(in, out, bytes)) {
        return turn.pass_on(Reason::arguments);
    }
    return turn.take(bytes * static_cast<std::size_t>(turn.size()), [&] {
        Output to(out, out_count * turn.size(), layout);
        corymb_status status = CORYMB_OK;
        if (in_place) {
            const auto from = packed(out, out_count * turn.size(), layout);
            status = library().alltoall(from.get(), to.data(), bytes, CORYMB_BYTE, turn.team());
        } else {
            const Input from(in, in_count * turn.size(), layout_of(in_type));
            status = library().alltoall(from.data(), to.data(), bytes, CORYMB_BYTE, turn.team());
        }
        if (status == CORYMB_OK) {
            to.store();
        }
        return status;
    });
}

} // namespace corymb::mpi
