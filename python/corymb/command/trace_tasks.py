# SPDX-License-Identifier: Apache-2.0
"""corymb trace --merge: the tasks of ranks that call each other, from the files that they wrote."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import files, inputs

SCHEMA = "corymb-tasks/1"
FIELDS = {"group", "rank", "size", "pid", "seconds", "shown", "deadlock", "calls"}
WAITS_SHOWN = 20

Document = dict[str, Any]


@dataclass(frozen=True)
class Merged:
    """What the files of one group say together; `shown` is by rank."""

    size: int
    documents: list[Document]
    shown: dict[int, Document]
    deadlock: Document | None

    def as_data(self) -> Document:
        return {
            "schema": "corymb-tasks-merged/1",
            "size": self.size,
            "shown": list(self.shown.values()),
            "deadlock": self.deadlock,
            "calls": [
                {"rank": one["rank"], **call} for one in self.documents for call in one["calls"]
            ],
        }


def merge(names: list[str]) -> Merged:
    if not names:
        raise inputs.usage("--merge needs the files that the ranks have written to CORYMB_TRACE")
    documents = [_read(name) for name in names]
    if len({one["group"] for one in documents}) > 1:
        raise inputs.usage("the files are of several groups; merge those of one: group-N-rank-*")
    documents.sort(key=lambda one: one["seconds"])
    shown: dict[int, Document] = {}
    for document in documents:  # The last look at a rank counts, and most its own.
        for rank in document["shown"]:
            shown[rank["rank"]] = rank
    for document in documents:
        for rank in document["shown"]:
            if rank["rank"] == document["rank"]:
                shown[rank["rank"]] = rank
    found = [one["deadlock"] for one in documents if one["deadlock"]]
    return Merged(
        documents[0]["size"], documents, dict(sorted(shown.items())), found[-1] if found else None
    )


def _read(name: str) -> Document:
    try:
        document = json.loads(files.read_text(name, "the tasks"))
    except json.JSONDecodeError as error:
        raise corymb.Error(f"{name}: no JSON: {error}", "invalid_argument") from None
    if (
        not isinstance(document, dict)
        or document.get("schema") != SCHEMA
        or not document.keys() >= FIELDS
    ):
        raise corymb.Error(
            f"{name}: not written by a rank with CORYMB_TRACE ({SCHEMA})", "invalid_argument"
        )
    return document


def show(out: Console, merged: Merged) -> None:
    out.print(_ranks(merged))
    waiting = waits_of(merged)
    for rank, task in waiting[:WAITS_SHOWN]:
        out.print(f"rank {rank}: {task['runs']} waits for {task['waits_for']}", markup=False)
    if len(waiting) > WAITS_SHOWN:
        out.print(f"and {len(waiting) - WAITS_SHOWN} more tasks wait; --json FILE has all")
    if merged.deadlock is not None:
        out.print(f"deadlock: {merged.deadlock['text']}", markup=False, style="bold")
    elif merged.shown:
        out.print("no deadlock was found")


def waits_of(merged: Merged) -> list[tuple[int, Document]]:
    return [
        (rank, task)
        for rank, shown in merged.shown.items()
        for task in shown["tasks"]
        if task["kind"] != "nothing"
    ]


def answers_of(merged: Merged) -> Counter[tuple[int, int]]:
    """How many calls of a rank tasks wait for, by caller and called rank."""
    return Counter((rank, call["to"]) for rank, task in waits_of(merged) for call in task["calls"])


WAITS = (
    "An arrow goes from a rank whose tasks wait to the rank that has not answered: the wider, the "
    "more tasks. A rank that waits for none stands alone."
)
COLUMNS = ("rank", "pid", "tasks", "can go on", "calls under way", "queued", "parked", "calls seen")


def rows_of(merged: Merged) -> list[list[str]]:
    """A row of COLUMNS for each rank; a rank that has shown no tasks has a dash."""
    by_rank = {one["rank"]: one for one in merged.documents}
    rows = []
    for rank in range(merged.size):
        document, shown = by_rank.get(rank), merged.shown.get(rank)
        row = [str(rank), str(document["pid"]) if document else "-"]
        if shown is None:
            row += ["-"] * 5
        else:
            row += [str(len(shown["tasks"])), str(shown["ready"]), str(len(shown["calls"]))]
            row += [str(sum(one["messages"] for one in shown["queued"])), str(shown["parked"])]
        rows.append([*row, str(len(document["calls"])) if document else "-"])
    return rows


def _ranks(merged: Merged) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for title in COLUMNS:
        table.add_column(title, justify="right")
    for row in rows_of(merged):
        table.add_row(*row)
    return table


def page_of(merged: Merged) -> str:
    """The HTML page."""
    from corymb.picture import waits
    from corymb.picture.page import Cell, Section, build

    sections = []
    if merged.deadlock is not None:
        steps = [
            waits.Step(one["rank"], one["runs"], one["waits_for"])
            for one in merged.deadlock["steps"]
        ]
        caption = "Each arrow goes to the task that is waited for. " + merged.deadlock["text"] + "."
        sections.append(
            Section("The deadlock", caption, "measured", [waits.deadlock_circle(steps)])
        )
    answers = answers_of(merged)
    sections.append(
        Section(
            "Who waits for whom",
            WAITS if answers else "No task waits for the answer of a rank.",
            "measured",
            [waits.ranks_circle(answers, merged.size)] if answers else [],
            [Cell(title, True) for title in COLUMNS],
            [[Cell(text, True) for text in row] for row in rows_of(merged)],
        )
    )
    calls = [
        waits.Call(
            one["rank"], call["to"], call["begin"], call["end"] or one["seconds"],
            call["end"] is not None,
        )
        for one in merged.documents
        for call in one["calls"]
    ]  # fmt: skip
    if calls:
        ranks = sorted({one["rank"] for one in merged.documents})
        caption = (
            "From the request to the answer; the colour is the called rank. A red border says that "
            "no answer came."
        )
        sections.append(Section("Calls", caption, "measured", [waits.calls_chart(calls, ranks)]))
    lead = f"{merged.size} ranks that call each other, from {len(merged.documents)} files."
    return build("Tasks and calls", lead, sections, "Written by corymb trace.")
