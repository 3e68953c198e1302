# SPDX-License-Identifier: Apache-2.0
"""Messages between two ranks of threads, and requests."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from thread_ranks import N, on_threads

import corymb
from corymb import IN_PLACE, Team


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


def test_messages_are_taken_back() -> None:
    def body(team: Team) -> None:
        after, before = (team.rank + 1) % N, (team.rank - 1) % N
        kept, got = np.full(4, -1), np.full(4, -1)
        receive = team.Irecv(kept, before)
        assert receive.Cancel()
        assert not receive.active
        with pytest.raises(corymb.Error, match="empty"):
            receive.cancel()
        barrier = team.Ibarrier()
        with pytest.raises(corymb.Error, match="collective"):
            barrier.Cancel()
        barrier.Wait()  # Nobody sends before all have taken back.
        send = team.Isend(np.full(4, team.rank), dest=after)
        team.Recv(got, source=before)
        send.Wait()
        assert (got == before).all()
        assert (kept == -1).all()

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
        assert corymb.Request.Waitany(requests) == corymb.UNDEFINED == -32766  # As mpi4py has it.
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
