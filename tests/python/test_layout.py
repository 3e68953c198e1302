# SPDX-License-Identifier: Apache-2.0
"""The pure parts: order, downsampling, boxes, CPU lists, the terminal picture."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import corymb
from corymb.command.inputs import cpu_list, parse_cpu_list
from corymb.layout import downsample, layout_of
from corymb.picture import palette, terminal
from corymb.picture.boxes import place


@given(st.sets(st.integers(0, 400), min_size=1, max_size=80))
def test_cpu_lists_round_trip(cpus: set[int]) -> None:
    assert parse_cpu_list(cpu_list(list(cpus))) == sorted(cpus)


@given(st.text(alphabet="0123456789,- ", max_size=12))
def test_cpu_lists_never_crash(text: str) -> None:
    """Any text gives distinct numbers or a usage error."""
    try:
        cpus = parse_cpu_list(text)
    except corymb.Error:
        return
    assert len(set(cpus)) == len(cpus) > 0


@given(st.integers(1, 40), st.integers(1, 40))
def test_downsample_keeps_the_mean(count: int, side: int) -> None:
    matrix = np.arange(count * count, dtype=float).reshape(count, count)
    small = downsample(matrix, side)
    assert small.shape == (min(count, side),) * 2
    if count % side == 0 or count <= side:
        assert small.mean() == pytest.approx(matrix.mean())


def test_downsample_ignores_missing_entries() -> None:
    matrix = np.full((4, 4), 7.0)
    np.fill_diagonal(matrix, np.nan)
    assert np.nanmax(np.abs(downsample(matrix, 2) - 7)) == 0


@pytest.mark.parametrize("name", ["m1-ultra-20c", "epyc-9754-2s-512t", "graviton3-1s-64c"])
def test_layout_is_a_permutation_with_whole_clusters(name: str) -> None:
    machine = corymb.Machine.gallery(name)
    layout = layout_of(machine)
    assert sorted(layout.order) == list(range(len(machine)))
    for level in layout.levels:
        shown = level[layout.order]
        # Each cluster is one run in the order.
        assert np.count_nonzero(np.diff(shown)) == len(np.unique(shown)) - 1


def test_layout_finds_the_sockets_of_epyc() -> None:
    """epyc-9754: core = id mod 256, eight cores an L3, SMT siblings side by side."""
    layout = layout_of(corymb.Machine.gallery("epyc-9754-2s-512t"))
    siblings = layout.order.reshape(-1, 2) % 256
    assert (siblings[:, 0] == siblings[:, 1]).all()


@given(st.integers(1, 200), st.integers(1, 9), st.integers(1, 5))
def test_boxes_do_not_overlap(count: int, clusters: int, parts: int) -> None:
    inner = np.arange(count) % (clusters * parts)
    levels = [inner % clusters, inner]
    drawing = place(list(range(count)), levels)
    distinct = {tuple(position) for position in drawing.positions.round(6)}
    assert len(distinct) == count
    outer = [box for box in drawing.boxes if box[4] == 0]
    for a in outer:
        for b in outer:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert a is b or apart


@given(st.floats(0, 1))
def test_palette_is_a_colour(position: float) -> None:
    assert all(0 <= part <= 255 for part in palette.viridis(position))


@given(st.integers(1, 90), st.integers(20, 120), st.booleans())
def test_terminal_picture_fits(count: int, width: int, colour: bool) -> None:
    matrix = np.random.default_rng(count).uniform(10, 200, (count, count))
    np.fill_diagonal(matrix, np.nan)
    console = Console(
        file=io.StringIO(), width=width, color_system="truecolor" if colour else None,
        force_terminal=colour,
    )  # fmt: skip
    lines = terminal.heat_map(console, matrix, [str(i) for i in range(count)], "ns", True)
    assert all(line.cell_len <= max(width, 16) for line in lines[:-1])
    assert len(lines) <= terminal.HIGHEST_LINES + 2


def test_equal_values_have_equal_colours() -> None:
    """A half block shows two cells; no attribute may change how either looks."""
    matrix = np.full((20, 20), 70.0)
    matrix[:10, :10] = matrix[10:, 10:] = 20.0
    console = Console(
        file=io.StringIO(), width=80, color_system="truecolor", force_terminal=True
    )  # fmt: skip
    lines = terminal.heat_map(console, matrix, [str(i) for i in range(20)], "ns", True)
    cells = [
        segment.style
        for line in lines[:-1]
        for segment in line.render(console)
        if "▀" in segment.text and segment.style is not None
    ]
    assert cells
    colours = {cell.color for cell in cells} | {cell.bgcolor for cell in cells}
    assert len(colours) == 2
    assert not any(cell.dim or cell.bold or cell.reverse for cell in cells)


def test_layout_of_many_groups() -> None:
    """Each group is a cluster; siblings and packages stand together."""
    machine = corymb.topology_from_synthetic("pack:2 numa:1 core:600 pu:2")
    layout = layout_of(machine)
    assert sorted(layout.order) == list(range(2400))
    assert [len(np.unique(level)) for level in layout.levels] == [2, 1200]


def test_noise_does_not_look_like_structure() -> None:
    similar = np.array([[np.nan, 55.6], [55.8, np.nan]])
    low, high = palette.limits_of(similar)
    assert low < 50 < 60 < high
    assert abs(
        terminal.position_in(55.6, (low, high, False))
        - terminal.position_in(55.8, (low, high, False))
    ) < 0.05  # fmt: skip
    assert palette.limits_of(np.array([[np.nan, 10.0], [90.0, np.nan]])) == (10, 90)
    assert palette.limits_of(np.full((1, 1), np.nan)) == (0, 1)
    assert palette.limits_of(np.zeros((2, 2))) == (0, 1)
