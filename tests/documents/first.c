/* SPDX-License-Identifier: Apache-2.0 */
/* The first program of docs/reference/c.md. */
#include <corymb.h>
#include <stdio.h>

static corymb_status work(corymb_team* team, void* arg) {
    double sum = corymb_team_rank(team) + 1;
    corymb_status status =
        corymb_allreduce(CORYMB_IN_PLACE, &sum, 1, CORYMB_DOUBLE, CORYMB_SUM, team);
    if (status == CORYMB_OK && corymb_team_rank(team) == 0) {
        printf("%g\n", sum);
    }
    return status;
}

int main(void) {
    if (corymb_threads(4, work, NULL, NULL) != CORYMB_OK) {
        fprintf(stderr, "%s\n", corymb_last_error());
        return 1;
    }
    return 0;
}
