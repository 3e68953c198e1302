#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops of collectives as OSU's benchmarks have them, with corymb and without, in turns.

    make mpi-loops    or    bench/mpi/loops.py [--libraries openmpi] [--ranks 2,4,8] [--both]
                            bench/mpi/loops.py --both --shapes 2x2,4x2

loops.c times each operation in each mode and checks its results, loops_mpi4py.py blocking ones of
mpi4py. The ratios are of the calls alone, in the end also of calls with the barrier behind them,
which are what a program waits, and of calls in a row, without barriers between: loops.c says what
the first leave out. With --both the two take turns of a millisecond within one process, so that
moods of the machine are the same for both. With --shapes, too, they run on nodes made of namespaces
(bench/cluster/nodes.py), as root. Exit status 1 if a program fails or a result is wrong.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pairs
from place import Place, add_arguments, places_of

MODES = "blocking,nonblocking,persistent"
ONLY_BLOCKING = {"mpi4py"}
# What a library itself does wrong: Intel MPI 2021.18 hands out data of an earlier start, its
# persistent allgather ends by SIGSEGV, and its persistent broadcast of 64 KiB among 8 ranks with
# "Invalid communicator". With corymb they are right, but there is nothing to compare.
# From how many ranks on:
BROKEN = {("impi", "persistent"): {"gather": 2, "scatter": 2, "allgather": 2, "broadcast": 8}}
OPERATIONS = (
    "barrier", "broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "reduce_scatter", "scan", "exscan",
)  # fmt: skip

# What a program says of each case, as keys of a row; a ratio has no suffix for the first one.
TIMES = ("", "_with_barrier", "_in_a_row")

Case = tuple[str, str, int]


def program_for(mpi: pairs.Mpi, folder: str) -> list[Path]:
    """The words that start it; compiled for this library, if that is one for C."""
    if not mpi.compiler:
        return [mpi.place / "bin" / "python", Path(__file__).parent / "loops_mpi4py.py"]
    path = Path(folder) / f"loops-{mpi.name}"
    sources = [Path(__file__).parent / name for name in ("loops.c", "plain_calls.c")]
    words = [mpi.compiler, "-O2", "-DCORYMB_PEER_PERSISTENT", *sources]
    subprocess.run([*words, "-o", path], check=True, env=mpi.environment(folder))
    return [path]


def times(output: str) -> dict[Case, list[float]]:
    """What the program says of each case: microseconds of a call as TIMES has them; with "both"
    these of the MPI's own calls, then of corymb's, and the ratios."""
    found = {}
    for mode, operation, size, *numbers in (line.split() for line in output.splitlines()):
        found[mode, operation, int(size)] = list(map(float, numbers))
    return found


def ratio_of(without: Sequence[float], with_it: Sequence[float]) -> float:
    return statistics.median(without) / statistics.median(with_it)


def row_of(
    mpi: pairs.Mpi, where: Place, case: Case, plain: list[list[float]], corymb: list[list[float]]
) -> dict[str, Any]:
    """Of times of runs."""
    row: dict[str, Any] = {
        "library": f"{mpi.title} {where.shape}".rstrip(), "ranks": where.ranks, "mode": case[0],
        "operation": f"{case[0]} {case[1]}", "bytes": case[2],
    }  # fmt: skip
    by_time = [zip(*side, strict=True) for side in (plain, corymb)]
    for name, *sides in zip(TIMES, *by_time, strict=True):
        row[f"plain{name}_us"], row[f"corymb{name}_us"] = map(list, sides)
        row[f"ratio{name}"] = ratio_of(*sides)
    return row


def rows_of(
    mpi: pairs.Mpi, program: list[Path], where: Place, mode: str, options: Any
) -> list[Any]:
    """Medians over the runs. A barrier has no sizes."""
    rows = []
    ranks = where.ranks
    broken = BROKEN.get((mpi.name, mode), {})
    names = options.only.split(",")
    wanted = ",".join(name for name in names if ranks < broken.get(name, ranks + 1))
    for operations, sizes in split(wanted, options.sizes):
        # A team at once: what comes before it is the MPI's.
        at_once = ["CORYMB_NETWORK=measure"] if where.nodes else []
        words = [*at_once, *program, options.milliseconds, mode, operations, sizes]
        if options.both:
            runs = [
                times(where.run(mpi, [*words, "both"], True, options.limit))
                for _ in range(options.rounds)
            ]
            for case in runs[0]:
                plain, corymb, ratios = (
                    [run[case][k : k + len(TIMES)] for run in runs]
                    for k in range(0, 3 * len(TIMES), len(TIMES))
                )
                row = row_of(mpi, where, case, plain, corymb)
                for name, values in zip(TIMES, zip(*ratios, strict=True), strict=True):
                    row[f"ratio{name}"] = statistics.median(values)
                rows.append(row)
            continue
        outputs = pairs.in_turns(
            lambda with_corymb, words=words: where.run(mpi, words, with_corymb, options.limit),
            options.rounds,
        )
        plain, corymb = ([times(text) for text in side] for side in outputs)
        for case in plain[0]:
            sides = ([run[case] for run in side] for side in (plain, corymb))
            rows.append(row_of(mpi, where, case, *sides))
    return rows


def split(operations: str, sizes: str) -> list[tuple[str, str]]:
    """Lists of operations with their lists of sizes."""
    with_data = ",".join(name for name in operations.split(",") if name != "barrier")
    parts = [("barrier", "0")] if "barrier" in operations.split(",") else []
    return parts + ([(with_data, sizes)] if with_data else [])


def measure(options: argparse.Namespace, places: list[Place]) -> list[Any]:
    rows: list[Any] = []
    with tempfile.TemporaryDirectory(prefix="corymb-loops-") as folder:
        for mpi in pairs.libraries(options.libraries.split(",")):
            program = program_for(mpi, folder)
            for where in places:
                for mode in options.modes.split(","):
                    if mode == "blocking" or mpi.name not in ONLY_BLOCKING:
                        found = rows_of(mpi, program, where, mode, options)
                        pairs.tell(found)
                        rows += found
    return rows


def main() -> int:
    parser = pairs.arguments(__doc__.splitlines()[0], "mpich,openmpi,impi,mpi4py")
    parser.add_argument("--modes", default=MODES, help="of these")
    parser.add_argument("--only", default=",".join(OPERATIONS), help="operations")
    parser.add_argument("--sizes", default="8,1024,65536,1048576", help="bytes of a part")
    parser.add_argument("--milliseconds", type=float, default=20, help="of one case in one run")
    parser.add_argument("--both", action="store_true", help="in one process; not for mpi4py")
    add_arguments(parser)
    parser.set_defaults(ranks="2,4,8", rounds=5)
    options = parser.parse_args()
    if options.shapes and not options.both:
        parser.error("--shapes goes with --both")
    places = places_of(parser, options)
    if options.both:
        libraries = [name for name in options.libraries.split(",") if name not in ONLY_BLOCKING]
        options.libraries = ",".join(libraries)
    rows = measure(options, places)
    pairs.keep(rows, options)
    pairs.conclude(rows)
    for name in TIMES[1:]:
        print(f"{name[1:].replace('_', ' ')}: ", end="")
        pairs.conclude([{"ratio": row[f"ratio{name}"]} for row in rows])
    return 0


if __name__ == "__main__":
    pairs.end_with("loops", main)
