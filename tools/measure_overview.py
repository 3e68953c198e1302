#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the first page shows, and writes the record docs/results/data/overview.json.

    tools/measure_overview.py            # as root, on a machine with two CPUs or more, five minutes
    make results && tools/make_images.py overview threads mpi

Needs the installed package with the MPI adapters, and what `make bench-peers` installs. Ranks that
have a CPU each run at real-time priority (`chrt -r 10`). A real-time process keeps its CPU for
100 ms, so ranks that share CPUs have a high priority of the usual kind instead (`nice -n -20`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench" / "papers"), str(ROOT / "tools" / "results")]

import take  # noqa: E402  tools/results/take.py

FILE = ROOT / "docs" / "results" / "data" / "overview.json"
CORYMB = Path(sys.executable).parent / "corymb"
QUIET, CROWDED = ["chrt", "-r", "10"], ["nice", "-n", "-20"]
SMALL, LARGE = 8, 1 << 20
TURNS = 5  # Runs of a tutorial's program; the median counts.

# Names of the measuring programs -> of the page. Others are left out.
THREADS = {
    "corymb": "corymb", "std-barrier": "std::barrier", "pthread-barrier": "pthread_barrier",
    "libgomp": "OpenMP of GCC", "libomp": "OpenMP of LLVM", "central-ticket": "a counter, spinning",
}  # fmt: skip
PROCESSES = {
    "corymb-processes": "corymb", "MPICH 5": "MPICH 5.0.2", "Open MPI 5": "Open MPI 5.0.11",
    "Intel MPI 2021.18": "Intel MPI 2021.18",
}  # fmt: skip


def commands() -> list[tuple[str, list[str]]]:
    """The kind of rank, and the command that measures it; `--json FILE` is added."""
    sizes = f"{SMALL},{LARGE}"
    threads = ["corymb", "bench", "barrier,allreduce", "--bytes", sizes, "--seconds", "40"]
    processes = [
        "corymb", "bench-peers", "--ops", "barrier,allreduce", "--modes", "blocking",
        "--bytes", sizes, "--no-overlap", "--seconds", "60",
    ]  # fmt: skip
    return [
        ("threads", [*QUIET, *threads, "--threads", "2", "--regimes", "alone"]),
        ("threads", [*CROWDED, *threads, "--threads", "4", "--regimes", "oversubscribed"]),
        ("processes", [*QUIET, *processes, "--ranks", "2"]),
        ("processes", [*CROWDED, *processes, "--ranks", "4"]),
    ]


def measured(kind: str, command: list[str]) -> list[dict[str, Any]]:
    names = THREADS if kind == "threads" else PROCESSES
    words = [str(CORYMB) if word == "corymb" else word for word in command]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        subprocess.run([*words, "--json", file], check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    keep = ("op", "ranks", "bytes", "median_ns", "q25", "q75")
    return [
        {"kind": kind, "contestant": names[row["contestant"]], **{name: row[name] for name in keep}}
        for row in rows
        if row["contestant"] in names and row.get("kind", "latency") == "latency"
        and row["median_ns"] is not None
    ]  # fmt: skip


def median_lines(command: list[str], pattern: str) -> dict[str, float]:
    """What a program prints about each name, the median of some runs."""
    times: dict[str, list[float]] = {}
    for _ in range(TURNS):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        for name, time in re.findall(pattern, done.stdout, re.M):
            times.setdefault(name, []).append(float(time))
    return {name: sorted(values)[TURNS // 2] for name, values in times.items()}


def thread_pool(folder: Path) -> list[dict[str, Any]]:
    package = CORYMB.parent.parent.glob("lib/python*/site-packages/corymb/libcorymb.so.0")
    library = next(package)
    program = folder / "thread_pool"
    subprocess.run(
        ["g++", "-std=c++20", "-O2", "-I", ROOT / "include", ROOT / "examples/thread_pool.cpp",
         library, f"-Wl,-rpath,{library.parent}", "-o", program], check=True,
    )  # fmt: skip
    pattern = r"^(\S+) +\d+ rounds, +([\d.]+) ns a round$"
    return [
        {"program": "thread_pool", "ranks": ranks, "name": name, "ns": time}
        for ranks, priority in ((2, QUIET), (4, CROWDED))
        for name, time in median_lines([*priority, str(program), str(ranks)], pattern).items()
    ]


def mpi_dots(folder: Path) -> list[dict[str, Any]]:
    """The tutorial's MPI program on each MPI library, with corymb and without, in turns."""
    peers = Path(os.environ.get("CORYMB_PEERS", ROOT / "build/peers"))
    rows = []
    for peer, name in (("mpich", "MPICH 5.0.2"), ("openmpi", "Open MPI 5.0.11")):
        bin_of = peers / peer / "bin"
        program = folder / f"dots-{peer}"
        subprocess.run([bin_of / "mpicc", "-O2", ROOT / "examples/mpi/dots.c", "-o", program],
                       check=True)  # fmt: skip
        times: dict[str, list[float]] = {"alone": [], "with corymb": []}
        for _ in range(TURNS):
            for way, launcher in (
                ("alone", [str(bin_of / "mpirun")]),
                ("with corymb", [str(CORYMB), "mpirun"]),
            ):
                done = subprocess.run(
                    [*QUIET, *launcher, "-n", "2", "--bind-to", "core", str(program)],
                    check=True, capture_output=True, text=True,
                    env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                                      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                      "PRTE_ALLOW_RUN_AS_ROOT": "1",
                                      "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
                )  # fmt: skip
                found = re.search(r"([\d.]+) us a step", done.stdout)
                assert found is not None, done.stdout
                times[way].append(1000 * float(found[1]))
        rows += [
            {"program": "dots", "ranks": 2, "name": f"{name} {way}", "ns": sorted(of)[TURNS // 2]}
            for way, of in times.items()
        ]
    return rows


def time_text(ns: float) -> str:
    """Three digits, with the unit that suits.

    >>> time_text(123.4), time_text(8155.3), time_text(1115458473)
    ('123 ns', '8.16 µs', '1.12 s')
    """
    for unit, factor in (("ns", 1), ("µs", 1e3), ("ms", 1e6)):
        if ns < 999.5 * factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"


def table(rows: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """A line for each case, a column for each contestant."""
    columns = list((THREADS if kind == "threads" else PROCESSES).values())
    cases: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["kind"] == kind:
            size = {0: "", SMALL: " of 8 B", LARGE: " of 1 MiB"}[row["bytes"]]
            case = f"{row['op']}{size}, {row['ranks']} {kind}"
            cases.setdefault(case, {})[row["contestant"]] = row["median_ns"]
    lines = [
        [case, *(time_text(times[name]) if name in times else None for name in columns)]
        for case, times in cases.items()
    ]
    return {"columns": ["case", *columns], "rows": lines}


def record(rows: list[dict[str, Any]], programs: list[dict[str, Any]]) -> dict[str, Any]:
    ran = [[row["program"], row["ranks"], row["name"], time_text(row["ns"])] for row in programs]
    return {
        "schema": "corymb-results/1",
        "title": "At a glance",
        "purpose": "This page has barriers and allreduces beside libraries that people know.",
        "measured": take.origin("tools/measure_overview.py"),
        "rows": {"overview": rows, "programs": programs},
        "sections": [
            {
                "blocks": [
                    "![Times of other libraries over those of corymb](../images/overview.svg)",
                    "Contestants take turns in one run. A time is the median. Two ranks have a CPU"
                    " each, four ranks share two. A real-time process keeps its CPU for long, so"
                    " ranks that share CPUs run at a high usual priority. The commands are:",
                    "```sh\n" + "\n".join(" ".join(words) for _, words in commands()) + "\n```",
                    "Compare figures only within a page. [Threads](threads.md) is another run. It"
                    " has four threads at real-time priority, too, where `std::barrier` is slightly"
                    " faster than corymb.",
                ]
            },
            {
                "title": "Ranks are threads",
                "blocks": [
                    table(rows, "threads"),
                    "The counter is a word that all threads count up and look at, as one writes it"
                    " by hand. It spins, and yields where there are more threads than CPUs; it"
                    " never sleeps.",
                ],
            },
            {"title": "Ranks are processes", "blocks": [table(rows, "processes")]},
            {
                "title": "Programs of the tutorials",
                "blocks": [
                    "A round of [examples/thread_pool.cpp](../../examples/thread_pool.cpp), and a"
                    " step of [examples/mpi/dots.c](../../examples/mpi/dots.c). Medians of five"
                    " runs.",
                    {"columns": ["program", "ranks", "with", "time"], "rows": ran},
                ],
            },
        ],
    }


def main() -> None:
    rows: list[dict[str, Any]] = []
    for kind, command in commands():
        print("+", " ".join(command), flush=True)
        rows += measured(kind, command)
    with tempfile.TemporaryDirectory() as folder:
        programs = [*thread_pool(Path(folder)), *mpi_dots(Path(folder))]
    take.save(FILE, record(rows, programs))


if __name__ == "__main__":
    main()
