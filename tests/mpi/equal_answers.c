// SPDX-License-Identifier: Apache-2.0
// Equal calls of reductions on NaN, signed zeros and infinities give equal answers, and all ranks
// of a call with one answer get the same. Bit patterns of NaN do not count. The first calls of an
// MPI may differ from its later ones. Arguments: calls of each.
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { elements = 64, most_bytes = elements * 32, settled = 12 };

typedef struct {
    double value;
    int index;
} Pair;

static const double special[] = {NAN, 0.0, -0.0, INFINITY, -INFINITY, 1.0, -3.25, 1e308};
enum { specials = sizeof special / sizeof *special };

static int rank, size, calls;

typedef enum { of_double, of_float, of_long_double, of_complex, of_pair, of_int, types } Type;

static MPI_Datatype type_of(Type type) {
    switch (type) {
    case of_double: return MPI_DOUBLE;
    case of_float: return MPI_FLOAT;
    case of_long_double: return MPI_LONG_DOUBLE;
    case of_complex: return MPI_C_DOUBLE_COMPLEX;
    case of_pair: return MPI_DOUBLE_INT;
    default: return MPI_INT;
    }
}

/// Every special value of one rank meets every one of another.
static double value_of(int i) {
    return special[(rank % 2 == 0 ? i : i / specials + rank / 2) % specials];
}

static void fill(Type type, void* data) {
    memset(data, 0, most_bytes);
    for (int i = 0; i < elements; ++i) {
        const double value = value_of(i);
        switch (type) {
        case of_double: ((double*)data)[i] = value; break;
        case of_float: ((float*)data)[i] = (float)value; break;
        case of_long_double: ((long double*)data)[i] = value; break;
        case of_complex: ((double complex*)data)[i] = CMPLX(value, value_of(i + 1)); break;
        case of_pair: ((Pair*)data)[i] = (Pair){value, rank}; break;
        default: ((int*)data)[i] = rank * 1000 + i; break;
        }
    }
}

static void keep_double(char* out, double value) {
    value = isnan(value) ? NAN : value;
    memcpy(out, &value, sizeof value);
}

/// What counts of an answer.
static void note(Type type, const void* data, char* out) {
    memset(out, 0, most_bytes);
    for (int i = 0; i < elements; ++i) {
        char* const at = out + 24 * i;
        switch (type) {
        case of_double: keep_double(at, ((const double*)data)[i]); break;
        case of_float: keep_double(at, (double)((const float*)data)[i]); break;
        case of_long_double: keep_double(at, (double)((const long double*)data)[i]); break;
        case of_complex:
            keep_double(at, creal(((const double complex*)data)[i]));
            keep_double(at + 8, cimag(((const double complex*)data)[i]));
            break;
        case of_pair:
            keep_double(at, ((const Pair*)data)[i].value);
            memcpy(at + 8, &((const Pair*)data)[i].index, sizeof(int));
            break;
        default: memcpy(at, &((const int*)data)[i], sizeof(int)); break;
        }
    }
}

typedef enum {
    allreduce,
    reduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    operations
} Operation;

typedef struct {
    Operation operation;
    MPI_Datatype type;
    MPI_Op op;
    const void* in;
    void* out;
    const int* counts;
} Terms;

static void block(const Terms* t) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    switch (t->operation) {
    case allreduce: MPI_Allreduce(t->in, t->out, elements, t->type, t->op, comm); break;
    case reduce: MPI_Reduce(t->in, t->out, elements, t->type, t->op, 0, comm); break;
    case reduce_scatter: MPI_Reduce_scatter(t->in, t->out, t->counts, t->type, t->op, comm); break;
    case reduce_scatter_block:
        MPI_Reduce_scatter_block(t->in, t->out, elements / size, t->type, t->op, comm);
        break;
    case scan: MPI_Scan(t->in, t->out, elements, t->type, t->op, comm); break;
    default: MPI_Exscan(t->in, t->out, elements, t->type, t->op, comm); break;
    }
}

static void begin(const Terms* t, MPI_Request* request) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    switch (t->operation) {
    case allreduce: MPI_Iallreduce(t->in, t->out, elements, t->type, t->op, comm, request); break;
    case reduce: MPI_Ireduce(t->in, t->out, elements, t->type, t->op, 0, comm, request); break;
    case reduce_scatter:
        MPI_Ireduce_scatter(t->in, t->out, t->counts, t->type, t->op, comm, request);
        break;
    case reduce_scatter_block:
        MPI_Ireduce_scatter_block(t->in, t->out, elements / size, t->type, t->op, comm, request);
        break;
    case scan: MPI_Iscan(t->in, t->out, elements, t->type, t->op, comm, request); break;
    default: MPI_Iexscan(t->in, t->out, elements, t->type, t->op, comm, request); break;
    }
}

/// Long doubles may be left to the MPI, and MPICH's own MPI_Iallreduce with MPI_MIN or MPI_MAX has
/// other answers on other ranks where there is a NaN.
static int is_on_all(Operation operation, Type type, MPI_Op op) {
    return operation == allreduce && type != of_int && type != of_long_double && op != MPI_OP_NULL;
}

/// Returns how often an answer was another one than before or, of those that all ranks have, than
/// rank 0's.
static int try(Operation operation, Type type, MPI_Op op, int is_request) {
    static long double in[most_bytes / sizeof(long double)], out[most_bytes / sizeof(long double)];
    static char first[most_bytes], now[most_bytes];
    int wrong = 0;
    int counts[64];
    for (int i = 0; i < size; ++i) {
        counts[i] = elements / size - (i == 0) + (i == size - 1);
    }
    const Terms terms = {operation, type_of(type), op, in, out, counts};
    fill(type, in);
    for (int call = 0; call < calls; ++call) {
        memset(out, 0, sizeof out);
        if (is_request) {
            MPI_Request request;
            begin(&terms, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            block(&terms);
        }
        note(type, out, now);
        if (call == settled) {
            memcpy(first, now, sizeof first);
        }
        wrong += call > settled && memcmp(first, now, sizeof now) != 0;
    }
    if (is_on_all(operation, type, op)) {
        char root[most_bytes];
        memcpy(root, now, sizeof root);
        MPI_Bcast(root, sizeof root, MPI_BYTE, 0, MPI_COMM_WORLD);
        wrong += memcmp(root, now, sizeof now) != 0;
    }
    return wrong;
}

int main(int words, char** word) {
    int wrong = 0;
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    calls = atoi(word[1]);
    const MPI_Op of_numbers[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD};
    const MPI_Op of_pairs[] = {MPI_MAXLOC, MPI_MINLOC};
    for (Type type = 0; type < types; ++type) {
        const MPI_Op* const ops = type == of_pair ? of_pairs : of_numbers;
        const int last = type == of_pair ? 2 : 4;
        for (int op = type == of_complex ? 2 : 0; op < last; ++op) {
            for (Operation operation = 0; operation < operations; ++operation) {
                for (int is_request = 0; is_request < 2; ++is_request) {
                    const int found = try(operation, type, ops[op], is_request);
                    if (found != 0) {
                        fprintf(stderr,
                                "rank %d: type %d, operator %d, operation %d, request %d: %d\n",
                                rank, type, op, operation, is_request, found);
                    }
                    wrong += found;
                }
            }
        }
    }
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0;
}
