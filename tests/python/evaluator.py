# SPDX-License-Identifier: Apache-2.0
"""An evaluator of exported plans that shares nothing with corymb: it reads the CSV of a machine and
the steps of `corymb plan --json`, and computes when each rank is done.

The rules are those of docs/explain/model.md for small payloads on imported machines: a sender is
busy for send(p, q) and the message is there when it ends; the receiver is busy for receive(p, q)
from the later of its own time and that one. A publication is one store, as dear as the dearest
send to one of its readers. They get it one after the other, nearest first: each waits for the
sends that those before it would have cost, and is then busy as with a message. What a rank reads of
its own is there.
"""

from __future__ import annotations

import csv
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

SEND_SHARE = 0.28
SENDING = {"send", "signal"}
RECEIVING = {"recv", "fold", "wait"}
READING = {"read", "read_fold"}
Costs = dict[tuple[int, int], float]


def latency_costs(file: Path) -> tuple[Costs, Costs]:
    """send and receive of a square latency CSV, under the assumption for imported files."""
    with file.open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    cpus = [int(cell) for cell in rows[0][1:]]
    send: Costs = {}
    receive: Costs = {}
    for row in rows[1:]:
        for cpu, cell in zip(cpus, row[1:], strict=True):
            latency = float(cell)
            if latency > 0:
                send[int(row[0]), cpu] = SEND_SHARE * latency
                receive[int(row[0]), cpu] = latency
    return send, receive


def smelt_costs(folder: Path) -> tuple[Costs, Costs]:
    return _smelt_column(folder / "send.csv"), _smelt_column(folder / "receive.csv")


def _smelt_column(file: Path) -> Costs:
    with file.open(encoding="utf-8") as stream:
        return {
            (int(row["sender_core"]), int(row["receiver_core"])): float(row["mean_cycles"])
            for row in csv.DictReader(stream)
        }


class Replay:
    """The state of the ranks while their steps are done one after another."""

    def __init__(self, plan: dict[str, Any], send: Costs, receive: Costs) -> None:
        self.cpus = plan["placement"]
        self.send, self.receive = send, receive
        self.clock = [0.0] * len(plan["steps"])
        self.messages: dict[tuple[int, int, bool], deque[float]] = defaultdict(deque)
        self.published: dict[int, list[float]] = defaultdict(list)
        self.readers: dict[tuple[int, int], list[int]] = defaultdict(list)
        for rank, steps in enumerate(plan["steps"]):
            for step in steps:
                if step["step"] in READING and step["peer"] != rank:
                    self.readers[step["peer"], step.get("ordinal", 0)].append(rank)
        for (owner, _), ranks in self.readers.items():
            here = self.cpus[owner]
            ranks.sort(key=lambda r, here=here: (self.receive[here, self.cpus[r]], self.cpus[r]))

    def do(self, rank: int, step: dict[str, Any]) -> bool:
        """Does the step if it can be done now."""
        kind = step["step"]
        if kind == "copy":
            return True
        if kind == "publish":
            self._publish(rank)
            return True
        peer = step["peer"]
        if peer == rank:
            return step.get("ordinal", 0) < len(self.published[rank])
        here, there = self.cpus[rank], self.cpus[peer]
        if kind in SENDING:
            self.clock[rank] += self.send[here, there]
            self.messages[rank, peer, kind == "signal"].append(self.clock[rank])
            return True
        arrived = self._arrived(rank, peer, step)
        if arrived is None:
            return False
        self.clock[rank] = max(self.clock[rank], arrived) + self.receive[there, here]
        return True

    def _publish(self, rank: int) -> None:
        """One store: as dear as the dearest send to one of its readers."""
        readers = self.readers[rank, len(self.published[rank])]
        costs = [self.send[self.cpus[rank], self.cpus[reader]] for reader in readers]
        self.clock[rank] += max(costs, default=0.0)
        self.published[rank].append(self.clock[rank])

    def _arrived(self, rank: int, peer: int, step: dict[str, Any]) -> float | None:
        """When what the step waits for was there; None if it is not yet."""
        kind = step["step"]
        if kind in READING:
            which = step.get("ordinal", 0)
            stored = self.published[peer]
            if which >= len(stored):
                return None
            readers = self.readers[peer, which]
            ahead = readers[: readers.index(rank)]
            return stored[which] + sum(self.send[self.cpus[peer], self.cpus[r]] for r in ahead)
        if kind not in RECEIVING:
            raise ValueError(f"unknown step {kind}")
        waiting = self.messages[peer, rank, kind == "wait"]
        return waiting.popleft() if waiting else None


def finish_times(plan: dict[str, Any], send: Costs, receive: Costs) -> list[float]:
    """When each rank is done. Raises ValueError on an unknown step and on a deadlock."""
    replay = Replay(plan, send, receive)
    pending = [deque(steps) for steps in plan["steps"]]
    moved = True
    while moved:
        moved = False
        for rank, steps in enumerate(pending):
            while steps and replay.do(rank, steps[0]):
                steps.popleft()
                moved = True
    if any(pending):
        raise ValueError("deadlock")
    return replay.clock
