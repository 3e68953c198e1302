// SPDX-License-Identifier: Apache-2.0
// Callbacks of the program that the MPI runs in the middle of its calls. Attributes: collectives
// on a communicator that is being freed, datatypes of which nothing may be copied; and error
// handlers.
#include <mpi.h>

#include <stdio.h>

static int rank, size, wrong;

static void use(MPI_Comm comm, int times) {
    int members, place;
    MPI_Comm_size(comm, &members);
    MPI_Comm_rank(comm, &place);
    for (int i = 0; i < times; ++i) {
        const int mine = place + i;
        int sum = 0, later = 0;
        MPI_Request request;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        wrong += sum != members * (members - 1) / 2 + members * i;
        MPI_Iallreduce(&mine, &later, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += later != sum;
    }
}

static int calls;
static int last_calls(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key, (void)extra;
    MPI_Comm other; // That goes while this one does.
    MPI_Comm_split(comm, rank % 2, rank, &other);
    use(other, 2);
    MPI_Comm_free(&other);
    use(comm, *(const int*)value);
    ++calls;
    return MPI_SUCCESS;
}

/// The next communicator may have the handle of the one before. The attribute comes before the
/// first collective or after it, or one on some ranks and the other on the others.
static void communicators(void) {
    static int times[] = {1, 8};
    int key, other_key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_calls, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other_key, NULL);
    for (int round = 0; round < 40; ++round) {
        const int mode = round % 4;
        MPI_Comm copy, reversed;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_set_attr(copy, other_key, NULL);
        const int is_early = mode < 2 || (mode == 3 && rank == 0);
        if (is_early) {
            MPI_Comm_set_attr(copy, key, &times[round / 4 % 2]);
        }
        use(copy, mode == 0 ? 0 : 6);
        if (!is_early) {
            MPI_Comm_set_attr(copy, key, &times[round / 4 % 2]);
        }
        if (mode < 2) {
            MPI_Comm_free(&copy);
        } else {
            MPI_Comm_disconnect(&copy);
        }
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &reversed);
        use(reversed, 6);
        MPI_Comm_free(&reversed);
    }
    wrong += calls != 40;
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&other_key);
}

static int refused;
static void free_it(MPI_Comm* comm, int* error, ...) {
    MPI_Comm copy = *comm; // The caller may have the handle yet.
    ++refused;
    wrong += *error == MPI_SUCCESS;
    MPI_Comm_free(&copy);
}

/// Whatever the call was when all ranks got it wrong: one of the first, in the middle of a trial,
/// or much later.
static void error_handlers(void) {
    static const int calls_before[] = {0, 3, 4, 5, 9, 12, 40};
    enum { times = sizeof calls_before / sizeof *calls_before };
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(free_it, &handler);
    for (int time = 0; time < times; ++time) {
        MPI_Comm copy;
        int data[2] = {0};
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_set_errhandler(copy, handler);
        for (int i = 0; i < calls_before[time]; ++i) {
            MPI_Allreduce(&rank, data, 1, MPI_INT, MPI_SUM, copy);
            wrong += data[0] != size * (size - 1) / 2;
        }
        MPI_Allreduce(&rank, data, 1, MPI_INT, MPI_OP_NULL, copy);
    }
    wrong += refused != times;
    MPI_Errhandler_free(&handler);
}

static int length_key, deleted;
static void add_all(void* in, void* out, int* count, MPI_Datatype* type) {
    int *length = NULL, has_one = 0;
    MPI_Type_get_attr(*type, length_key, &length, &has_one);
    if (!has_one) {
        ++wrong;
        return;
    }
    for (int i = 0; i < *count * *length; ++i) {
        ((int*)out)[i] += ((int*)in)[i];
    }
}
static int refuse(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
    (void)type, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}
static int count_deleted(MPI_Datatype type, int key, void* value, void* extra) {
    (void)type, (void)key, (void)value, (void)extra;
    ++deleted;
    return MPI_SUCCESS;
}

/// Freed while requests need them; the MPI then frees them, too.
static void datatypes(MPI_Type_copy_attr_function* copy) {
    static int length = 3;
    MPI_Type_create_keyval(copy, count_deleted, &length_key, NULL);
    const int before = deleted, rounds = 30;
    for (int round = 0; round < rounds; ++round) {
        MPI_Datatype type, gapped;
        MPI_Op sum;
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_vector(3, 1, 2, MPI_INT, &gapped);
        MPI_Type_commit(&gapped);
        MPI_Type_set_attr(type, length_key, &length);
        MPI_Type_set_attr(gapped, length_key, &length);
        MPI_Op_create(add_all, round % 2, &sum);
        int mine[6] = {rank, 1, round}, out[2][3] = {{0}}, all[64] = {0}, now[3];
        MPI_Request requests[3];
        MPI_Iallreduce(mine, out[0], 1, type, sum, MPI_COMM_WORLD, &requests[0]);
        MPI_Iallreduce(mine, out[1], 1, type, sum, MPI_COMM_WORLD, &requests[1]);
        MPI_Iallgather(mine, 1, gapped, all, 3, MPI_INT, MPI_COMM_WORLD, &requests[2]);
        MPI_Allreduce(mine, now, 1, type, sum, MPI_COMM_WORLD);
        MPI_Type_free(&type);
        MPI_Type_free(&gapped);
        MPI_Op_free(&sum);
        wrong += type != MPI_DATATYPE_NULL || gapped != MPI_DATATYPE_NULL || sum != MPI_OP_NULL;
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        const int wanted[3] = {size * (size - 1) / 2, size, size * round};
        for (int i = 0; i < 3; ++i) {
            wrong += out[0][i] != wanted[i] || out[1][i] != wanted[i] || now[i] != wanted[i];
        }
        for (int i = 0; i < size; ++i) {
            wrong += all[3 * i] != i || all[3 * i + 1] != round || all[3 * i + 2] != 0;
        }
    }
    wrong += deleted - before != 2 * rounds;
    MPI_Type_free_keyval(&length_key);
}

/// An MPI may hand out the handle that the program has already, to be freed once more.
static void handed_out_twice(void) {
    static int length = 3;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_deleted, &length_key, NULL);
    const int before = deleted, rounds = 10;
    for (int round = 0; round < rounds; ++round) {
        MPI_Datatype gapped, outer, inner;
        int counts[1], mine[6] = {rank, 0, round}, all[64] = {0};
        MPI_Request request;
        MPI_Type_vector(3, 1, 2, MPI_INT, &gapped);
        MPI_Type_commit(&gapped);
        MPI_Type_set_attr(gapped, length_key, &length);
        MPI_Type_contiguous(1, gapped, &outer);
        MPI_Type_get_contents(outer, 1, 0, 1, counts, NULL, &inner);
        MPI_Iallgather(mine, 1, gapped, all, 3, MPI_INT, MPI_COMM_WORLD, &request);
        MPI_Type_free(&outer);
        MPI_Type_free(&gapped);
        MPI_Type_free(&inner);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < size; ++i) {
            wrong += all[3 * i] != i || all[3 * i + 1] != round || all[3 * i + 2] != 0;
        }
    }
    wrong += deleted - before != rounds;
    MPI_Type_free_keyval(&length_key);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    use(MPI_COMM_WORLD, 8);
    communicators();
    error_handlers();
    datatypes(MPI_TYPE_NULL_COPY_FN);
    datatypes(refuse);
    handed_out_twice();
    printf("%d wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
