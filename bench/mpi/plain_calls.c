/* SPDX-License-Identifier: Apache-2.0
   Every operation in every mode by the names that no tool replaces: what the MPI does without
   corymb, in a process that has both. */
#include "plain_calls.h"

#define MPI_Barrier PMPI_Barrier
#define MPI_Bcast PMPI_Bcast
#define MPI_Reduce PMPI_Reduce
#define MPI_Allreduce PMPI_Allreduce
#define MPI_Gather PMPI_Gather
#define MPI_Scatter PMPI_Scatter
#define MPI_Allgather PMPI_Allgather
#define MPI_Alltoall PMPI_Alltoall
#define MPI_Reduce_scatter_block PMPI_Reduce_scatter_block
#define MPI_Scan PMPI_Scan
#define MPI_Exscan PMPI_Exscan
#define MPI_Ibarrier PMPI_Ibarrier
#define MPI_Ibcast PMPI_Ibcast
#define MPI_Ireduce PMPI_Ireduce
#define MPI_Iallreduce PMPI_Iallreduce
#define MPI_Igather PMPI_Igather
#define MPI_Iscatter PMPI_Iscatter
#define MPI_Iallgather PMPI_Iallgather
#define MPI_Ialltoall PMPI_Ialltoall
#define MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block
#define MPI_Iscan PMPI_Iscan
#define MPI_Iexscan PMPI_Iexscan
#ifdef CORYMB_PEER_PERSISTENT
#define MPI_Barrier_init PMPI_Barrier_init
#define MPI_Bcast_init PMPI_Bcast_init
#define MPI_Reduce_init PMPI_Reduce_init
#define MPI_Allreduce_init PMPI_Allreduce_init
#define MPI_Gather_init PMPI_Gather_init
#define MPI_Scatter_init PMPI_Scatter_init
#define MPI_Allgather_init PMPI_Allgather_init
#define MPI_Alltoall_init PMPI_Alltoall_init
#define MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init
#define MPI_Scan_init PMPI_Scan_init
#define MPI_Exscan_init PMPI_Exscan_init
#endif
#define MPI_Wait PMPI_Wait
#define MPI_Test PMPI_Test
#define MPI_Start PMPI_Start
#define MPI_Request_free PMPI_Request_free

#include "mpi_calls.h"

int choose_plain(const char* mode, struct work* w, struct actions* actions) {
    return choose(mode, w, actions);
}

void release_plain(MPI_Request* request) {
    release(request);
}
