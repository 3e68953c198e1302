// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the middle: `failures kill`, `abort`, `mismatch`, `returned` or
// `longer`.
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    int rank, error = 0;
    alarm(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
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
