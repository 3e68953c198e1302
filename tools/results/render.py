# SPDX-License-Identifier: Apache-2.0
"""Records of docs/results/data as pages and plots: equal records give equal bytes.

A record has

- `title` and `purpose`, one sentence;
- `measured`: `command`, `machine`, `date` and `commit` of its figures, unless a section has its
  own. A figure that was taken over from an earlier page names the commit that brought it. Its
  command may be null, if nobody recorded it;
- `rows`: lists of objects by name, as benchmarks write them; tables and plots show them;
- `sections`: `title` (none for the first), maybe `measured`, and `blocks`. A block is a text, or an
  object with `columns` and `rows` (a table), `pivot` (a table made of named rows) or `plot`.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import plots
from table import markdown, wrapped

SCHEMA = "corymb-results/1"
# The index begins with what most readers look for.
FIRST = ("overview", "threads", "mpi-libraries", "mpi", "nodes", "messages", "partition")
ORIGIN = ("command", "machine", "date", "commit")
Data = dict[str, Any]


def load(file: Path) -> Data:
    """Raises ValueError for a file of another kind."""
    record: Data = json.loads(file.read_text(encoding="utf-8"))
    if record.get("schema") != SCHEMA:
        raise ValueError(f"{file.name} is no record of figures ({SCHEMA})")
    return record


def files(folder: Path) -> dict[str, str]:
    """File names to texts, of all records."""
    found = {file.stem: load(file) for file in sorted(folder.glob("*.json"))}
    studies = (folder.parent / "seeds").glob("*.json")
    dates = [json.loads(file.read_text(encoding="utf-8"))["date"] for file in studies]
    texts = {"README.md": _index(found, max(dates, default="-"))}
    for name, record in found.items():
        texts[f"{name}.md"] = _page(name, record)
        for block in _blocks(record):
            if "plot" in block:
                texts[block["plot"]] = plots.plot(block, record)
    return texts


def cell(value: Any, digits: int | None = None) -> str:
    """
    >>> cell(None), cell(1048576), cell(1.7, 2), cell([3.99, 4.1], 2), cell("yes")
    ('', '1,048,576', '1.70', '3.99, 4.10', 'yes')
    """
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(cell(one, digits) for one in value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}" if digits is None else f"{value:,.{digits}f}"
    return str(value)


def _blocks(record: Data) -> Iterator[Data]:
    for section in record["sections"]:
        yield from (block for block in section["blocks"] if isinstance(block, dict))


def _page(name: str, record: Data) -> str:
    parts = [
        "<!-- Written by `make results` from the record that is named at the end. -->",
        f"# {record['title']}",
        wrapped(record["purpose"]),
    ]
    for section in record["sections"]:
        if section.get("title"):
            parts.append(f"## {section['title']}")
        parts += [_block(block, record) for block in section["blocks"]]
    parts += ["## Origin of the figures", _origins(record)]
    parts.append(f"Figures: [{name}.json](data/{name}.json). All pages: [results](README.md).")
    return "\n\n".join(parts) + "\n"


def _block(block: str | Data, record: Data) -> str:
    if isinstance(block, str):
        if block.startswith(("    ", "```", "#")):
            return block
        items = re.sub(r"\n(?!\s*([-*+]|\d+\.) )", " ", block)
        return "\n".join(map(wrapped, items.split("\n")))
    if "plot" in block:
        return f"![{block['title']}]({block['plot']})"
    if "pivot" in block:
        return _pivot(block["pivot"], record)
    digits = block.get("digits")
    rows = [[cell(value, digits) for value in row] for row in block["rows"]]
    return markdown(block["columns"], rows)


def _pivot(wanted: Data, record: Data) -> str:
    """A table with a row for each value of `down` and a column for each value of `across`."""
    rows = plots.chosen(record["rows"][wanted["rows"]], wanted)
    names = plots.names_of(rows, wanted["across"], wanted.get("names"))
    down = wanted["down"]
    lines = []
    for key in dict.fromkeys(tuple(row[field] for field in down) for row in rows):
        line = [cell(plots.shown(field, value)) for field, value in zip(down, key, strict=True)]
        for name in names:
            values = [
                row[wanted["value"]]
                for row in rows
                if row[wanted["across"]] == name and tuple(row[field] for field in down) == key
            ]
            line.append(_value(values, wanted))
        lines.append(line)
    shown = wanted.get("names") or {}
    return markdown([*down, *(shown.get(name, str(name)) for name in names)], lines)


def _value(values: Sequence[float | None], wanted: Data) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    value = statistics.median(known) * wanted.get("scale", 1)
    # Three digits: no measurement here is known better.
    return (
        f"{float(f'{value:.3g}'):,g}" if "digits" not in wanted else cell(value, wanted["digits"])
    )


def _origins(record: Data) -> str:
    own = [section for section in record["sections"] if "measured" in section]
    places = [("all others" if own else "all", record.get("measured"))]
    for section in own:
        title = section.get("title") or "first"
        if places[-1][1] == section["measured"]:  # One measurement of several sections.
            title = f"{places.pop()[0]}, {title[:1].lower()}{title[1:]}"
        places.append((title, section["measured"]))
    lines = []
    for place, measured in places:
        if measured:
            command, machine, date, commit = (measured[name] for name in ORIGIN)
            how = f"`{command}`" if command else "not recorded"
            lines.append([place, how, machine, date, f"`{commit}`"])
    return markdown(["part", *ORIGIN], lines)


def _index(found: dict[str, Data], papers: str) -> str:
    """`papers`: the date of the papers' last figure."""
    lines = []
    for name in sorted(found, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        record = found[name]
        dates = [
            section["measured"]["date"] for section in record["sections"] if "measured" in section
        ]
        dates += [record["measured"]["date"]] if "measured" in record else []
        lines.append([f"[{record['title']}]({name}.md)", record["purpose"], max(dates)])
    title = "[The papers' figures, repeated](seeds/README.md)"
    lines.append([title, "Figures of five papers beside corymb's own.", papers])
    return f"""<!-- Written by `make results`. -->
# Results

This folder has every measured figure of the project.

{markdown(["page", "what it says", "last figure"], lines)}

- Figures are data: [data](data) has a record for each page. `make results` renders all.
- Each part names its command, machine, date and commit. Parts marked *not recorded* are older.
- Most figures are of a virtual machine with two CPUs. They show directions, not how large machines
  behave.
- Figures from models say *simulated*. A gain in a model is no proof of a gain on the machine.

## To add figures

1. Run the command that the page names, with `--json FILE`.
2. `python tools/results take RECORD ROWS FILE` puts its rows into the record.
3. `make results` renders. `make check` fails if a page is not what its record gives.
"""
