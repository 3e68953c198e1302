// SPDX-License-Identifier: Apache-2.0
// Calls random collectives twice, once by their MPI_ names, which the adapter may take over, and
// once by their PMPI_ names, which are the MPI's own, and compares all buffers. Arguments: steps,
// seed, thread level (single or multiple).
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes_of_a_rank = 1 << 17, ranks_max = 64, comms = 4 };

static size_t bytes_max; // Of all ranks.

static uint64_t state;

// The same numbers on all ranks.
static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static unsigned char *in, *mine, *theirs;
static int failures;

static void fill(unsigned char* buffer, size_t bytes, int rank, int step) {
    // Small values: sums of them as any integer type, or as double, are exact.
    for (size_t i = 0; i < bytes; ++i) {
        buffer[i] = (unsigned char)((i * 7 + (size_t)rank * 13 + (size_t)step) % 5);
    }
}

static void fill_doubles(unsigned char* buffer, size_t bytes, int rank, int step) {
    double* values = (double*)buffer;
    for (size_t i = 0; i < bytes / sizeof(double); ++i) {
        values[i] = (double)((i + (size_t)rank * 3 + (size_t)step) % 17);
    }
}

static void check(const char* what, int step, size_t bytes) {
    if (memcmp(mine, theirs, bytes) != 0) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        fprintf(stderr, "rank %d, step %d: %s differs\n", rank, step, what);
        ++failures;
    }
}

#define BOTH(name, comm, ...)                                                                      \
    do {                                                                                           \
        unsigned char* out = mine;                                                                 \
        (void)out;                                                                                 \
        MPI_##name(__VA_ARGS__, comm);                                                             \
        out = theirs;                                                                              \
        PMPI_##name(__VA_ARGS__, comm);                                                            \
        check(#name, step, bytes_max);                                                             \
    } while (0)

// Two ints of three, in reverse order.
static MPI_Datatype make_gappy(void) {
    MPI_Datatype holes, type;
    int lengths[2] = {1, 1}, places[2] = {2, 0};
    MPI_Type_indexed(2, lengths, places, MPI_INT, &holes);
    MPI_Type_create_resized(holes, 0, 3 * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&holes);
    return type;
}

// Two ints in a row, made in two steps: such data is used where it lies.
static MPI_Datatype make_row(void) {
    MPI_Datatype pair, type;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_dup(pair, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&pair);
    return type;
}

static MPI_Datatype row;

static void add_times(void* a, void* b, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        ((int*)b)[i] = (((int*)a)[i] + ((int*)b)[i]) % 1000;
    }
}

static void add_pairs(void* a, void* b, int* count, MPI_Datatype* type) {
    int twice = 2 * *count;
    add_times(a, b, &twice, type);
}

// Elements say that x becomes a x + b: first as the right one does, then as the left.
static void compose(void* left, void* right, int* count, MPI_Datatype* type) {
    enum { prime = 1009 };
    (void)type; // Two ints of three: the third is neither read nor written.
    for (int i = 0; i < *count; ++i) {
        const int* one = (const int*)left + 3 * i;
        int* two = (int*)right + 3 * i;
        two[0] = (one[2] % prime * (two[0] % prime) + one[0]) % prime;
        two[2] = one[2] % prime * (two[2] % prime) % prime;
    }
}

static void move_step(int step, MPI_Comm comm, int rank, int size, MPI_Datatype gappy) {
    const unsigned sizes[] = {0, 1, 2, 7, 64, 1000, 4096, 9000};
    const int elements = (int)sizes[draw(8)];
    const int root = (int)draw((unsigned)size);
    const int in_place = draw(3) == 0;
    // Ranks may describe the same data by different types.
    const int gaps = draw(4), has_gaps = gaps == 1 || (gaps == 2 && rank % 2 == 1);
    MPI_Datatype type = has_gaps ? gappy : gaps == 3 ? row : MPI_INT;
    const int count = type != MPI_INT ? elements : 2 * elements;
    fill(in, bytes_max, rank, step);
    fill(mine, bytes_max, rank, step + 1);
    memcpy(theirs, mine, bytes_max);
    switch (draw(5)) {
    case 0: BOTH(Bcast, comm, out, count, type, root); break;
    case 1:
        if (in_place && rank == root) {
            BOTH(Gather, comm, MPI_IN_PLACE, 0, MPI_BYTE, out, count, type, root);
        } else {
            BOTH(Gather, comm, in, 2 * elements, MPI_INT, out, count, type, root);
        }
        break;
    case 2:
        if (in_place && rank == root) {
            BOTH(Scatter, comm, in, count, type, MPI_IN_PLACE, 0, MPI_BYTE, root);
        } else {
            BOTH(Scatter, comm, in, 2 * elements, MPI_INT, out, count, type, root);
        }
        break;
    case 3:
        if (in_place) {
            BOTH(Allgather, comm, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, type);
        } else {
            BOTH(Allgather, comm, in, count, type, out, 2 * elements, MPI_INT);
        }
        break;
    default:
        if (in_place) {
            BOTH(Alltoall, comm, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, type);
        } else {
            BOTH(Alltoall, comm, in, 2 * elements, MPI_INT, out, count, type);
        }
    }
}

// Where parts lie: in their order or the other way round, with gaps or without. In elements.
static void lay_out(const int* counts, int size, int* places) {
    const int backwards = (int)draw(2), gap = (int)draw(2) * 3;
    for (int i = 0, next = 0; i < size; ++i) {
        const int part = backwards ? size - 1 - i : i;
        places[part] = next;
        next += counts[part] + gap;
    }
}

// Of parts that differ in length: what rank `from` has for rank `to`, of some nothing.
static int length(int from, int to, int most, int is_symmetric) {
    return most * ((is_symmetric ? from + to : 2 * from + to) % 3) / 2;
}

static void alltoallv_step(int step, MPI_Comm comm, int rank, int size, int most,
                           MPI_Datatype gappy) {
    const int in_place = draw(3) == 0, has_types = (int)draw(2);
    int in_counts[ranks_max], in_places[ranks_max], out_counts[ranks_max], out_places[ranks_max];
    MPI_Datatype in_types[ranks_max], out_types[ranks_max];
    for (int i = 0; i < size; ++i) {
        in_counts[i] = length(rank, i, most, in_place);
        out_counts[i] = length(i, rank, most, in_place);
    }
    lay_out(in_counts, size, in_places);
    lay_out(out_counts, size, out_places);
    if (!has_types) {
        const void* from = in_place ? MPI_IN_PLACE : in;
        BOTH(Alltoallv, comm, from, in_counts, in_places, MPI_INT, out, out_counts, out_places,
             MPI_INT);
        return;
    }
    for (int i = 0; i < size; ++i) { // Twice as many ints; places are bytes.
        in_types[i] = i % 2 == 0 ? gappy : MPI_INT;
        out_types[i] = (rank + i) % 2 == 0 ? gappy : MPI_INT;
        in_counts[i] *= in_types[i] == gappy ? 1 : 2;
        out_counts[i] *= out_types[i] == gappy ? 1 : 2;
        in_places[i] *= 12;
        out_places[i] *= 12;
    }
    BOTH(Alltoallw, comm, in, in_counts, in_places, in_types, out, out_counts, out_places,
         out_types);
}

static void vector_step(int step, MPI_Comm comm, int rank, int size, MPI_Datatype gappy) {
    const int sizes[] = {0, 1, 2, 7, 64, 1000, 4096, 9000};
    const int most = sizes[draw(8)], root = (int)draw((unsigned)size), in_place = draw(3) == 0;
    fill(in, bytes_max, rank, step);
    fill(mine, bytes_max, rank, step + 1);
    memcpy(theirs, mine, bytes_max);
    int counts[ranks_max], places[ranks_max];
    for (int i = 0; i < size; ++i) {
        counts[i] = length(i, root, most, 0);
    }
    lay_out(counts, size, places);
    const int is_in_place = in_place && rank == root;
    switch (draw(4)) {
    case 0:
        BOTH(Gatherv, comm, is_in_place ? MPI_IN_PLACE : in, 2 * counts[rank], MPI_INT, out, counts,
             places, gappy, root);
        break;
    case 1:
        BOTH(Scatterv, comm, in, counts, places, gappy, is_in_place ? MPI_IN_PLACE : out,
             2 * counts[rank], MPI_INT, root);
        break;
    case 2:
        BOTH(Allgatherv, comm, in_place ? MPI_IN_PLACE : in, counts[rank], MPI_INT, out, counts,
             places, MPI_INT);
        break;
    default: alltoallv_step(step, comm, rank, size, most, gappy);
    }
}

static void reduce_step(int step, MPI_Comm comm, int rank, int size, MPI_Datatype gappy,
                        const MPI_Op* own) {
    const MPI_Datatype types[] = {
        MPI_INT,      MPI_DOUBLE, MPI_UNSIGNED_CHAR, MPI_INT64_T, MPI_2INT, MPI_SHORT, MPI_BYTE,
        MPI_UINT16_T, MPI_DOUBLE, MPI_AINT,          MPI_INT,     row,      gappy,     gappy};
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BOR, MPI_PROD, MPI_MINLOC, MPI_MIN, MPI_BXOR,
                          MPI_SUM, MPI_SUM, MPI_SUM, own[0],   own[1],     own[2],  own[2]};
    const int which = (int)draw(14), root = (int)draw((unsigned)size);
    const unsigned sizes[] = {0, 1, 3, 16, 100, 1023, 3000, 4000};
    const int count = (int)sizes[draw(8)], in_place = draw(3) == 0, uneven = (int)draw(2);
    MPI_Datatype type = types[which];
    MPI_Op op = ops[which];
    int counts[ranks_max];
    for (int i = 0; i < size; ++i) {
        counts[i] = uneven ? count * (i % 3) / 2 : count;
    }
    if (type == MPI_DOUBLE) {
        fill_doubles(in, bytes_max, rank, step);
        fill_doubles(mine, bytes_max, rank, step + 1);
    } else {
        fill(in, bytes_max, rank, step);
        fill(mine, bytes_max, rank, step + 1);
    }
    memcpy(theirs, mine, bytes_max);
    const void* from = in_place ? MPI_IN_PLACE : in;
    switch (draw(6)) {
    case 0:
        BOTH(Reduce, comm, in_place && rank == root ? MPI_IN_PLACE : in, out, count, type, op,
             root);
        break;
    case 1: BOTH(Allreduce, comm, from, out, count, type, op); break;
    // Beyond the result the MPIs leave the buffer as it was, and programs rely on that.
    case 2: BOTH(Reduce_scatter_block, comm, from, out, count, type, op); break;
    case 3: BOTH(Reduce_scatter, comm, from, out, counts, type, op); break;
    case 4: BOTH(Scan, comm, from, out, count, type, op); break;
    default: BOTH(Exscan, comm, from, out, count, type, op);
    }
}

int main(int argc, char** argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 200;
    state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    int level, rank, size;
    const int wanted =
        argc > 3 && strcmp(argv[3], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > ranks_max) {
        fprintf(stderr, "at most %d ranks\n", ranks_max);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bytes_max = (size_t)size * bytes_of_a_rank;
    in = malloc(bytes_max);
    mine = malloc(bytes_max);
    theirs = malloc(bytes_max);
    MPI_Comm all[comms] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_SELF};
    MPI_Comm_dup(MPI_COMM_WORLD, &all[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &all[2]); // In reverse order.
    MPI_Datatype gappy = make_gappy();
    row = make_row();
    MPI_Op own[3];
    MPI_Op_create(add_times, 1, &own[0]);
    MPI_Op_create(add_pairs, 1, &own[1]);
    MPI_Op_create(compose, 0, &own[2]);
    for (int step = 0; step < steps; ++step) {
        MPI_Comm comm = all[draw(comms)];
        const uint64_t before = state;
        int comm_rank, comm_size;
        MPI_Comm_rank(comm, &comm_rank);
        MPI_Comm_size(comm, &comm_size);
        MPI_Barrier(comm);
        switch (draw(3)) {
        case 0: move_step(step, comm, comm_rank, comm_size, gappy); break;
        case 1: reduce_step(step, comm, comm_rank, comm_size, gappy, own); break;
        default: vector_step(step, comm, comm_rank, comm_size, gappy);
        }
        state = before; // Halves of different sizes have drawn differently.
        draw(3);
    }
    for (int i = 0; i < 3; ++i) {
        MPI_Op_free(&own[i]);
    }
    MPI_Type_free(&gappy);
    MPI_Type_free(&row);
    MPI_Comm_free(&all[1]);
    MPI_Comm_free(&all[2]);
    int sum = 0;
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d steps, %d differences\n", steps, sum);
    }
    free(in);
    free(mine);
    free(theirs);
    MPI_Finalize();
    return sum == 0 ? 0 : 1;
}
