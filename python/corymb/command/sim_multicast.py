# SPDX-License-Identifier: Apache-2.0
"""corymb sim multicast: latency over the size of the group on a machine model."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

import corymb
from corymb.command import console, files, inputs
from corymb.command.options import HtmlFile, JsonFile, MachineName, ModelFile, NoMeasure, Ranks

EXAMPLES = (
    "Example: corymb sim multicast --machine epyc-9754-2s-512t --ranks 240 --html curves.html"
)
DRAWS = 5  # Groups of each size; the members of each are drawn anew.
TEST_NS = 2.0  # A look at one bit of a snapshot that the teller holds.
CYCLE_NS = 0.4
ACKNOWLEDGED = {
    "counters": "counters along the way of the call",
    "messages": "messages",
    "gather": "counters up a gather tree",
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Variant:
    """What is simulated: options of corymb.simulate_multicast, to members or to everybody."""

    name: str
    options: dict[str, Any]
    to_all: bool = False


def command(
    machine: MachineName = None,
    model: ModelFile = None,
    ranks: Ranks = None,
    members: Annotated[
        str | None, typer.Option("--members", metavar="LIST", help="Sizes of the group.")
    ] = None,
    no_measure: NoMeasure = False,
    html: HtmlFile = None,
    json: JsonFile = None,
) -> None:
    """Simulate acknowledged multicast by each topology, over the size of the group."""
    chosen = inputs.choose_machine(machine, model, no_measure)
    placement = inputs.placement_of(ranks, chosen.machine)
    size = len(placement)
    if size < 2:
        raise inputs.usage("a multicast needs at least 2 ranks")
    sizes = inputs.numbers(members, "--members", 1, 2**20) or list(usual_sizes(size))
    if max(sizes) > size - 1:
        raise inputs.usage(f"--members {max(sizes)}: there are {size - 1} beside the initiator")
    files.require_writable(html, json)
    rows, choice = console.busy("simulating", lambda: simulate(chosen.machine, placement, sizes))
    free = corymb.choose_multicast(chosen.machine, list(placement), acknowledgement="best")
    out = console.output(quiet=console.is_stdout(html, json))
    title, unit = chosen.title, chosen.machine.unit
    out.print(f"simulated on {title}, {size} ranks, medians of {DRAWS} groups:", markup=False)
    out.print(_table(rows, sizes, unit))
    out.print(f"the model's choice: {choice.reason}", markup=False)
    out.print(
        f"where it also chooses the acknowledgement: {ACKNOWLEDGED[free.acknowledgement]}, "
        f"{free.reason}",
        markup=False,
    )
    if html is not None:
        from corymb.picture.multicast import multicast_page

        files.write_text(html, multicast_page(rows, title, unit, size, choice.reason))
    if json is not None:
        files.write_json(
            json,
            {
                "schema": "corymb-sim-multicast/1",
                "simulated_on": title,
                "model_sha256": chosen.machine.sha256(),
                "doubts": chosen.machine.doubts,
                "unit": unit,
                "ranks": size,
                "placement": list(placement),
                "choice": {
                    "flat_up_to": choice.flat_up_to,
                    "fan_out": choice.fan_out,
                    "reason": choice.reason,
                    "acknowledgement": free.acknowledgement,
                },
                "rows": rows,
            },
        )


def usual_sizes(ranks: int) -> Iterator[int]:
    """About two an octave, and everybody."""
    size = 1
    while size < ranks - 1:
        yield size
        size += max(1, size // 2)
    yield ranks - 1


def simulate(
    machine: corymb.Machine, placement: Sequence[int], sizes: Sequence[int]
) -> tuple[list[Row], corymb.MulticastChoice]:
    """A row for each variant and size; rank 0 calls, the members are drawn from the others."""
    seats = list(placement)
    choice = corymb.choose_multicast(machine, seats)
    plan = corymb.make_plan(machine, "broadcast", placement=seats, root=0, algorithm="annealed")
    gathered = corymb.choose_multicast(machine, seats, acknowledgement="gather")
    reduce = corymb.make_plan(machine, "reduce", placement=seats, root=0, algorithm="annealed")
    test = TEST_NS if machine.unit == "ns" else TEST_NS / CYCLE_NS
    everybody = list(range(1, len(seats)))
    source = random.Random(1)
    rows = []
    for size in sizes:
        groups = [source.sample(everybody, size) for _ in range(DRAWS)]
        for variant in variants(plan.plan, choice, reduce.plan, gathered):
            drawn = [everybody] if variant.to_all else groups
            times = [
                corymb.simulate_multicast(
                    machine, group, placement=seats, test=test, **variant.options
                )
                for group in drawn
            ]
            rows.append(
                {
                    "variant": variant.name,
                    "members": size,
                    "latency": statistics.median(one.latency for one in times),
                    "last_run": statistics.median(one.last_run for one in times),
                    "told": statistics.median(one.told for one in times),
                    "tested": statistics.median(one.tested for one in times),
                }
            )
    return rows, choice


def variants(
    plan: corymb.Plan,
    choice: corymb.MulticastChoice,
    reduce: corymb.Plan,
    gathered: corymb.MulticastChoice,
) -> list[Variant]:
    best = _split(choice)
    tree = {"topology": "tree", "plan": plan}
    up = {"acknowledgement": "gather", "gather": reduce}
    return [
        Variant("best", best),
        Variant("best, answers as messages", {**best, "acknowledgement": "messages"}),
        Variant("best, gather tree", {**_split(gathered), **up}),
        Variant("best, ranks in the tree's order", {**best, "plan": plan}),
        Variant("flat", {"topology": "flat"}),
        Variant("flat, helping", {"topology": "flat", "skipping": False}),
        Variant("tree, helping", {**tree, "skipping": False}),
        Variant("tree, skipping", tree),
        Variant("tree, gather tree", {**tree, **up}),
        Variant("binary tree, helping", {"topology": "binary", "skipping": False}),
        Variant("binary tree, skipping", {"topology": "binary"}),
        Variant("binary tree, gather tree", {"topology": "binary", **up}),
        Variant("flat, to all", {"topology": "flat"}, to_all=True),
        Variant("tree, to all", tree, to_all=True),
    ]


def _split(choice: corymb.MulticastChoice) -> dict[str, Any]:
    return {"topology": "split", "fan_out": choice.fan_out, "flat_up_to": choice.flat_up_to}


def _table(rows: Sequence[Row], sizes: Sequence[int], unit: str) -> Table:
    """Some of the sizes, so that a line fits."""
    shown = sizes if len(sizes) <= 8 else [sizes[i * (len(sizes) - 1) // 7] for i in range(8)]
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column(f"latency, {unit}; members:", overflow="fold")
    for size in shown:
        table.add_column(str(size), justify="right")
    for name in dict.fromkeys(row["variant"] for row in rows):
        latency = {row["members"]: row["latency"] for row in rows if row["variant"] == name}
        style = "bold" if name == "best" else None
        table.add_row(name, *(f"{latency[size]:,.0f}" for size in shown), style=style)
    return table
