# SPDX-License-Identifier: Apache-2.0
"""docs/images/start-machine.svg: how to read the picture of `corymb map`."""

from __future__ import annotations

import svg
from images.measured import save

import corymb
from corymb import study

NAME = "smelt-e5v2-2x10"
TOP, LEFT, CELL = 66, 70, 17


def make() -> None:
    machine = corymb.Machine.gallery(NAME)
    order = study.layout_of(machine).order
    costs = machine.send_costs() + machine.receive_costs()
    between = [costs[a, b] for a in order for b in order if a != b]
    least, most = min(between), max(between)
    parts = []
    for row, sender in enumerate(order):
        y = TOP + row * CELL
        number = str(machine.cpus[sender])
        parts.append(svg.text(LEFT - 8, y + 13, number, "end"))
        if row % 2 == 0:
            parts.append(svg.text(LEFT + (row + 0.5) * CELL, TOP - 6, number, "middle"))
        for column, receiver in enumerate(order):
            if sender == receiver:
                continue
            part = (costs[sender, receiver] - least) / (most - least)
            parts.append(
                f'<rect x="{LEFT + column * CELL}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" '
                f'fill="#0072B2" fill-opacity="{0.15 + 0.85 * part:.2f}"/>'
            )
    size = CELL * len(order)
    x = LEFT + size + 40
    notes = (
        (0.22, "Faint: of one package.", "A message takes "
         f"{least:.0f} {machine.unit} or little more."),
        (0.45, "Strong: of two packages.", f"A message takes {most:.0f} {machine.unit} at most."),
        (0.68, "A square on the diagonal is a group.", "Put ranks that talk much into one square."),
        (0.91, "Empty: a CPU and itself.", "Row: who sends. Column: who receives."),
    )  # fmt: skip
    for part, first, second in notes:
        y = TOP + size * part
        parts += [svg.text(x, y - 8, first, more=' font-weight="600"'), svg.text(x, y + 10, second)]
    heading = f"corymb map --machine {NAME}: send and receive of one message"
    save("start-machine.svg", svg.document(heading, TOP + size + 24, parts))
