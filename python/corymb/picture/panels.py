# SPDX-License-Identifier: Apache-2.0
"""Curves over ranks, bytes or members, one panel or several beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from corymb.picture.axes import Axis, counted, frame, linear, logarithmic
from corymb.picture.svg import SYMBOLS, WIDE, Canvas, Figure, Key, Picture, number, symbol

PANEL_WIDTH = 330
PANEL_HEIGHT = 260
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """A value, and the range of its quartiles if there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """The points of one name, from left to right."""

    name: str
    points: Sequence[Point]
    fill: str
    number: int
    is_ours: bool = False
    dash: str = ""
    unit: str = ""

    def key(self) -> Key:
        return Key(self.name, self.fill, SYMBOLS[self.number % len(SYMBOLS)], self.dash)


@dataclass(frozen=True)
class Panel:
    """Curves over the same counts. `names` are the texts of the counts if they are not numbers."""

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    names: Mapping[int, str] = field(default_factory=dict)
    is_log: bool = True


def curve(
    points: Sequence[Row], over: str, name: str, place: int, own_colour: str | None, peer: str
) -> Curve:
    """Medians and quartiles of one contestant over the field `over`; corymb's are the bold ones."""
    ours = own_colour is not None
    dash = "" if ours else ("2 3", "6 3", "")[place % 3]
    found = [Point(p[over], p["median_ns"], p["q25"], p["q75"]) for p in points]
    return Curve(name, found, own_colour or peer, place, ours, dash, "ns")


def panels(shown: Sequence[Panel], wide: bool = False) -> Figure:
    """One picture a panel under one legend."""
    keys: dict[str, Key] = {}
    for panel in shown:
        for one in panel.curves:
            keys.setdefault(one.name, one.key())
    width = WIDE if wide else PANEL_WIDTH
    return Figure([_picture(panel, width) for panel in shown], list(keys.values()))


def _picture(panel: Panel, width: float) -> Picture:
    def draw(width: float) -> Canvas:
        canvas = Canvas(width, 420 if width > WIDE / 2 else PANEL_HEIGHT)
        counts = sorted({int(point.x) for one in panel.curves for point in one.points})
        texts = [panel.names.get(count, f"{count:,}") for count in counts]
        across = counted(counts or [1], texts or ["1"], panel.across, width - 90)
        field = frame(canvas, across, _up(panel), title=panel.title)
        for one in sorted(panel.curves, key=lambda one: one.is_ours):
            _draw(canvas, field, one, panel, across)
        return canvas

    return Picture(panel.title or panel.up, draw, width)


def _up(panel: Panel) -> Axis:
    values = [
        value
        for one in panel.curves
        for point in one.points
        for value in (point.y, point.low, point.high)
        if value is not None
    ]
    if panel.is_log:
        return logarithmic(values, panel.up)
    return linear(min([0.0, *values]), max(values, default=1.0) * 1.04, panel.up)


def _draw(canvas: Canvas, field: Any, one: Curve, panel: Panel, across: Axis) -> None:
    places = [(field.x(max(p.x, across.ticks[0][0])), field.y(p.y)) for p in one.points]
    steps = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)
    canvas.path(steps, line=one.fill, line_width=3 if one.is_ours else 1.5, dash=one.dash)
    for point, (x, y) in zip(one.points, places, strict=True):
        if point.low is not None and point.high is not None:
            canvas.line(x, field.y(point.low), x, field.y(point.high), one.fill)
        name = panel.names.get(int(point.x), f"{point.x:,}")
        title = f"{one.name}, {panel.across} {name}: {point.y:.4g} {one.unit}"
        radius = 4.5 if one.is_ours else 3.2
        symbol(canvas, SYMBOLS[one.number % len(SYMBOLS)], x, y, radius, one.fill, title)
