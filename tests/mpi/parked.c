// SPDX-License-Identifier: Apache-2.0
// Communicators of the same ranks, one after the other, whose teams the next ones go on with:
// `parked same CALLS`, `order`, `crossed`, `late`, `pending`, `persistent`, `unstarted`, `many`,
// `refused` or `failed`.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { enough = 8 }; // Calls after which a communicator has a team.

static int rank, size;

// So many calls, of which each counts with those before it. Returns how many results are wrong.
static int use(MPI_Comm comm, int calls) {
    int own, members, wrong = 0;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    for (int i = 0; i < calls; ++i) {
        int one = own * own + i, sum = 0, expected = 0, from_last[2] = {rank, own + i};
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        for (int other = 0; other < members; ++other) {
            expected += other * other + i;
        }
        MPI_Bcast(from_last, 2, MPI_INT, members - 1, comm);
        wrong += sum != expected || from_last[1] != members - 1 + i;
    }
    return wrong;
}

static MPI_Comm copy_of(MPI_Comm comm) {
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    return copy;
}

static int use_copy(int calls) {
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    const int wrong = use(comm, calls);
    MPI_Comm_free(&comm);
    return wrong;
}

static int same(int calls) {
    int wrong = 0;
    for (int i = 0; i < 40; ++i) {
        wrong += use_copy(calls);
    }
    return wrong;
}

// All of the ranks in the other order, and parts of them, are others.
static int order(void) {
    int wrong = 0;
    for (int i = 0; i < 6; ++i) {
        MPI_Comm all, part;
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 == 0 ? rank : -rank, &all);
        wrong += use(all, enough);
        MPI_Comm_split(all, rank % 2, i % 3 == 0 ? rank : -rank, &part);
        MPI_Comm_free(&all);
        wrong += use(part, enough);
        MPI_Comm_free(&part);
    }
    return wrong;
}

// Ranks free communicators in different orders.
static int crossed(void) {
    int wrong = 0;
    for (int i = 0; i < 8; ++i) {
        MPI_Comm pair[2] = {copy_of(MPI_COMM_WORLD), copy_of(MPI_COMM_WORLD)};
        wrong += use(pair[0], enough) + use(pair[1], enough);
        MPI_Comm_free(&pair[(rank + i) % 2]);
        MPI_Comm_free(&pair[(rank + i + 1) % 2]);
    }
    return wrong + use_copy(enough);
}

// Some ranks free a communicator when the next one has long been in use. Of a request that is never
// started what ranks agree on may go on when it is gone.
static int freed_late(int has_request) {
    int wrong = 0;
    MPI_Comm before = MPI_COMM_NULL;
    for (int i = 0; i < 8; ++i) {
        MPI_Comm comm = copy_of(MPI_COMM_WORLD);
        if (has_request) {
            MPI_Request request;
            int one = 0, sum = 0;
            MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
            MPI_Request_free(&request);
        }
        if (before != MPI_COMM_NULL && rank != i % size) {
            MPI_Comm_free(&before);
        }
        wrong += use(comm, enough);
        if (before != MPI_COMM_NULL) {
            MPI_Comm_free(&before);
        }
        before = comm;
    }
    MPI_Comm_free(&before);
    return wrong;
}

static int late(void) {
    return freed_late(0);
}

static int unstarted(void) {
    return freed_late(1);
}

// A communicator is freed while an operation of it is under way.
static int pending(void) {
    int wrong = 0;
    for (int i = 0; i < 8; ++i) {
        MPI_Comm comm = copy_of(MPI_COMM_WORLD);
        MPI_Request request;
        int one = rank + i, sum = 0;
        wrong += use(comm, enough);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Comm_free(&comm);
        wrong += use_copy(enough);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += sum != size * (size - 1) / 2 + size * i;
        wrong += use_copy(enough);
    }
    return wrong;
}

// The same of a request that is started again and again.
static int persistent(void) {
    int wrong = 0;
    for (int i = 0; i < 8; ++i) {
        MPI_Comm comm = copy_of(MPI_COMM_WORLD);
        MPI_Request request;
        int one = 0, sum = 0;
        MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        MPI_Comm_free(&comm);
        for (int start = 0; start < 4; ++start) {
            one = rank + start;
            MPI_Start(&request);
            wrong += use_copy(start % 2 == 0 ? enough : 1);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            wrong += sum != size * (size - 1) / 2 + size * start;
        }
        MPI_Request_free(&request);
    }
    return wrong;
}

// A call that is none on one rank, and is not made up for: the others are one ahead.
static int refused(void) {
    int wrong = 0;
    for (int i = 0; i < 4; ++i) {
        MPI_Comm comm = copy_of(MPI_COMM_WORLD);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        wrong += use(comm, enough + i);
        int data = i;
        const int result = MPI_Bcast(&data, rank == size - 1 ? -1 : 1, MPI_INT, 0, comm);
        wrong += (result == MPI_SUCCESS) != (rank != size - 1);
        MPI_Comm_free(&comm);
        wrong += use_copy(enough);
    }
    return wrong;
}

// More than are parked.
static int many(void) {
    enum { at_once = 24 };
    MPI_Comm comms[at_once];
    int wrong = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < at_once; ++i) {
            comms[i] = copy_of(MPI_COMM_WORLD);
            wrong += use(comms[i], enough);
        }
        for (int i = 0; i < at_once; ++i) {
            MPI_Comm_free(&comms[i]);
        }
    }
    return wrong;
}

// Nobody goes on with a team that is broken.
static int failed(void) {
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int wrong = use(comm, enough), data = rank, sum = 0;
    PMPI_Barrier(comm); // A rank that is a call behind would be told of the broken team there.
    const int result = rank == 0 ? MPI_Bcast(&data, 1, MPI_INT, 0, comm)
                                 : MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += rank != 0 && result == MPI_SUCCESS;
    MPI_Comm_free(&comm);
    return wrong + use_copy(enough) + use_copy(enough);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static const struct {
        const char* name;
        int (*run)(void);
    } cases[] = {{"unstarted", unstarted}, {"refused", refused}, {"order", order},
                 {"crossed", crossed},     {"late", late},       {"pending", pending},
                 {"many", many},           {"failed", failed},   {"persistent", persistent}};
    int wrong = argc < 2, all = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            wrong += cases[i].run();
        }
    }
    if (argc > 2 && strcmp(argv[1], "same") == 0) {
        wrong += same(atoi(argv[2]));
    }
    PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0;
}
