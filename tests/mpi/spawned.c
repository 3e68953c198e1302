// SPDX-License-Identifier: Apache-2.0
// A program that starts two more of itself: collectives of parents, of children, on the merged
// communicator, on parts of it, and over the intercommunicator.
#include <mpi.h>
#include <stdio.h>

enum { children = 2, calls = 30 };
static int wrong;

static void expect(int is, int should_be, const char* what) {
    if (is != should_be) {
        fprintf(stderr, "%s: %d, not %d\n", what, is, should_be);
        ++wrong;
    }
}

/// All sums of the ranks' numbers, and the root's number.
static void use(MPI_Comm comm, const char* what) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int call = 0; call < calls; ++call) {
        int sum = 0, root = rank == size - 1 ? call : -1, all[16] = {0};
        const int own = rank + call;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        expect(sum, size * (size - 1) / 2 + size * call, what);
        MPI_Bcast(&root, 1, MPI_INT, size - 1, comm);
        expect(root, call, what);
        MPI_Request request;
        MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < size; ++i) {
            expect(all[i], i + call, what);
        }
    }
}

int main(int argc, char** argv) {
    MPI_Comm parents, between, merged, part;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    const int is_child = parents != MPI_COMM_NULL;
    if (is_child) {
        between = parents;
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
    }
    use(MPI_COMM_WORLD, is_child ? "the children" : "the parents");
    MPI_Intercomm_merge(between, is_child, &merged);
    use(merged, "all");
    int rank, remote, sum = 0;
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_split(merged, rank % 2, 0, &part);
    use(part, "a part");
    MPI_Comm_remote_size(between, &remote);
    const int one = 1;
    for (int call = 0; call < calls; ++call) { // The sum of the other group.
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
        expect(sum, remote, "over the intercommunicator");
        MPI_Barrier(between);
    }
    MPI_Comm_free(&part);
    int all = 0;
    PMPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
    if (!is_child && rank == 0) {
        printf("%d wrong\n", all);
    }
    MPI_Finalize();
    return 0;
}
