# SPDX-License-Identifier: Apache-2.0
"""Axes of pictures: scales, their ticks, and the limits that show the bulk of the values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from corymb.picture.svg import LETTER, Canvas

Tick = tuple[float, str]
OUTLIER = 8.0  # typical medians, where outliers begin: the bulk keeps an eighth of the height


@dataclass(frozen=True)
class Axis:
    """What stands at the two ends, and the ticks with their texts. Invariant: low < high, and both
    are positive if it is logarithmic."""

    low: float
    high: float
    ticks: Sequence[Tick]
    title: str = ""
    is_log: bool = False

    def part(self, value: float) -> float:
        """0 at the low end, 1 at the high one; a value outside stands at the end."""
        if self.is_log:
            value = max(value, self.low)
            found = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            found = (value - self.low) / (self.high - self.low)
        return min(max(found, 0.0), 1.0)


def linear(low: float, high: float, title: str = "", count: int = 6) -> Axis:
    """Round ticks; the ends are the given ones."""
    if high <= low:
        high = low + 1
    step = _round_step((high - low) / count)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = [(index * step, tidy(index * step)) for index in range(first, last + 1)]
    return Axis(low, high, ticks, title)


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return float(next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= step * (1 - 1e-9)))


def tidy(value: float) -> str:
    """A number with separators, without needless digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == round(value) else f"{value:.4g}"


def logarithmic(values: Iterable[float], title: str = "", count: int = 7) -> Axis:
    """From a little below the least to a little above the greatest positive value, with ticks at
    1, 2 and 5, or at powers of ten if there were too many."""
    positive = [value for value in values if value > 0]
    low, high = (min(positive) / 1.15, max(positive) * 1.15) if positive else (1.0, 10.0)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = [f * 10.0**p for p in powers for f in factors if low <= f * 10.0**p <= high]
        if len(ticks) <= count:
            break
    if len(ticks) < 2:
        return Axis(low, high, linear(low, high, count=4).ticks, title, True)
    return Axis(low, high, [(tick, tidy(tick)) for tick in ticks], title, True)


def counted(counts: Sequence[int], texts: Sequence[str], title: str, room: float) -> Axis:
    """Logarithmic, with ticks at these counts, which increase, as far as their texts have `room`
    pixels together. Both ends always have one. Zero stands a step to the left of the others."""
    places = [float(count) for count in counts]
    if places[0] <= 0:
        places[0] = places[1] / 4 if len(places) > 1 else 1.0
    low, high = places[0] / 1.1, places[-1] * 1.1
    axis = Axis(low, high, (), title, True)
    kept: list[Tick] = []
    edge = math.inf
    for index in reversed(range(len(places))):
        half = (len(texts[index]) * 11 * LETTER + 10) / 2
        middle = axis.part(places[index]) * room
        first = axis.part(places[0]) * room + (len(texts[0]) * 11 * LETTER + 10) / 2
        if middle + half <= edge and (
            index == 0 or index == len(places) - 1 or middle - half > first
        ):
            kept.append((places[index], texts[index]))
            edge = middle - half
    return Axis(low, high, kept[::-1], title, True)


def positions(names: Sequence[object], most: int) -> list[Tick]:
    """Ticks for places 0, 1, ...: about `most` of them, at a round distance; the first and the last
    place always have one."""
    count = len(names)
    step = max(1, -(-(count - 1) // max(most - 1, 1)))
    if step > 2:
        step = next(s for p in range(8) for s in (2 * 4**p, 4 * 4**p) if s >= step)
    places = list(range(0, count, step))
    if places and places[-1] != count - 1:
        if count - 1 - places[-1] < 0.6 * step and len(places) > 1:
            places.pop()
        places.append(count - 1)
    return [(place, str(names[place])) for place in places]


def bulk_limits(medians: Iterable[float], values: Iterable[float]) -> tuple[float, float]:
    """Limits that show zero and the bulk of the values. Values beyond OUTLIER typical medians are
    left out, and negative ones have at most a quarter of the height of the others."""
    positive = [median for median in medians if median > 0]
    numbers = [value for value in values if math.isfinite(value)]
    if not positive:
        return min([-1.0, *numbers]), max([1.0, *numbers])
    limit = OUTLIER * float(np.median(positive))
    high = 1.04 * max(value for value in [*numbers, limit / OUTLIER] if value <= limit)
    return min(0.0, max(min(numbers), -high / 4)), high


@dataclass(frozen=True)
class Frame:
    """The field of a plot with its two axes."""

    canvas: Canvas
    left: float
    top: float
    right: float
    bottom: float
    across: Axis
    up: Axis

    def x(self, value: float) -> float:
        return self.left + self.across.part(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self.up.part(value) * (self.bottom - self.top)


def frame(
    canvas: Canvas,
    across: Axis,
    up: Axis,
    *,
    title: str = "",
    grid: tuple[bool, bool] = (False, True),
) -> Frame:
    """Draws the axes around a field that takes the canvas. `grid` says whether lines go up from the
    ticks below, and across from those at the left."""
    widest = max((len(text) for _, text in up.ticks), default=0)
    left = 12 + widest * 11 * LETTER + (18 if up.title else 0)
    top = 28 if title else 10
    bottom = canvas.height - (44 if across.title else 26)
    made = Frame(canvas, left, top, canvas.width - 14, bottom, across, up)
    if title:
        canvas.text(left, 16, title, anchor="start", size=13, fill="var(--ink)", bold=True)
    for value, text in up.ticks:
        y = made.y(value)
        if grid[1]:
            canvas.line(left, y, made.right, y, "var(--pale)")
        canvas.text(left - 6, y + 4, text, anchor="end", size=11)
    for value, text in across.ticks:
        x = made.x(value)
        canvas.line(x, bottom if not grid[0] else top, x, bottom + 4, "var(--pale)")
        canvas.text(x, bottom + 17, text, size=11)
    canvas.line(left, bottom, made.right, bottom, "var(--edge)")
    if across.title:
        canvas.text((left + made.right) / 2, canvas.height - 6, across.title)
    if up.title:
        canvas.text(12, (top + bottom) / 2, up.title, turn=-90)
    return made
