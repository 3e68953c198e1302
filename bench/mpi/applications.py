#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""End-to-end times of bench/applications with corymb's collectives and without, in turns.

    make mpi-applications    or    bench/mpi/applications.py [--libraries mpich,...] [--ranks 2,4]
                                   bench/mpi/applications.py --shapes 2x1,2x2,4x2

A conjugate-gradient solver, a transposition by alltoall and k-means, in C and in Python (mpi4py),
with nothing about corymb in them, each in two grains. With --shapes they run on nodes made of
namespaces (bench/cluster/nodes.py), as root. Exit status 1 if an answer differs or a program fails.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pairs
from place import Place, add_arguments, places_of

SOURCES = pairs.ROOT / "bench" / "applications"
# Arguments for each grain, the last one a number of repetitions. Coarse ones mostly compute, fine
# ones mostly communicate, as programs do that have been spread over many processors. In C between
# two ranks that have a CPU each they take half a second, about.
SIZES = {
    "conjugate_gradient": {"coarse": ("128", "100", 120), "fine": ("32", "100", 2000)},
    "transpose": {"coarse": ("512", 600), "fine": ("32", 150000)},
    "kmeans": {"coarse": ("40000", 300), "fine": ("100", 150000)},
}
# Repetitions are divided by these: Python takes longer, above all for small steps, and so do ranks
# that take turns; those of a library that keeps its CPUs meanwhile wait for whole time slices.
IN_PYTHON = {"coarse": 2, "fine": 10}
CROWDED = {"coarse": 1, "fine": 5}
KEEPING = 20
KEEPS_ITS_CPUS = {"mpich"}
# On nodes an exchange goes through TCP; there these libraries are told to give their CPUs away.
OVER_NODES = {"coarse": 4, "fine": 20}
# Sums come in another order from each library.
TOLERANCE = 1e-9


def compiled(mpi: pairs.Mpi, name: str, folder: Path) -> Path:
    """The C program for this library."""
    path = folder / f"{name}-{mpi.name}"
    subprocess.run(
        [mpi.compiler, "-O2", "-Wall", "-Wextra", SOURCES / f"{name}.c", "-o", path],
        check=True, env=mpi.environment(str(folder)),
    )  # fmt: skip
    return path


def size_for(mpi: pairs.Mpi, name: str, grain: str, where: Place) -> list[str]:
    """The arguments for so many ranks."""
    *fixed, times = SIZES[name][grain]
    if not mpi.compiler:
        times = int(times) // IN_PYTHON[grain]
    if where.nodes:
        times = int(times) // OVER_NODES[grain]
    elif where.ranks > len(os.sched_getaffinity(0)):
        times = int(times) // CROWDED[grain] // (KEEPING if mpi.name in KEEPS_ITS_CPUS else 1)
    return [*map(str, fixed), str(max(int(times), 1))]


def read(output: str) -> tuple[list[float], float]:
    """The answer and the seconds that a program printed."""
    lines = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    if not {"answer", "seconds"} <= set(lines):
        raise pairs.FailedError(f"no answer in: {output!r}")
    return [float(word) for word in lines["answer"].split()], float(lines["seconds"])


def agree(answers: list[list[float]]) -> bool:
    """Whether all are the first one, up to rounding."""
    return all(
        len(answer) == len(answers[0])
        and all(
            math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(answer, answers[0], strict=True)
        )
        for answer in answers
    )


def compare(
    mpi: pairs.Mpi, name: str, grain: str, where: Place, words: list[Any], options: Any
) -> dict[str, Any]:
    """One row: medians of the seconds, and whether the answers agree."""
    outputs = pairs.in_turns(
        lambda with_corymb: where.run(mpi, words, with_corymb, options.limit), options.rounds
    )
    plain, corymb = ([read(text) for text in side] for side in outputs)
    times = [[seconds for _, seconds in side] for side in (plain, corymb)]
    row = {
        "application": name, "grain": grain, "language": mpi.peer.get("language", "c"),
        "library": mpi.title, "ranks": where.ranks, "shape": where.shape,
        "plain_s": times[0], "corymb_s": times[1],
        "ratio": statistics.median(times[0]) / statistics.median(times[1]),
        "same_answer": agree([answer for answer, _ in plain + corymb]),
    }  # fmt: skip
    print(f"{name:19} {grain:6} {row['language']:7} {mpi.title:18} {where.shape or where.ranks:>5} "
          f"{pairs.spread(times[0]):>24} "
          f"{pairs.spread(times[1]):>24} {row['ratio']:7.2f}"
          f"{'' if row['same_answer'] else '  ANOTHER ANSWER'}", flush=True)  # fmt: skip
    return row


def main() -> int:
    parser = pairs.arguments(__doc__.splitlines()[0], "mpich,openmpi,impi,mpi4py")
    add_arguments(parser)
    options = parser.parse_args()
    places = places_of(parser, options)
    print(f"{'application':19} {'grain':6} {'in':7} {'library':18} ranks "
          f"{'seconds without corymb':>24} {'with it':>24}   ratio")  # fmt: skip
    rows = []
    with tempfile.TemporaryDirectory(prefix="corymb-applications-") as folder:
        for mpi in pairs.libraries(options.libraries.split(",")):
            for name in SIZES:
                program: list[Any] = (
                    [compiled(mpi, name, Path(folder))]
                    if mpi.compiler
                    else [mpi.place / "bin" / "python", SOURCES / f"{name}.py"]
                )
                for grain in SIZES[name]:
                    for where in places:
                        words = [*program, *size_for(mpi, name, grain, where)]
                        rows.append(compare(mpi, name, grain, where, words, options))
    pairs.keep(rows, options)
    for grain in ("coarse", "fine"):
        ratios = [row["ratio"] for row in rows if row["grain"] == grain]
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"{grain}: {len(ratios)} rows, geometric mean {mean:.2f}, least {min(ratios):.2f}")
    return 0 if all(row["same_answer"] for row in rows) else 1


if __name__ == "__main__":
    pairs.end_with("applications", main)
