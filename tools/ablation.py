#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each number of src/*/tuning.hpp is worth, as a record of docs/results/data.

`tools/ablation.py [--only TEXT] [--output FILE]`, started by `make ablation`. Each number is
switched off in turn ($CORYMB_WITHOUT). For numbers of the planner its choices are compared with
those before: the simulated times of the plans, and the CPU time that planning takes. For numbers of
running teams operations of threads are timed here, with the number and without in turns.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tools" / "results"), str(ROOT / "bench" / "papers")]

import render  # noqa: E402  tools/results/render.py
import take  # noqa: E402

PROGRAMS = ROOT / "build" / "ablation" / "bench"
MACHINES = ("epyc-9654-2s-192c", "epyc-7742-2s-256t", "sparc-4s-256t-mctop-cycles")
RANKS = (64, 192)
CLUSTERS = ("8 nodes of 8", "12 nodes of 16", "5 nodes of 4", "6 nodes of 3")
NUMBER = re.compile(r'\{\s*"(\w+/\w+/\w+)",\s*([^;]+?),\s*([^;]+?),\s*Origin::(\w+)\s*\}\s*;')
CHANGED = 1.001  # Plans whose times differ by less are equally good.


@dataclass(frozen=True)
class Number:
    name: str
    value: str
    off: str
    origin: str

    @property
    def layer(self) -> str:
        return self.name.split("/")[0]

    @property
    def kind(self) -> str:
        """What a number of the planner decides, by which it is known where it can matter."""
        return self.name.split("/")[1]

    @property
    def is_measured(self) -> bool:
        """Whether running teams of one node show what it is worth."""
        return (
            self.layer not in {"plan", "tune", "cluster", "message", "multicast"}
            and self.kind != "contenders"
        )


@dataclass(frozen=True)
class Run:
    times: dict[str, float]
    decided: Counter[str]
    cpu_s: float
    lines: str


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
    if kind == "turns":
        turns = ["--operations", "broadcast,reduce,gather,allgather,alltoall,reduce_scatter"]
        turns += ["--bytes", "2048,65536,262144", "--moves", "1", "--ranks", "64"]
        return [[*turns, "--per-cpu", "8", "--only", machine] for machine in MACHINES]
    operations, payloads, moves = every[kind]
    common = ["--operations", operations, "--bytes", payloads, "--moves", moves, "--ranks", ranks]
    return [[*common, "--only", machine] for machine in MACHINES]


def choose(kind: str, without: str, *options: str) -> Run:
    times: dict[str, float] = {}
    decided: Counter[str] = Counter()
    lines = ""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for arguments in requests(kind):
        environment = {**os.environ, "CORYMB_WITHOUT": without}
        text = subprocess.run(
            [PROGRAMS / "corymb-choices", *arguments, *options],
            env=environment, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        lines += text
        for line in text.splitlines():
            place, op, size, _, predicted, _, names = line.split("\t")
            times[f"{place}, {op} of {size} B"] = float(predicted)
            decided.update(filter(None, names.split(",")))
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
    return Run(times, decided, cpu_s, lines)


def without(number: Number) -> Run:
    """The choices without the number. A number of costs would judge its own choices if it were off,
    so they are timed with it.
    """
    run = choose(number.kind, number.name)
    if number.kind != "turns":
        return run
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as plans:
        plans.write(run.lines)
        plans.flush()
        return replace(choose(number.kind, "", "--plans", plans.name), cpu_s=run.cpu_s)


def ratios_of(usual: dict[str, float], other: dict[str, float]) -> list[float]:
    return [other[key] / time for key, time in usual.items() if time > 0 and key in other]


def summary(ratios: list[float]) -> list[str]:
    if not ratios:
        return ["-", "-", "-"]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return [f"{mean:.3f}", f"{max(ratios):.2f}", f"{min(ratios):.2f}"]


def compared(number: Number, usual: Run, other: Run) -> list[str]:
    ratios = ratios_of(usual.times, other.times)
    changed = [ratio for ratio in ratios if not 1 / CHANGED < ratio < CHANGED]
    return [
        f"{usual.decided[number.name]} of {len(ratios)}",
        f"{len(changed)}",
        *summary(ratios),
        f"{other.cpu_s / usual.cpu_s:.2f}",
    ]


def timed(name: str) -> dict[str, float]:
    """Median times of operations of threads here, without the number."""
    cpus = len(os.sched_getaffinity(0))
    text = subprocess.run(
        [
            PROGRAMS / "corymb-bench", "barrier,broadcast", "--threads", f"{cpus},{4 * cpus}",
            "--bytes", "65536", "--regimes", "alone,oversubscribed", "--contestants", "corymb",
            "--seconds", "2.5",
        ],
        env={**os.environ, "CORYMB_WITHOUT": name}, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return {
        f"{row['op']} {row['ranks']}": row["median_ns"]
        for row in rows
        if row["type"] == "row" and row["contestant"] == "corymb" and row["median_ns"]
    }


def numbers() -> list[Number]:
    found = []
    for file in sorted((ROOT / "src").glob("*/tuning.hpp")):
        text = re.sub(r"\n\s+", " ", file.read_text(encoding="utf-8"))
        found += [Number(*match.groups()) for match in NUMBER.finditer(text)]
    return found


INTRODUCTION = """Rules have numbers that no model gives. They stand in `src/*/tuning.hpp`.
`make ablation` switches each off in turn. The *origin* of a number is how its value was found:

- *reasoned*: by the reasoning beside the number,
- *simulated*: by simulation on machines of the gallery,
- *measured*: on the machine that the text beside the number names."""
PLANS = """- *decided*: the rule excluded or changed something in planning (`plan --explain`).
- *changed*: plans that differ without the rule.
- *times*: simulated times of the plans without the rule, divided by those with it. Above 1 the rule
  makes plans faster. *worst* and *best* are those of single requests.
- *planning*: CPU time of planning without the rule, divided by that with it."""
REQUESTS = f"""The requests are for {" and ".join(map(str, RANKS))} ranks of {", ".join(MACHINES)},
and for clusters. For `tune/turns`, which are costs, eight ranks take turns on each CPU. Plans
chosen without the number are timed with it."""
HERE = """Barriers and broadcasts of 64 KiB ran among as many threads as there are CPUs, and four
times as many. *times* are measured in turns: those without the rule, divided by those with it.
Differences below a tenth are noise on a machine that does other work."""
OTHERS = """These need several nodes, or decide about mailboxes and multicasts. The reasoning stands
beside each."""


def record(found: dict[str, list[list[str]]]) -> dict[str, object]:
    """For docs/results/data."""
    columns = ["number", "value", "off", "origin"]
    ratios = ["times, mean", "worst", "best"]
    planning = ["decided", "changed", *ratios, "planning"]

    def table(more: list[str], rows: str) -> dict[str, object]:
        return {"columns": [*columns, *more], "rows": found[rows]}

    return {
        "schema": render.SCHEMA,
        "title": "What the numbers of rules are worth",
        "purpose": "This page says what each number in a rule is worth, and how it was found.",
        "measured": take.origin("make ablation"),
        "sections": [
            {"blocks": INTRODUCTION.split("\n\n")},
            {
                "title": "Plans",
                "blocks": [PLANS, REQUESTS, table(planning, "plans")],
            },
            {"title": "Running teams", "blocks": [HERE, table(ratios, "here")]},
            {"title": "Without a measurement", "blocks": [OTHERS, table([], "others")]},
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a part of the numbers' names")
    parser.add_argument("--output", type=Path, help="write the record there")
    options = parser.parse_args()
    usual: dict[str, Run] = {}
    found: dict[str, list[list[str]]] = {"plans": [], "here": [], "others": []}
    for number in numbers():
        if options.only not in number.name:
            continue
        row = [f"`{number.name}`", number.value, number.off, number.origin]
        if number.layer in {"plan", "tune"}:
            if number.kind not in usual:
                usual[number.kind] = choose(number.kind, "")
            row += compared(number, usual[number.kind], without(number))
            found["plans"].append(row)
        elif number.is_measured:
            row += summary(ratios_of(timed(""), timed(number.name)))
            found["here"].append(row)
        else:
            found["others"].append(row)
        print(" | ".join(row), file=sys.stderr, flush=True)
    if options.output:
        take.save(options.output, record(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
