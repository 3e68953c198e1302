// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the middle: `failures kill`, `abort`, `mismatch`, `returned`, `longer` or
// `refused`.
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A call that the root makes wrongly and then rightly, among the first of a communicator. Returns
// how many results are wrong.
static int make_up(int rank) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int size, wrong = 0, all[64];
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 8; ++i) {
        const int mine = rank + i;
        if (i == 1 && rank == 0) {
            wrong += MPI_Gather(&mine, 1, MPI_INT, all, -1, MPI_INT, 0, comm) == MPI_SUCCESS;
        }
        wrong += MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm) != MPI_SUCCESS;
        for (int of = 0; rank == 0 && of < size; ++of) {
            wrong += all[of] != of + i;
        }
    }
    MPI_Comm_free(&comm);
    return wrong;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    int rank, error = 0;
    alarm(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(what, "refused") == 0) {
        printf("rank %d: %d wrong\n", rank, make_up(rank));
    }
    double one = 1, sum = 0, many[100] = {0};
    if (rank == 1 && strcmp(what, "kill") == 0) {
        raise(SIGKILL);
    } else if (rank == 1 && strcmp(what, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    if (strcmp(what, "returned") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    for (int i = 0; i < 5 && error == 0; ++i) {
        if (rank == 1 && i == 2 &&
            (strcmp(what, "mismatch") == 0 || strcmp(what, "returned") == 0)) {
            error = MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        } else if (strcmp(what, "longer") == 0) {
            // Both lengths have their plans by then.
            const int length = i == 0 || (i == 2 && rank == 0) ? 100 : 50;
            error = MPI_Bcast(many, length, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        } else {
            error = MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    if (error != 0) {
        printf("rank %d was told\n", rank);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
