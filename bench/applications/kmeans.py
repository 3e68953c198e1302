# SPDX-License-Identifier: Apache-2.0
"""Lloyd's algorithm as in kmeans.c, on points of its own: 16 centres, two Allreduce a step.

kmeans.py POINTS STEPS; points of all ranks together.
"""

import numpy as np
from mpi4py import MPI
from program import arguments, report

comm = MPI.COMM_WORLD
CENTRES = 16
DIMENSIONS = 8


def main() -> None:
    points, steps = arguments("POINTS", "STEPS")
    first, last = points * comm.rank // comm.size, points * (comm.rank + 1) // comm.size
    # The same points on any number of ranks: each draws all and keeps its own.
    point = np.random.default_rng(1).random((points, DIMENSIONS))[first:last]
    centre = np.zeros((CENTRES, DIMENSIONS))
    if comm.rank == 0:
        centre[: min(CENTRES, last)] = point[:CENTRES]
    comm.Bcast(centre)
    sums = np.empty_like(centre)
    members = np.empty(CENTRES, dtype=np.int64)
    comm.Barrier()
    begin = MPI.Wtime()
    for _ in range(steps):
        distance = (centre * centre).sum(axis=1) - 2 * point @ centre.T
        group = distance.argmin(axis=1)
        members[:] = np.bincount(group, minlength=CENTRES)
        for dimension in range(DIMENSIONS):
            sums[:, dimension] = np.bincount(group, point[:, dimension], CENTRES)
        comm.Allreduce(MPI.IN_PLACE, sums)
        comm.Allreduce(MPI.IN_PLACE, members)
        centre = np.where(members[:, None] > 0, sums / np.maximum(members, 1)[:, None], centre)
    report(centre[:, 0] + members, MPI.Wtime() - begin)


main()
