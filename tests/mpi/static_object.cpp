// SPDX-License-Identifier: Apache-2.0
// A program whose static object starts MPI and, when it is destroyed, makes collectives of types
// and sizes that have not been before, and ends it.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>

namespace {

class Environment {
public:
    Environment() { MPI_Init(nullptr, nullptr); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() {
        int size = 0;
        int rank = 0;
        const double half = 0.5;
        double sum = 0;
        long most = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        const long own = rank;
        MPI_Reduce(&half, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&own, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        MPI_Finalize();
        std::printf("%d wrong\n", static_cast<int>(rank == 0 && sum != 0.5 * size) +
                                      static_cast<int>(most != size - 1));
    }
};

const Environment environment;

} // namespace

int main() {
    for (int i = 0; i < 20; ++i) {
        int one = 1;
        int sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return 0;
}
