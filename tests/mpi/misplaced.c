// SPDX-License-Identifier: Apache-2.0
// MPI_IN_PLACE where it has no meaning: rank 0 prints which calls the MPI has refused on it. Then
// all ranks check a right allreduce.
#include <mpi.h>

#include <stdio.h>

enum { before = 8 };

static const char* const names[] = {"allgather",      "alltoall",   "reduce", "allreduce", "scan",
                                    "reduce_scatter", "allgatherv", "gather", "scatter"};
enum { operations = sizeof names / sizeof *names };

static int call(int operation, MPI_Comm comm) {
    static int in[8];
    static const int counts[] = {1, 1}, places[] = {0, 1};
    void* const wrong = MPI_IN_PLACE;
    switch (operation) {
    case 0: return MPI_Allgather(in, 1, MPI_INT, wrong, 1, MPI_INT, comm);
    case 1: return MPI_Alltoall(in, 1, MPI_INT, wrong, 1, MPI_INT, comm);
    case 2: return MPI_Reduce(in, wrong, 1, MPI_INT, MPI_SUM, 0, comm);
    case 3: return MPI_Allreduce(in, wrong, 1, MPI_INT, MPI_SUM, comm);
    case 4: return MPI_Scan(in, wrong, 1, MPI_INT, MPI_SUM, comm);
    case 5: return MPI_Reduce_scatter(in, wrong, counts, MPI_INT, MPI_SUM, comm);
    case 6: return MPI_Allgatherv(in, 1, MPI_INT, wrong, counts, places, MPI_INT, comm);
    case 7: return MPI_Gather(in, 1, MPI_INT, wrong, 1, MPI_INT, 0, comm);
    default: return MPI_Scatter(wrong, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < before; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int k = 0; rank == 0 && k < operations; ++k) {
        printf("%s %s\n", names[k], call(k, MPI_COMM_WORLD) != MPI_SUCCESS ? "refused" : "done");
    }
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int is_right = sum == ranks * (ranks - 1) / 2;
    MPI_Finalize();
    return is_right ? 0 : 1;
}
