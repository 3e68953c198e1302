// SPDX-License-Identifier: Apache-2.0
// Solves Poisson's equation on a square grid by conjugate gradients. Ranks hold rows; each step
// exchanges the rows at the borders and takes two dot products, sums of 8 bytes over all ranks.
//
// conjugate_gradient WIDTH STEPS SOLVES
#include "program.h"

struct Grid {
    int width, rows; // Own rows; one more above and below belongs to a neighbour, or is zero.
    int above, below;
};

static double* row(const struct Grid* grid, double* field, int index) {
    return field + (size_t)index * (size_t)grid->width;
}

static void exchange_borders(const struct Grid* grid, double* field) {
    const int width = grid->width;
    MPI_Sendrecv(row(grid, field, 1), width, MPI_DOUBLE, grid->above, 0,
                 row(grid, field, grid->rows + 1), width, MPI_DOUBLE, grid->below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(grid, field, grid->rows), width, MPI_DOUBLE, grid->below, 1,
                 row(grid, field, 0), width, MPI_DOUBLE, grid->above, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/// result = A field, with the five-point stencil.
static void apply(const struct Grid* grid, double* field, double* result) {
    exchange_borders(grid, field);
    for (int y = 1; y <= grid->rows; ++y) {
        const double* middle = row(grid, field, y);
        const double* up = row(grid, field, y - 1);
        const double* down = row(grid, field, y + 1);
        double* out = row(grid, result, y);
        for (int x = 0; x < grid->width; ++x) {
            const double left = x > 0 ? middle[x - 1] : 0;
            const double right = x + 1 < grid->width ? middle[x + 1] : 0;
            out[x] = 4 * middle[x] - left - right - up[x] - down[x];
        }
    }
}

static double dot(const struct Grid* grid, double* left, double* right) {
    const double* a = row(grid, left, 1);
    const double* b = row(grid, right, 1);
    double own = 0;
    double sum = 0;
    for (size_t i = 0; i < (size_t)grid->rows * (size_t)grid->width; ++i) {
        own += a[i] * b[i];
    }
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

struct Fields {
    double *x, *residual, *direction, *image;
};

/// The square of the solution after so many steps.
static double solve(const struct Grid* grid, const struct Fields* fields, size_t first,
                    long steps) {
    double* x = row(grid, fields->x, 1);
    double* residual = row(grid, fields->residual, 1);
    double* direction = row(grid, fields->direction, 1);
    double* image = row(grid, fields->image, 1);
    const size_t own = (size_t)grid->rows * (size_t)grid->width;
    for (size_t i = 0; i < own; ++i) {
        x[i] = 0;
        direction[i] = residual[i] = 1 + (double)((i + first) % 7);
    }
    double norm = dot(grid, fields->residual, fields->residual);
    for (long step = 0; step < steps; ++step) {
        apply(grid, fields->direction, fields->image);
        const double alpha = norm / dot(grid, fields->direction, fields->image);
        for (size_t i = 0; i < own; ++i) {
            x[i] += alpha * direction[i];
            residual[i] -= alpha * image[i];
        }
        const double before = norm;
        norm = dot(grid, fields->residual, fields->residual);
        for (size_t i = 0; i < own; ++i) {
            direction[i] = residual[i] + norm / before * direction[i];
        }
    }
    return dot(grid, fields->x, fields->x);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int width = (int)argument(argc, argv, 1, "width of the grid");
    const long steps = argument(argc, argv, 2, "steps");
    const long solves = argument(argc, argv, 3, "solves");
    const int first = width * rank / size;
    const struct Grid grid = {width, width * (rank + 1) / size - first,
                              rank > 0 ? rank - 1 : MPI_PROC_NULL,
                              rank + 1 < size ? rank + 1 : MPI_PROC_NULL};
    const size_t all = ((size_t)grid.rows + 2) * (size_t)width;
    const struct Fields fields = {allocate(all), allocate(all), allocate(all), allocate(all)};

    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    double answer = 0;
    for (long i = 0; i < solves; ++i) {
        answer = solve(&grid, &fields, (size_t)first * (size_t)width, steps);
    }
    report(&answer, 1, MPI_Wtime() - begin);
    free(fields.x);
    free(fields.residual);
    free(fields.direction);
    free(fields.image);
    return MPI_Finalize();
}
