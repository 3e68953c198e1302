# SPDX-License-Identifier: Apache-2.0
"""corymb.Team among threads: every method against numpy, in place, requests, messages, errors."""

from __future__ import annotations

import doctest
import importlib
import threading
import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import corymb
from corymb import IN_PLACE, Team

N = 3
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


def on_threads(fn: Callable[..., Any], n: int = N, **options: Any) -> list[Any]:
    return corymb.run(fn, n, threads=True, **options)


def inputs(dtype: str, count: int, seed: int, ranks: int = N) -> Any:
    """[rank, element]; small whole numbers, so that every order of combining is exact."""
    numbers = np.random.default_rng(seed).integers(0, 4, (ranks, count))
    return numbers.astype(dtype)


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

    def do(team: Team, name: str, *arguments: Any) -> None:
        if form == "blocking":
            getattr(team, name)(*arguments)
        elif form == "nonblocking":
            request = getattr(team, f"I{name.lower()}")(*arguments)
            assert request.active
            request.Wait()
        else:
            request = getattr(team, f"{name}_init")(*arguments)
            for _ in range(2):
                request.Start()
                request.Wait()
            assert request.persistent

    def body(team: Team) -> None:
        rank = team.rank
        mine = data[rank, :count].copy()
        out = mine.copy()
        do(team, "Barrier")
        do(team, "Bcast", out, 2)
        np.testing.assert_array_equal(out, data[2, :count])
        everything = np.zeros((N, count), "i4")
        do(team, "Gather", mine, everything if rank == 1 else None, 1)
        if rank == 1:
            np.testing.assert_array_equal(everything, data[:, :count])
        do(team, "Scatter", data[0] if rank == 0 else None, out)
        np.testing.assert_array_equal(out, data[0, rank * count : (rank + 1) * count])
        everything[:] = 0
        do(team, "Allgather", mine, everything)
        np.testing.assert_array_equal(everything, data[:, :count])
        do(team, "Alltoall", data[rank], everything)
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


def in_form(team: Team, form: str, name: str, *arguments: Any) -> None:
    """One operation, blocking, nonblocking or persistent."""
    if form == "blocking":
        getattr(team, name)(*arguments)
        return
    request = getattr(team, f"I{name.lower()}" if form == "nonblocking" else f"{name}_init")(
        *arguments
    )
    if form == "persistent":
        request.Start()
    request.Wait()


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


# Messages and requests
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 100, 200_000])
def test_messages(count: int) -> None:
    def body(team: Team) -> None:
        after, before = (team.rank + 1) % N, (team.rank - 1) % N
        mine, other = np.full(count, team.rank, "u1"), np.zeros(count, "u1")
        for _ in range(3):
            other[:] = 9
            team.Sendrecv(mine, after, recvbuf=other, source=before)
            assert (other == before).all()
        request = team.Irecv(other, before)
        team.Isend(mine, dest=after).Wait()
        request.Wait()
        if team.rank == 0:
            team.Send(mine, 1)
        elif team.rank == 1:
            team.Recv(other, source=0)
            assert (other == 0).all()

    on_threads(body)


def test_many_requests_in_any_order() -> None:
    def body(team: Team) -> None:
        requests = []
        results = []
        for number in range(200):
            results.append(array("q", [number + team.rank]))
            requests.append(team.Iallreduce(IN_PLACE, results[-1]))
        for request in reversed(requests[100:]):
            request.Wait()
        first = [corymb.Request.Waitany(requests[:100]) for _ in range(100)]
        assert sorted(first) == list(range(100))
        assert corymb.Request.Waitany(requests) == corymb.UNDEFINED
        assert corymb.Request.Waitall(requests)
        assert corymb.Request.Testall(requests)
        assert [result[0] for result in results] == [number * N + 3 for number in range(200)]
        again = [team.Barrier_init() for _ in range(5)]
        for _ in range(3):
            corymb.Request.Startall(again)
            while not corymb.Request.Testall(again):
                pass

    on_threads(body)


def test_a_request_keeps_its_buffers() -> None:
    """Also one that nobody holds: its team goes on with it."""

    def body(team: Team) -> None:
        for _ in range(50):
            team.Iallreduce(array("d", [1.0] * 1000), bytearray(8000) and array("d", [0.0] * 1000))
        team.Ibarrier().Wait()
        buffer = bytearray(8)
        request = team.Ibcast(buffer)
        with pytest.raises(BufferError):
            buffer.extend(b"longer")
        request.Wait()
        buffer.extend(b"longer")

    on_threads(body)


# Buffers
# --------------------------------------------------------------------------------------------------


class OnlyDlpack:
    """A producer without the buffer protocol."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.data.__dlpack_device__()


@pytest.mark.parametrize(
    "make",
    [
        lambda values: np.array(values),
        lambda values: np.array(values).reshape(2, 2),
        lambda values: np.asfortranarray(np.array(values).reshape(2, 2)),
        lambda values: array("d", values),
        lambda values: memoryview(array("d", values)),
        lambda values: memoryview(bytearray(array("d", values))).cast("d"),
        lambda values: [bytearray(array("d", values)), corymb.DOUBLE],
        lambda values: [bytearray(array("d", values)), "d"],
        lambda values: (array("d", [*values, 99.0]), 4),
        lambda values: [array("d", [*values, 99.0]), 4, corymb.DOUBLE],
        lambda values: OnlyDlpack(np.array(values)),
    ],
)
def test_what_is_a_buffer(make: Callable[[list[float]], Any]) -> None:
    def body(team: Team) -> None:
        mine, out = make([1.0, 2.0, 3.0, float(team.rank)]), make([0.0] * 4)
        team.Allreduce(mine, out)
        memory = out[0] if isinstance(out, (list, tuple)) else out
        memory = memory.data if isinstance(memory, OnlyDlpack) else memory
        values = np.frombuffer(memoryview(memory).tobytes(), "f8")
        assert values[:4].tolist() == [3.0, 6.0, 9.0, 3.0]
        assert values[4:].tolist() in ([], [99.0])

    on_threads(body)


ROOM = np.zeros(6)
NO_WRITING = np.zeros(6)
NO_WRITING.flags.writeable = False


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: t.Allreduce(ROOM, NO_WRITING), "read-only"),
        (lambda t: t.Allreduce(ROOM, b"\0" * 48), "read-only"),
        (lambda t: t.Recv(b"12345678", 0), "read-only"),
        (lambda t: t.Allreduce(ROOM, OnlyDlpack(NO_WRITING)), "read-only"),
        (lambda t: t.Allreduce(ROOM[::2], np.zeros(3)), "not contiguous"),
        (lambda t: t.Allreduce(OnlyDlpack(ROOM[::2]), np.zeros(3)), "not contiguous"),
        (lambda t: t.Allreduce(ROOM, np.zeros(5)), "do not fit"),
        (lambda t: t.Allreduce(ROOM, np.zeros(6, "i8")), "different types"),
        (lambda t: t.Allgather(ROOM, np.zeros(7)), "do not fit"),
        (lambda t: t.Allreduce(np.zeros(2, "S8"), np.zeros(2, "S8")), "format '8s'"),
        (lambda t: t.Allreduce(np.zeros(2, ">f8"), np.zeros(2, ">f8")), "format '>d'"),
        (lambda t: t.Allreduce(ROOM, np.zeros(6), corymb.BAND), "bitwise_and"),
        (lambda t: t.Bcast(np.array([None, 1])), "Python objects"),
        (lambda t: t.Bcast([ROOM, 7]), "fewer than"),
        (lambda t: t.Bcast([ROOM, -1]), "negative"),
        (lambda t: t.Bcast([bytearray(9), corymb.DOUBLE]), "no whole number"),
        (lambda t: t.Bcast([ROOM, [1, 2, 3]]), "end in v"),
        (lambda t: t.Gatherv(ROOM, [np.zeros(6), [6, 1]]), "as many counts"),
        (lambda t: t.Gatherv(ROOM, [np.zeros(6), [7]]), "only 6"),
        (lambda t: t.Gatherv(ROOM, [np.zeros(6), [5]]), "this rank's"),
        (lambda t: t.Gatherv(IN_PLACE, [np.zeros(6), [5], [2]]), "too few elements"),
        (lambda t: t.Gatherv(ROOM, np.zeros(6, "f4")), "different types"),
        (lambda t: t.Scatterv(IN_PLACE, ROOM), "IN_PLACE"),
        (lambda t: t.Reduce_scatter(IN_PLACE, np.zeros(6)), "recvcounts"),
        (lambda t: t.Bcast([]), "list of 0 items"),
        (lambda t: t.Bcast(IN_PLACE), "IN_PLACE"),
        (lambda t: t.Bcast(ROOM, 1), "root 1 is out of range"),
        (lambda t: t.Send(ROOM, -1), "-1"),
        (lambda t: t.Send(ROOM, 0, tag=3), "no tags"),
        (lambda t: t.Allreduce(ROOM[:4], ROOM[2:]), "overlap"),
        (lambda t: t.Allreduce(None, ROOM), "do not fit"),
    ],
)
def test_buffers_that_are_refused(call: Callable[[Team], None], text: str) -> None:
    team = corymb._core.ThreadTeam(1).join(0)
    with pytest.raises(corymb.Error, match=text) as caught:
        call(Team(team))
    assert caught.value.code == "invalid_argument"


@pytest.mark.parametrize("thing", [1, "text", [1.0, 2.0], object(), {"a": 1}])
def test_what_is_no_buffer_is_a_type_error(thing: Any) -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    with pytest.raises(TypeError, match="buf must have the buffer protocol"):
        team.Bcast(thing)


# Errors
# --------------------------------------------------------------------------------------------------


def test_requests_are_completed_once() -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    request = team.Ibarrier()
    request.Wait()
    for misuse in (request.Wait, request.Test, request.Start):
        with pytest.raises(corymb.Error):
            misuse()
    persistent = team.Barrier_init()
    with pytest.raises(corymb.Error, match="not active"):
        persistent.Wait()
    persistent.Start()
    with pytest.raises(corymb.Error, match="active already"):
        persistent.Start()
    with pytest.raises(corymb.Error, match="twice"):
        corymb.Request.Waitany([persistent, persistent])


def test_a_team_that_was_freed_is_empty() -> None:
    team = Team(corymb._core.ThreadTeam(1).join(0))
    request = team.Iallreduce(array("q", [1]), array("q", [0]))
    team.Free()
    request.Wait()
    assert (team.rank, team.size) == (-1, 0)
    team.Free()
    for call in (team.Barrier, team.shrink, lambda: team.Bcast(ROOM), team.Ibarrier):
        with pytest.raises(corymb.Error, match="empty"):
            call()


def test_the_deadline_names_who_is_missing() -> None:
    def body(team: Team) -> None:
        if team.rank == 1:
            here.wait(60)
            return
        try:
            team.Barrier()
        finally:
            here.set()

    here = threading.Event()
    with pytest.raises(corymb.RankError) as caught:
        on_threads(body, 2, deadline=0.2)
    cause = caught.value.__cause__
    assert isinstance(cause, corymb.Error)
    assert (cause.code, cause.ranks) == ("timeout", [1])


def test_the_first_failure_is_raised_and_names_its_rank() -> None:
    def body(team: Team) -> None:
        if team.rank == 2:
            raise ValueError("no luck")
        team.Barrier()

    with pytest.raises(corymb.RankError, match="rank 2 failed: ValueError: no luck") as caught:
        on_threads(body)
    assert (caught.value.rank, caught.value.ranks) == (2, [2])
    assert isinstance(caught.value.__cause__, ValueError)


def test_survivors_go_on() -> None:
    def body(team: Team) -> int:
        if team.rank == 1:
            team.abandon("tired")
            team.Free()
            return 0
        with pytest.raises(corymb.Error, match="rank 1 gave up: tired") as caught:
            team.Barrier()
        assert caught.value.code == "team_broken"
        rest = team.shrink()
        return int(rest.allreduce(10 + team.rank))

    assert on_threads(body) == [22, 0, 22]


def test_one_thread_at_a_time() -> None:
    """Whoever comes second is refused before anything has begun, so both try until they are in.

    They pause between two tries: who asks again at once holds the team whenever the other looks.
    """

    def body(team: Team) -> None:
        if team.rank == 0:
            threading.Thread(target=intrude, args=(team,)).start()
        else:
            refused.wait(60)
        while True:
            try:
                return team.Barrier()
            except corymb.Error:
                time.sleep(0.001)

    def intrude(team: Team) -> None:
        while not refused.wait(0.001):
            try:
                team.progress()
            except corymb.Error as error:
                texts.append(str(error))
                refused.set()

    texts: list[str] = []
    refused = threading.Event()
    on_threads(body, 2)
    assert "in use by another thread" in texts[0]


def test_leaving_a_block_by_an_exception_tells_the_others() -> None:
    def body(team: Team) -> None:
        with team:
            if team.rank == 0:
                raise KeyError("lost")
            team.Barrier()

    with pytest.raises(corymb.RankError, match="rank 0 failed: KeyError"):
        on_threads(body)


# Objects
# --------------------------------------------------------------------------------------------------


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
