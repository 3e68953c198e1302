# SPDX-License-Identifier: Apache-2.0
"""corymb map: what a machine looks like to its own cores."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import console, files, inputs
from corymb.command.options import Budget, JsonFile, MachineName, ModelFile, NoMeasure
from corymb.layout import layout_of
from corymb.picture import terminal

EXAMPLES = (
    "Examples: corymb map | corymb map --measure --save my.json | "
    "corymb map --machine epyc-9754-2s-512t --html map.html | "
    "corymb map --synthetic 'pack:2 l3:2 core:4 pu:2'"
)
LARGEST_COMPUTED = 2048


def command(
    machine: MachineName = None,
    model: ModelFile = None,
    xml: Annotated[
        str | None, typer.Option("--xml", metavar="FILE", help="Topology of an hwloc XML file.")
    ] = None,
    synthetic: Annotated[
        str | None,
        typer.Option("--synthetic", metavar="TEXT", help="Topology of an hwloc description."),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure this machine again and cache the model.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Measure every ordered pair, however many there are.")
    ] = False,
    budget: Budget = inputs.MEASURE_BUDGET_S,
    no_measure: NoMeasure = False,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Write the model file.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write the heat maps as a page.")
    ] = None,
    export_hwloc: Annotated[
        str | None,
        typer.Option("--export-hwloc", metavar="FILE", help="Write hwloc XML with distances."),
    ] = None,
    json: JsonFile = None,
) -> None:
    """Show how long each core takes to hand a message to each other core."""
    sources = [name for name in (machine, model, xml, synthetic) if name is not None]
    if len(sources) > 1 or (sources and (measure or full)):
        raise inputs.usage("give one of --machine, --model, --xml, --synthetic, --measure")
    if not 0 < budget <= 3600:
        raise inputs.usage("--budget must be more than 0 and at most 3600 seconds")
    files.require_writable(save, html, export_hwloc, json)
    chosen = _choose(machine, model, xml, synthetic, measure or full, full, budget, no_measure)
    out = console.output(quiet=console.is_stdout(save, html, export_hwloc, json))
    show(out, chosen)
    if save is not None:
        chosen.machine.save(save)
    if export_hwloc is not None:
        corymb.export_hwloc_distances(chosen.machine, export_hwloc)
    if html is not None:
        from corymb.picture.report import map_page

        files.write_text(html, map_page(chosen.machine, chosen.title, remarks_of(chosen.machine)))
    if json is not None:
        files.write_json(json, as_json(chosen))


def _choose(
    name: str | None,
    model: str | None,
    xml: str | None,
    synthetic: str | None,
    measure: bool,
    full: bool,
    budget: float,
    no_measure: bool,
) -> inputs.Chosen:
    if xml is not None:
        files.read_text(xml, "hwloc XML")
        return inputs.Chosen(corymb.topology_from_xml(xml), "file")
    if synthetic is not None:
        return inputs.Chosen(corymb.topology_from_synthetic(synthetic), "synthetic")
    if measure:
        return inputs.Chosen(inputs.measure_here(budget, full), "measured")
    return inputs.find_machine(name, model, no_measure, budget)


def show(out: Console, chosen: inputs.Chosen) -> None:
    """Heat map, classes and quality for people."""
    machine = chosen.machine
    out.print(f"{chosen.title}: {len(machine)} PUs, {machine.source}", markup=False, style="bold")
    if len(machine) < 2:
        out.print("One CPU: there is no pair of cores to measure.")
    elif len(machine) > LARGEST_COMPUTED:
        out.print(f"More than {LARGEST_COMPUTED} PUs: no heat map, the classes say it all.")
    else:
        layout = layout_of(machine)
        cost = machine.send_costs() + machine.receive_costs()
        ordered = cost[np.ix_(layout.order, layout.order)]
        labels = [str(machine.cpus[pu]) for pu in layout.order]
        out.print("One message, send + receive, CPUs ordered by measured class:")
        unicode_ok = console.encoding_is_unicode()
        for line in terminal.heat_map(out, ordered, labels, machine.unit, unicode_ok):
            out.print(line, no_wrap=True, overflow="crop", crop=True)
    if machine.classes:
        out.print(_class_table(machine))
    for remark in remarks_of(machine):
        out.print("  " + remark, markup=False)


def _class_table(machine: corymb.Machine) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("class", overflow="fold")
    for title in ("send", "receive", "round trip"):
        table.add_column(f"{title}, {machine.unit}", justify="right")
    table.add_column("pairs", justify="right")
    table.add_column("trust", justify="right")
    for c in machine.classes:
        trust = "" if math.isnan(c.reliability) else f"r = {c.reliability:.2f}"
        table.add_row(
            c.name, _spread(c.send), _spread(c.receive), _spread(c.round_trip),
            str(c.pairs_sampled or ""), trust,
        )  # fmt: skip
    return table


def _spread(statistic: Any) -> str:
    if statistic.count == 0 and math.isnan(statistic.median):
        return "-"
    if math.isnan(statistic.q25) or statistic.q25 == statistic.q75:
        return f"{statistic.median:.1f}"
    return f"{statistic.median:.1f} ({statistic.q25:.1f}-{statistic.q75:.1f})"


def remarks_of(machine: corymb.Machine) -> list[str]:
    """What a person should know about the numbers, one sentence each."""
    duration_s = machine.quality.duration_s
    measured = [f"Measured in {duration_s:.1f} s."] if duration_s > 0 else []
    return measured + machine.doubts


def as_json(chosen: inputs.Chosen) -> dict[str, Any]:
    """The JSON of `corymb map`; docs/reference/command-machine.md describes the keys."""
    machine = chosen.machine
    layout = layout_of(machine)
    return {
        "schema": "corymb-map/1",
        "machine": chosen.title,
        "origin": chosen.origin,
        "source": machine.source,
        "unit": machine.unit,
        "size": len(machine),
        "cpus": machine.cpus,
        "order": [machine.cpus[pu] for pu in layout.order],
        "groups": machine.group,
        "classes": [
            {
                "name": c.name,
                "send": _statistic(c.send),
                "receive": _statistic(c.receive),
                "round_trip": _statistic(c.round_trip),
                "reliability": c.reliability,
                "pairs_sampled": c.pairs_sampled,
            }
            for c in machine.classes
        ],
        "remarks": remarks_of(machine),
        "model_sha256": machine.sha256(),
    }


def _statistic(statistic: Any) -> dict[str, Any]:
    names = ("median", "q25", "q75", "count")
    return {name: getattr(statistic, name) for name in names}
