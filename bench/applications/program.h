// SPDX-License-Identifier: Apache-2.0
// What the applications have in common: arguments, and the two lines that they print.
#pragma once

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

/// The program's arguments as positive numbers; ends the program with a line if they are not. All
/// ranks have the same, so they end together: who aborts may take its line along.
static inline long argument(int argc, char** argv, int index, const char* name) {
    const long value = index < argc ? strtol(argv[index], 0, 10) : 0;
    if (value < 1) {
        fprintf(stderr, "argument %d: %s, a number from 1 on\n", index, name);
        MPI_Finalize();
        exit(2);
    }
    return value;
}

/// `count` elements, zero; ends the job when there is no memory.
static inline double* allocate(size_t count) {
    double* place = calloc(count, sizeof(double));
    if (!place) {
        fprintf(stderr, "no memory for %zu numbers\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return place;
}

/// Rank 0 prints the answer, which does not depend on who moves the bytes, and the slowest rank's
/// seconds.
static inline void report(const double* answer, int count, double seconds) {
    int rank = 0;
    double slowest = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("answer");
        for (int i = 0; i < count; ++i) {
            printf(" %.15e", answer[i]);
        }
        printf("\nseconds %.6f\n", slowest);
    }
}
