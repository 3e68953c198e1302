# SPDX-License-Identifier: Apache-2.0
"""Ranks with what Python itself has: processes, pipes and the barrier of multiprocessing, sums by
numpy. `python -m corymb.peers.ranks.pipe_ranks RANKS`.

The operations that people build from these: rank 0 collects and distributes. Another root sends
its payload to rank 0 first, or gets the sum from it.
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
from .payload import Array, Payload


class Company:
    """What one rank holds: the barrier and its ends of the pipes, to all from rank 0, to rank 0
    from the others, and to the partner of a ping-pong."""

    def __init__(self, rank: int, barrier: Any, links: dict[int, Connection]) -> None:
        self.rank, self.barrier, self.links = rank, barrier, links

    def broadcast(self, data: Array, root: int) -> None:
        if self.rank == 0:
            if root != 0:
                self.links[root].recv_bytes_into(data)
            for rank, link in self.links.items():
                if rank != root:
                    link.send_bytes(data.data)
        elif self.rank == root:
            self.links[0].send_bytes(data.data)
        else:
            self.links[0].recv_bytes_into(data)

    def reduce(self, payload: Payload, room: Array, total: Array, root: int) -> None:
        """`total` is of rank 0 and the root."""
        if self.rank != 0:
            self.links[0].send_bytes(payload.input.data)
            if self.rank == root:
                self.links[0].recv_bytes_into(total)
            return
        total[:] = payload.input
        for link in self.links.values():
            link.recv_bytes_into(room)
            np.add(total, room, out=total)
        if root != 0:
            self.links[root].send_bytes(total.data)

    def allreduce(self, payload: Payload, room: Array) -> None:
        self.reduce(payload, room, payload.output, 0)
        self.broadcast(payload.output, 0)

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
    room, spare = np.empty(command.bytes // 8), np.empty(command.bytes // 8)

    def total() -> Array:
        return payload.output if payload.is_root else spare

    match command.operation:
        case "barrier":
            actions = Actions(company.barrier.wait)
        case "broadcast":
            actions = Actions(lambda: company.broadcast(payload.output, payload.root))
        case "reduce":
            actions = Actions(lambda: company.reduce(payload, room, total(), payload.root))
        case "allreduce":
            actions = Actions(lambda: company.allreduce(payload, room))
        case _:
            actions = Actions(lambda: company.pingpong(payload))
    actions.renew, actions.is_right = payload.renew, payload.is_right
    return "ok" if ends.measure(command, actions) else "wrong"


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
