// SPDX-License-Identifier: Apache-2.0
// What the system gives a process only so much of: the program's own share of addresses and
// descriptors, when the adapter has made all the teams it can.
#include <mpi.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int rank, size, wrong;

static void add_up(MPI_Comm comm, int times) {
    for (int i = 0; i < times; ++i) {
        const int one = 1;
        int sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        wrong += sum != size;
    }
}

/// More communicators than there are addresses for.
static void many_teams(size_t left_over) {
    enum { count = 60 };
    static MPI_Comm comms[count];
    const int before = descriptors();
    for (int i = 0; i < count; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        add_up(comms[i], 6);
    }
    // One for each team, and for each other rank.
    const int taken = descriptors() - before;
    void* const memory = malloc(left_over);
    printf("%d wrong, %s, %s\n", wrong, taken <= count + size + 4 ? "few descriptors" : "many",
           memory != NULL ? "addresses left" : "no addresses left");
    free(memory);
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&comms[i]);
    }
}

/// Four ranks in all their orders, so that no team can go on with the one before.
static void one_after_the_other(void) {
    for (int i = 0; i < 24; ++i) {
        int order[4] = {0, 1, 2, 3}, key = 0;
        for (int place = 0, rest = i; place < 4; rest /= 4 - place, ++place) {
            const int other = place + rest % (4 - place), held = order[place];
            order[place] = order[other];
            order[other] = held;
        }
        while (order[key] != rank) {
            ++key;
        }
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
        add_up(comm, 6);
        MPI_Comm_free(&comm);
    }
    printf("%d wrong\n", wrong);
}

/// All that a team can need memory for: exchanges of all with all, blocking and many at once.
static void busy_team(void) {
    enum { most = 1 << 16, at_once = 6 };
    char* const from = malloc((size_t)most * (size_t)size);
    char* to[at_once];
    for (int i = 0; i < at_once; ++i) {
        to[i] = malloc((size_t)most * (size_t)size);
    }
    for (int bytes = 4; bytes <= most; bytes *= 16) {
        for (int round = 0; round < 6; ++round) {
            MPI_Request requests[at_once];
            for (int i = 0; i < bytes * size; ++i) {
                from[i] = (char)(rank + i / bytes + round);
            }
            MPI_Alltoall(from, bytes, MPI_CHAR, to[0], bytes, MPI_CHAR, MPI_COMM_WORLD);
            for (int i = 0; i < at_once; ++i) {
                MPI_Ialltoall(from, bytes, MPI_CHAR, to[i], bytes, MPI_CHAR, MPI_COMM_WORLD,
                              &requests[i]);
            }
            MPI_Waitall(at_once, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < at_once; ++i) {
                for (int place = 0; place < bytes * size; ++place) {
                    wrong += to[i][place] != (char)(rank + place / bytes + round);
                }
            }
        }
    }
    for (int i = 0; i < at_once; ++i) {
        free(to[i]);
    }
    free(from);
    printf("%d wrong\n", wrong);
}

int main(int argc, char** argv) {
    const rlim_t GiB = (rlim_t)1 << 30;
    const char* const what = argc > 1 ? argv[1] : "";
    struct rlimit limit;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = addresses() + 4 * GiB;
    setrlimit(RLIMIT_AS, &limit);
    if (strcmp(what, "teams") == 0) {
        many_teams(2 * GiB);
    } else if (strcmp(what, "orders") == 0) {
        one_after_the_other();
    } else {
        busy_team();
    }
    MPI_Finalize();
    return 0;
}
