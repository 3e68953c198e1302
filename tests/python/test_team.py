# SPDX-License-Identifier: Apache-2.0
"""corymb.Team among threads: every method against numpy, in place, sub-teams, objects."""

from __future__ import annotations

import doctest
import importlib
from array import array
from typing import Any

import numpy as np
import pytest
from thread_ranks import N, in_form, inputs, on_threads

import corymb
from corymb import IN_PLACE, Team

NUMPY_OPERATORS = {
    corymb.SUM: np.add,
    corymb.PROD: np.multiply,
    corymb.MIN: np.minimum,
    corymb.MAX: np.maximum,
    corymb.LAND: np.logical_and,
    corymb.LOR: np.logical_or,
    corymb.LXOR: np.logical_xor,
    corymb.BAND: np.bitwise_and,
    corymb.BOR: np.bitwise_or,
    corymb.BXOR: np.bitwise_xor,
}
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
FLOATS = ["f2", "f4", "f8"]
ARITHMETIC = [corymb.SUM, corymb.PROD]
ORDER = [corymb.MIN, corymb.MAX]
LOGICAL = [corymb.LAND, corymb.LOR, corymb.LXOR]
BITWISE = [corymb.BAND, corymb.BOR, corymb.BXOR]
CASES = [
    *((dtype, op) for dtype in INTEGERS for op in ARITHMETIC + ORDER + LOGICAL + BITWISE),
    *((dtype, op) for dtype in FLOATS for op in ARITHMETIC + ORDER),
    *((dtype, op) for dtype in ("c8", "c16") for op in ARITHMETIC),
    *(("?", op) for op in ORDER + LOGICAL + BITWISE),
]


def reduced(op: corymb.Operator, data: Any) -> Any:
    result = data[0]
    for row in data[1:]:
        result = NUMPY_OPERATORS[op](result, row).astype(data.dtype)
    return result


# Collectives
# --------------------------------------------------------------------------------------------------


def test_reductions_of_all_types_are_those_of_numpy() -> None:
    """All ranks go through all cases of one team: a run for each would take longer."""

    def body(team: Team) -> None:
        for number, (dtype, op) in enumerate(CASES):
            data = inputs(dtype, 5, number)
            out = np.zeros(5, dtype)
            team.Allreduce(data[team.rank], out, op)
            np.testing.assert_array_equal(out, reduced(op, data), err_msg=f"{dtype} {op}")

    on_threads(body)


@pytest.mark.parametrize("count", [0, 1, 7, 1000, 60_000])
def test_reductions_of_all_sizes(count: int) -> None:
    data = inputs("f8", count * N, 1)
    total, part = data.sum(axis=0), slice(0, count)

    def body(team: Team) -> None:
        rank = team.rank
        mine, out = data[rank, part].copy(), np.full(count, -1.0)
        team.Reduce(mine, out if rank == 1 else None, corymb.SUM, 1)
        np.testing.assert_array_equal(out, total[part] if rank == 1 else np.full(count, -1.0))
        team.Allreduce(mine, out)
        np.testing.assert_array_equal(out, total[part])
        team.Scan(mine, out)
        np.testing.assert_array_equal(out, data[: rank + 1, part].sum(axis=0))
        team.Exscan(mine, out)
        if rank > 0:
            np.testing.assert_array_equal(out, data[:rank, part].sum(axis=0))
        team.Reduce_scatter_block(data[rank].copy(), out)
        np.testing.assert_array_equal(out, total[rank * count : (rank + 1) * count])

    on_threads(body)


@pytest.mark.parametrize("count", [0, 1, 7, 1000, 60_000])
@pytest.mark.parametrize("form", ["blocking", "nonblocking", "persistent"])
def test_moves_of_all_sizes_in_all_forms(count: int, form: str) -> None:
    data = inputs("i4", count * N, 2)

    def body(team: Team) -> None:
        rank = team.rank
        mine = data[rank, :count].copy()
        out = mine.copy()
        in_form(team, form, "Barrier", starts=2)
        in_form(team, form, "Bcast", out, 2, starts=2)
        np.testing.assert_array_equal(out, data[2, :count])
        everything = np.zeros((N, count), "i4")
        in_form(team, form, "Gather", mine, everything if rank == 1 else None, 1, starts=2)
        if rank == 1:
            np.testing.assert_array_equal(everything, data[:, :count])
        in_form(team, form, "Scatter", data[0] if rank == 0 else None, out, starts=2)
        np.testing.assert_array_equal(out, data[0, rank * count : (rank + 1) * count])
        everything[:] = 0
        in_form(team, form, "Allgather", mine, everything, starts=2)
        np.testing.assert_array_equal(everything, data[:, :count])
        in_form(team, form, "Alltoall", data[rank], everything, starts=2)
        columns = data[:, rank * count : (rank + 1) * count]
        np.testing.assert_array_equal(everything, columns)

    on_threads(body)


@pytest.mark.parametrize("form", ["blocking", "nonblocking", "persistent"])
def test_in_place(form: str) -> None:
    data = inputs("i8", 2 * N, 3)

    def body(team: Team) -> None:
        rank = team.rank
        total = data.sum(axis=0)

        def check(name: str, expected: Any, *arguments: Any) -> None:
            buffer = data[rank].copy()
            in_form(team, form, name, IN_PLACE, buffer, *arguments)
            np.testing.assert_array_equal(buffer, expected, err_msg=name)

        check("Allreduce", total)
        check("Scan", data[: rank + 1].sum(axis=0))
        check("Exscan", data[:rank].sum(axis=0) if rank else data[0])
        blocks = data.reshape(N, N, 2)
        check("Alltoall", blocks[:, rank].ravel())
        buffer = data[rank].copy()
        in_form(team, form, "Reduce_scatter_block", IN_PLACE, buffer)
        np.testing.assert_array_equal(buffer[:2], total.reshape(N, 2)[rank])
        check("Allgather", np.concatenate([blocks[r, r] for r in range(N)]))
        if rank == 0:
            check("Reduce", total)
            check("Gather", np.concatenate([data[0, :2], data[1, :2], data[2, :2]]))
            buffer = data[0].copy()
            in_form(team, form, "Scatter", buffer, IN_PLACE)
            np.testing.assert_array_equal(buffer, data[0])
        else:
            in_form(team, form, "Reduce", data[rank], None)
            in_form(team, form, "Gather", data[rank, :2].copy(), None)
            out = np.zeros(2, "i8")
            in_form(team, form, "Scatter", None, out)
            np.testing.assert_array_equal(out, data[0, 2 * rank : 2 * rank + 2])

    on_threads(body)


@pytest.mark.parametrize("form", ["blocking", "nonblocking", "persistent"])
@pytest.mark.parametrize("scale", [1, 5000])
def test_parts_of_different_lengths(form: str, scale: int) -> None:
    counts = [2 * scale, 0, 3 * scale]
    gaps = [4 * scale, 9 * scale, 0]  # Out of order, with room between.
    data = inputs("f8", sum(counts), 4)
    places = [slice(gap, gap + count) for gap, count in zip(gaps, counts, strict=True)]
    ends = np.cumsum(counts)
    tight = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]

    def body(team: Team) -> None:
        rank = team.rank
        mine = data[rank, : counts[rank]].copy()
        whole = np.concatenate([data[r, : counts[r]] for r in range(N)])

        def do(name: str, *arguments: Any) -> None:
            in_form(team, form, name, *arguments)

        room = np.full(9 * scale, -1.0)
        do("Gatherv", mine, [room, counts, gaps] if rank == 1 else None, 1)
        if rank == 1:
            for r in range(N):
                np.testing.assert_array_equal(room[places[r]], data[r, : counts[r]])
            assert (room == -1.0).sum() == 4 * scale
        out = np.empty(sum(counts))
        do("Allgatherv", mine, [out, counts])
        np.testing.assert_array_equal(out, whole)
        place = out.copy()
        place[:] = -1.0
        place[tight[rank]] = mine
        do("Allgatherv", IN_PLACE, [place, (counts, None), corymb.DOUBLE])
        np.testing.assert_array_equal(place, whole)
        part = np.empty(counts[rank])
        do("Scatterv", [data[0], counts] if rank == 0 else None, part)
        np.testing.assert_array_equal(part, data[0, tight[rank]])
        do("Reduce_scatter", data[rank], part, counts)
        np.testing.assert_array_equal(part, data.sum(axis=0)[tight[rank]])
        both = data[rank].copy()
        do("Reduce_scatter", IN_PLACE, both, counts)
        np.testing.assert_array_equal(both[: counts[rank]], data.sum(axis=0)[tight[rank]])
        received = np.empty(N * counts[rank])
        do("Alltoallv", [data[rank], counts], [received, [counts[rank]] * N])
        np.testing.assert_array_equal(received, np.concatenate([d[tight[rank]] for d in data]))

    on_threads(body)


def test_pairs_of_value_and_index() -> None:
    pair = np.dtype([("value", "f8"), ("index", "i8")])

    def body(team: Team) -> None:
        mine = np.array([(team.rank, team.rank), (-team.rank, team.rank), (7, team.rank)], pair)
        least, most = np.zeros(3, pair), np.zeros(3, pair)
        team.Allreduce(mine, least, corymb.MINLOC)
        team.Allreduce(mine, most, corymb.MAXLOC)
        assert least.tolist() == [(0, 0), (1 - N, N - 1), (7, 0)]
        assert most.tolist() == [(N - 1, N - 1), (0, 0), (7, 0)]

    on_threads(body)


def test_split_gives_teams_by_color_or_none() -> None:
    def body(team: Team) -> tuple[int, int] | None:
        part = team.Split(corymb.UNDEFINED if team.rank == 1 else 0, -team.rank)
        if part is None:
            return None
        total = array("q", [team.rank])
        part.Allreduce(IN_PLACE, total)
        assert total[0] == 2
        return part.Get_rank(), part.Get_size()

    assert on_threads(body) == [(1, 2), None, (0, 2)]


# Objects
# --------------------------------------------------------------------------------------------------


def test_statistics_count_calls_and_say_who_is_late() -> None:
    def life(team: Team) -> None:
        none = team.statistics()
        assert (none.operations, none.nbytes, none.waits, none.sleeps) == (0, 0, 0, 0)
        assert (none.waited, none.waited_for) == (0.0, [0.0] * N)
        data = np.arange(4.0)
        for _ in range(3):
            team.Bcast(data)
        team.Ibarrier().Wait()
        counted = team.statistics()
        assert (counted.operations, counted.nbytes) == (4, 3 * 32)
        assert len(counted.waited_for) == N
        assert counted.waited_for[team.rank] == 0
        assert sum(counted.waited_for) <= counted.waited * (1 + 1e-9)
        assert counted.sleeps <= counted.waits
        assert ("broadcast", 0, 56) in [(plan.op, plan.root, plan.nbytes) for plan in counted.plans]

    on_threads(life)


def test_objects() -> None:
    def body(team: Team) -> None:
        rank = team.rank
        things = [{"rank": r, "data": "x" * 100 * r} for r in range(N)]
        assert team.bcast(things[rank], root=1) == things[1]
        assert team.gather(things[rank], root=2) == (things if rank == 2 else None)
        assert team.allgather(things[rank]) == things
        assert team.scatter(things if rank == 0 else None) == things[rank]
        assert team.alltoall([(rank, q) for q in range(N)]) == [(p, rank) for p in range(N)]
        assert team.allreduce([rank]) == [0, 1, 2]
        assert team.allreduce(rank, max) == 2
        assert team.reduce((rank, rank), corymb.MAXLOC) == ((2, 2) if rank == 0 else None)
        if rank == 0:
            team.send(things[2], dest=1)
        elif rank == 1:
            assert team.recv(source=0) == things[2]
        team.barrier()
        with pytest.raises(corymb.Error, match="must give 3 objects"):
            team.scatter([1, 2] if rank == 0 else None)
        with pytest.raises(corymb.Error, match="must give 3 objects"):
            team.alltoall([1, 2] if rank == 0 else [1, 2, 3])

    on_threads(body)


@pytest.mark.parametrize(
    "module", ["corymb", "corymb.team", "corymb.objects", "corymb.types", "corymb.run"]
)
def test_the_examples_in_the_docstrings(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
