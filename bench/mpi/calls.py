#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to have another rank do something: corymb's calls between threads, and calls that a
program makes of messages of several MPI libraries, in turns.

    make mpi-calls    or    bench/mpi/calls.py [--libraries mpich,openmpi,impi] [--rounds 5]

calls.c is the other side; its ranks are processes. For each way: the median of the rounds with the
least and the most, and the ratio to corymb. Exit status 1 if a run fails.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

import pairs

TITLES = {
    "empty": "a call of an empty function, ns",
    "bytes64": "with 64 bytes there and back, ns",
    "work_50": "work that pays with half the power of two, ns",
    "work_90": "work that pays with nine tenths, ns",
}
OWN = {"empty": "corymb call", "bytes64": "corymb call", "work_50": "corymb tell",
       "work_90": "corymb tell"}  # fmt: skip
BENCH = Path(
    os.environ.get(
        "CORYMB_BENCH_CALLS", pairs.ROOT / "build" / "dev" / "bench" / "corymb-bench-calls"
    )
)
SECONDS = 4
Times = dict[str, dict[str, list[float]]]


def build(mpi: pairs.Mpi, folder: Path) -> Path:
    program = folder / f"calls-{mpi.name}"
    source = Path(__file__).with_suffix(".c")
    line = [mpi.compiler, "-O2", str(source), "-o", str(program)]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, env=mpi.environment(str(folder))
    )
    if done.returncode != 0:
        raise pairs.FailedError(f"{' '.join(line)} failed:\n{done.stderr}")
    return program


def take_own(times: Times, limit_s: float) -> None:
    line = [str(BENCH), "--seconds", str(2 * SECONDS)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=limit_s)
    if done.returncode != 0:
        raise pairs.FailedError(f"exit status {done.returncode} of {' '.join(line)}\n{done.stderr}")
    for row in map(json.loads, done.stdout.splitlines()):
        if row["op"] in TITLES and row["family"] != "peer":
            times[row["op"]][row["contestant"]].append(row["median_ns"])


def show(times: Times) -> None:
    for op, title in TITLES.items():
        own = statistics.median(times[op][OWN[op]])
        print(f"\n{title}")
        for who, taken in times[op].items():
            print(f"  {who:44} {pairs.spread(taken):>32} {statistics.median(taken) / own:8.2f}")


def main() -> int:
    options = pairs.arguments(__doc__ or "", "mpich,openmpi,impi").parse_args()
    libraries = pairs.libraries(options.libraries.split(","))
    times: Times = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory(prefix="corymb-calls-") as folder:
        programs = [(mpi, build(mpi, Path(folder))) for mpi in libraries]
        for _ in range(options.rounds):
            take_own(times, options.limit)
            for mpi, program in programs:
                output = pairs.run(mpi, 2, [program, SECONDS], False, options.limit)
                for row in map(json.loads, output.splitlines()):
                    times[row["op"]][f"{mpi.title}, {row['how']}"].append(row["ns"])
    show(times)
    if options.json:
        options.json.write_text(json.dumps(times, indent=1))
    return 0


if __name__ == "__main__":
    pairs.end_with("calls", main)
