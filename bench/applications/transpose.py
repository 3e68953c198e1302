# SPDX-License-Identifier: Apache-2.0
"""transpose.c in Python: a matrix whose rows lie on ranks, transposed again and again by Alltoall.

transpose.py WIDTH TURNS; the number of ranks divides the width.
"""

import sys

import numpy as np
from mpi4py import MPI
from program import arguments, report

comm = MPI.COMM_WORLD


def main() -> None:
    width, turns = arguments("WIDTH", "TURNS")
    rows, rest = divmod(width, comm.size)
    if rest:
        print(f"{comm.size} ranks do not divide the width {width}", file=sys.stderr)
        comm.Abort(2)
    first = comm.rank * rows * width
    values = np.arange(first, first + rows * width, dtype=float).reshape(rows, width)
    sent = np.empty((comm.size, rows, rows))
    received = np.empty_like(sent)
    comm.Barrier()
    begin = MPI.Wtime()
    for _ in range(turns):
        sent[:] = values.reshape(rows, comm.size, rows).swapaxes(0, 1)
        comm.Alltoall(sent, received)
        values.reshape(rows, comm.size, rows)[:] = received.transpose(2, 0, 1)
    seconds = MPI.Wtime() - begin
    weights = np.arange(first, first + rows * width) % 11
    report([comm.allreduce(float(np.dot(values.ravel(), weights)))], seconds)


main()
