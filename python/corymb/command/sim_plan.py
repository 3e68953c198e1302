# SPDX-License-Identifier: Apache-2.0
"""corymb sim plan: replay a plan file on any machine model."""

from __future__ import annotations

import functools
import json as json_text
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

import corymb
from corymb import messages
from corymb.command import clusters, console, files, inputs, sim_json
from corymb.command.options import ClusterFile, JsonFile, MachineName, ModelFile, NoMeasure, Ranks

EXAMPLES = (
    "Examples: corymb sim plan plan.json --machine epyc-9654-2s-192c | "
    "corymb sim plan plan.json --model my.json --ranks 0-7 --json times.json"
)


def command(
    plan_file: Annotated[
        str,
        typer.Argument(metavar="PLAN.json", help="Of corymb plan --json."),
    ],
    machine: MachineName = None,
    model: ModelFile = None,
    ranks: Ranks = None,
    bytes_: Annotated[
        int | None,
        typer.Option("--bytes", metavar="B", help="Payload; the plan's own without it."),
    ] = None,
    no_measure: NoMeasure = False,
    cluster: ClusterFile = None,
    json: JsonFile = None,
) -> None:
    """Check a plan, then replay it on a machine model. A wrong plan is refused."""
    inputs.require_sizes(bytes_ or 0, 0, 0)
    files.require_writable(json)
    text = files.read_text(plan_file, "plan")
    plan = corymb.Plan.from_json(text)
    console.busy("checking the plan", plan.check)
    others = {"--machine": machine, "--model": model, "--ranks": ranks}
    if _on_nodes(text, plan, clusters.of_plan_file(text, cluster, others), bytes_, json):
        return
    chosen = inputs.choose_machine(machine, model, no_measure)
    placement = _placement(text, ranks, plan, chosen.machine)
    size = _payload(text, plan) if bytes_ is None else bytes_
    work = functools.partial(
        corymb.simulate, plan, chosen.machine, placement=placement, bytes=size, activities=True
    )
    timeline = console.busy("simulating", work)
    title = timeline.simulated_on or chosen.title
    unit = chosen.machine.unit
    waiting = messages.waiting_times(timeline)
    _show(console.output(quiet=console.is_stdout(json)), plan, timeline, f"{title}, {size} B", unit)
    if json is not None:
        on = {
            "simulated_on": title,
            "model_sha256": chosen.machine.sha256(),
            "doubts": chosen.machine.doubts,
            "unit": unit,
            "placement": placement,
        }
        files.write_json(json, sim_json.result(plan, size, timeline, on) | {"waiting": waiting})


def _show(out: Console, plan: corymb.Plan, timeline: corymb.Timeline, on: str, unit: str) -> None:
    finish, waiting = timeline.finish, messages.waiting_times(timeline)
    slowest = int(np.argmax(finish))
    out.print(f"{plan.op}, {plan.algorithm or 'no name'}, {len(plan)} ranks: proven", markup=False)
    out.print(f"simulated on {on}:", markup=False)
    out.print(f"  makespan  [bold]{timeline.makespan:.1f} {unit}[/], last is rank {slowest}")
    out.print(
        f"  finish    first {finish.min():.1f}, median {np.median(finish):.1f} {unit}\n"
        f"  waiting   median {np.median(waiting):.1f}, longest {waiting.max():.1f} {unit}"
    )


def _on_nodes(
    text: str,
    plan: corymb.Plan,
    cluster: corymb.Cluster | None,
    size: int | None,
    json: str | None,
) -> bool:
    """Simulates on the cluster; without one, does nothing and says so."""
    if cluster is not None:
        clusters.sim(plan, cluster, _payload(text, plan) if size is None else size, json)
    return cluster is not None


def _placement(
    text: str, ranks: str | None, plan: corymb.Plan, machine: corymb.Machine
) -> list[int]:
    """--ranks, else the CPUs in the plan file, else one rank on each of the first PUs."""
    size = len(plan)
    if ranks is not None:
        placement = inputs.placement_of(ranks, machine)
        if len(placement) != size:
            raise inputs.usage(f"--ranks names {len(placement)} CPUs but the plan has {size} ranks")
        return placement
    if size > len(machine):
        raise inputs.usage(
            f"the plan has {size} ranks but {inputs.title_of(machine)} has {len(machine)} CPUs"
        )
    stored: Any = json_text.loads(text).get("placement")
    if not isinstance(stored, list):
        return list(range(size))
    if len(stored) != size or len(set(map(str, stored))) != size:
        raise corymb.Error(f"placement: it must name {size} different CPUs", "invalid_plan")
    cpus = set(machine.cpus)
    absent = [c for c in stored if type(c) is not int or c not in cpus]
    if absent:
        raise inputs.usage(
            f"the plan puts a rank on CPU {absent[0]}, which {inputs.title_of(machine)} "
            "does not have; give --ranks"
        )
    return [machine.index_of_cpu(cpu) for cpu in stored]


def _payload(text: str, plan: corymb.Plan) -> int:
    stored = json_text.loads(text).get("bytes")
    if isinstance(stored, int) and 0 <= stored <= 2**40:
        return stored
    return min(8, plan.bytes_max) if plan.bytes_max else 8
