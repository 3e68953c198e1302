// SPDX-License-Identifier: Apache-2.0
// What programs seldom do and MPI allows: exchanges within one array, elements at absolute
// addresses, datatypes of a Fortran kind or made with large counts, data of its own in the gaps of
// pairs. By their MPI_ names, in all of a dozen calls; what comes of it is compared.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 12, most_ranks = 8 };

static int rank, size, failures;

static void expect(int value, int wanted, const char* what) {
    if (value != wanted) {
        fprintf(stderr, "rank %d: %s: %d, not %d\n", rank, what, value, wanted);
        ++failures;
    }
}

/// The first half of an array goes out, the second half comes in.
static void within_one_array(int call) {
    int data[2 * most_ranks];
    int counts[most_ranks], same[most_ranks], from[most_ranks], to[most_ranks], zeros[most_ranks];
    MPI_Datatype sent[most_ranks], received[most_ranks];
    for (int i = 0; i < size; ++i) {
        data[i] = 100 * rank + i + call;
        data[size + i] = -1;
        counts[i] = same[i] = 1;
        from[i] = i;
        to[i] = size + i;
        zeros[i] = 0;
        const int places[2] = {i, size + i};
        MPI_Type_create_indexed_block(1, 1, &places[0], MPI_INT, &sent[i]);
        MPI_Type_create_indexed_block(1, 1, &places[1], MPI_INT, &received[i]);
        MPI_Type_commit(&sent[i]);
        MPI_Type_commit(&received[i]);
    }
    MPI_Alltoallv(data, counts, from, MPI_INT, data, same, to, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        expect(data[size + i], 100 * i + rank + call, "Alltoallv");
        data[size + i] = -1;
    }
    MPI_Alltoallw(data, counts, zeros, sent, data, counts, zeros, received, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        expect(data[size + i], 100 * i + rank + call, "Alltoallw");
        MPI_Type_free(&sent[i]);
        MPI_Type_free(&received[i]);
    }
}

/// An element is every second int from an absolute address on.
static void at_absolute_addresses(int call) {
    int all[4 * most_ranks], mine[4] = {-1, -1, -1, -1};
    for (int i = 0; i < 4 * size; ++i) {
        all[i] = i + call;
    }
    const int lengths[2] = {1, 1};
    MPI_Aint places[2];
    MPI_Get_address(&all[0], &places[0]);
    MPI_Get_address(&all[2], &places[1]);
    MPI_Datatype pair, type;
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &pair);
    MPI_Type_create_resized(pair, places[0], 4 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Scatter(MPI_BOTTOM, 1, type, mine, 2, MPI_INT, 0, MPI_COMM_WORLD);
    expect(mine[0], 4 * rank + call, "Scatter from MPI_BOTTOM");
    expect(mine[1], 4 * rank + 2 + call, "Scatter from MPI_BOTTOM");
    memset(all, 0, sizeof all);
    MPI_Allgather(mine, 2, MPI_INT, MPI_BOTTOM, 1, type, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        expect(all[4 * i], 4 * i + call, "Allgather to MPI_BOTTOM");
        expect(all[4 * i + 2], 4 * i + 2 + call, "Allgather to MPI_BOTTOM");
    }
    MPI_Type_free(&type);
    MPI_Type_free(&pair);
}

static void broadcast(MPI_Datatype type, int ints, int call, const char* what) {
    int data[64];
    for (int i = 0; i < 64; ++i) {
        data[i] = rank == 0 ? 7 * i + call : -1;
    }
    MPI_Type_commit(&type);
    MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ints; ++i) {
        expect(data[i], 7 * i + call, what);
    }
    MPI_Type_free(&type);
}

static void other_datatypes(int call) {
    MPI_Datatype real, type;
    MPI_Type_create_f90_real(15, 300, &real);
    MPI_Type_contiguous(4, real, &type);
    broadcast(type, 8, call, "contiguous of a Fortran kind");
#if MPI_VERSION >= 4
    MPI_Type_contiguous_c(5, MPI_INT, &type);
    broadcast(type, 5, call, "contiguous_c");
    MPI_Type_vector_c(5, 1, 1, MPI_INT, &type);
    broadcast(type, 5, call, "vector_c");
#endif
}

struct wide_pair {
    double value;
    int place;
    int own; ///< In the gap between two of them.
};
struct narrow_pair {
    short value;
    short own; ///< In the gap within.
    int place;
};

static void combine(void* in, void* out, int* count, MPI_Datatype* type) {
    (void)type;
    const struct wide_pair* one = in;
    struct wide_pair* other = out;
    for (int i = 0; i < *count; ++i) {
        other[i].value += one[i].value;
        other[i].place += one[i].place;
    }
}

static void pairs_with_gaps(int call) {
    enum { count = 3, own = 4711 };
    const int sum = size * (size - 1) / 2;
    struct wide_pair in[count], out[count], added[count], in_place[count];
    struct narrow_pair small[count], least[count];
    MPI_Op op;
    MPI_Op_create(combine, 1, &op);
    for (int i = 0; i < count; ++i) {
        in[i] = (struct wide_pair){rank + call, rank, -1};
        small[i] = (struct narrow_pair){(short)(rank + call), -1, rank};
        out[i] = added[i] = (struct wide_pair){-1, -1, own};
        in_place[i] = (struct wide_pair){rank, rank, own};
        least[i] = (struct narrow_pair){-1, own, -1};
    }
    MPI_Allreduce(in, out, count, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Allreduce(in, added, count, MPI_DOUBLE_INT, op, MPI_COMM_WORLD);
    MPI_Allreduce(small, least, count, MPI_SHORT_INT, MPI_MINLOC, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in_place, count, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    for (int i = 0; i < count; ++i) {
        expect((int)out[i].value, size - 1 + call, "the greatest");
        expect(out[i].place, size - 1, "its place");
        expect(out[i].own, own, "the gap behind it");
        expect(added[i].place, sum, "the sum of places");
        expect(added[i].own, own, "the gap behind the sum");
        expect(least[i].value, call, "the least");
        expect(least[i].place, 0, "its place");
        expect(least[i].own, own, "the gap before its place");
        expect(in_place[i].place, size - 1, "the place of the greatest, in place");
        expect(in_place[i].own, own, "the gap behind it, in place");
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 0; call < calls && size <= most_ranks; ++call) {
        within_one_array(call);
        at_absolute_addresses(call);
        other_datatypes(call);
        pairs_with_gaps(call);
    }
    int all = 0;
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d failures\n", all);
    }
    MPI_Finalize();
    return all != 0;
}
