// SPDX-License-Identifier: Apache-2.0
// Operations among neighbours of a topology: the MPI's, with their bytes for the summary.
#include "data/elements.hpp"
#include "entry/calls.hpp"
#include "entry/dispatch.hpp"

namespace corymb::mpi {

namespace {

/// How many neighbours send to this rank. 0: the communicator has no topology, or does not say.
int neighbours_of(MPI_Comm comm) {
    const Host& mpi = host();
    int kind = MPI_UNDEFINED;
    if (mpi.Topo_test(comm, &kind) != MPI_SUCCESS) {
        return 0;
    }
    int count = 0;
    int result = MPI_SUCCESS;
    if (kind == MPI_CART) {
        result = mpi.Cartdim_get(comm, &count);
        // Two neighbours in each dimension, one before and one behind, also where there is none.
        count *= 2;
    } else if (kind == MPI_GRAPH) {
        int rank = 0;
        result = mpi.Comm_rank(comm, &rank);
        result = result == MPI_SUCCESS ? mpi.Graph_neighbors_count(comm, rank, &count) : result;
    } else if (kind == MPI_DIST_GRAPH) {
        int receivers = 0;
        int is_weighted = 0;
        result = mpi.Dist_graph_neighbors_count(comm, &count, &receivers, &is_weighted);
    }
    return result == MPI_SUCCESS ? count : 0;
}

/// `bytes(neighbours)` is asked for the summary only.
template <class Bytes>
int pass_on_with(const Call& call, MPI_Comm comm, const Bytes& bytes) {
    Dispatch dispatch(call, comm);
    return dispatch.pass_on_list(Reason::no_translation,
                                 [&] { return bytes(neighbours_of(comm)); });
}

} // namespace

int neighbours(const Call& call, MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
    return pass_on_with(call, comm, [&](int neighbours) {
        // As without neighbours: an allgather counts its part, an alltoall all data that comes.
        const bool has_one_part = call.operation == Operation::neighbor_allgather;
        const MPI_Count all = has_one_part ? out_count : out_count * neighbours;
        return neighbours > 0 && all > 0
                   ? static_cast<std::uint64_t>(all) * layout_of(out_type).size
                   : 0;
    });
}

int neighbours(const Call& call, Counts out_counts, MPI_Datatype out_type, MPI_Comm comm) {
    return pass_on_with(
        call, comm, [&](int neighbours) { return listed_bytes(neighbours, out_counts, out_type); });
}

int neighbours(const Call& call, Counts out_counts, const MPI_Datatype* out_types, MPI_Comm comm) {
    return pass_on_with(call, comm, [&](int neighbours) {
        return listed_bytes(neighbours, out_counts, out_types);
    });
}

} // namespace corymb::mpi
