# SPDX-License-Identifier: Apache-2.0
"""A program of mpi4py's: collectives on arrays and on objects."""

import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
right = True
for step in range(12):
    mine = array("d", [world.rank + step, 1.0])
    total = array("d", [0.0, 0.0])
    world.Allreduce(mine, total)
    right &= total[0] == sum(rank + step for rank in range(world.size))
    right &= total[1] == world.size
    right &= world.allgather(world.rank) == list(range(world.size))
    right &= world.bcast({"step": step} if world.rank == step % world.size else None,
                         root=step % world.size) == {"step": step}  # fmt: skip
    largest = array("i", [world.rank])
    world.Allreduce(MPI.IN_PLACE, largest, op=MPI.MAX)
    right &= largest[0] == world.size - 1
    # Forbidden, but MPI libraries put up with parts that overlap: one of them is seen.
    seen = array("i", [-1])
    every = [1] * world.size
    world.Allgatherv(array("i", [world.rank]), [seen, every, [0] * world.size, MPI.INT])
    right &= seen[0] in range(world.size)
world.Barrier()
# In one piece: two ranks write at once.
sys.stdout.write("right\n" if right else "wrong\n")
sys.stdout.flush()
