// SPDX-License-Identifier: Apache-2.0
// A rank that waits in the MPI goes on with its collectives: rank 0 has one under way that needs it
// several times, and waits for rank 1, which waits for the collective first. In every way that MPI
// has of waiting for a message, and for others in a window, a communicator, a computation.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 40000, tag = 5 };

static int rank, size, wrong;
static MPI_Win window;

// What rank 0 waits in while the collective is under way, and what rank 1 does afterwards.
typedef void way(void);

static void give(void) {
    const int value = 7;
    MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}
static void check(int value) {
    wrong += value != 7;
}

static void receive(void) {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(value);
}
static void probe(void) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    wrong += status.MPI_SOURCE != 1;
    receive();
}
static void matched(void) {
    MPI_Message message;
    int value = 0;
    MPI_Mprobe(1, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    check(value);
}
static void look(void) {
    int flag = 0;
    while (!flag) {
        MPI_Iprobe(1, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    receive();
}
static void send_synchronously(void) {
    const int value = 7;
    MPI_Ssend(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
}
static void take(void) {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(value);
}
static void exchange(void) {
    const int value = 7;
    int other = 0;
    MPI_Status status;
    MPI_Sendrecv(&value, 1, MPI_INT, 1 - rank, tag, &other, 1, MPI_INT, 1 - rank, tag,
                 MPI_COMM_WORLD, &status);
    wrong += status.MPI_SOURCE != 1 - rank || status.MPI_TAG != tag;
    check(other);
}
static void exchange_in_place(void) {
    int value = 7;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - rank, tag, 1 - rank, tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    check(value);
}

static void begin(int* value, MPI_Request* requests) {
    requests[0] = MPI_REQUEST_NULL;
    MPI_Irecv(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[1]);
}
static void wait(void) {
    int value = 0;
    MPI_Request requests[2];
    MPI_Status status;
    begin(&value, requests);
    MPI_Wait(&requests[1], &status);
    wrong += status.MPI_SOURCE != 1;
    check(value);
}
static void wait_all(void) {
    int value = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    begin(&value, requests);
    MPI_Waitall(2, requests, statuses);
    wrong += statuses[1].MPI_TAG != tag;
    check(value);
}
static void wait_any(void) {
    int value = 0, index = -1;
    MPI_Request requests[2];
    begin(&value, requests);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    wrong += index != 1;
    check(value);
}
static void wait_some(void) {
    int value = 0, count = 0, indices[2];
    MPI_Request requests[2];
    begin(&value, requests);
    MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    wrong += count != 1 || indices[0] != 1;
    check(value);
}
static void test(void) {
    int value = 0, flag = 0;
    MPI_Request requests[2];
    begin(&value, requests);
    while (!flag) {
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    }
    check(value);
}

static void fence(void) {
    MPI_Win_fence(0, window);
    MPI_Win_fence(0, window);
}
static void duplicate(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}
static void compute(void) {
    const double end = MPI_Wtime() + 0.02;
    while (MPI_Wtime() < end) {
    }
}

// What a status says, errors, and what nobody sends, while both have a request: 0 and 1 do it.
static void expect(int is_right, const char* what) {
    if (!is_right) {
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
        ++wrong;
    }
}
static int class_of(int code) {
    int class = 0;
    MPI_Error_class(code, &class);
    return class;
}
static void exchange_details(void) {
    const int other = 1 - rank;
    int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8] = {0}, count = 0;
    MPI_Status status;
    memset(&status, 0x55, sizeof status);
    MPI_Sendrecv(out, 4, MPI_INT, other, 3, in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(status.MPI_SOURCE == other && status.MPI_TAG == 3 && count == 4, "a status");
    memset(&status, 0x55, sizeof status);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 3, in, 8, MPI_INT, MPI_PROC_NULL, 3,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0,
           "nobody's status");
    MPI_Datatype strided;
    MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Sendrecv_replace(out, 2, strided, other, 4, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; ++i) {
        expect(out[i] == i + 1, "what a stride replaces");
    }
    MPI_Type_free(&strided);
}
static void exchange_too_much(void) {
    const int other = 1 - rank;
    int out[8] = {0}, in[8] = {0};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Sendrecv(out, 8, MPI_INT, other, 5, in, 2, MPI_INT, other, 5, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
    expect(class_of(code) == MPI_ERR_TRUNCATE, "a message that is cut off");
    for (int is_persistent = 0; is_persistent < 2; ++is_persistent) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        if (is_persistent) {
            MPI_Recv_init(in, 2, MPI_INT, other, 6, MPI_COMM_WORLD, &requests[0]);
            MPI_Start(&requests[0]);
        } else {
            MPI_Irecv(in, 2, MPI_INT, other, 6, MPI_COMM_WORLD, &requests[0]);
        }
        MPI_Irecv(in + 4, 4, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(out, 8, MPI_INT, other, 6, MPI_COMM_WORLD);
        if (rank == 1) { // The other one sees the first one's error before the second message.
            compute();
        }
        MPI_Send(out, 4, MPI_INT, other, 7, MPI_COMM_WORLD);
        code = MPI_Waitall(2, requests, statuses);
        expect(code == MPI_ERR_IN_STATUS && class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE,
               "the error of one of several");
        expect((requests[0] == MPI_REQUEST_NULL) != is_persistent, "a request with an error");
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        if (is_persistent) {
            MPI_Request_free(&requests[0]);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void nothing(void) {}

static const struct {
    const char* name;
    way* first;  // Rank 0, at once.
    way* then;   // Rank 1, after the collective.
    way* others; // All further ranks, after it.
} ways[] = {
    {"MPI_Recv", receive, give, nothing},
    {"MPI_Probe", probe, give, nothing},
    {"MPI_Mprobe", matched, give, nothing},
    {"MPI_Iprobe", look, give, nothing},
    {"MPI_Ssend", send_synchronously, take, nothing},
    {"MPI_Sendrecv", exchange, exchange, nothing},
    {"MPI_Sendrecv_replace", exchange_in_place, exchange_in_place, nothing},
    {"MPI_Wait", wait, give, nothing},
    {"MPI_Waitall", wait_all, give, nothing},
    {"MPI_Waitany", wait_any, give, nothing},
    {"MPI_Waitsome", wait_some, give, nothing},
    {"MPI_Test", test, give, nothing},
    {"MPI_Win_fence", fence, fence, fence},
    {"MPI_Comm_dup", duplicate, duplicate, duplicate},
    {"a computation", compute, nothing, nothing},
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double* input = malloc(numbers * sizeof *input);
    double* output = malloc(numbers * sizeof *output);
    int in_window = 0;
    MPI_Win_create(&in_window, sizeof in_window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 8; ++i) {
        MPI_Barrier(MPI_COMM_WORLD); // They have a team now.
    }
    for (int i = 0; i < (int)(sizeof ways / sizeof *ways); ++i) {
        const int before = wrong;
        MPI_Request request;
        for (int k = 0; k < numbers; ++k) {
            input[k] = rank + k % 10;
        }
        memset(output, 0, numbers * sizeof *output);
        MPI_Iallreduce(input, output, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        if (rank == 0) {
            ways[i].first();
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank != 0) {
            rank == 1 ? ways[i].then() : ways[i].others();
        }
        for (int k = 0; k < numbers; ++k) {
            wrong += output[k] != size * (size - 1) / 2 + size * (k % 10);
        }
        if (wrong != before) {
            fprintf(stderr, "rank %d: %s is wrong\n", rank, ways[i].name);
        }
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Request request;
        MPI_Iallreduce(input, output, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        if (rank < 2) {
            i == 0 ? exchange_details() : exchange_too_much();
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_free(&window);
    free(input);
    free(output);
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0;
}
