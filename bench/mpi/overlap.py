#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of a collective over several nodes a program hides behind computation, with corymb's
collectives and without, in turns.

    make mpi-overlap    or    bench/mpi/overlap.py [--shapes 2x1,2x2] [--delay-us 1000]

overlap.c runs under MPICH on nodes made of namespaces (bench/cluster/nodes.py), as root. A row's
percent is the median of its runs: 100 where communication and a computation as long take no longer
together than the computation alone, 0 where they take as long as one after the other. The kernel
carries the messages on the processors of the ranks; what that takes within a call of MPI cannot be
hidden, so a network without a delay would show little else. With more ranks than processors a rank
computes while it has none, and the percent says little. Exit status 1 if a run fails.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pairs

sys.path.insert(0, str(pairs.ROOT / "bench" / "cluster"))
import launch
from shapes import FORM, Shape, list_of

WANTED = (
    "barrier:0", "allreduce:8", "allreduce:4096", "allreduce:65536", "allreduce:524288",
    "allgather:65536", "barrier_init:0", "allreduce_init:65536",
)  # fmt: skip
STYLES = ("poll", "wait")
LIMIT_S = 120.0
# The target of the style `poll`.
WELL_HIDDEN = 90

Key = tuple[str, int, str, str]


def build(mpi: Path, folder: Path) -> Path:
    program = folder / "overlap"
    words = [str(mpi / "bin" / "mpicc"), "-O2", str(Path(__file__).parent / "overlap.c"),
             "-o", str(program), "-lm"]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise launch.FailedError(f"compiling overlap failed:\n{done.stderr}")
    return program


def run(options: argparse.Namespace, program: Path, shape: Shape, with_corymb: bool) -> list[Any]:
    """What the program prints."""
    adapter = pairs.ADAPTERS / "libcorymb-mpi-mpich.so"
    loaded = [f"LD_PRELOAD={adapter}", "CORYMB_MPI=always"] if with_corymb else []
    words = ["env", *loaded, str(program), str(options.iterations), str(options.delay_us),
             *options.only.split(",")]  # fmt: skip
    site = launch.Site(options.mpi, shape, options.rate, options.delay_us)
    text = site.run(words, LIMIT_S)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def measure(options: argparse.Namespace, program: Path) -> list[dict[str, Any]]:
    """A row for each shape, operation and side."""
    taken: dict[Key, list[Any]] = {}
    for turn in range(options.rounds):
        for shape in options.shapes:
            for side in ("mpich", "corymb") if turn % 2 == 0 else ("corymb", "mpich"):
                for row in run(options, program, shape, side == "corymb"):
                    key = (row["operation"], row["bytes"], str(shape), side)
                    taken.setdefault(key, []).append(row)
    return [
        {
            "operation": name, "bytes": size, "shape": shape, "side": side, "rate": options.rate,
            "delay_us": options.delay_us,
            "pure_us": statistics.median(run["pure_us"] for run in runs),
            **{f"{s}_percent": [run[f"{s}_percent"] for run in runs] for s in STYLES},
        }
        for (name, size, shape, side), runs in taken.items()
    ]  # fmt: skip


def show(rows: list[dict[str, Any]]) -> None:
    print(
        f"{'operation':>16} {'bytes':>8} {'nodes':>6} {'side':>7} {'alone':>10}  hidden: poll, wait"
    )
    for row in sorted(rows, key=lambda row: (row["shape"], row["operation"], row["bytes"])):
        hidden = [f"{statistics.median(row[f'{style}_percent']):5.0f} %" for style in STYLES]
        print(f"{row['operation']:>16} {row['bytes']:>8} {row['shape']:>6} {row['side']:>7} "
              f"{row['pure_us']:>7.0f} us  {'  '.join(hidden)}")  # fmt: skip
    own = [statistics.median(row["poll_percent"]) for row in rows if row["side"] == "corymb"]
    well = sum(percent >= WELL_HIDDEN for percent in own)
    print(f"corymb, poll: {well} of {len(own)} rows hide {WELL_HIDDEN} % at least; "
          f"median {statistics.median(own):.0f} %, least {min(own):.0f} %")  # fmt: skip


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description="Overlap on nodes made of namespaces.")
    parser.add_argument("--mpi", type=Path, default=pairs.PEERS / "mpich", help="an MPICH's folder")
    parser.add_argument("--shapes", type=list_of, default="2x1,2x2", help=f"a list: {FORM}")
    parser.add_argument("--rate", default="100mbit", help="of each link and way, as tc writes it")
    parser.add_argument("--delay-us", type=int, default=1000, help="of a message between nodes")
    parser.add_argument("--only", default=",".join(WANTED), help="operations as NAME:BYTES")
    parser.add_argument("--iterations", type=int, default=25, help="of each style in a run")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="corymb-overlap-") as folder:
            rows = measure(options, build(options.mpi, Path(folder)))
    except launch.FailedError as error:
        sys.exit(f"mpi-overlap: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    show(rows)
    if options.json is not None:
        document = {"schema": "corymb-mpi-overlap/1", "rows": rows}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
