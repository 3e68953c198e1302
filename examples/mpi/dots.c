/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI program that knows nothing of corymb: the dot products of a solver, one a step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { own = 100 };

int main(int argc, char** argv) {
    static double a[own], b[own];
    double sum = 0, begin;
    int rank, size, step, i;
    const int steps = argc > 1 ? atoi(argv[1]) : 200000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < own; ++i) {
        a[i] = 0.5;
        b[i] = 4.0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (step = 0; step < steps; ++step) {
        double mine = 0;
        a[step % own] = 0.5;
        for (i = 0; i < own; ++i) {
            mine += a[i] * b[i];
        }
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("%d ranks: a . b = %.0f, %.2f us a step\n", size, sum,
               1e6 * (MPI_Wtime() - begin) / steps);
    }
    MPI_Finalize();
    return 0;
}
