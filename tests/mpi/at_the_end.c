/* SPDX-License-Identifier: Apache-2.0
   What a program may still do while MPI_Finalize is under way, in the callbacks of the attributes
   of MPI_COMM_SELF, and with a session after it. Usage: at_the_end callback | session */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

enum { count = 1000 };

static int rank;
static int size;
static int failures;
static int input[count];
static int output[count];
static MPI_Comm comm;
static MPI_Request persistent = MPI_REQUEST_NULL;
static MPI_Request begun = MPI_REQUEST_NULL;

static void expect_sums(const char* what) {
    for (int i = 0; i < count; ++i) {
        if (output[i] != size * i + size * (size - 1) / 2) {
            fprintf(stderr, "rank %d, %s: %d is %d\n", rank, what, i, output[i]);
            ++failures;
            return;
        }
    }
    memset(output, 0, sizeof output);
}

static void start_again(const char* what) {
    for (int round = 0; round < 3; ++round) {
        MPI_Start(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        expect_sums(what);
    }
}

static int in_the_callback(MPI_Comm self, int key, void* value, void* extra) {
    (void)self;
    (void)key;
    (void)value;
    (void)extra;
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    expect_sums("begun before");
    start_again("started again");
    for (int round = 0; round < 3; ++round) {
        MPI_Allreduce(input, output, count, MPI_INT, MPI_SUM, comm);
        expect_sums("blocking");
        MPI_Iallreduce(input, output, count, MPI_INT, MPI_SUM, comm, &begun);
        MPI_Wait(&begun, MPI_STATUS_IGNORE);
        expect_sums("nonblocking");
    }
    MPI_Request_free(&persistent);
    MPI_Comm_free(&comm);
    printf("%d failures\n", failures);
    return MPI_SUCCESS;
}

static void make_persistent(void) {
    for (int i = 0; i < count; ++i) {
        input[i] = i + rank;
    }
    for (int i = 0; i < 10; ++i) {
        MPI_Allreduce(input, output, count, MPI_INT, MPI_SUM, comm);
        expect_sums("at first");
    }
    MPI_Allreduce_init(input, output, count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent);
    start_again("at first");
}

int main(int words, char** word) {
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(word[1], "callback") == 0) {
        int key = 0;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &in_the_callback, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        make_persistent();
        MPI_Iallreduce(input, output, count, MPI_INT, MPI_SUM, comm, &begun);
        MPI_Finalize();
        return 0;
    }
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "corymb", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    make_persistent();
    MPI_Finalize();
    start_again("after MPI_Finalize");
    MPI_Allreduce(input, output, count, MPI_INT, MPI_SUM, comm);
    expect_sums("blocking, after MPI_Finalize");
    MPI_Request_free(&persistent);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    printf("%d failures\n", failures);
    return 0;
}
