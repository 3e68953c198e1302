# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG files, with Python's standard library alone: lines and points.

A chart brings its background along and follows the reader's colour scheme. Series differ by colour,
by dash and by marker, so that a print without colours can be read too. Equal data give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

Point = tuple[float, float]

WIDTH, HEIGHT = 860, 420
LEFT, RIGHT, TOP, BOTTOM = 88, 20, 40, 56
LINE_HEIGHT = 19
CHARACTER = 6.6  # px, of text of 12 px; a little more than the mean of usual fonts.
FONT = "Inter, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
# Okabe and Ito's colours, as in corymb/picture/palette.py, and lighter ones for a dark background.
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#8a6a00", "#a3457d", "#1f2933", "#2b8cc4", "#7b8794")
DARK = ("#56B4E9", "#ff8b3d", "#2fd3a4", "#F0C242", "#e59cc6", "#e4e7eb", "#9fd0f0", "#a3adb8")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "4 4", "1 3", "12 4", "6 2 1 2")
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "circle", "square", "triangle")


@dataclass(frozen=True)
class Series:
    """Points of one name; `number` chooses colour, dash and marker."""

    name: str
    points: Sequence[Point]
    number: int


@dataclass(frozen=True)
class Axis:
    """A direction of the chart. `low` and `high` are the ends of the scale, `ticks` lie between."""

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    is_log: bool = False

    def part(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        if self.is_log:
            value, low, high = math.log(value), math.log(self.low), math.log(self.high)
        else:
            low, high = self.low, self.high
        return (value - low) / (high - low)


def style() -> str:
    def colours(values: Sequence[str]) -> str:
        return "".join(
            f".s{index}{{stroke:{value};fill:{value}}}" for index, value in enumerate(values)
        )

    return (
        f"text{{font:12px {FONT};fill:#1f2933}}.title{{font-size:14px;font-weight:600}}"
        ".back{fill:#fff}.grid{stroke:#d5dae0;stroke-width:1}.line{fill:none;stroke-width:2}"
        + colours(LIGHT)
        + "@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.back{fill:#0d1117}"
        + ".grid{stroke:#39424d}"
        + colours(DARK)
        + "}"
    )


def number(value: float) -> str:
    """A tick: no more digits than it needs.

    >>> number(1.25), number(2048), number(65536), number(1048576)
    ('1.25', '2,048', '65,536', '1,048,576')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def size(value: float) -> str:
    """Bytes as a tick.

    >>> size(8), size(2048), size(1048576)
    ('8 B', '2 KiB', '1 MiB')
    """
    for unit, name in ((2**20, "MiB"), (2**10, "KiB")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:g} B"


def ticks_of(low: float, high: float, is_log: bool) -> list[float]:
    """Round values that cover the range, ends included."""
    if is_log:
        steps = (1, 2, 5) if high / low < 200 else (1,)
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        every = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        below = max((value for value in every if value <= low), default=every[0])
        above = min((value for value in every if value >= high), default=every[-1])
        return [value for value in every if below <= value <= above]
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * index, 10) for index in range(first, last + 1)]


def axis_of(label: str, values: Sequence[float], is_log: bool, from_zero: bool = False) -> Axis:
    low, high = min(values), max(values)
    if from_zero and not is_log:
        low = min(0.0, low)
    if low == high:
        high = low * 2 if low > 0 else low + 1
    ticks = ticks_of(low, high, is_log)
    return Axis(label, ticks[0], ticks[-1], ticks, is_log)


def marker(kind: str, x: float, y: float, shade: int) -> str:
    if kind == "circle":
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6"'
    elif kind == "square":
        shape = f'<rect x="{x - 3.3:.1f}" y="{y - 3.3:.1f}" width="6.6" height="6.6"'
    else:
        corners = {
            "triangle": ((0, -4.4), (4.2, 3.4), (-4.2, 3.4)),
            "diamond": ((0, -4.8), (4.8, 0), (0, 4.8), (-4.8, 0)),
            "cross": ((-4, -1.2), (-1.2, -1.2), (-1.2, -4), (1.2, -4), (1.2, -1.2), (4, -1.2),
                      (4, 1.2), (1.2, 1.2), (1.2, 4), (-1.2, 4), (-1.2, 1.2), (-4, 1.2)),
        }[kind]  # fmt: skip
        points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
        shape = f'<polygon points="{points}"'
    return f'{shape} class="s{shade}"/>'


def text(x: float, y: float, words: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def legend(series: Sequence[Series], x: float, lines: bool) -> list[str]:
    parts = []
    for place, one in enumerate(series):
        y = TOP + 8 + LINE_HEIGHT * place
        shade = one.number % len(LIGHT)
        if lines:
            parts.append(
                f'<line x1="{x:.1f}" y1="{y}" x2="{x + 28:.1f}" y2="{y}" class="line s{shade}" '
                f'stroke-dasharray="{DASHES[shade]}"/>'
            )
        parts.append(marker(MARKERS[shade], x + 14, y, shade))
        parts.append(text(x + 36, y + 4, one.name))
    return parts


def document(title: str, height: float, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" role="img">'
    )
    lines = [
        head,
        f"<title>{escape(title)}</title>",
        f"<style>{style()}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height:.0f}"/>',
        text(16, 24, title, more=' class="title"'),
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _legend_width(series: Sequence[Series]) -> float:
    return 48 + CHARACTER * max(len(one.name) for one in series)


def _values(series: Sequence[Series], place: int) -> list[float]:
    return [point[place] for one in series for point in one.points]


def lines(
    title: str,
    x_label: str,
    y_label: str,
    series: Sequence[Series],
    x_ticks: Sequence[float] = (),
    x_text: Callable[[float], str] = number,
    log_x: bool = False,
    log_y: bool = False,
) -> str:
    """A line for each series. `x_ticks`: label these values, and end the axis at the outer ones."""
    right = WIDTH - RIGHT - _legend_width(series)
    bottom = HEIGHT - BOTTOM
    if x_ticks:
        across = Axis(x_label, min(x_ticks), max(x_ticks), x_ticks, log_x)
    else:
        across = axis_of(x_label, _values(series, 0), log_x)
    up = axis_of(y_label, _values(series, 1), log_y, from_zero=True)

    def x_of(value: float) -> float:
        return LEFT + 10 + across.part(value) * (right - LEFT - 30)

    def y_of(value: float) -> float:
        return bottom - up.part(value) * (bottom - TOP)

    parts = []
    for tick in up.ticks:
        y = y_of(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{right - 10:.1f}" '
                     f'y2="{y:.1f}"/>')  # fmt: skip
        parts.append(text(LEFT - 8, y + 4, number(tick), "end"))
    for tick in across.ticks:
        parts.append(text(x_of(tick), bottom + 18, x_text(tick), "middle"))
    parts.append(text((LEFT + right) / 2, bottom + 42, x_label, "middle"))
    middle = (TOP + bottom) / 2
    parts.append(text(18, middle, y_label, "middle", f' transform="rotate(-90 18 {middle:.1f})"'))
    for one in series:
        shade = one.number % len(LIGHT)
        points = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in one.points)
        parts.append(f'<polyline class="line s{shade}" style="fill:none" '
                     f'stroke-dasharray="{DASHES[shade]}" points="{points}"/>')  # fmt: skip
        parts += [marker(MARKERS[shade], x_of(x), y_of(y), shade) for x, y in one.points]
    parts += legend(series, right, lines=True)
    return document(title, HEIGHT, parts)


def points(
    title: str,
    x_label: str,
    names: Sequence[str],
    series: Sequence[Series],
    mark: float | None = None,
    is_log: bool = False,
    from_zero: bool = False,
) -> str:
    """A line of points for each name; a point is (value, index of its name). `mark` is a value to
    compare with, and has a line of its own."""
    left = 24 + CHARACTER * max(map(len, names))
    right = WIDTH - RIGHT - _legend_width(series)
    bottom = TOP + LINE_HEIGHT * len(names)
    marks = [] if mark is None else [mark]
    across = axis_of(x_label, [*_values(series, 0), *marks], is_log, from_zero)

    def x_of(value: float) -> float:
        return left + 10 + across.part(value) * (right - left - 30)

    parts = []
    for tick in across.ticks:
        parts.append(f'<line class="grid" x1="{x_of(tick):.1f}" y1="{TOP}" x2="{x_of(tick):.1f}" '
                     f'y2="{bottom}"/>')  # fmt: skip
        parts.append(text(x_of(tick), bottom + 18, number(tick), "middle"))
    for value in marks:
        parts.append(f'<line class="s5" x1="{x_of(value):.1f}" y1="{TOP}" x2="{x_of(value):.1f}" '
                     f'y2="{bottom}"/>')  # fmt: skip
    for index, name in enumerate(names):
        parts.append(text(left, TOP + LINE_HEIGHT * (index + 0.5) + 4, name, "end"))
    parts.append(text((left + right) / 2, bottom + 42, x_label, "middle"))
    for one in series:
        shade = one.number % len(LIGHT)
        for value, index in one.points:
            y = TOP + LINE_HEIGHT * (index + 0.5)
            parts.append(marker(MARKERS[shade], x_of(value), y, shade))
    parts += legend(series, right, lines=False)
    return document(title, max(bottom + BOTTOM, TOP + LINE_HEIGHT * (len(series) + 1)), parts)
