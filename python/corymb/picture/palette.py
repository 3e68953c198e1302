# SPDX-License-Identifier: Apache-2.0
"""Colours that people with any colour vision can tell apart, also on paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SPAN_LEAST = 0.25  # of the mean: what differs less has similar colours

# Viridis at nine even steps: perceptually uniform, dark is cheap, bright is dear.
VIRIDIS = (
    (68, 1, 84),
    (71, 45, 123),
    (59, 82, 139),
    (44, 114, 142),
    (33, 145, 140),
    (40, 174, 128),
    (94, 201, 98),
    (173, 220, 48),
    (253, 231, 37),
)

# Okabe and Ito's set. corymb itself is always BLUE.
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
YELLOW = "#F0E442"
INK = "#1f2933"
GREY = "#7b8794"
PALE = "#e4e7eb"
PEERS = (VERMILION, GREEN, ORANGE, PURPLE, SKY, INK, GREY, "#8B6914", "#5D3A9B", "#A0A000")


def limits_of(matrix: NDArray[np.float64]) -> tuple[float, float]:
    """The values that get the first and the last colour: the lowest and the highest, but far enough
    apart that noise does not look like structure."""
    present = matrix[np.isfinite(matrix)]
    if not len(present) or present.max() <= 0:
        return 0.0, 1.0
    low, high = float(present.min()), float(present.max())
    least = SPAN_LEAST * (low + high) / 2
    if high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
    return low, high


def viridis(position: float) -> tuple[int, int, int]:
    """The colour at a position from 0 to 1."""
    place = min(max(position, 0.0), 1.0) * (len(VIRIDIS) - 1)
    index = min(int(place), len(VIRIDIS) - 2)
    part = place - index
    low, high = VIRIDIS[index], VIRIDIS[index + 1]
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(low, high, strict=True))
    return red, green, blue


def viridis_hex(position: float) -> str:
    return "#{:02x}{:02x}{:02x}".format(*viridis(position))
