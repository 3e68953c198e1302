# SPDX-License-Identifier: Apache-2.0
"""docs/images/start-python.svg: what examples/power_iteration.py does in a step."""

from __future__ import annotations

import svg
from images.measured import save

RANKS, ROW, TOP, GAP = 4, 42, 74, 8
MATRIX, VECTOR, PART, WHOLE = 40, 300, 430, 700
WIDTH_OF_MATRIX, WIDTH_OF_VECTOR = 210, 34


def box(x: float, y: float, width: float, height: float, shade: int, opacity: float) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" class="s{shade}" '
        f'fill-opacity="{opacity}"/>'
    )


def make() -> None:
    height = RANKS * (ROW + GAP) - GAP
    parts = [
        svg.text(MATRIX + WIDTH_OF_MATRIX / 2, TOP - 12, "rows of each process", "middle"),
        svg.text(VECTOR + WIDTH_OF_VECTOR / 2, TOP - 12, "vector", "middle"),
        svg.text(PART + WIDTH_OF_VECTOR / 2, TOP - 12, "its part", "middle"),
        svg.text(WHOLE + WIDTH_OF_VECTOR / 2, TOP - 12, "vector of all", "middle"),
        svg.text((VECTOR + WIDTH_OF_VECTOR + PART) / 2, TOP + height / 2 + 5, "=", "middle"),
        svg.text((MATRIX + WIDTH_OF_MATRIX + VECTOR) / 2, TOP + height / 2 + 5, "@", "middle"),
        svg.text((PART + WHOLE + WIDTH_OF_VECTOR) / 2, TOP + height + 34, "Allgather", "middle"),
    ]
    parts.append(box(VECTOR, TOP, WIDTH_OF_VECTOR, height, 5, 0.25))
    for rank in range(RANKS):
        y = TOP + rank * (ROW + GAP)
        middle = y + ROW / 2
        parts.append(box(MATRIX, y, WIDTH_OF_MATRIX, ROW, rank, 0.3))
        parts.append(svg.text(MATRIX + 12, middle + 4, f"rank {rank}"))
        parts.append(box(PART, y, WIDTH_OF_VECTOR, ROW, rank, 0.7))
        parts.append(box(WHOLE, y, WIDTH_OF_VECTOR, ROW, rank, 0.7))
        for other in range(RANKS):
            ends = TOP + other * (ROW + GAP) + ROW / 2
            parts.append(
                f'<line x1="{PART + WIDTH_OF_VECTOR + 6}" y1="{middle}" x2="{WHOLE - 6}" '
                f'y2="{ends}" class="line s{rank}" stroke-opacity="0.6"/>'
            )
    heading = "A step of examples/power_iteration.py: each process multiplies, then all have all"
    save("start-python.svg", svg.document(heading, TOP + height + 56, parts))
