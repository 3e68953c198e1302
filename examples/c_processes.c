// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes, in C: corymb run -n 4 -- ./c_processes
// Started alone it is a team of one.
#include <corymb.h>

#include <stdio.h>
#include <stdlib.h>

/// The number that each rank's neighbour on the left holds.
static corymb_status work(corymb_team* team) {
    const int rank = corymb_team_rank(team);
    const int size = corymb_team_size(team);
    int own = rank * rank, left = -1, all = 0;
    corymb_status status = corymb_sendrecv(&own, 1, CORYMB_INT, (rank + 1) % size, &left, 1,
                                           CORYMB_INT, (rank + size - 1) % size, team);
    if (status == CORYMB_OK) {
        status = corymb_reduce(&left, &all, 1, CORYMB_INT, CORYMB_SUM, 0, team);
    }
    if (status == CORYMB_OK && rank == 0) {
        printf("%d processes, the sum of their squares is %d\n", size, all);
    }
    return status;
}

int main(void) {
    corymb_attach_options alone;
    corymb_attach_options_init(&alone);
    const int launched = getenv("CORYMB_TEAM") != NULL;
    corymb_status status = CORYMB_OK;
    if (!launched) {
        status = corymb_make_team_descriptor(1, &alone.descriptor);
    }
    corymb_team* team = NULL;
    if (status == CORYMB_OK) {
        status = corymb_attach(launched ? NULL : &alone, &team);
    }
    if (status == CORYMB_OK) {
        status = work(team);
        corymb_team_free(&team);
    }
    if (status != CORYMB_OK) {
        fprintf(stderr, "%s: %s\n", corymb_status_name(status), corymb_last_error());
        return 1;
    }
    return 0;
}
