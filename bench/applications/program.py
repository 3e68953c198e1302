# SPDX-License-Identifier: Apache-2.0
"""What the applications have in common: arguments, and the two lines that they print."""

import sys
from typing import Any

from mpi4py import MPI


def arguments(*names: str) -> list[int]:
    """The program's arguments as positive numbers; ends the job with a line if they are not."""
    try:
        values = [int(word) for word in sys.argv[1:]]
    except ValueError:
        values = []
    if len(values) != len(names) or min(values) < 1:
        print(f"usage: {sys.argv[0]} {' '.join(names)}, numbers from 1 on", file=sys.stderr)
        MPI.COMM_WORLD.Abort(2)
    return values


def report(answer: Any, seconds: float) -> None:
    """Rank 0 prints the answer, which does not depend on who moves the bytes, and the slowest
    rank's seconds."""
    slowest = MPI.COMM_WORLD.reduce(seconds, op=MPI.MAX, root=0)
    if MPI.COMM_WORLD.rank == 0:
        print("answer", *(f"{value:.15e}" for value in answer))
        print(f"seconds {slowest:.6f}")
