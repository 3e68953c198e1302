// SPDX-License-Identifier: Apache-2.0
// Blocking gatherv, scatterv, alltoallv and alltoallw, as many as asked for, all of them checked.
// The parts of each call have other lengths, which only sender and receiver know. Who does them is
// open. Now and then a rank makes a call that the MPI refuses before the right one.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { longest = 3000, most_ranks = 4, room = longest * most_ranks, refused_every = 5 };

static int rank, ranks, wrong, refused;
static MPI_Comm comm;
static int in[room], out[room];
static int places[most_ranks], byte_places[most_ranks];
static MPI_Datatype types[most_ranks];

// Of the part of a call from one rank to another; most are short.
static int length_of(int call, int from, int to) {
    const unsigned mixed = (unsigned)(call * 31 + from * 7 + to * 3) * 2654435761u >> 16;
    return (int)(mixed % 16 == 0 ? mixed % longest : mixed % 5);
}

static int value_of(int call, int from, int to, int i) {
    return call * 16 + from * 4 + to + i;
}

static void write_part(int call, int from, int to, int* part, int length) {
    for (int i = 0; i < length; ++i) {
        part[i] = value_of(call, from, to, i);
    }
}

static void check_part(int call, int from, int to, const int* part, int length) {
    for (int i = 0; i < length; ++i) {
        wrong += part[i] != value_of(call, from, to, i);
    }
}

static void gather(int call, int root, int is_wrong) {
    int lengths[most_ranks];
    const int own = length_of(call, rank, root);
    for (int from = 0; from < ranks; ++from) {
        lengths[from] = length_of(call, from, root);
    }
    write_part(call, rank, root, in, own);
    if (is_wrong) {
        refused += MPI_Gatherv(in, -1, MPI_INT, out, lengths, places, MPI_INT, root, comm) != 0;
    }
    MPI_Gatherv(in, own, MPI_INT, out, lengths, places, MPI_INT, root, comm);
    for (int from = 0; rank == root && from < ranks; ++from) {
        check_part(call, from, root, out + places[from], lengths[from]);
    }
}

static void scatter(int call, int root, int is_wrong) {
    int lengths[most_ranks];
    const int own = length_of(call, root, rank);
    for (int to = 0; to < ranks; ++to) {
        lengths[to] = length_of(call, root, to);
        write_part(call, root, to, in + places[to], lengths[to]);
    }
    if (is_wrong) {
        refused += MPI_Scatterv(in, lengths, places, MPI_INT, out, -1, MPI_INT, root, comm) != 0;
    }
    MPI_Scatterv(in, lengths, places, MPI_INT, out, own, MPI_INT, root, comm);
    check_part(call, root, rank, out, own);
}

static int exchange_once(const int* to_send, const int* to_receive, int by_types) {
    return by_types ? MPI_Alltoallw(in, to_send, byte_places, types, out, to_receive, byte_places,
                                    types, comm)
                    : MPI_Alltoallv(in, to_send, places, MPI_INT, out, to_receive, places, MPI_INT,
                                    comm);
}

static void exchange(int call, int by_types, int is_wrong) {
    int to_send[most_ranks], to_receive[most_ranks];
    for (int other = 0; other < ranks; ++other) {
        to_send[other] = length_of(call, rank, other);
        to_receive[other] = length_of(call, other, rank);
        write_part(call, rank, other, in + places[other], to_send[other]);
    }
    if (is_wrong) {
        const int right = to_send[0];
        to_send[0] = -1;
        refused += exchange_once(to_send, to_receive, by_types) != 0;
        to_send[0] = right;
    }
    exchange_once(to_send, to_receive, by_types);
    for (int other = 0; other < ranks; ++other) {
        check_part(call, other, rank, out + places[other], to_receive[other]);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // Open MPI reports some there.
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int other = 0; other < ranks; ++other) {
        places[other] = other * longest;
        byte_places[other] = places[other] * (int)sizeof(int);
        types[other] = MPI_INT;
    }
    const int calls = argc > 1 ? atoi(argv[1]) : 0;
    unsigned random = 1;
    int kind = 0;
    for (int call = 0; call < calls; ++call) {
        random = random * 1664525 + 1013904223;
        kind = random >> 24 < 20 ? (int)(random >> 16 & 7) : kind; // Mostly as before.
        const int root = kind >> 2 & 1;
        const int is_wrong = call % refused_every == 0 && call / refused_every % ranks == rank;
        switch (kind & 3) {
        case 0: gather(call, root, is_wrong); break;
        case 1: scatter(call, root, is_wrong); break;
        default: exchange(call, kind & 1, is_wrong);
        }
    }
    MPI_Comm_free(&comm);
    int own[2] = {wrong, refused}, all[2] = {0, 0};
    MPI_Reduce(own, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d calls, %d wrong, %d refused\n", calls, all[0], all[1]);
    }
    MPI_Finalize();
    return 0;
}
