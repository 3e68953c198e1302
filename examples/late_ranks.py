# SPDX-License-Identifier: Apache-2.0
"""Which process keeps the others waiting? Each tells whom it has waited for."""

import time

import corymb


def work(team):
    for _ in range(100):
        if team.rank == 2:
            time.sleep(0.005)  # The late one.
        team.Barrier()
    return team.statistics().waited_for  # Seconds, an entry for each rank.


if __name__ == "__main__":
    waits = corymb.run(work, 3)
    for rank, waited_for in enumerate(waits):
        print(f"rank {rank} has waited for", [f"{seconds:.3f} s" for seconds in waited_for])
    totals = [sum(waited_for[rank] for waited_for in waits) for rank in range(3)]
    print(f"rank {totals.index(max(totals))} is late")
