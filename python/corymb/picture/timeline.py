# SPDX-License-Identifier: Apache-2.0
"""Per rank: when it works and when it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corymb.picture.axes import Axis, Frame, frame, linear, positions
from corymb.picture.palette import BLUE, GREEN, ORANGE, PALE
from corymb.picture.svg import WIDE, Canvas, Figure, Key, Picture, number

LARGEST_WITH_TITLES = 64
WAITING = "waiting"
COLORS = {WAITING: PALE, "sending": BLUE, "receiving": ORANGE, "combining": GREEN}
WORK = {
    "send": "sending",
    "signal": "sending",
    "publish": "sending",
    "offer": "sending",
    "put": "sending",
    "recv": "receiving",
    "wait": "receiving",
    "read": "receiving",
    "fold": "combining",
    "read_fold": "combining",
    "put_fold": "combining",
    "copy": "combining",
}


@dataclass(frozen=True)
class Stretch:
    """One rank does one thing from `begin` to `end`."""

    rank: int
    doing: str  # a key of COLORS
    begin: float
    end: float


def timeline_chart(stretches: Sequence[Stretch], order: Sequence[int], unit: str) -> Figure:
    """Bars over time, ranks from top to bottom in `order`. Few ranks say on hover what they do."""
    row = {rank: place for place, rank in enumerate(order)}
    latest = max((s.end for s in stretches), default=0.0)
    shown = [s for s in stretches if s.end > s.begin]

    def draw(width: float) -> Canvas:
        canvas = Canvas(width, min(max(90 + 20 * len(order), 160), 700))
        ticks = [(place + 0.5, text) for place, text in positions(order, 24)]
        ranks = Axis(0, len(order), [(len(order) - place, text) for place, text in ticks], "rank")
        across = linear(0, latest, f"time, {unit}", 8 if width > WIDE / 2 else 4)
        field = frame(canvas, across, ranks, grid=(True, False))
        for doing in COLORS:
            _draw(canvas, field, [s for s in shown if s.doing == doing], row)
        return canvas

    used = {s.doing for s in shown}
    keys = [Key(doing, color) for doing, color in COLORS.items() if doing in used]
    return Figure([Picture("what each rank does over time", draw)], keys)


def _draw(
    canvas: Canvas, field: Frame, stretches: Sequence[Stretch], row: Mapping[int, int]
) -> None:
    """One path for all that many ranks do, a bar each for few."""
    count = len(row)
    height = (field.bottom - field.top) / count
    gap = 0.1 * height if count <= LARGEST_WITH_TITLES else 0
    steps = []
    for s in stretches:
        x, y, end = field.x(s.begin), field.y(count - row[s.rank]) + gap, field.x(s.end)
        if count <= LARGEST_WITH_TITLES:
            title = f"rank {s.rank} {s.doing} from {s.begin:.4g} to {s.end:.4g}"
            canvas.rect(x, y, end - x, height - 2 * gap, COLORS[s.doing], title=title)
        else:
            wide = number(max(end - x, 0.3))
            steps.append(f"M{number(x)} {y:.2f}h{wide}v{height:.2f}h-{wide}z")
    if steps:
        canvas.path("".join(steps), fill=COLORS[stretches[0].doing])
