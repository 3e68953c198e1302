// SPDX-License-Identifier: Apache-2.0
// Collectives in all forms. Nonblocking and persistent ones are completed in every way that MPI
// has, in arrays together with requests of the MPI's own. Each is compared with the blocking
// operation of the MPI.
// Arguments: rounds, seed, thread level (single or multiple); a fourth one: no persistent ones of
// vector operations.
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { per_round = 6, cells = 2048, ways = 9 };

static uint64_t state;
static int rank, size, failures, has_persistent_vectors;

// The same numbers on all ranks.
static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

struct operation {
    int kind, root, count, in_place;
    MPI_Datatype type;
    int *in, *mine, *theirs;
};

// The blocking operation of the MPI on the other buffer, or one of those that the adapter may do.
enum form { below, blocking, nonblocking, persistent };
#ifdef HAS_PERSISTENT
#define PERSISTENT(NAME, ...) MPI_##NAME##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request)
#define BARRIER_INIT() MPI_Barrier_init(comm, MPI_INFO_NULL, request)
#else
#define PERSISTENT(NAME, ...) abort()
#define BARRIER_INIT() abort()
#endif
#define FORMS(NAME, INAME, ...)                                                                    \
    do {                                                                                           \
        switch (form) {                                                                            \
        case below: PMPI_##NAME(__VA_ARGS__, comm); break;                                         \
        case blocking: MPI_##NAME(__VA_ARGS__, comm); break;                                       \
        case nonblocking: MPI_##INAME(__VA_ARGS__, comm, request); break;                          \
        case persistent: PERSISTENT(NAME, __VA_ARGS__); break;                                     \
        }                                                                                          \
    } while (0)

static void call_barrier(enum form form, MPI_Comm comm, MPI_Request* request) {
    switch (form) {
    case below: PMPI_Barrier(comm); break;
    case blocking: MPI_Barrier(comm); break;
    case nonblocking: MPI_Ibarrier(comm, request); break;
    case persistent: BARRIER_INIT(); break;
    }
}

static void call(const struct operation* o, enum form form, MPI_Comm comm, MPI_Request* request) {
    int* out = form == below ? o->theirs : o->mine;
    const int n = o->count, root = o->root;
    static int counts[64], places[64], out_counts[64], out_places[64];
    MPI_Datatype t = o->type, i = MPI_INT;
    const void* own = o->in_place ? MPI_IN_PLACE : o->in;
    const void* at_root = o->in_place && rank == root ? MPI_IN_PLACE : o->in;
    for (int r = 0; r < size; ++r) { // Part r has r % 3 times n elements.
        counts[r] = r % 3 * n;
        places[r] = r == 0 ? 0 : places[r - 1] + counts[r - 1] + 1;
        out_counts[r] = rank % 3 * n;
        out_places[r] = r * (rank % 3 * n + 2);
    }
    switch (o->kind) {
    case 0: call_barrier(form, comm, request); break;
    case 1: FORMS(Bcast, Ibcast, out, n, t, root); break;
    case 2: FORMS(Gather, Igather, at_root, n, t, out, n, t, root); break;
    case 3: FORMS(Scatter, Iscatter, o->in, n, t, out, n, t, root); break;
    case 4: FORMS(Allgather, Iallgather, own, n, t, out, n, t); break;
    case 5: FORMS(Alltoall, Ialltoall, own, n, t, out, n, t); break;
    case 6: FORMS(Reduce, Ireduce, at_root, out, n, i, MPI_SUM, root); break;
    case 7: FORMS(Allreduce, Iallreduce, own, out, n, i, MPI_MAX); break;
    case 8: FORMS(Reduce_scatter_block, Ireduce_scatter_block, o->in, out, n, i, MPI_SUM); break;
    case 9: FORMS(Reduce_scatter, Ireduce_scatter, o->in, out, counts, i, MPI_SUM); break;
    case 10: FORMS(Scan, Iscan, own, out, n, i, MPI_SUM); break;
    case 11: FORMS(Exscan, Iexscan, own, out, n, i, MPI_SUM); break;
    case 12: FORMS(Allgatherv, Iallgatherv, o->in, counts[rank], t, out, counts, places, t); break;
    case 13: FORMS(Gatherv, Igatherv, o->in, counts[rank], t, out, counts, places, t, root); break;
    case 14:
        FORMS(Scatterv, Iscatterv, o->in, counts, places, t, out, counts[rank], t, root);
        break;
    default: FORMS(Alltoallv, Ialltoallv, o->in, counts, places, t, out, out_counts, out_places, t);
    }
}

static void fill(struct operation* o, int round) {
    for (int k = 0; k < cells; ++k) {
        o->in[k] = (k * 7 + rank * 13 + round) % 97;
        o->mine[k] = o->theirs[k] = (k * 5 + rank * 11 + round) % 89;
    }
}

static void check(const struct operation* o, const char* when) {
    if (memcmp(o->mine, o->theirs, cells * sizeof(int)) != 0) {
        fprintf(stderr, "rank %d: kind %d (%s), %d elements, differs\n", rank, o->kind, when,
                o->count);
        ++failures;
    }
}

// Completes all of them in one of the ways; two are messages of the MPI's own.
static void complete(MPI_Request* all, int count, int way) {
    MPI_Status statuses[per_round + 2];
    int indices[per_round + 2], flag = 0, index = 0, done = 0;
    switch (way) {
    case 0:
        for (int k = 0; k < count; ++k) {
            MPI_Wait(&all[k], MPI_STATUS_IGNORE);
        }
        break;
    case 1:
        for (int k = count - 1; k >= 0; --k) {
            MPI_Wait(&all[k], &statuses[k]);
        }
        break;
    case 2: MPI_Waitall(count, all, statuses); break;
    case 3: MPI_Waitall(count, all, MPI_STATUSES_IGNORE); break;
    case 4:
        while (!flag) {
            MPI_Testall(count, all, &flag, statuses);
        }
        break;
    case 5:
        for (int k = 0; k < count; ++k) {
            MPI_Waitany(count, all, &index, &statuses[0]);
            failures += index == MPI_UNDEFINED;
        }
        MPI_Waitany(count, all, &index, &statuses[0]);
        failures += index != MPI_UNDEFINED;
        break;
    case 6:
        while (done < count) {
            int some = 0;
            MPI_Waitsome(count, all, &some, indices, statuses);
            failures += some < 1;
            done += some;
        }
        break;
    case 7:
        while (done < count) {
            int some = 0;
            MPI_Testsome(count, all, &some, indices, statuses);
            done += some;
        }
        break;
    default:
        while (done < count) {
            MPI_Testany(count, all, &index, &flag, MPI_STATUS_IGNORE);
            done += flag;
        }
    }
    MPI_Testall(count, all, &flag, statuses); // Nothing is left.
    failures += !flag;
}

// Two of four ints.
static MPI_Datatype make_gappy(void) {
    MPI_Datatype vector, type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 4 * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

static void choose(struct operation* o, MPI_Datatype type, enum form form) {
    static const int without_vectors[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11};
    o->kind =
        form == persistent && !has_persistent_vectors ? without_vectors[draw(11)] : (int)draw(16);
    o->root = (int)draw((unsigned)size);
    o->count = (int)draw(3) == 0 ? 1 : 1 + (int)draw(24);
    o->in_place = (int)draw(4) == 0;
    o->type = type;
}

static void compare(struct operation* operations, MPI_Comm comm, const char* form) {
    for (int k = 0; k < per_round; ++k) {
        call(&operations[k], below, comm, NULL);
        check(&operations[k], form);
    }
}

static void blocking_round(int round, MPI_Comm comm, struct operation* operations) {
    MPI_Datatype type = draw(3) == 0 ? make_gappy() : MPI_INT;
    for (int k = 0; k < per_round; ++k) {
        choose(&operations[k], type, blocking);
        fill(&operations[k], round);
        call(&operations[k], blocking, comm, NULL);
    }
    compare(operations, comm, "blocking");
    if (type != MPI_INT) {
        MPI_Type_free(&type);
    }
}

// A rank that waits in the MPI goes on with what is under way.
static void pass_around(MPI_Comm comm) {
    int out = rank, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 8, &in, 1, MPI_INT, (rank + size - 1) % size,
                 8, comm, MPI_STATUS_IGNORE);
    failures += in != (rank + size - 1) % size;
}

static void start(MPI_Request* all) {
    MPI_Startall(per_round / 2, all);
    for (int k = per_round / 2; k < per_round; ++k) {
        MPI_Start(&all[k]);
    }
}

static void round_of(int round, MPI_Comm comm, struct operation* operations, enum form form) {
    MPI_Request all[per_round + 2];
    const int way = (int)draw(ways), times = form == persistent ? 3 : 1;
    MPI_Datatype type = draw(3) == 0 ? make_gappy() : MPI_INT;
    int message = round, received = -1;
    for (int k = 0; k < per_round; ++k) {
        choose(&operations[k], type, form);
        fill(&operations[k], round);
        call(&operations[k], form, comm, &all[k]);
    }
    for (int time = 0; time < times; ++time) {
        for (int k = 0; time > 0 && k < per_round; ++k) {
            fill(&operations[k], round + time);
        }
        MPI_Irecv(&received, 1, MPI_INT, (rank + size - 1) % size, 7, comm, &all[per_round]);
        MPI_Isend(&message, 1, MPI_INT, (rank + 1) % size, 7, comm, &all[per_round + 1]);
        if (form == persistent) {
            start(all);
        }
        if (draw(2) == 0) {
            pass_around(comm);
        }
        if (draw(2) == 0) {
            MPI_Barrier(comm);
        }
        complete(all, per_round + 2, way);
        failures += received != round;
        compare(operations, comm, form == persistent ? "persistent" : "nonblocking");
    }
    for (int k = 0; k < per_round + 2; ++k) {
        const int is_kept = form == persistent && k < per_round;
        failures += is_kept != (all[k] != MPI_REQUEST_NULL);
        if (all[k] != MPI_REQUEST_NULL) {
            MPI_Request_free(&all[k]);
        }
    }
    if (type != MPI_INT) {
        MPI_Type_free(&type);
    }
}

static void take_larger(void* a, void* b, int* count, MPI_Datatype* type) {
    (void)type; // Two ints of four.
    for (int i = 0; i < 4 * *count; i += 2) {
        int *left = a, *right = b;
        right[i] = left[i] > right[i] ? left[i] : right[i];
    }
}

// Datatypes, operators and communicators may be freed while an operation is under way.
static void free_early(int round) {
    MPI_Comm copy;
    MPI_Request requests[3];
    MPI_Datatype type, whole;
    MPI_Op larger;
    int in[8] = {rank + round, 0, 2, 0, 3, 0, 4, 0}, out[8] = {0}, sum = 0;
    int most[8] = {9, -1, 9, -1, 9, -1, 9, -1};
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int k = 0; k < 5; ++k) {
        MPI_Barrier(copy);
    }
    MPI_Type_vector(4, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Iallreduce(in, &sum, 1, MPI_INT, MPI_SUM, copy, &requests[0]);
    memcpy(out, in, sizeof out);
    MPI_Ibcast(out, 1, type, 0, copy, &requests[1]);
    MPI_Type_free(&type);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, 4 * (MPI_Aint)sizeof(int), &whole);
    MPI_Type_commit(&whole);
    MPI_Type_free(&type);
    MPI_Op_create(take_larger, 1, &larger);
    MPI_Iallreduce(in, most, 2, whole, larger, copy, &requests[2]);
    MPI_Op_free(&larger);
    MPI_Type_free(&whole);
    MPI_Comm_free(&copy);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    const int right[8] = {size - 1 + round, -1, 2, -1, 3, -1, 4, -1};
    failures += memcmp(most, right, sizeof right) != 0;
    failures += sum != size * (size - 1) / 2 + size * round;
    failures += out[0] != round || out[2] != 2 || out[6] != 4;
}

// Rank 0 waits in a receive for rank 1, which waits for an operation that rank 0 has begun.
static void wait_elsewhere(void) {
    int in = rank, out = 0, word = 0;
    MPI_Request request;
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 0) {
        MPI_Recv(&word, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Send(&out, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    failures += out != size * (size - 1) / 2;
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 30;
    state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    const int wanted =
        argc > 3 && strcmp(argv[3], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int level, sum = 0;
    has_persistent_vectors = argc <= 4;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct operation operations[per_round];
    for (int k = 0; k < per_round; ++k) {
        operations[k].in = malloc(cells * sizeof(int));
        operations[k].mine = malloc(cells * sizeof(int));
        operations[k].theirs = malloc(cells * sizeof(int));
    }
    for (int k = 0; k < 5; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int round = 0; round < rounds; ++round) {
        blocking_round(round, MPI_COMM_WORLD, operations);
        round_of(round, MPI_COMM_WORLD, operations, nonblocking);
#ifdef HAS_PERSISTENT
        round_of(round, MPI_COMM_WORLD, operations, persistent);
#endif
        wait_elsewhere();
        if (round % 8 == 0) {
            free_early(round);
        }
    }
    PMPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d rounds, %d failures\n", rounds, sum);
    }
    for (int k = 0; k < per_round; ++k) {
        free(operations[k].in);
        free(operations[k].mine);
        free(operations[k].theirs);
    }
    MPI_Finalize();
    return sum != 0;
}
