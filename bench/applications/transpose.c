// SPDX-License-Identifier: Apache-2.0
// Transposes a square matrix that ranks hold by rows, again and again: each turn is one
// MPI_Alltoall of blocks, then a transposition of each block, as in a parallel Fourier transform.
//
// transpose WIDTH TURNS; the number of ranks divides the width.
#include "program.h"

struct Matrix {
    size_t width, rows; // All columns; own rows.
};

/// Block `peer` of `to`, a square of rows x rows, is that of `from`, whose rows are whole.
static void gather_blocks(const struct Matrix* matrix, const double* from, double* to) {
    const size_t blocks = matrix->width / matrix->rows;
    for (size_t block = 0; block < blocks; ++block) {
        for (size_t y = 0; y < matrix->rows; ++y) {
            for (size_t x = 0; x < matrix->rows; ++x) {
                *to++ = from[y * matrix->width + block * matrix->rows + x];
            }
        }
    }
}

/// The blocks, each transposed, side by side.
static void spread_blocks(const struct Matrix* matrix, const double* from, double* to) {
    const size_t blocks = matrix->width / matrix->rows;
    for (size_t block = 0; block < blocks; ++block) {
        for (size_t y = 0; y < matrix->rows; ++y) {
            for (size_t x = 0; x < matrix->rows; ++x) {
                to[x * matrix->width + block * matrix->rows + y] = *from++;
            }
        }
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const size_t width = (size_t)argument(argc, argv, 1, "width of the matrix");
    const long turns = argument(argc, argv, 2, "turns");
    if (width % (size_t)size != 0) {
        fprintf(stderr, "%d ranks do not divide the width %zu\n", size, width);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const struct Matrix matrix = {width, width / (size_t)size};
    const size_t own = matrix.rows * width;
    double* values = allocate(own);
    double* sent = allocate(own);
    double* received = allocate(own);
    for (size_t i = 0; i < own; ++i) {
        values[i] = (double)((size_t)rank * own + i);
    }

    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const int part = (int)(matrix.rows * matrix.rows);
    for (long turn = 0; turn < turns; ++turn) {
        gather_blocks(&matrix, values, sent);
        MPI_Alltoall(sent, part, MPI_DOUBLE, received, part, MPI_DOUBLE, MPI_COMM_WORLD);
        spread_blocks(&matrix, received, values);
    }
    const double seconds = MPI_Wtime() - begin;
    double own_sum = 0;
    double answer = 0;
    for (size_t i = 0; i < own; ++i) {
        own_sum += values[i] * (double)(((size_t)rank * own + i) % 11);
    }
    MPI_Allreduce(&own_sum, &answer, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    report(&answer, 1, seconds);
    free(values);
    free(sent);
    free(received);
    return MPI_Finalize();
}
