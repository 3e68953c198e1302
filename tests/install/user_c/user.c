// SPDX-License-Identifier: Apache-2.0
#include <corymb.h>

#include <stdio.h>

static corymb_status work(corymb_team* team, void* sum) {
    long own = corymb_team_rank(team) + 1;
    return corymb_reduce(&own, sum, 1, CORYMB_LONG, CORYMB_SUM, 0, team);
}

int main(void) {
    long sums[1] = {0};
    if (corymb_threads(2, work, sums, NULL) != CORYMB_OK) {
        fprintf(stderr, "%s\n", corymb_last_error());
        return 1;
    }
    const corymb_status refused = corymb_barrier(NULL);
    printf("version %s, sum %ld, %s\n", corymb_version(), sums[0], corymb_status_name(refused));
    return sums[0] == 3 ? 0 : 1;
}
