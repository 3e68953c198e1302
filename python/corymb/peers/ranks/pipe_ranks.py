# SPDX-License-Identifier: Apache-2.0
"""Ranks with what Python itself has: processes, pipes and the barrier of multiprocessing, sums by
numpy. `python -m corymb.peers.ranks.pipe_ranks RANKS`.

The operations that people build from these: rank 0 collects and distributes.
"""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import sys
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from .ends import Actions, Command, Ends, UnsupportedError, die_with_parent, folder, pin_if_asked
from .ends import serve as serve_commands
from .payload import Payload


class Company:
    """What one rank holds: the barrier and its ends of the pipes, to all from rank 0, to rank 0
    from the others, and to the partner of a ping-pong."""

    def __init__(self, rank: int, barrier: Any, links: dict[int, Connection]) -> None:
        self.rank, self.barrier, self.links = rank, barrier, links

    def broadcast(self, payload: Payload) -> None:
        if self.rank == 0:
            for link in self.links.values():
                link.send_bytes(payload.output.data)
        else:
            self.links[0].recv_bytes_into(payload.output)

    def reduce(self, payload: Payload, room: np.ndarray[Any, Any]) -> None:
        if self.rank != 0:
            self.links[0].send_bytes(payload.input.data)
            return
        payload.output[:] = payload.input
        for link in self.links.values():
            link.recv_bytes_into(room)
            np.add(payload.output, room, out=payload.output)

    def allreduce(self, payload: Payload, room: np.ndarray[Any, Any]) -> None:
        self.reduce(payload, room)
        self.broadcast(payload)

    def pingpong(self, payload: Payload) -> None:
        link = self.links[1 - self.rank]
        if self.rank == 0:
            link.send_bytes(payload.input.data)
            link.recv_bytes_into(payload.output)
        else:
            link.recv_bytes_into(payload.output)
            link.send_bytes(payload.input.data)


def perform(company: Company, ends: Ends, command: Command) -> str:
    known = command.operation in {"barrier", "broadcast", "reduce", "allreduce", "pingpong"}
    if not known or command.mode != "blocking" or command.root != 0:
        raise UnsupportedError
    if command.operation == "pingpong" and ends.ranks != 2:
        raise UnsupportedError  # Only rank 0 has pipes to others.
    payload = Payload(command.operation, ends.rank, ends.ranks, 0, command.bytes // 8)
    room = np.empty(command.bytes // 8)
    match command.operation:
        case "barrier":
            actions = Actions(company.barrier.wait)
        case "broadcast":
            actions = Actions(lambda: company.broadcast(payload))
        case "reduce":
            actions = Actions(lambda: company.reduce(payload, room))
        case "allreduce":
            actions = Actions(lambda: company.allreduce(payload, room))
        case _:
            actions = Actions(lambda: company.pingpong(payload))
    ends.measure(command, actions)
    return "ok" if payload.is_right() else "wrong"


def work(rank: int, ranks: int, barrier: Any, links: dict[int, Connection]) -> None:
    die_with_parent()
    pin_if_asked(rank)
    company = Company(rank, barrier, links)
    ends = Ends(folder(), rank, ranks)
    with contextlib.suppress(KeyboardInterrupt):
        serve_commands(ends, lambda command: perform(company, ends, command))


def main(ranks: int) -> None:
    die_with_parent()
    folder()
    context = mp.get_context("fork")
    barrier = context.Barrier(ranks)
    pairs = {rank: context.Pipe() for rank in range(1, ranks)}
    links = [{rank: pair[0] for rank, pair in pairs.items()}]
    links += [{0: pairs[rank][1]} for rank in range(1, ranks)]
    everybody = [
        context.Process(target=work, args=(rank, ranks, barrier, links[rank]))
        for rank in range(1, ranks)
    ]
    for process in everybody:
        process.start()
    work(0, ranks, barrier, links[0])
    for process in everybody:
        process.join()


if __name__ == "__main__":
    main(int(sys.argv[1]))
