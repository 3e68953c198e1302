# SPDX-License-Identifier: Apache-2.0
"""A plan drawn over its machine: groups are boxes, messages are lines, colours are times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corymb.layout import Layout
from corymb.messages import Message
from corymb.picture.axes import Axis, frame, linear, positions, tidy
from corymb.picture.boxes import Drawing, place
from corymb.picture.heat import scale
from corymb.picture.palette import GREY, VERMILION, viridis_hex
from corymb.picture.svg import WIDE, Canvas, Figure, Key, Picture, number

BUCKETS = 10
LARGEST_WITH_LABELS = 80
LARGEST_STEP = 44.0  # pixels between two ranks
SCALE_ROOM = 74
RECEIVING, SENDING = "#2C728E", "#8CC63F"


@dataclass(frozen=True)
class TreeData:
    """What the picture shows; ranks index everything."""

    layout: Layout
    cpus: Sequence[int]
    messages: Sequence[Message]
    finish: NDArray[np.float64]
    root: int
    unit: str


class Shades:
    """Colours of times: even steps through the sorted times, so that a crowded moment has more of
    the colours than a quiet one."""

    def __init__(self, times: NDArray[np.float64]) -> None:
        distinct = np.unique(np.round(times, 6))
        self._times = distinct if len(distinct) > 1 else np.array([0.0, max(times.max(), 1.0)])

    def part(self, time: float) -> float:
        return float(np.interp(time, self._times, np.linspace(0, 1, len(self._times))))

    def ticks(self) -> list[tuple[float, str]]:
        found = np.interp(np.linspace(0, 1, 6), np.linspace(0, 1, len(self._times)), self._times)
        return [(index / 5, tidy(float(f"{time:.3g}"))) for index, time in enumerate(found)]


def machine_tree(data: TreeData, aspect: float = 2.2) -> Figure:
    """The messages over the boxes of the machine; `aspect` is the wanted width over height."""
    shades = Shades(np.append(data.finish, [message.received for message in data.messages]))

    def draw(width: float) -> Canvas:
        wanted = aspect if width > WIDE / 2 else 0.8
        order = [int(rank) for rank in data.layout.order]
        drawing = place(order, data.layout.levels, wanted)
        step = min((width - SCALE_ROOM) / (drawing.width + 0.6), LARGEST_STEP)
        canvas = Canvas(width, max((drawing.height + 0.8) * step, 170) + 16)
        left = (width - SCALE_ROOM - drawing.width * step) / 2
        corner = np.array([left, 8 + 0.4 * step])
        for x0, y0, x1, y1, depth in sorted(drawing.boxes, key=lambda box: box[4]):
            canvas.rect(
                x0 * step + corner[0], y0 * step + corner[1], (x1 - x0) * step, (y1 - y0) * step,
                f"var(--box{min(depth, 2)})", line="var(--edge)", radius=4 if depth == 0 else 2,
                line_width=2 if depth == 0 else 0.7,
            )  # fmt: skip
        _draw_messages(canvas, data, drawing, corner, step, shades)
        _draw_ranks(canvas, data, drawing.positions * step + corner, step, shades)
        scale(canvas, width - 56, 26, canvas.height - 44, shades.ticks(), 0, 1, data.unit)
        return canvas

    return Figure([Picture("the messages of the plan over the machine", draw)])


def _draw_messages(
    canvas: Canvas, data: TreeData, drawing: Drawing, corner: NDArray[np.float64], step: float,
    shades: Shades,
) -> None:  # fmt: skip
    """Thin lines within an innermost group, strong ones between the outermost."""
    paths: dict[tuple[int, int], list[str]] = {}
    levels = data.layout.levels
    for message in data.messages:
        start = drawing.positions[message.source] * step + corner
        end = drawing.positions[message.target] * step + corner
        bucket = min(int(shades.part(message.received) * BUCKETS), BUCKETS - 1)
        weight = sum(int(level[message.source] != level[message.target]) for level in levels)
        paths.setdefault((weight, bucket), []).append(_bend(start, end, step))
    many = len(data.messages) > 2 * LARGEST_WITH_LABELS
    deepest = max(len(levels), 1)
    for (weight, bucket), steps in sorted(paths.items()):
        part = weight / deepest
        width = (0.7 + 2.0 * part) if many else (1.6 + 1.2 * part)
        shade = viridis_hex((bucket + 0.5) / BUCKETS * 0.94)
        canvas.path("".join(steps), line=shade, line_width=width, opacity=0.9)


def _bend(start: NDArray[np.float64], end: NDArray[np.float64], step: float) -> str:
    """A quadratic curve bent to its left, so that opposite ones differ, with an arrow's head in the
    middle."""
    along = end - start
    length = float(np.hypot(*along)) or 1.0
    aside = np.array([along[1], -along[0]]) / length
    control = (start + end) / 2 + min(0.18 * length, 2.2 * step) * aside
    middle = (start + 2 * control + end) / 4
    size = min(max(0.12 * step, 1.5), 4.5)
    back = middle - size * 1.6 * along / length
    one, other = back + size * aside, back - size * aside
    points = [number(float(value)) for value in (*start, *control, *end, *one, *middle, *other)]
    return "M{} {}Q{} {} {} {}M{} {}L{} {}L{} {}".format(*points)


def _draw_ranks(
    canvas: Canvas, data: TreeData, places: NDArray[np.float64], step: float, shades: Shades
) -> None:
    count = len(data.cpus)
    radius = min(max(0.31 * step, 1.6), 13.0)
    for rank in [*(rank for rank in range(count) if rank != data.root), data.root]:
        x, y = (float(value) for value in places[rank])
        part = shades.part(float(data.finish[rank]))
        title = f"rank {rank}, CPU {data.cpus[rank]}: done at {data.finish[rank]:.4g} {data.unit}"
        is_root = rank == data.root
        canvas.circle(
            x, y, max(radius, 4.0) if is_root else radius, viridis_hex(part), title=title,
            line=VERMILION if is_root else GREY, line_width=3 if is_root else min(1, radius / 4),
        )  # fmt: skip
        if count <= LARGEST_WITH_LABELS and radius >= 7:
            ink = "#101418" if part > 0.6 else "white"
            canvas.text(x, y + 3.5, str(rank), size=10 if radius > 9 else 8, fill=ink)


def finish_bars(data: TreeData) -> Figure:
    """When each rank has its data and when it is done, in the order of the machine picture."""
    order = [int(rank) for rank in data.layout.order]
    received = np.zeros(len(data.cpus))
    for message in data.messages:
        received[message.target] = max(received[message.target], message.received)

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, 230)
        ticks = [(at + 0.5, t) for at, t in positions(order, 24 if width > WIDE / 2 else 8)]
        across = Axis(0, len(order), ticks, "rank, in the order of the machine")
        up = linear(0, float(data.finish.max()) * 1.02, f"finish, {data.unit}", 5)
        field = frame(canvas, across, up)
        step = field.x(1) - field.x(0)
        gap = 0.08 * step if len(order) <= 128 else 0
        for at, rank in enumerate(order):
            title = (
                f"rank {rank}, CPU {data.cpus[rank]}: last receive at {received[rank]:.4g}, "
                f"done at {data.finish[rank]:.4g} {data.unit}"
            )
            x, middle = field.x(at) + gap, field.y(received[rank])
            top = field.y(float(data.finish[rank]))
            wide = step - 2 * gap
            canvas.rect(x, top, wide, middle - top, SENDING, title=title)
            canvas.rect(x, middle, wide, field.bottom - middle, RECEIVING, title=title)
        return canvas

    keys = [Key("until its last receive", RECEIVING), Key("then sending", SENDING)]
    return Figure([Picture("when each rank is done", draw)], keys)
