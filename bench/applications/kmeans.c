// SPDX-License-Identifier: Apache-2.0
// Groups points around 16 centres (Lloyd's algorithm). Each step sums the points of every centre
// over all ranks, two MPI_Allreduce; at the end the sizes of the groups are gathered by MPI_Reduce.
//
// kmeans POINTS STEPS; points of all ranks together.
#include "program.h"

#include <string.h>

enum { centres = 16, dimensions = 8 };

/// A number from 0 to 1 that depends on the seed alone; the seed goes on.
static double draw(unsigned long long* seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 40) / (double)(1 << 24);
}

static int nearest(const double* point, const double* centre) {
    int best = 0;
    double least = 1e300;
    for (int k = 0; k < centres; ++k) {
        double distance = 0;
        for (int d = 0; d < dimensions; ++d) {
            const double apart = point[d] - centre[k * dimensions + d];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    return best;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const long points = argument(argc, argv, 1, "points");
    const long steps = argument(argc, argv, 2, "steps");
    const long first = points * rank / size;
    const long own = points * (rank + 1) / size - first;
    double* point = allocate((size_t)own * dimensions);
    for (long i = 0; i < own; ++i) {
        unsigned long long seed = (unsigned long long)(first + i) * 2654435761ULL + 1;
        for (int d = 0; d < dimensions; ++d) {
            draw(&seed);
            point[i * dimensions + d] = draw(&seed);
        }
    }
    double centre[centres * dimensions] = {0};
    double sums[centres * dimensions];
    long members[centres] = {0};
    if (rank == 0 && own >= centres) {
        memcpy(centre, point, sizeof(centre));
    }
    MPI_Bcast(centre, centres * dimensions, MPI_DOUBLE, 0, MPI_COMM_WORLD);

    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long step = 0; step < steps; ++step) {
        memset(sums, 0, sizeof(sums));
        memset(members, 0, sizeof(members));
        for (long i = 0; i < own; ++i) {
            const int to = nearest(point + i * dimensions, centre);
            ++members[to];
            for (int d = 0; d < dimensions; ++d) {
                sums[to * dimensions + d] += point[i * dimensions + d];
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, sums, centres * dimensions, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, members, centres, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < centres * dimensions; ++i) {
            const long many = members[i / dimensions];
            centre[i] = many > 0 ? sums[i] / (double)many : centre[i];
        }
    }
    const double seconds = MPI_Wtime() - begin;
    double answer[centres];
    for (int k = 0; k < centres; ++k) {
        answer[k] = centre[k * dimensions] + (double)members[k];
    }
    report(answer, centres, seconds);
    free(point);
    return MPI_Finalize();
}
