# SPDX-License-Identifier: Apache-2.0
"""Send and receive heat maps side by side: one raster each, with axes around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from corymb.picture.axes import Tick, linear, positions
from corymb.picture.palette import limits_of, viridis, viridis_hex
from corymb.picture.svg import Canvas, Figure, Picture, png

LARGEST_WITH_NUMBERS = 12
WIDTH = 440  # pixels; two stand beside each other on a page
SHADES = 255
LEFT, TOP, FIELD = 50, 28, 330


def heat_maps(
    send: NDArray[np.float64],
    receive: NDArray[np.float64],
    cpus: Sequence[int],
    boundaries: Sequence[int],
    unit: str,
) -> Figure:
    """Both matrices, already in the order to be shown; `cpus` are the labels in that order and
    `boundaries` the positions where the outermost groups end."""
    titles = ("send: the sender is busy", "receive: the receiver is busy")
    return Figure(
        [
            _picture(matrix, cpus, boundaries, unit, title)
            for matrix, title in zip((send, receive), titles, strict=True)
        ]
    )


def heat_map_alone(costs: NDArray[np.float64], cpus: Sequence[int], unit: str) -> Figure:
    """One square matrix, already in the order to be shown."""
    return Figure([_picture(costs, cpus, (), unit, "")])


def _picture(
    matrix: NDArray[np.float64],
    cpus: Sequence[int],
    boundaries: Sequence[int],
    unit: str,
    title: str,
) -> Picture:
    def draw(width: float) -> Canvas:
        canvas = Canvas(width, TOP + FIELD + 44)
        low, high = limits_of(matrix)
        canvas.image(LEFT, TOP, FIELD, FIELD, raster(matrix, low, high))
        step = FIELD / max(len(cpus), 1)
        for boundary in boundaries:
            place = boundary * step
            canvas.line(LEFT + place, TOP, LEFT + place, TOP + FIELD, "white", 1.2)
            canvas.line(LEFT, TOP + place, LEFT + FIELD, TOP + place, "white", 1.2)
        if len(cpus) <= LARGEST_WITH_NUMBERS:
            _numbers(canvas, matrix, low, high, step)
        _labels(canvas, positions(cpus, 8), step, title)
        scale(canvas, LEFT + FIELD + 12, TOP, FIELD, linear(low, high).ticks, low, high, unit)
        return canvas

    return Picture(title or f"cost of a message, {unit}", draw, WIDTH)


def raster(matrix: NDArray[np.float64], low: float, high: float) -> bytes:
    """A PNG of a pixel a value, from the first colour at `low` to the last at `high`."""
    with np.errstate(invalid="ignore"):
        parts = np.clip((matrix - low) / (high - low), 0, 1) * (SHADES - 1)
    pixels = np.where(np.isfinite(parts), np.nan_to_num(parts), SHADES).astype(np.uint8)
    return png(pixels, [viridis(shade / (SHADES - 1)) for shade in range(SHADES)])


def _numbers(
    canvas: Canvas, matrix: NDArray[np.float64], low: float, high: float, step: float
) -> None:
    for (row, column), value in np.ndenumerate(matrix):
        if np.isfinite(value):
            ink = "#101418" if (value - low) / (high - low) > 0.6 else "white"
            x, y = LEFT + (column + 0.5) * step, TOP + (row + 0.5) * step + 4
            canvas.text(x, y, f"{value:.3g}", size=min(12, step / 2.6), fill=ink)


def _labels(canvas: Canvas, ticks: Sequence[Tick], step: float, title: str) -> None:
    if title:
        canvas.text(LEFT, 17, title, anchor="start", size=13, fill="var(--ink)", bold=True)
    for place, text in ticks:
        middle = (place + 0.5) * step
        canvas.text(LEFT + middle, TOP + FIELD + 16, text, size=11)
        canvas.text(LEFT - 6, TOP + middle + 4, text, size=11, anchor="end")
    canvas.text(LEFT + FIELD / 2, TOP + FIELD + 36, "to CPU")
    canvas.text(12, TOP + FIELD / 2, "from CPU", turn=-90)


def scale(
    canvas: Canvas, x: float, y: float, height: float, ticks: Sequence[Tick], low: float,
    high: float, title: str,
) -> None:  # fmt: skip
    """The colours from the last at the top to the first, with the values that they stand for."""
    steps = 32
    for index in range(steps):
        top = y + height * (steps - 1 - index) / steps
        canvas.rect(x, top, 10, height / steps + 0.5, viridis_hex((index + 0.5) / steps))
    for value, text in ticks:
        canvas.text(x + 14, y + height * (1 - (value - low) / (high - low)) + 4, text,
                    anchor="start", size=11)  # fmt: skip
    canvas.text(canvas.width - 4, y - 11, title, anchor="end", size=11)
