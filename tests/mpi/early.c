// SPDX-License-Identifier: Apache-2.0
// So many barriers that take some milliseconds each, since the last rank comes late, or with 0 as
// long as they take; all on communicators with the name "first". Rank 0 says how many milliseconds
// they took. Arguments: barriers, milliseconds, how. How: `persistent`: a request is made behind
// them, and then come a dozen more; `again`: behind them the same ranks have a dozen on a
// communicator with the name "second"; `often`: every five are on a communicator of their own;
// `halves`: before them each half of the ranks has a dozen of its own.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { dozen = 12 };

static int rank, size;

static void barriers(MPI_Comm comm, int count, int late_ms) {
    int own, ranks;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; ++i) {
        if (own == ranks - 1 && late_ms > 0) {
            usleep((useconds_t)late_ms * 1000);
        }
        MPI_Barrier(comm);
    }
}

static void make(const char* name, int color, MPI_Comm* comm) {
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, comm);
    MPI_Comm_set_name(*comm, name);
}

int main(int argc, char** argv) {
    const int count = atoi(argv[1]);
    const int late_ms = atoi(argv[2]);
    const char* const how = argc > 3 ? argv[3] : "";
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(how, "halves") == 0) {
        make("half", rank / (size / 2), &comm);
        barriers(comm, dozen, 2); // Longer than a team on one node waits.
        MPI_Comm_free(&comm);
    }
    const double began = MPI_Wtime();
    const int of_each = strcmp(how, "often") == 0 ? 5 : count;
    for (int done = 0; done < count; done += of_each) {
        make("first", 0, &comm);
        barriers(comm, of_each, late_ms);
        if (strcmp(how, "persistent") == 0) {
            MPI_Request request;
            MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
            MPI_Request_free(&request);
            barriers(comm, dozen, 0);
        }
        MPI_Comm_free(&comm);
    }
    if (rank == 0) {
        printf("%.0f\n", (MPI_Wtime() - began) * 1e3);
    }
    if (strcmp(how, "again") == 0) {
        make("second", 0, &comm);
        barriers(comm, dozen, 0);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
