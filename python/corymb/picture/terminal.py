# SPDX-License-Identifier: Apache-2.0
"""A heat map made of characters: two matrix rows a line with colours, shades without."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from corymb.layout import downsample
from corymb.picture.palette import limits_of, viridis

SHADES_UNICODE = "·░▒▓█"
SHADES_ASCII = ".:-=+*#%@"
HIGHEST_LINES = 40
SMALL_SIDE, LARGE_SIDE = 16, 44  # pixels that few and many CPUs are enlarged to
LABEL_COLUMNS = 7
DIAGONAL = (128, 128, 128)


def scale_of(matrix: NDArray[np.float64]) -> tuple[float, float, bool]:
    """The ends of the scale, and whether it should be logarithmic."""
    low, high = limits_of(matrix)
    return low, high, low > 0 and high > 6 * low


def position_in(value: float, scale: tuple[float, float, bool]) -> float:
    """0 for the lowest value of the scale, 1 for the highest."""
    low, high, logarithmic = scale
    if high <= low:
        return 0.0
    if logarithmic:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def heat_map(
    console: Console,
    matrix: NDArray[np.float64],
    labels: Sequence[str],
    unit: str,
    unicode_ok: bool,
) -> list[Text]:
    """Lines that show a square matrix (already in the order to be shown) within the width of the
    console; larger matrices are downsampled by averaging blocks."""
    pixels_wide = max(8, console.width - LABEL_COLUMNS - 1)
    side = min(len(matrix), pixels_wide, HIGHEST_LINES * 2)
    small = downsample(matrix, side)
    zoom = max(1, min(pixels_wide, SMALL_SIDE if side < SMALL_SIDE else LARGE_SIDE) // side)
    scale = scale_of(matrix)
    large = np.repeat(np.repeat(small, zoom, axis=0), zoom, axis=1)
    coloured = console.color_system is not None and not console.no_color and unicode_ok
    row_labels = _row_labels(labels, len(large))
    lines = []
    for top in range(0, len(large), 2):
        # A style of the whole line would cover the cells, too, and dim their upper halves.
        line = Text.assemble((f"{row_labels[top]:>{LABEL_COLUMNS - 1}} ", "dim"))
        upper = large[top]
        lower = large[top + 1] if top + 1 < len(large) else np.full(len(upper), np.nan)
        if coloured:
            _coloured_line(line, upper, lower, scale, last=top + 1 >= len(large))
        else:
            _shaded_line(line, upper, lower, scale, unicode_ok)
        lines.append(line)
    lines.append(_legend(scale, unit, coloured, unicode_ok))
    return lines


def _row_labels(labels: Sequence[str], rows: int) -> list[str]:
    """A label where its first pixel is; never two on one line of two rows."""
    shown = [""] * (rows + 1)
    for row in range(0, rows, 2):
        first = row * len(labels) // rows
        last_line = (row - 2) * len(labels) // rows if row >= 2 else -1
        if first != last_line:
            shown[row] = labels[first][: LABEL_COLUMNS - 1]
    return shown


def _rgb(value: float, scale: tuple[float, float, bool]) -> tuple[int, int, int]:
    return viridis(position_in(value, scale)) if math.isfinite(value) else DIAGONAL


def _coloured_line(
    line: Text,
    upper: NDArray[np.float64],
    lower: NDArray[np.float64],
    scale: tuple[float, float, bool],
    last: bool,
) -> None:
    for above, below in zip(upper, lower, strict=True):
        front = Color.from_rgb(*_rgb(above, scale))
        back = None if last else Color.from_rgb(*_rgb(below, scale))
        line.append("▀", Style(color=front, bgcolor=back))


def _shaded_line(
    line: Text,
    upper: NDArray[np.float64],
    lower: NDArray[np.float64],
    scale: tuple[float, float, bool],
    unicode_ok: bool,
) -> None:
    shades = SHADES_UNICODE if unicode_ok else SHADES_ASCII
    for pair in zip(upper, lower, strict=True):
        present = [value for value in pair if math.isfinite(value)]
        if not present:
            line.append(" ")
            continue
        place = position_in(sum(present) / len(present), scale)
        line.append(shades[min(int(place * len(shades)), len(shades) - 1)])


def _legend(scale: tuple[float, float, bool], unit: str, coloured: bool, unicode_ok: bool) -> Text:
    low, high, logarithmic = scale
    line = Text(" " * LABEL_COLUMNS)
    line.append(f"{low:.4g} ")
    if coloured:
        for step in range(20):
            line.append(" ", Style(bgcolor=Color.from_rgb(*viridis(step / 19))))
    else:
        line.append("".join(SHADES_UNICODE if unicode_ok else SHADES_ASCII))
    kind = ", logarithmic" if logarithmic else ""
    line.append(f" {high:.4g} {unit}{kind}")
    return line
