# SPDX-License-Identifier: Apache-2.0
"""The sections of report.html, from a study."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

import corymb
from corymb import messages
from corymb.layout import Layout, downsample, layout_of, rooted, with_rest
from corymb.picture.curves import bench_curves
from corymb.picture.heat import heat_maps
from corymb.picture.multicast import measured_section, simulated_section
from corymb.picture.noise import noise_section
from corymb.picture.page import Cell, Section, build
from corymb.picture.peers import is_beside_peers, peer_sections
from corymb.picture.stragglers import measured_strip, simulated_strip
from corymb.picture.timeline import WAITING, WORK, Stretch, timeline_chart
from corymb.picture.tree import TreeData, finish_bars, machine_tree
from corymb.picture.waiting import waiting_section
from corymb.study import Study, bench_verdict

LARGEST_HEAT_MAP = 640
Row = dict[str, Any]
LARGEST_LIST = 12


def report_page(study: Study, name: str, remarks: list[str], drawn: str) -> str:
    """The whole report; `drawn` is the operation whose plan is drawn."""
    machine = study.machine
    sections = []
    layout = rooted(study.layout, study.planned[drawn].choice.plan.root)
    if len(study.placement) > 1:
        sections.append(_tree(study, name, drawn, layout))
    sections.append(_plans(study, name))
    if len(machine) > 1:
        sections.append(_heat(machine, name))
    if len(study.placement) > 1:
        sections += [_timeline(study, name, drawn, layout), _stragglers(study, name, layout)]
    beside = [row for row in study.bench if is_beside_peers(row)]
    others = [row for row in study.bench if not is_beside_peers(row)]
    if others or not beside:
        sections.append(_bench(others))
    if beside:
        sections += peer_sections(beside)
    sections += _multicast(study, name)
    if study.waiting:
        sections.append(waiting_section(study.waiting))
    if study.noise:
        sections.append(noise_section(study.noise, "that of corymb sim noise"))
    lead = (
        f"{len(machine)} CPUs, {machine.source or 'unknown source'}, costs in {machine.unit}. "
        f"{len(study.placement)} ranks, {study.size} B. Times marked simulated come from this "
        "model, not from a clock."
    )
    return build(f"corymb on {name}", lead, sections, footer(machine, remarks))


def _multicast(study: Study, name: str) -> list[Section]:
    """Both ways beside each other, each marked as what it is."""
    found = []
    if study.multicast:
        found.append(
            simulated_section(
                study.multicast, name, study.machine.unit, len(study.placement),
                study.multicast_choice,
            )
        )  # fmt: skip
    if study.multicast_bench:
        found.append(measured_section(study.multicast_bench))
    return found


def footer(machine: corymb.Machine, remarks: list[str]) -> str:
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return " ".join(
        [*remarks, f"Model {machine.sha256()[:16]}. Written {now} by corymb {corymb.__version__}."]
    )


def map_page(machine: corymb.Machine, name: str, remarks: list[str]) -> str:
    """The page of `corymb map --html`: the heat maps alone."""
    sections = [_heat(machine, name)] if len(machine) > 1 else []
    lead = f"{len(machine)} CPUs, {machine.source or 'unknown source'}, costs in {machine.unit}."
    return build(f"{name}, seen by its own cores", lead, sections, footer(machine, remarks))


def _plans(study: Study, name: str) -> Section:
    unit = study.machine.unit
    ran = any(planned.run for planned in study.planned.values())
    header = [
        Cell("operation"), Cell("algorithm"), Cell("root", True), Cell(f"predicted, {unit}", True),
        Cell(f"lower bound, {unit}", True), Cell("above the bound", True),
    ]  # fmt: skip
    if ran:
        header.append(Cell("measured, ns", True))
    rows = []
    for op, planned in study.planned.items():
        choice = planned.choice
        bound, kind = choice.lower_bound(study.machine)
        above = f"{100 * (choice.predicted / bound - 1):.1f} %" if bound > 0 else "-"
        row = [
            Cell(op), Cell(choice.plan.algorithm), Cell(str(choice.plan.root), True),
            Cell(f"{choice.predicted:.1f}", True),
            Cell(f"{bound:.1f} ({kind})" if bound > 0 else "-", True),
            Cell(above, True),
        ]  # fmt: skip
        if ran:
            row.append(Cell(f"{planned.run.median_ns:.0f}" if planned.run else "-", True))
        rows.append(row)
    caption = (
        "The best plan of the portfolio for each operation. Every plan is proven before it is "
        f"shown. Predictions are simulated on {name}; no plan of messages can beat the lower "
        "bound in this model."
    )
    if ran:
        caption += (
            " Measured one at a time, from the arrival of the last rank until the last is done, "
            "which includes reading a clock."
        )
    return Section("The plans", caption, "simulated", header=header, rows=rows)


def _ordered(matrix: NDArray[np.float64], layout: Layout) -> NDArray[np.float64]:
    return matrix[np.ix_(layout.order, layout.order)]


def _heat(machine: corymb.Machine, name: str) -> Section:
    layout = layout_of(machine)
    cpus = np.asarray(machine.cpus)[layout.order]
    send = _ordered(machine.send_costs(), layout)
    receive = _ordered(machine.receive_costs(), layout)
    boundaries = _boundaries(layout)
    if len(machine) > LARGEST_HEAT_MAP:
        places = np.linspace(0, len(machine), LARGEST_HEAT_MAP + 1).astype(int)
        boundaries = [int(np.searchsorted(places, b)) for b in boundaries]
        cpus = cpus[places[:-1]]
        send, receive = downsample(send, LARGEST_HEAT_MAP), downsample(receive, LARGEST_HEAT_MAP)
    figure = heat_maps(send, receive, cpus.tolist(), boundaries, machine.unit)
    caption = (
        f"What one message costs between each two CPUs of {name}, ordered so that CPUs of one "
        "measured group stand together. Dark is cheap."
    )
    if machine.assumption:
        caption += f" Assumed: {machine.assumption}."
    kind = "measured" if machine.source == "measured" else ""
    return Section("The machine", caption.replace("..", "."), kind, figures=[figure])


def _boundaries(layout: Layout) -> list[int]:
    if not layout.levels:
        return []
    outer = with_rest(layout.levels)[0][layout.order]
    return [int(place) for place in np.flatnonzero(np.diff(outer)) + 1]


def _tree(study: Study, name: str, drawn: str, layout: Layout) -> Section:
    planned = study.planned[drawn]
    data = TreeData(
        layout=layout,
        cpus=study.cpus,
        messages=messages.drawn_messages(planned.choice.plan, planned.timeline),
        finish=planned.timeline.finish,
        root=planned.choice.plan.root,
        unit=study.machine.unit,
    )
    caption = (
        f"{planned.choice.plan.algorithm}: each line is a message, each box a measured group. "
        "Colours tell the time: dark is early, bright is late, in even steps through all times. "
        "Strong lines go between groups. The root has a red ring and stands first. "
        f"Below: when each rank is done. Simulated on {name}."
    )
    figures = [machine_tree(data), finish_bars(data)]
    return Section(f"The {drawn} over the machine", caption, "simulated", figures=figures)


def stretches_of(study: Study, op: str) -> list[Stretch]:
    """What every rank does when, out of the simulated activities."""
    planned = study.planned[op]
    found = []
    for rank, (steps, table) in enumerate(
        zip(planned.choice.plan.steps, planned.timeline.activities, strict=True)
    ):
        for index, wait_from, begin, end in table:
            doing = WORK[steps[int(index)].kind]
            found.append(Stretch(rank, WAITING, float(wait_from), float(begin)))
            found.append(Stretch(rank, doing, float(begin), float(end)))
    return found


def _timeline(study: Study, name: str, drawn: str, layout: Layout) -> Section:
    order = [int(rank) for rank in layout.order]
    figure = timeline_chart(stretches_of(study, drawn), order, study.machine.unit)
    caption = f"The same {drawn} rank by rank: work and waiting. Simulated on {name}."
    return Section("The timeline", caption, "simulated", figures=[figure])


def _stragglers(study: Study, name: str, layout: Layout) -> Section:
    runs = {op: planned.run for op, planned in study.planned.items() if planned.run}
    if runs:
        late = {op: run.late for op, run in runs.items() if run}
        caption = (
            "How long after the last rank's arrival each rank is done, measured on this machine. "
            "Boxes are quartiles, red lines medians, whiskers reach the 95th percentile. A rank "
            "that stands out is the straggler. The scale shows the bulk; triangles mark what is "
            "outside."
        )
        figure = measured_strip(late, study.cpus, layout.order.tolist())
        return Section("Who is late", caption, "measured", figures=[figure])
    finish = {op: planned.timeline.finish for op, planned in study.planned.items()}
    waiting = {op: planned.waiting for op, planned in study.planned.items()}
    caption = f"One mark a rank. Simulated on {name}."
    figure = simulated_strip(finish, waiting, study.machine.unit)
    return Section("Who is late", caption, "simulated", figures=[figure])


def _bench(rows: Sequence[Row]) -> Section:
    title = "corymb and its peers"
    if not rows:
        return Section(title, "Not measured for this report: corymb bench, corymb report --bench.")
    verdict = bench_verdict(rows)
    caption = (
        "Time of one operation, measured side by side in one run, contestants alternating. Lower "
        "is better; bars reach from the lower to the upper quartile. corymb is faster in "
        f"{len(verdict['wins'])}, equal in {len(verdict['ties'])} and slower in "
        f"{len(verdict['losses'])} comparisons (within 5 % is equal)."
    )
    shown = verdict["losses"][:LARGEST_LIST]
    lines = [[Cell(loss)] for loss in shown]
    if len(verdict["losses"]) > len(shown):
        lines.append([Cell(f"and {len(verdict['losses']) - len(shown)} more")])
    header = [Cell("where corymb is slower")] if lines else []
    figures = [bench_curves(rows)]
    return Section(title, caption, "measured", figures=figures, header=header, rows=lines)
