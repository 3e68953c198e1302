# SPDX-License-Identifier: Apache-2.0
"""Ranks of a library with mpi4py's buffer methods: `python -m ranks.buffer_ranks mpi4py|corymb`,
started by the library's launcher."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from .ends import Actions, Command, Ends, UnsupportedError, die_with_parent, folder, pin_if_asked
from .ends import serve as serve_commands
from .payload import OPERATIONS, Payload

NAMES = {
    "barrier": "Barrier", "broadcast": "Bcast", "reduce": "Reduce", "allreduce": "Allreduce",
    "gather": "Gather", "scatter": "Scatter", "allgather": "Allgather", "alltoall": "Alltoall",
    "reduce_scatter": "Reduce_scatter_block", "scan": "Scan", "exscan": "Exscan",
}  # fmt: skip
REDUCTIONS = {"reduce", "allreduce", "reduce_scatter", "scan", "exscan"}
ROOTED = {"reduce", "gather", "scatter"}


def library(name: str) -> tuple[Any, Any]:
    """The communicator of all ranks and the sum."""
    if name == "corymb":
        corymb: Any = importlib.import_module("corymb")
        return corymb.attach(), corymb.SUM
    mpi: Any = importlib.import_module("mpi4py.MPI")
    return mpi.COMM_WORLD, mpi.SUM


def arguments(payload: Payload, total: Any) -> tuple[list[Any], dict[str, Any]]:
    """Of the collective, in each of its modes."""
    named: dict[str, Any] = {"op": total} if payload.operation in REDUCTIONS else {}
    if payload.operation in ROOTED:
        named["root"] = payload.root
    if payload.operation == "barrier":
        return [], {}
    if payload.operation == "broadcast":
        return [payload.output], {"root": payload.root}
    sent = None if payload.operation == "scatter" and not payload.is_root else payload.input
    nowhere = payload.operation in {"reduce", "gather"} and not payload.is_root
    return [sent, None if nowhere else payload.output], named


class Words:
    """The arguments of the next iteration: made once for each root, so that timed calls do not."""

    def __init__(self, payload: Payload, total: Any) -> None:
        self._payload, self._total = payload, total
        self._by_root: dict[int, tuple[list[Any], dict[str, Any]]] = {}
        self.renew(0)

    def renew(self, iteration: int) -> None:
        self._payload.renew(iteration)
        root = self._payload.root
        if root not in self._by_root:
            self._by_root[root] = arguments(self._payload, self._total)
        self.plain, self.named = self._by_root[root]


def collective(comm: Any, total: Any, payload: Payload, mode: str) -> Actions:
    name = NAMES[payload.operation]
    words = Words(payload, total)
    if mode == "blocking":
        call = getattr(comm, name)
        actions = Actions(lambda: call(*words.plain, **words.named))
    elif mode == "nonblocking":
        under_way = UnderWay(getattr(comm, "I" + name.lower()))
        actions = under_way.actions(lambda: under_way.begin(words))
    else:
        under_way = UnderWay(None)
        under_way.request = getattr(comm, name + "_init")(*words.plain, **words.named)
        actions = under_way.actions(under_way.start)
    actions.renew = words.renew
    return actions


class UnderWay:
    """An operation between start and wait; both may be called again when it is done."""

    def __init__(self, call: Callable[..., Any] | None) -> None:
        self.call = call
        self.request: Any = None
        self.is_done = True

    def begin(self, words: Words) -> None:
        assert self.call is not None
        self.request = self.call(*words.plain, **words.named)
        self.is_done = False

    def start(self) -> None:
        self.request.Start()
        self.is_done = False

    def test(self) -> None:
        if not self.is_done:
            self.is_done = self.request.Test()

    def wait(self) -> None:
        if not self.is_done:
            self.request.Wait()
            self.is_done = True

    def actions(self, start: Callable[[], None]) -> Actions:
        def once() -> None:
            start()
            self.wait()

        return Actions(once, start, self.test, self.wait, lambda: free(self.request))


def free(request: Any) -> None:
    """Persistent requests are given back by the caller; completed ones are empty already."""
    if request and hasattr(request, "Free"):
        request.Free()


def pingpong(comm: Any, payload: Payload, mode: str) -> Actions:
    partner = payload.partner
    if partner is None:
        return Actions(lambda: None)
    send, receive, requests = _halves(comm, payload, mode, partner)
    first, second = (receive, send) if payload.rank % 2 else (send, receive)

    def once() -> None:
        first()
        second()

    def end() -> None:
        for request in requests:
            free(request)

    return Actions(once, end=end)


def _halves(
    comm: Any, payload: Payload, mode: str, partner: int
) -> tuple[Callable[[], None], Callable[[], None], list[Any]]:
    """Send, receive, and the persistent requests."""
    if mode == "blocking":
        return (
            lambda: comm.Send(payload.input, partner),
            lambda: comm.Recv(payload.output, partner),
            [],
        )
    if mode == "nonblocking":
        return (
            lambda: comm.Isend(payload.input, partner).Wait(),
            lambda: comm.Irecv(payload.output, partner).Wait(),
            [],
        )
    requests = [
        comm.Send_init(payload.input, partner),
        comm.Recv_init(payload.output, partner),
    ]

    def start_and_wait(request: Any) -> None:
        request.Start()
        request.Wait()

    return (
        lambda: start_and_wait(requests[0]),
        lambda: start_and_wait(requests[1]),
        requests,
    )


def perform(comm: Any, total: Any, ends: Ends, command: Command) -> str:
    if command.operation not in OPERATIONS:
        raise UnsupportedError
    payload = Payload(
        command.operation, ends.rank, ends.ranks, command.root, command.bytes // 8,
        root_stays=command.mode == "persistent",
    )  # fmt: skip
    if command.operation == "copy":
        actions = Actions(lambda: payload.output.__setitem__(slice(None), payload.input))
    elif command.operation == "compute":
        actions = Actions(lambda: None)
    elif command.operation == "pingpong":
        actions = pingpong(comm, payload, command.mode)
        actions.renew, actions.is_right = payload.renew, payload.is_right
    else:
        actions = collective(comm, total, payload, command.mode)
        actions.is_right = payload.is_right
    is_right = ends.measure(command, actions)
    if actions.end is not None:
        actions.end()
    return "ok" if is_right else "wrong"


def main(name: str) -> None:
    die_with_parent()
    place = folder()
    comm, total = library(name)
    rank, ranks = (comm.rank, comm.size)
    pin_if_asked(rank)
    ends = Ends(place, rank, ranks)
    serve_commands(ends, lambda command: perform(comm, total, ends, command))


if __name__ == "__main__":
    main(sys.argv[1])
