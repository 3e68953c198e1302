# SPDX-License-Identifier: Apache-2.0
"""docs/images/report.png: the heat map of a gallery machine beside the tree that corymb plans on
it. Needs the installed package and Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import corymb
from corymb import messages, study
from corymb.layout import layout_of
from corymb.picture.heat import heat_map_alone
from corymb.picture.page import CSS
from corymb.picture.svg import Figure
from corymb.picture.tree import TreeData, machine_tree

MACHINE = "opteron-8die-48c-mctop-cycles"
TARGET = Path(__file__).resolve().parent.parent.parent / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1240, 470
LARGEST_BYTES = 200_000

PAGE = """<!doctype html><html><head><meta charset="utf-8"><style>{css}
body {{ background: white; }} .row {{ display: flex; align-items: center; }}
h1 {{ font-size: 17px; font-weight: 600; margin: 12px 16px 0; }}
</style></head><body><h1>{title}</h1><div class="row">
<div style="width: 430px">{left}</div><div style="width: 800px">{right}</div></div></body></html>
"""


def tree_of(machine: corymb.Machine) -> tuple[Figure, study.Planned]:
    facts = study.study_of(machine, list(range(len(machine))), 8)
    planned = study.plan_one(facts, "broadcast", root=0, algorithm="annealed")
    data = TreeData(
        layout=facts.layout,
        cpus=facts.cpus,
        messages=messages.drawn_messages(planned.choice.plan, planned.timeline),
        finish=planned.timeline.finish,
        root=planned.choice.plan.root,
        unit=machine.unit,
    )
    return machine_tree(data, aspect=1.7), planned


def page_of(name: str) -> str:
    machine = corymb.Machine.gallery(name)
    tree, planned = tree_of(machine)
    order = layout_of(machine).order
    costs = (machine.send_costs() + machine.receive_costs())[np.ix_(order, order)]
    heat = heat_map_alone(costs, [machine.cpus[pu] for pu in order], machine.unit)
    title = (
        f"{name}: what a message costs, and the broadcast planned from it "
        f"({planned.choice.predicted:.0f} {machine.unit}, simulated)"
    )
    return PAGE.format(css=CSS, title=title, left=heat.html(), right=tree.html())


def make() -> None:
    chromium = shutil.which("chromium") or sys.exit("make_images: no chromium on this machine")
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(page_of(MACHINE), encoding="utf-8")
        subprocess.run(
            [
                chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--hide-scrollbars", "--virtual-time-budget=10000",
                f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}",
                f"--screenshot={TARGET}", page.as_uri(),
            ],
            check=True, capture_output=True, timeout=180,
        )  # fmt: skip
    size = TARGET.stat().st_size
    if size > LARGEST_BYTES:
        sys.exit(f"make_images: larger than {LARGEST_BYTES} bytes; choose a smaller machine")
