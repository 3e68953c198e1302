// SPDX-License-Identifier: Apache-2.0
// What the system gives a process only so much of: the program's own share of addresses and
// descriptors, when the adapter has made all the teams it can.
#include <mpi.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int descriptors(void) {
    DIR* folder = opendir("/proc/self/fd");
    int count = -3; // ".", ".." and the folder's own.
    while (readdir(folder) != NULL) {
        ++count;
    }
    closedir(folder);
    return count;
}

static rlim_t addresses(void) {
    unsigned long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) {
        abort();
    }
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int main(int argc, char** argv) {
    enum { count = 60 };
    static MPI_Comm comms[count];
    const rlim_t GiB = (rlim_t)1 << 30;
    struct rlimit limit;
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = addresses() + 4 * GiB;
    setrlimit(RLIMIT_AS, &limit);
    const int before = descriptors();
    for (int i = 0; i < count; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        for (int j = 0; j < 6; ++j) {
            const int one = 1;
            int sum = 0;
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
            wrong += sum != size;
        }
    }
    // One for each team, and for each other rank.
    const int taken = descriptors() - before;
    void* const memory = malloc(2 * GiB);
    printf("%d wrong, %s, %s\n", wrong, taken <= count + size + 4 ? "few descriptors" : "many",
           memory != NULL ? "addresses left" : "no addresses left");
    free(memory);
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    MPI_Finalize();
    return 0;
}
