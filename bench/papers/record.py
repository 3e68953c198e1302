# SPDX-License-Identifier: Apache-2.0
"""What a study found, as a file under version control: docs/results/seeds/STUDY.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "results" / "seeds"
SCHEMA = "corymb-papers/1"
Data = dict[str, Any]


def load(study: str, folder: Path = FOLDER) -> Data:
    """The record of a study. Raises ValueError for a file of another kind."""
    record: Data = json.loads((folder / f"{study}.json").read_text(encoding="utf-8"))
    if record.get("schema") != SCHEMA or record.get("study") != study:
        raise ValueError(f"{study}.json is no record of the study '{study}' ({SCHEMA})")
    return record


def save(record: Data, folder: Path = FOLDER) -> Path:
    """Writes a line for each value that is no table itself, so that changes can be read."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{record['study']}.json"
    file.write_text(as_lines(record) + "\n", encoding="utf-8")
    return file


def as_lines(value: Any, depth: int = 0) -> str:
    """JSON with a line for each value that is short, and for each row of a table."""
    flat = json.dumps(value, ensure_ascii=False)
    is_row = isinstance(value, list) and not any(isinstance(one, dict) for one in value)
    most = 320 if is_row and any(not isinstance(one, list) for one in value) else 128
    if not isinstance(value, dict | list) or not value or len(flat) + depth <= most:
        return flat
    inner = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f'{inner}"{name}": {as_lines(one, depth + 1)}' for name, one in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [inner + as_lines(one, depth + 1) for one in value]
        opening, closing = "[", "]"
    return opening + "\n" + ",\n".join(parts) + "\n" + " " * depth + closing


def rounded(value: float, digits: int = 4) -> float:
    """A number of that many digits: what a model says is not known better."""
    return float(f"{value:.{digits}g}")


def lower_quartile(rows: list[Data], **where: Any) -> float:
    """Of the one row with these values. On a machine with other work the lower quartile says more
    than the median. Raises LookupError for a record that lacks the row."""
    found = [row for row in rows if all(row[name] == value for name, value in where.items())]
    if len(found) != 1:
        raise LookupError(f"{len(found)} measured rows with {where}, want one")
    return float(found[0]["q25"])


def measured(here: Data, who: str) -> str:
    """How a measured row came about. A load above the CPUs means that others had work, too; they
    waited if what was measured had real-time priority."""
    data = here["data"]
    first = "real-time priority, " if data["real_time"] else ""
    return f"measured, 2 {who} on {data['cpus']} CPUs, {first}load {data['load']:.0f}"
