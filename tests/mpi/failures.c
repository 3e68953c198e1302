// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the middle: `failures kill`, `abort`, `mismatch`, `returned`, `longer`,
// `uncommitted`, `refused`, `refused-late` or `refused-often`.
#include "limits.h"

#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A call that the root makes wrongly and then rightly, among the first of a communicator. Returns
// how many results are wrong.
static int make_up(int rank) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int size, wrong = 0, all[64];
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 8; ++i) {
        const int mine = rank + i;
        if (i == 1 && rank == 0) {
            wrong += MPI_Gather(&mine, 1, MPI_INT, all, -1, MPI_INT, 0, comm) == MPI_SUCCESS;
        }
        wrong += MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm) != MPI_SUCCESS;
        for (int of = 0; rank == 0 && of < size; ++of) {
            wrong += all[of] != of + i;
        }
    }
    MPI_Comm_free(&comm);
    return wrong;
}

// The root makes each call with a type that is not committed, and once more where the MPI refuses
// that. Returns how many results are wrong and adds the calls refused to `refused`. The barriers
// make one of the calls refused the 24th with a team, in which ranks meet.
static int make_up_often(int rank, int* refused) {
    enum { calls = 200, length = 4, barriers = 10 };
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(length, MPI_INT, &type);
    int wrong = 0;
    for (int i = 0; i < calls; ++i) {
        for (int k = 0; i == 6 && k < barriers; ++k) {
            MPI_Barrier(comm);
        }
        int data[length] = {i, i + 1, i + 2, i + 3};
        if (rank != 0) {
            memset(data, 0, sizeof data);
        }
        const int is_refused = rank == 0 && MPI_Bcast(data, 1, type, 0, comm) != MPI_SUCCESS;
        if (rank != 0 || is_refused) {
            wrong += MPI_Bcast(data, length, MPI_INT, 0, comm) != MPI_SUCCESS;
        }
        *refused += is_refused;
        for (int k = 0; k < length; ++k) {
            wrong += data[k] != i + k;
        }
    }
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    return wrong;
}

// The others have called a nonblocking broadcast before the communicator has a team, the root makes
// it afterwards, wrongly and then rightly. Returns whether the result is wrong.
static int make_up_late(int rank) {
    enum { length = 4, barriers = 6 };
    MPI_Comm comm;
    MPI_Request request;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(length, MPI_INT, &type);
    int data[length] = {0};
    for (int k = 0; rank == 0 && k < length; ++k) {
        data[k] = k + 1;
    }
    if (rank != 0) {
        MPI_Ibcast(data, length, MPI_INT, 0, comm, &request);
    }
    for (int i = 0; i < barriers; ++i) {
        MPI_Barrier(comm);
    }
    if (rank == 0 && MPI_Ibcast(data, 1, type, 0, comm, &request) != MPI_SUCCESS) {
        MPI_Ibcast(data, length, MPI_INT, 0, comm, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    return data[length - 1] != length;
}

// Calls with a type that is not committed, whose errors the communicator returns, while those of
// MPI_COMM_SELF and MPI_COMM_WORLD end the program. Returns how many went wrong otherwise.
static int use_uncommitted(void) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    int wrong = 0, data[8] = {0}, all[8 * 8], counts[8], places[8];
    for (int i = 0; i < 8; ++i) {
        counts[i] = 1;
        places[i] = i;
    }
    for (int i = 0; i < 10; ++i) {
        const int errors[] = {
            MPI_Bcast(data, 1, type, 0, comm),
            MPI_Allgather(data, 1, type, all, 1, type, comm),
            MPI_Allgatherv(data, 1, type, all, counts, places, type, comm),
        };
        for (int k = 0; k < 3; ++k) {
            int kind = MPI_SUCCESS;
            MPI_Error_class(errors[k], &kind);
            wrong += kind != MPI_ERR_TYPE;
        }
        wrong += MPI_Barrier(comm) != MPI_SUCCESS;
    }
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    return wrong;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    int rank, error = 0;
    alarm(scaled(50));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(what, "refused") == 0) {
        printf("rank %d: %d wrong\n", rank, make_up(rank));
    } else if (strcmp(what, "refused-late") == 0) {
        printf("rank %d: %d wrong\n", rank, make_up_late(rank));
    } else if (strcmp(what, "refused-often") == 0) {
        int refused = 0;
        const int wrong = make_up_often(rank, &refused);
        printf("rank %d: %d wrong, %d refused\n", rank, wrong, refused);
    }
    if (strcmp(what, "uncommitted") == 0) {
        printf("rank %d: %d wrong\n", rank, use_uncommitted());
    }
    double one = 1, sum = 0, many[100] = {0};
    if (rank == 1 && strcmp(what, "kill") == 0) {
        raise(SIGKILL);
    } else if (rank == 1 && strcmp(what, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    if (strcmp(what, "returned") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    for (int i = 0; i < 5 && error == 0; ++i) {
        if (rank == 1 && i == 2 &&
            (strcmp(what, "mismatch") == 0 || strcmp(what, "returned") == 0)) {
            error = MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        } else if (strcmp(what, "longer") == 0) {
            // Both lengths have their plans by then.
            const int length = i == 0 || (i == 2 && rank == 0) ? 100 : 50;
            error = MPI_Bcast(many, length, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        } else {
            error = MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    if (error != 0) {
        printf("rank %d was told\n", rank);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
