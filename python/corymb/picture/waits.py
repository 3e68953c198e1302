# SPDX-License-Identifier: Apache-2.0
"""Who waits for whom, and when ranks have called each other."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from corymb.picture.axes import Axis, frame, linear
from corymb.picture.palette import BLUE, VERMILION, viridis_hex
from corymb.picture.svg import WIDE, Canvas, Figure, Key, Picture, number

LANES_MOST = 12
LABEL_MOST = 40


@dataclass(frozen=True)
class Step:
    """A task of a deadlock, and what it waits for: the next one has it."""

    rank: int
    runs: str
    waits_for: str


@dataclass(frozen=True)
class Call:
    """A call of one rank by another, in seconds; `end` is that of the picture if it has none."""

    rank: int
    to: int
    begin: float
    end: float
    is_over: bool


def short(name: str) -> str:
    """The last two parts of a C++ name."""
    text = "::".join(name.replace("(anonymous namespace)::", "").split("::")[-2:])
    return text if len(text) <= LABEL_MOST else text[: LABEL_MOST - 1] + "…"


def deadlock_circle(steps: Sequence[Step]) -> Figure:
    """The tasks on a circle; each arrow goes to the task that is waited for."""
    count = len(steps)
    ranks = sorted({step.rank for step in steps})

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, 440)
        places = _circle(canvas, count, width / 2 - 60 if width < WIDE / 2 else 190)
        for index in range(count):
            _arrow(canvas, places[index], places[(index + 1) % count], 2)
        for index, ((x, y), step) in enumerate(zip(places, steps, strict=True)):
            part = ranks.index(step.rank) / max(1, len(ranks) - 1) * 0.85
            title = f"rank {step.rank}: {step.runs}\nwaits for {step.waits_for}"
            canvas.circle(x, y, 11, viridis_hex(part), title=title)
            _task(canvas, x, y, step, 16 * (index % 2))
        return canvas

    return Figure([Picture("the tasks that wait for each other", draw)])


def _task(canvas: Canvas, x: float, y: float, step: Step, aside: float) -> None:
    """Beside its mark if there is room, else above or below it, `aside` further away."""
    text = f"rank {step.rank} {short(step.runs)}"
    middle = canvas.width / 2
    if canvas.width > WIDE / 2 and abs(x - middle) > 20:
        side = 18 if x > middle else -18
        canvas.text(x + side, y + 4, text, anchor="start" if side > 0 else "end", fill="var(--ink)")
    else:
        half = min(len(text) * 6.6 / 2, middle)
        at = min(max(x, half), canvas.width - half)
        size = min(12, 12 * canvas.width / max(len(text) * 7, 1))
        canvas.text(
            at,
            y + (28 + aside if y > canvas.height / 2 else -18 - aside),
            text,
            size=size,
            fill="var(--ink)",
        )


def ranks_circle(waits: Counter[tuple[int, int]], size: int) -> Figure:
    """The ranks on a circle; an arrow from each to those whose answers its tasks wait for."""
    most = max(waits.values(), default=1)

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, 420)
        places = _circle(canvas, size, min(width / 2 - 30, 175))
        for (rank, to), tasks in waits.items():
            if rank != to:
                _arrow(canvas, places[rank], places[to], 1 + 3 * tasks / most)
        for rank, (x, y) in enumerate(places):
            others = sum(n for (r, to), n in waits.items() if r == rank != to)
            title = (
                f"rank {rank}: {others} tasks wait for answers of other ranks, "
                f"{waits[rank, rank]} for its own"
            )
            canvas.circle(x, y, 13 if size <= 32 else 4, BLUE, title=title)
            if size <= 32:
                canvas.text(x, y + 4, str(rank), fill="white")
        return canvas

    return Figure([Picture("which rank waits for which", draw)])


def calls_chart(calls: Sequence[Call], ranks: Sequence[int]) -> Figure:
    """Bars over time, ranks from top to bottom; calls that overlap lie side by side."""
    first = min((call.begin for call in calls), default=0.0)
    longest = max((call.end - first for call in calls), default=0.0)
    unit, factor = ("ms", 1e3) if longest < 2 else ("s", 1.0)
    targets = sorted({call.to for call in calls})
    fill = {to: viridis_hex(at / max(1, len(targets) - 1) * 0.9) for at, to in enumerate(targets)}
    count = len(ranks)

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, min(max(80 + 60 * count, 200), 760))
        ticks = [(count - place - 0.5, str(rank)) for place, rank in enumerate(ranks)]
        most = 8 if width > WIDE / 2 else 4
        across = linear(0, longest * factor, f"time since the first call, {unit}", most)
        field = frame(canvas, across, Axis(0, count, ticks, "rank"), grid=(True, False))
        for place, rank in enumerate(ranks):
            lanes, placed = _lanes([call for call in calls if call.rank == rank])
            high = 0.8 * (field.bottom - field.top) / count / lanes
            for lane, call in placed:
                begin, end = ((at - first) * factor for at in (call.begin, call.end))
                title = (
                    f"rank {rank} calls rank {call.to}: from {begin:.4g}, {end - begin:.4g} {unit}"
                    + ("" if call.is_over else ", not answered")
                )
                x, y = field.x(begin), field.y(count - place - 0.1) + lane * high
                canvas.rect(
                    x, y, field.x(end) - x, 0.9 * high, fill[call.to], title=title,
                    line="none" if call.is_over else VERMILION, line_width=2,
                    opacity=1 if call.is_over else 0.6,
                )  # fmt: skip
        return canvas

    keys = [Key(f"to rank {to}", fill[to]) for to in targets]
    return Figure([Picture("calls over time", draw)], keys)


def _lanes(calls: Sequence[Call]) -> tuple[int, list[tuple[int, Call]]]:
    """How many lanes, and each call with its own; beyond LANES_MOST they share."""
    free: list[tuple[float, int]] = []  # When a lane is free again.
    placed = []
    used = 0
    for call in sorted(calls, key=lambda one: one.begin):
        if free and (free[0][0] <= call.begin or used == LANES_MOST):
            lane = heapq.heappop(free)[1]
        else:
            lane = used
            used += 1
        heapq.heappush(free, (call.end, lane))
        placed.append((lane, call))
    return max(used, 1), placed


def _circle(canvas: Canvas, count: int, radius: float) -> list[tuple[float, float]]:
    """Places on a circle, clockwise from the top."""
    angles = [2 * math.pi * index / count for index in range(count)]
    x, y = canvas.width / 2, canvas.height / 2
    return [(x + radius * math.sin(angle), y - radius * math.cos(angle)) for angle in angles]


def _arrow(
    canvas: Canvas, begin: tuple[float, float], end: tuple[float, float], width: float
) -> None:
    """From mark to mark, a little short of both."""
    across, down = end[0] - begin[0], end[1] - begin[1]
    length = math.hypot(across, down) or 1.0
    across, down = across / length, down / length
    size = 5 + width
    x, y = end[0] - 16 * across, end[1] - 16 * down
    left, top = x - size * across, y - size * down
    half = size / 2
    canvas.line(begin[0] + 14 * across, begin[1] + 14 * down, left, top, VERMILION, width)
    points = (
        x,
        y,
        left - half * down,
        top + half * across,
        left + half * down,
        top - half * across,
    )
    canvas.path("M{} {}L{} {}L{} {}Z".format(*map(number, points)), fill=VERMILION)
