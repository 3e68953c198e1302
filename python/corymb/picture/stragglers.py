# SPDX-License-Identifier: Apache-2.0
"""Who is late: one strip an operation, one mark a rank, or the measured spread of every rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from corymb.picture.axes import Axis, Frame, bulk_limits, frame, linear, positions
from corymb.picture.palette import BLUE, GREY, ORANGE, VERMILION
from corymb.picture.svg import WIDE, Canvas, Figure, Key, Picture, number, symbol

PANEL_WIDTH = 450
LINE_HEIGHT = 64
LARGEST_WITH_TITLES = 128
OUTLIERS = Key("outside of the picture", VERMILION, "triangle")


def simulated_strip(
    finish: Mapping[str, NDArray[np.float64]],
    waiting: Mapping[str, NDArray[np.float64]],
    unit: str,
) -> Figure:
    """For each operation a strip with the finish time and the waiting time of every rank."""
    names = list(finish)
    latest = max((float(values.max()) for values in finish.values()), default=1.0)
    parts = ((finish, "done at", BLUE, -0.16), (waiting, "time spent waiting", ORANGE, 0.16))

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, 60 + LINE_HEIGHT * len(names))
        ticks = [(len(names) - place - 0.5, name) for place, name in enumerate(names)]
        across = linear(0, latest * 1.02, f"time, {unit}", 8 if width > WIDE / 2 else 4)
        field = frame(canvas, across, Axis(0, len(names), ticks), grid=(True, False))
        for values, label, color, shift in parts:
            for row, name in enumerate(names):
                strip = len(names) - row - 0.5 - shift
                _strip(canvas, field, values[name], strip, color, f"{label} {{:.4g}} {unit}")
        return canvas

    keys = [Key(label, color) for _, label, color, _ in parts]
    return Figure([Picture("when ranks are done, and how long they wait", draw)], keys)


def _strip(
    canvas: Canvas, field: Frame, values: NDArray[np.float64], strip: float, color: str, said: str
) -> None:
    """Few marks say their values; many are one path of dots, which is much smaller."""
    dots = []
    for rank, value in enumerate(values):
        x, y = field.x(float(value)), field.y(strip - (rank % 16 / 15 - 0.5) * 0.2)
        if len(values) <= LARGEST_WITH_TITLES:
            title = f"rank {rank} " + said.format(value)
            canvas.circle(x, y, 2.6, color, title=title, opacity=0.7)
        else:
            dots.append(f"M{number(x)} {number(y)}h0")
    if dots:
        canvas.path("".join(dots), line=color, line_width=5, opacity=0.7)


def measured_strip(
    late: Mapping[str, NDArray[np.float64]], cpus: Sequence[int], order: Sequence[int] | None = None
) -> Figure:
    """`late[operation][rank, repetition]`: ns from the last arrival until this rank was done. A bar
    from the lower to the upper quartile with the median, and a whisker to the 95th percentile.
    Ranks stand in `order`. The axis shows the bulk; a triangle marks what ends outside of it."""
    keys = [Key("quartiles", BLUE), Key("median", VERMILION, "line"), OUTLIERS]
    places = list(range(len(cpus))) if order is None else list(order)
    pictures = [_measured(name, values, cpus, places) for name, values in late.items()]
    return Figure(pictures, keys)


def _measured(
    name: str, values: NDArray[np.float64], cpus: Sequence[int], order: Sequence[int]
) -> Picture:
    quartiles = np.percentile(values, [25, 50, 75, 95], axis=1)

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, 260)
        low, high = bulk_limits(quartiles[1], quartiles.ravel())
        count = len(order)
        ticks = [(place + 0.5, text) for place, text in positions(order, 10)]
        up = linear(low, high, "late, ns (measured)")
        field = frame(canvas, Axis(0, count, ticks, "rank"), up, title=name)
        for place, rank in enumerate(order):
            q25, q50, q75, q95 = (float(value) for value in quartiles[:, rank])
            title = f"rank {rank}, CPU {cpus[rank]}: median {q50:.0f} ns, 95 % within {q95:.0f} ns"
            _rank(canvas, field, place, (q25, q50, q75, q95), title)
        return canvas

    return Picture(f"{name}: how late each rank is", draw, PANEL_WIDTH)


def _rank(canvas: Canvas, field: Frame, place: int, quartiles: Sequence[float], title: str) -> None:
    q25, q50, q75, q95 = quartiles
    middle = field.x(place + 0.5)
    half = min(0.4 * (field.x(1) - field.x(0)), 30)
    canvas.line(middle, field.y(q75), middle, field.y(q95), GREY)
    top, bottom = field.y(q75), field.y(q25)
    canvas.rect(middle - half, top, 2 * half, bottom - top, BLUE, title=title, opacity=0.55)
    if field.up.low <= q50 <= field.up.high:
        canvas.line(middle - half, field.y(q50), middle + half, field.y(q50), VERMILION, 2.5)
    if q95 > field.up.high:
        symbol(canvas, "triangle", middle, field.top + 4, 4, VERMILION, title)
    if q25 < field.up.low:
        symbol(canvas, "triangle", middle, field.bottom - 4, 4, VERMILION, title)
