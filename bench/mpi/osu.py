#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OSU's benchmarks of collectives in mpi4py with corymb and without, in turns.

    make mpi-osu    or    bench/mpi/osu.py [--libraries openmpi] [--ranks 2,4] [--only bcast,...]

The programs are demos of mpi4py's source package, of the version that tools/peers.toml names,
fetched with pip; one installation of mpi4py speaks to all libraries. They run as they are, with all
their sizes, and check no results. A row's time is what rank 0 prints, the mean of its own calls one
after the other, the median over the runs: a root that hands out data need not wait for those that
take it. The barrier's has 100 calls only. Exit status 1 if a program fails.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

import conformance
import pairs

OPERATIONS = ("allgather", "alltoall", "alltoallv", "barrier", "bcast", "gather", "scatter")


def wanted(names: str) -> list[str]:
    """Those named, or all. FailedError for what is no benchmark here."""
    if not names:
        return list(OPERATIONS)
    chosen = list(dict.fromkeys(names.split(",")))
    for name in chosen:
        if name not in OPERATIONS:
            raise pairs.FailedError(f"no benchmark {name!r}; there are: {', '.join(OPERATIONS)}")
    return chosen


def for_mpi4py(mpi: pairs.Mpi) -> pairs.Mpi:
    """The library, with mpi4py told to load it."""
    variables = mpi.peer.get("variables", {})
    own = {**variables, "MPI4PY_LIBMPI": str(conformance.library(mpi))}
    return dataclasses.replace(mpi, peer={**mpi.peer, "variables": own})


def times(output: str) -> dict[int, float]:
    """Microseconds by bytes."""
    found = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) == 2 and words[0].isdigit():
            found[int(words[0])] = float(words[1])
    return found


def rows_of(mpi: pairs.Mpi, operation: str, ranks: int, options: Any) -> list[Any]:
    """Medians of one benchmark. There is nothing to do for 0 bytes but in a barrier."""
    program = conformance.sources() / "demo" / f"osu_{operation}.py"
    words = [conformance.PYTHON, program]
    outputs = pairs.in_turns(
        lambda with_corymb: pairs.run(mpi, ranks, words, with_corymb, options.limit),
        options.rounds,
    )
    plain, corymb = ([times(text) for text in side] for side in outputs)
    sizes = [size for size in plain[0] if size > 0 or operation == "barrier"]
    if not sizes or any(run.keys() != plain[0].keys() for run in plain + corymb):
        raise pairs.FailedError(f"{program} does not print the same sizes in every run")
    return [row_of(mpi, operation, ranks, size, plain, corymb) for size in sizes]


def row_of(
    mpi: pairs.Mpi, operation: str, ranks: int, size: int,
    plain: Sequence[dict[int, float]], corymb: Sequence[dict[int, float]],
) -> dict[str, Any]:  # fmt: skip
    """Of the runs of both sides."""
    without, with_it = ([run[size] for run in side] for side in (plain, corymb))
    return {
        "library": mpi.title, "ranks": ranks, "operation": operation, "bytes": size,
        "plain_us": without, "corymb_us": with_it,
        "ratio": statistics.median(without) / statistics.median(with_it),
    }  # fmt: skip


def main() -> int:
    parser = pairs.arguments(__doc__.splitlines()[0], "mpich,openmpi,impi")
    parser.add_argument("--only", default="", help=f"some of {', '.join(OPERATIONS)}")
    # Many short runs: a virtual machine may be in another state after a second.
    parser.set_defaults(rounds=7)
    options = parser.parse_args()
    operations = wanted(options.only)
    rows: list[Any] = []
    for mpi in map(for_mpi4py, pairs.libraries(options.libraries.split(","))):
        for ranks in map(int, options.ranks.split(",")):
            found = [
                row for operation in operations for row in rows_of(mpi, operation, ranks, options)
            ]
            pairs.tell(found)
            rows += found
    pairs.keep(rows, options)
    pairs.conclude(rows)
    return 0


if __name__ == "__main__":
    pairs.end_with("osu", main)
