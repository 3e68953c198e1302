// SPDX-License-Identifier: Apache-2.0
// Counted once, when MPI is initialised: later a communicator's ranks cannot ask those outside.
// Programs that begin by MPI_Session_init, and Fortran's where they pass by this library, are not
// counted; then a communicator's own ranks are all that is known.
#include "node_ranks.hpp"

#include "host.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sched.h>

namespace corymb::mpi {

namespace {

std::atomic<int> of_the_node{1};

int rounded_up_share(int ranks, int cpus) noexcept {
    return cpus == 0 ? ranks : (ranks + cpus - 1) / cpus;
}

/// Collective over MPI_COMM_WORLD.
void count_node() noexcept {
    const Host& mpi = host();
    int size = 1;
    MPI_Comm node = mpi.comm_null;
    if (!mpi.whole || mpi.Comm_size(mpi.comm_world, &size) != MPI_SUCCESS || size == 1 ||
        mpi.Comm_split_type(mpi.comm_world, MPI_COMM_TYPE_SHARED, 0, mpi.info_null, &node) !=
            MPI_SUCCESS) {
        return;
    }
    CpuSet own;
    own.add_own();
    CpuSet all;
    if (mpi.Comm_size(node, &size) == MPI_SUCCESS &&
        mpi.Allreduce(own.word, all.word, CpuSet::words, mpi.type_uint64, mpi.op_bor, node) ==
            MPI_SUCCESS) {
        of_the_node.store(rounded_up_share(size, all.count()), std::memory_order_relaxed);
    }
    mpi.Comm_free(&node);
}

} // namespace

void CpuSet::add_own() noexcept {
    cpu_set_t own;
    CPU_ZERO(&own);
    ::sched_getaffinity(0, sizeof own, &own);
    for (std::size_t cpu = 0; cpu < std::size_t{64} * words; ++cpu) {
        if (CPU_ISSET(cpu, &own)) {
            word[cpu / 64] |= std::uint64_t{1} << cpu % 64;
        }
    }
}

int node_ranks_per_cpu() noexcept {
    return of_the_node.load(std::memory_order_relaxed);
}

int ranks_per_cpu(int ranks, const CpuSet& cpus) noexcept {
    return std::max(rounded_up_share(ranks, cpus.count()), node_ranks_per_cpu());
}

} // namespace corymb::mpi

extern "C" __attribute__((visibility("default"))) int MPI_Init(int* count, char*** words) {
    const int result = corymb::mpi::host().Init(count, words);
    if (result == MPI_SUCCESS) {
        corymb::mpi::count_node();
    }
    return result;
}

extern "C" __attribute__((visibility("default"))) int MPI_Init_thread(int* count, char*** words,
                                                                      int wanted, int* provided) {
    const int result = corymb::mpi::host().Init_thread(count, words, wanted, provided);
    if (result == MPI_SUCCESS) {
        corymb::mpi::count_node();
    }
    return result;
}
