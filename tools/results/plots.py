# SPDX-License-Identifier: Apache-2.0
"""Plots of the rows or of a table of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import svg

Data = dict[str, Any]


def chosen(rows: list[Data], block: Data) -> list[Data]:
    """The rows with the values of `where`, of which each is one or a list."""

    def fits(row: Data) -> bool:
        pairs = block.get("where", {}).items()
        return all(
            row[name] in (want if isinstance(want, list) else [want]) for name, want in pairs
        )

    return [row for row in rows if fits(row)]


def names_of(rows: Sequence[Data], field: str, wanted: Data | None) -> list[Any]:
    """Values of a field: those that are named, in that order, or all of them."""
    present = list(dict.fromkeys(row[field] for row in rows))
    return [name for name in wanted if name in present] if wanted else present


def shown(field: str, value: Any) -> Any:
    return svg.size(value) if field == "bytes" and value else value


def plot(block: Data, record: Data) -> str:
    if "table" in block:
        table = _table(block["table"], record)
        if "x" not in block:
            return _points_of_table(block, table)
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    else:
        rows = record["rows"][block["rows"]]
    rows = chosen(rows, block)
    names = names_of(rows, block["series"], block.get("names"))
    labels = block.get("names") or {}
    scale = block.get("scale", 1)
    if "x" not in block:
        return _points_of_rows(block, rows, names)
    across, up = block["x"], block["y"]
    series = [
        svg.Series(
            labels.get(name, str(name).strip("`")),
            [
                (row[across], row[up] * scale)
                for row in rows
                if row[block["series"]] == name and row[up] is not None
            ],
            number,
        )
        for number, name in enumerate(names)
    ]
    return svg.lines(
        block["title"],
        block["x_label"],
        block["y_label"],
        series,
        x_ticks=block.get("x_ticks") or sorted({row[across] for row in rows}),
        x_text=svg.size if across == "bytes" else svg.number,
        log_x=True,
        log_y=block.get("log", True),
    )


def _points_of_rows(block: Data, rows: list[Data], names: list[Any]) -> str:
    """With `over` a value is divided by that of the series of this name."""

    def key_of(row: Data) -> tuple[Any, ...]:
        return tuple(row[field] for field in block["down"])

    def value_of(row: Data) -> float:
        return row[block["value"]] / below.get(key_of(row), 1)

    keys = list(dict.fromkeys(map(key_of, rows)))
    below = {
        key_of(row): row[block["value"]]
        for row in rows
        if "over" in block and row[block["series"]] == block["over"]
    }
    labels = block.get("names") or {}
    series = [
        svg.Series(
            labels.get(name, str(name).strip("`")),
            [
                (value_of(row), keys.index(key_of(row)))
                for row in rows
                if row[block["series"]] == name and row[block["value"]] is not None
            ],
            number,
        )
        for number, name in enumerate(names)
    ]
    texts = [
        ", ".join(str(shown(field, value)) for field, value in zip(block["down"], key, strict=True))
        for key in keys
    ]
    return svg.points(block["title"], block["x_label"], texts, series, block.get("mark"))


def _table(name: str, record: Data) -> Data:
    every = [one for section in record["sections"] for one in section["blocks"]]
    return next(one for one in every if isinstance(one, dict) and one.get("name") == name)


def _points_of_table(block: Data, table: Data) -> str:
    """A line of points for each row of a table, a series for each of the named columns."""
    columns = table["columns"]
    places = [columns.index(name) for name in block["down"]]
    names = [
        ", ".join(str(row[place]).replace("`", "") for place in places) for row in table["rows"]
    ]
    series = []
    for number, name in enumerate(block["series"]):
        place = columns.index(name)
        points = []
        for index, row in enumerate(table["rows"]):
            values = row[place] if isinstance(row[place], list) else [row[place]]
            points += [(value, index) for value in values if value is not None]
        series.append(svg.Series(name, points, number))
    return svg.points(block["title"], block["x_label"], names, series, block.get("mark"))
