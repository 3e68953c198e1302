# SPDX-License-Identifier: Apache-2.0
"""corymb cluster: how good the choice of schemes for several nodes is, and how far it reaches."""

from __future__ import annotations

import random
import resource
import time
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console, JustifyMethod
from rich.table import Table

import corymb
from corymb.command import clusters, console, files, inputs
from corymb.command.options import JsonFile, Seed

EXAMPLES = {
    "regret": "Example: corymb cluster regret --shapes 500 --json regret.json",
    "scale": "Example: corymb cluster scale --ranks-most 1024",
}
LARGEST_RANKS = 128
SCALES = (
    (64, 16, "1,024 ranks on 16-core nodes"),
    (4096, 12, "49,152 ranks on 12-core nodes"),
    (65536, 16, "1,048,576 ranks on 16-core nodes"),
)
PROVEN_RANKS = 2048
SLICES = "slices/4/doubling/shared/early"
TWO_SLICES = "slices/2/doubling/shared/early"
FOUR_SLICES_RANKS = 65536  # Of a million ranks they would take ten gigabytes.
# Every rank has a part for each: there are no plans of millions of parts.
OF_ALL_FOR_ALL = ("alltoall", "reduce_scatter")
OF_ALL_FOR_ALL_RANKS = 1024
SCALE_CASES = (
    ("allgather", 8, ("flat/bruck/shared", "lanes/1/doubling/shared", SLICES)),
    ("allgather", 1024, ("flat/bruck/shared", "lanes/1/doubling/shared", SLICES)),
    ("allreduce", 8, ("flat/doubling/shared", "lanes/1/doubling/shared")),
    ("allreduce", 65536, ("flat/doubling/shared", "lanes/1/doubling/shared",
                          "lanes/4/doubling/shared")),
    ("broadcast", 65536, ("flat/binomial/shared", "lanes/1/binomial/shared",
                          "lanes/4/binomial/shared")),
    ("reduce", 65536, ("flat/binomial/shared", "lanes/1/binomial/shared",
                       "lanes/4/binomial/shared")),
    ("gather", 1024, ("flat/binomial/messages", "lanes/1/binomial/shared")),
    ("scatter", 1024, ("flat/binomial/messages", "lanes/1/binomial/shared",
                       "lanes/4/binomial/shared")),
    ("alltoall", 8, ("flat/bruck/shared", "lanes/1/bruck/shared", "lanes/16/bruck/shared")),
    ("reduce_scatter", 8, ("flat/doubling/shared", "lanes/1/doubling/shared")),
    ("scan", 8, ("flat/doubling/shared", "lanes/1/doubling/shared")),
    ("exscan", 8, ("flat/doubling/shared", "lanes/1/doubling/shared")),
    ("barrier", 0, ("flat/dissemination/shared", "lanes/1/dissemination/shared")),
)  # fmt: skip


FLAT = ("flat/",)
ONE_LEADER = ("lanes/1/",)
# What the choice is compared with: at each point the fastest scheme whose name begins so, which is
# more than a table of sizes can give. HAN is Open MPI's: two levels and one leader, in pieces or
# not. The unified scheme of Kandalla and others (2009), which MVAPICH has, takes leaders, one for
# each package, that exchange as one group by doubling or in a ring, or the plain ring.
CONTESTANTS: dict[str, dict[str, tuple[str, ...]]] = {
    "flat": {"allgather": FLAT, "allreduce": FLAT},
    "single leader": {"allgather": ONE_LEADER, "allreduce": ONE_LEADER},
    "node-major": {"allgather": ("node-major/",), "allreduce": ()},
    "HAN": {"allgather": ONE_LEADER, "allreduce": ONE_LEADER},
    "unified": {
        "allgather": ("node-major/2/doubling/", "node-major/2/ring/", "flat/ring/messages"),
        "allreduce": (*ONE_LEADER, *FLAT),
    },
}
# Libraries fall back to flat schemes where nodes have different numbers of ranks.
EVEN_ONLY = ("HAN", "unified")


def regret(
    shapes: Annotated[int, typer.Option("--shapes", metavar="N", help="Random clusters.")] = 100,
    seed: Seed = 1,
    json: JsonFile = None,
) -> None:
    """Simulate the choice of schemes on random clusters beside the best scheme of each."""
    if not 1 <= shapes <= 100_000:
        raise inputs.usage("--shapes must be from 1 to 100000")
    inputs.require_sizes(0, seed, 0)
    files.require_writable(json)
    out = console.output(quiet=console.is_stdout(json))
    files.write_json(json, _show_regret(out, _regret(shapes, seed), seed))


def scale(
    ranks_most: Annotated[
        int,
        typer.Option("--ranks-most", metavar="N", help="Leave larger ones out; 1048576 has all."),
    ] = 65536,
    op: Annotated[
        str | None, typer.Option("--op", metavar="OP", help="This operation alone.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Time planning, and weigh plans, for up to a million ranks."""
    operations = list(dict.fromkeys(case[0] for case in SCALE_CASES))
    if op is not None and op not in operations:
        raise inputs.usage(f"--op must be one of {', '.join(operations)}")
    if ranks_most < (least := SCALES[0][0] * SCALES[0][1]):
        raise inputs.usage(f"--ranks-most must be at least {least}")
    files.require_writable(json)
    rows = _scale(ranks_most, op)
    _show_scale(console.output(quiet=console.is_stdout(json)), rows)
    files.write_json(json, {"schema": "corymb-cluster-scale/1", "rows": rows})


def _shape(dice: random.Random) -> tuple[corymb.Cluster, int, str, bool]:
    """A random cluster, payload and operation, and whether all nodes have as many ranks; these may
    be dealt in turns."""
    nodes = dice.choice((2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32))
    most = min(16, max(1, LARGEST_RANKS // nodes))
    ranks = dice.randint(1, most)
    runs = [(nodes, ranks)]
    if nodes > 2 and dice.random() < 0.25:
        runs = [(nodes - 1, ranks), (1, dice.randint(1, most))]
    start_up = dice.choice((1000, 2000, 5000, 20000, 50000))
    gap = start_up * dice.choice((0.02, 0.1, 0.2, 0.5, 1))
    stream = dice.choice((0.1, 1, 3, 10))
    node = stream * dice.choice((1, 2, 4, 8))
    order = "cyclic" if dice.random() < 0.15 else "block"
    size = int(2 ** dice.uniform(3, 20))
    op = "allgather" if dice.random() < 0.75 else "allreduce"
    network = f"{start_up},{gap},{stream},{node}"
    count = sum(number for number, _ in runs)
    if dice.random() < 0.2:  # Some nodes have a slower adapter.
        factor = dice.choice((2, 4, 10))
        slow = ",".join(map(str, sorted(dice.sample(range(count), dice.randint(1, count - 1)))))
        costs = (start_up * factor, gap * factor, stream / factor, node / factor)
        network += "/" + ",".join(map(str, costs)) + "@" + slow
    is_even = len({ranks for _, ranks in runs}) == 1
    return clusters.cluster_of(runs, network, order=order), size, op, is_even


def _regret(shapes: int, seed: int) -> list[dict[str, Any]]:
    dice = random.Random(seed)
    rows = []
    with console.progress_bar(f"simulating every scheme on {shapes} clusters") as report:
        for number in range(shapes):
            cluster, size, op, is_even = _shape(dice)
            chosen = corymb.make_cluster_plan(cluster, op, bytes=size)
            every = corymb.make_cluster_plan(
                cluster, op, bytes=size, exhaustive=True, proven=False
            ).portfolio
            best = min(every.values())
            rows.append(
                {
                    "cluster": cluster.name,
                    "op": op,
                    "bytes": size,
                    "chosen": chosen.plan.algorithm,
                    "best": min(every, key=every.__getitem__),
                    "regret": _ratio(chosen.predicted, best),
                    "simulated": len(chosen.portfolio),
                    "schemes": len(every),
                    **{
                        name: _ratio(_best_of(every, _begins(name, op, is_even)), best)
                        for name in CONTESTANTS
                    },
                }
            )
            report((number + 1) / shapes, cluster.name)
    return rows


def _ratio(value: float, best: float) -> float:
    return value / best if best > 0 else 1.0


def _begins(contestant: str, op: str, is_even: bool) -> tuple[str, ...]:
    return CONTESTANTS[contestant][op] if is_even or contestant not in EVEN_ONLY else FLAT


def _best_of(portfolio: dict[str, float], begins: tuple[str, ...]) -> float:
    """The fastest scheme of a contestant; infinite without one."""
    return min((t for name, t in portfolio.items() if name.startswith(begins)), default=np.inf)


def _show_regret(out: Console, rows: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    out.print(f"{len(rows)} random clusters, seed {seed}; all times simulated")
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for column in ("time / best of all schemes", "median", "p95", "worst"):
        table.add_column(column, justify="left" if column.startswith("time") else "right")
    summary = {}
    for name, key in (("chosen", "regret"), *((c, c) for c in CONTESTANTS)):
        values = [row[key] for row in rows if np.isfinite(row[key])]
        numbers = [float(np.percentile(values, p)) for p in (50, 95, 100)] if values else []
        summary[name] = dict(zip(("median", "p95", "worst"), numbers, strict=False))
        table.add_row(name, *(f"{number:.3f}" for number in numbers))
    out.print(table)
    share = sum(row["simulated"] for row in rows) / sum(row["schemes"] for row in rows)
    out.print(f"the search simulated {100 * share:.0f} % of the schemes")
    return {
        "schema": "corymb-cluster-regret/1",
        "seed": seed,
        "shapes": len(rows),
        "summary": summary,
        "rows": rows,
    }


def _scale(ranks_most: int, only: str | None) -> list[dict[str, Any]]:
    rows = []
    cases = [case for case in SCALE_CASES if only in (None, case[0])]
    for nodes, ranks, name in SCALES:
        if nodes * ranks > ranks_most:
            continue
        cluster = clusters.cluster_of([(nodes, ranks)], name=name)
        for op, size, schemes in cases:
            if op in OF_ALL_FOR_ALL and nodes * ranks > OF_ALL_FOR_ALL_RANKS:
                console.say(f"{name}: {op} left out, its plans are for {OF_ALL_FOR_ALL_RANKS} "
                            "ranks at most")  # fmt: skip
                continue
            for name_of_scheme in schemes:
                is_many = name_of_scheme == SLICES and nodes * ranks > FOUR_SLICES_RANKS
                scheme = TWO_SLICES if is_many else name_of_scheme
                rows.append(_one(cluster, op, size, scheme))
                console.say(f"{name}: {op} {size} B by {scheme} done")
    return rows


def _one(cluster: corymb.Cluster, op: str, size: int, scheme: str) -> dict[str, Any]:
    proven = len(cluster) <= PROVEN_RANKS
    began = time.monotonic()
    choice = corymb.make_cluster_plan(cluster, op, bytes=size, algorithm=scheme, proven=proven)
    took = time.monotonic() - began
    steps = choice.plan.step_count
    return {
        "cluster": cluster.name,
        "ranks": len(cluster),
        "op": op,
        "bytes": size,
        "scheme": scheme,
        "predicted_us": choice.predicted / 1000,
        "proven": proven,
        "seconds": took,
        "steps_per_rank": steps / len(cluster),
        "bytes_per_rank": steps * choice.plan.step_bytes / len(cluster)
        + choice.plan.scratch_blocks * -(-size // max(1, choice.plan.block_count)),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def _show_scale(out: Console, rows: list[dict[str, Any]]) -> None:
    out.print("all times simulated; steps and memory of one rank; seconds to plan and simulate")
    for name in dict.fromkeys(row["cluster"] for row in rows):
        table = Table(box=None, pad_edge=False, padding=(0, 1), title=name, title_justify="left")
        for column in ("operation", "scheme", "us", "steps", "bytes", "s"):
            justify: JustifyMethod = "left" if column in ("operation", "scheme") else "right"
            table.add_column(column, justify=justify, no_wrap=True)
        for row in (row for row in rows if row["cluster"] == name):
            table.add_row(
                f"{row['op']} {row['bytes']} B" if row["bytes"] else row["op"], row["scheme"],
                f"{row['predicted_us']:.1f}", f"{row['steps_per_rank']:.1f}",
                f"{row['bytes_per_rank']:.0f}", f"{row['seconds']:.1f}",
            )  # fmt: skip
        out.print(table)
