# SPDX-License-Identifier: Apache-2.0
"""What a small machine can measure of the papers: two ranks. Each part is a command of corymb, run
as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from record import Data, rounded

Report = Callable[[float, str], Any]
Rows = list[dict[str, Any]]

# What is measured, by name: words after `corymb`, and what is kept of a row.
PARTS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "collectives": (
        ["bench", "collectives", "barrier,broadcast,reduce", "--threads", "2", "--bytes", "8",
         "--regimes", "alone", "--seconds", "60",
         "--contestants", "corymb,textbook,library,libgomp,libgomp-active"],
        ("op", "contestant", "family"),
    ),
    "messages": (
        ["bench", "messages", "--bytes", "8", "--seconds", "20"],
        ("op", "size", "contestant", "family"),
    ),
    "multicast": (
        ["bench", "multicast", "--threads", "2", "--seconds", "15"],
        ("regime", "members", "contestant", "family"),
    ),
    "mpi": (
        ["bench-peers", "--peers", "processes,mpich 5", "--ranks", "2", "--modes", "blocking",
         "--ops", "barrier,broadcast,reduce", "--bytes", "8", "--no-overlap", "--seconds", "20"],
        ("op", "kind", "contestant", "family"),
    ),
    "overlap": (
        ["bench-peers", "--peers", "processes,mpich 5", "--ranks", "2", "--modes", "nonblocking",
         "--ops", "broadcast,allreduce", "--bytes", "1024,16384,262144,1048576",
         "--seconds", "45"],
        ("op", "bytes", "contestant", "style"),
    ),
}  # fmt: skip


def run(name: str) -> Rows:
    words, keys = PARTS[name]
    with tempfile.TemporaryDirectory(prefix="corymb-papers-") as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "corymb", *words, "--json", str(file)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"corymb {' '.join(words)} ended with status {done.returncode}")
        found = json.loads(file.read_text(encoding="utf-8"))
    rows = found["overlap" if name == "overlap" else "rows"]
    return [kept for row in rows if (kept := _kept(row, keys)) is not None]


def _kept(row: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any] | None:
    if row.get("skipped"):
        return None
    names = [name for name in ("median_ns", "percent", "q25", "q75") if name in row]
    return {name: row[name] for name in keys} | {name: rounded(row[name]) for name in names}


def study(report: Report) -> Data:
    found: Data = {
        "cpus": len(os.sched_getaffinity(0)),
        "load": rounded(os.getloadavg()[0], 2),
        # Nobody without such a priority runs while what is measured wants the CPUs.
        "real_time": os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR),
    }
    for done, name in enumerate(PARTS):
        report(done / len(PARTS), " ".join(PARTS[name][0]))
        found[name] = run(name)
    return found
