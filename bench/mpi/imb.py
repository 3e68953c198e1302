#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Intel's MPI benchmarks with corymb's collectives and without, in turns.

    make mpi-imb    or    bench/mpi/imb.py [--libraries impi,mpich] [--ranks 2,4] [--only Bcast,...]

The programs are those of the package impi-rt, which speak the ABI of MPICH: they run on Intel MPI
and on MPICH. A row's time is the average over the ranks, its median over the runs. Exit status 1
if a program fails.
"""

from __future__ import annotations

import statistics
from typing import Any

import pairs

BLOCKING = (
    "Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Scatter", "Scatterv",
    "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Reduce_scatter", "Reduce_scatter_block",
)  # fmt: skip
NONBLOCKING = (
    "Ibarrier", "Ibcast", "Ireduce", "Iallreduce", "Igather", "Igatherv", "Iscatter", "Iscatterv",
    "Iallgather", "Iallgatherv", "Ialltoall", "Ialltoallv", "Ireduce_scatter",
)  # fmt: skip
# IMB prints hundredths of a microsecond; what it prints as 0 is taken for half of that.
ROUNDED = 0.005


def times(output: str) -> dict[tuple[str, int], float]:
    """Microseconds by benchmark and bytes: the column t_avg, or t_pure of nonblocking ones."""
    found: dict[tuple[str, int], float] = {}
    name, column, has_bytes = "", -1, False
    for line in output.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking") and len(words) > 2:
            name, column = words[2], -1
        elif words and "#repetitions" in words:
            has_bytes = words[0] == "#bytes"
            wanted = [title for title in words if title.startswith(("t_avg", "t_pure"))]
            column = words.index(wanted[-1]) if wanted else -1
        elif words and column >= 0 and words[0].isdigit() and "time-out.;" not in words:
            found[(name, int(words[0]) if has_bytes else 0)] = float(words[column])
    return found


def rows_of(mpi: pairs.Mpi, program: str, names: list[str], ranks: int, options: Any) -> list[Any]:
    """Medians of all benchmarks of one program."""
    words = [
        pairs.PEERS / "impi" / "bin" / program, "-npmin", ranks, "-msglog", options.sizes,
        "-time", options.seconds, "-iter", 1000, *names,
    ]  # fmt: skip
    outputs = pairs.in_turns(
        lambda with_corymb: pairs.run(mpi, ranks, words, with_corymb, options.limit),
        options.rounds,
    )
    plain, corymb = ([times(text) for text in side] for side in outputs)
    rows = []
    for key in plain[0]:
        if not all(key in run for run in plain + corymb):
            print(f"{mpi.title}, {ranks} ranks, {key[0]}: no time for {key[1]} B in every run")
            continue
        without, with_it = ([run[key] for run in side] for side in (plain, corymb))
        if key[1] > 0 or key[0].endswith("arrier"):  # Nothing to do for 0 bytes.
            with_it = [max(value, ROUNDED) for value in with_it]
            rows.append({
                "library": mpi.title, "ranks": ranks, "operation": key[0], "bytes": key[1],
                "plain_us": without, "corymb_us": with_it,
                "ratio": statistics.median(without) / statistics.median(with_it),
            })  # fmt: skip
    return rows


def main() -> int:
    parser = pairs.arguments(__doc__.splitlines()[0], "impi,mpich")
    parser.add_argument("--only", default="", help="names of IMB's, such as Bcast,Iallreduce")
    parser.add_argument("--sizes", default="3:20", help="powers of two of the sizes, LEAST:MOST")
    parser.add_argument("--seconds", type=float, default=0.05, help="IMB's -time for each size")
    # Many short runs: a virtual machine may be in another state after a second.
    parser.set_defaults(rounds=7)
    options = parser.parse_args()
    wanted = set(options.only.split(",")) if options.only else {*BLOCKING, *NONBLOCKING}
    rows: list[Any] = []
    for mpi in pairs.libraries(options.libraries.split(",")):
        for ranks in map(int, options.ranks.split(",")):
            for program, known in (("IMB-MPI1", BLOCKING), ("IMB-NBC", NONBLOCKING)):
                names = [name for name in known if name in wanted]
                if names:
                    found = rows_of(mpi, program, names, ranks, options)
                    pairs.tell(found)
                    rows += found
    pairs.keep(rows, options)
    if not rows:
        raise pairs.FailedError(f"nothing of IMB's is called {options.only}")
    pairs.conclude(rows)
    return 0


if __name__ == "__main__":
    pairs.end_with("imb", main)
