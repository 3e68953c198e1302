#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each number of src/*/tuning.hpp is worth, simulated, as a page in Markdown.

`tools/ablation.py [--only TEXT] [--output FILE]`, started by `make ablation`. Each number is
switched off in turn ($CORYMB_WITHOUT), and the planner's choices are compared with those before:
the times of the plans, and the CPU time that planning takes.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import platform
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "ablation" / "bench" / "corymb-choices"
MACHINES = ("epyc-9654-2s-192c", "epyc-7742-2s-256t", "sparc-4s-256t-mctop-cycles")
RANKS = (64, 192)
CLUSTERS = ("8 nodes of 8", "12 nodes of 16", "5 nodes of 4", "6 nodes of 3")
NUMBER = re.compile(r'tuned(?:<[^>]*>)?\(\s*"([^"]+)",\s*([^;]+?),\s*([^;]+?)\)\s*;')
CHANGED = 1.001  # Plans whose times differ by less are equally good.


@dataclass(frozen=True)
class Number:
    name: str
    value: str
    off: str

    @property
    def kind(self) -> str:
        """What the number decides, by which it is known where it can matter."""
        return self.name.split("/")[1]


@dataclass(frozen=True)
class Run:
    times: dict[str, float]
    cpu_s: float


def requests(kind: str) -> list[list[str]]:
    """Arguments of corymb-choices for which numbers of a kind can matter, a list a process."""
    if kind == "schemes":
        return [["--only", "|".join(CLUSTERS), "--ranks", "1"]]
    ranks = ",".join(map(str, RANKS))
    every = {
        "blocks": ("broadcast,reduce,allreduce", "4096,65536,1048576", "1"),
        "families": (
            "broadcast,allreduce,gather,allgather,alltoall,reduce_scatter",
            "8,4096,65536",
            "1",
        ),
        "search": ("barrier,broadcast,reduce,allreduce", "8", "2000"),
    }
    operations, payloads, moves = every[kind]
    common = ["--operations", operations, "--bytes", payloads, "--moves", moves, "--ranks", ranks]
    return [[*common, "--only", machine] for machine in MACHINES]


def choose(kind: str, without: str) -> Run:
    times: dict[str, float] = {}
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for arguments in requests(kind):
        environment = {**os.environ, "CORYMB_WITHOUT": without}
        text = subprocess.run(
            [PROGRAM, *arguments], env=environment, check=True, capture_output=True, text=True
        ).stdout
        for line in text.splitlines():
            place, op, size, _, predicted, _ = line.split("\t")
            times[f"{place}, {op} of {size} B"] = float(predicted)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(times, end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)


def compared(usual: Run, without: Run) -> list[str]:
    ratios = {key: without.times[key] / time for key, time in usual.times.items() if time > 0}
    changed = [ratio for ratio in ratios.values() if not 1 / CHANGED < ratio < CHANGED]
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    return [
        f"{len(changed)} of {len(ratios)}",
        f"{mean:.3f}",
        f"{max(ratios.values()):.2f}",
        f"{min(ratios.values()):.2f}",
        f"{without.cpu_s / usual.cpu_s:.2f}",
    ]


def numbers() -> list[Number]:
    found = []
    for file in sorted((ROOT / "src").glob("*/tuning.hpp")):
        text = re.sub(r"\n\s+", " ", file.read_text(encoding="utf-8"))
        found += [Number(*match.groups()) for match in NUMBER.finditer(text)]
    return found


def processor() -> str:
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.machine()


def page(rows: list[list[str]], seconds: float) -> str:
    header = [
        "number", "value", "off", "plans changed", "times, mean", "worst", "best", "planning",
    ]  # fmt: skip
    lines = [" | ".join(header), " | ".join("---" for _ in header)]
    table = "\n".join(f"| {line} |" for line in [*lines, *(" | ".join(row) for row in rows)])
    return (
        "# What the planner's numbers are worth\n\n"
        "Rules of the planner have numbers that no model gives. They stand in `src/*/tuning.hpp`.\n"
        "`make ablation` switches each off in turn and writes this table.\n\n"
        "- *times*: simulated times of the plans without the rule, divided by those with it.\n"
        "  Above 1 the rule makes plans faster. *worst* and *best* are those of single requests.\n"
        "- *planning*: CPU time of planning without the rule, divided by that with it.\n\n"
        f"The requests are for {' and '.join(map(str, RANKS))} ranks of {', '.join(MACHINES)},\n"
        f"and for clusters. Simulated on {processor()}, {datetime.date.today()}, "
        f"in {seconds:.0f} s.\n\n"
        f"{table}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a part of the numbers' names")
    parser.add_argument("--output", type=Path, help="write the page there, too")
    options = parser.parse_args()
    begin = time.monotonic()
    wanted = [number for number in numbers() if options.only in number.name]
    usual: dict[str, Run] = {}
    rows = []
    for number in wanted:
        if number.kind not in usual:
            usual[number.kind] = choose(number.kind, "")
        result = compared(usual[number.kind], choose(number.kind, number.name))
        rows.append([f"`{number.name}`", number.value, number.off, *result])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    text = page(rows, time.monotonic() - begin)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
