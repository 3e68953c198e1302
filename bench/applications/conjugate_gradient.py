# SPDX-License-Identifier: Apache-2.0
"""conjugate_gradient.c in Python: Poisson's equation, rows on ranks, two dot products a step.

conjugate_gradient.py WIDTH STEPS SOLVES
"""

import numpy as np
from mpi4py import MPI
from program import arguments, report

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
above = rank - 1 if rank > 0 else MPI.PROC_NULL
below = rank + 1 if rank + 1 < size else MPI.PROC_NULL


def apply(field: np.ndarray, result: np.ndarray) -> None:
    """result = A field; the rows at the borders come from the neighbours."""
    comm.Sendrecv(field[1], dest=above, recvbuf=field[-1], source=below)
    comm.Sendrecv(field[-2], dest=below, recvbuf=field[0], source=above)
    middle = field[1:-1]
    out = result[1:-1]
    np.multiply(middle, 4, out=out)
    out -= field[:-2]
    out -= field[2:]
    out[:, 1:] -= middle[:, :-1]
    out[:, :-1] -= middle[:, 1:]


def dot(left: np.ndarray, right: np.ndarray) -> float:
    """Over all ranks."""
    own = np.array([np.vdot(left[1:-1], right[1:-1])])
    total = np.empty(1)
    comm.Allreduce(own, total)
    return float(total[0])


def solve(fields: np.ndarray, numbers: np.ndarray, steps: int) -> float:
    """The square of the solution after so many steps."""
    x, residual, direction, image = fields
    fields[:] = 0
    residual[1:-1] = direction[1:-1] = numbers
    norm = dot(residual, residual)
    for _ in range(steps):
        apply(direction, image)
        alpha = norm / dot(direction, image)
        x[1:-1] += alpha * direction[1:-1]
        residual[1:-1] -= alpha * image[1:-1]
        before, norm = norm, dot(residual, residual)
        direction[1:-1] = residual[1:-1] + norm / before * direction[1:-1]
    return dot(x, x)


def main() -> None:
    width, steps, solves = arguments("WIDTH", "STEPS", "SOLVES")
    first, last = width * rank // size, width * (rank + 1) // size
    fields = np.zeros((4, last - first + 2, width))
    numbers = np.arange(first * width, last * width) % 7 + 1.0
    comm.Barrier()
    begin = MPI.Wtime()
    for _ in range(solves):
        answer = solve(fields, numbers.reshape(-1, width), steps)
    report([answer], MPI.Wtime() - begin)


main()
