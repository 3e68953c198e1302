# SPDX-License-Identifier: Apache-2.0
"""An evaluator of exported plans that shares nothing with corymb: it reads the CSV of a machine and
the steps of `corymb plan --json`, and computes when each rank is done.

The rules are those of docs/model.md for small payloads on imported machines: a sender is busy for
send(p, q) and the message is there when it ends; the receiver is busy for receive(p, q) from the
later of its own time and that one.
"""

from __future__ import annotations

import csv
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

SEND_SHARE = 0.28
SENDING = {"send", "signal"}
RECEIVING = {"recv", "fold", "wait"}
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


def finish_times(plan: dict[str, Any], send: Costs, receive: Costs) -> list[float]:
    """When each rank is done. Raises ValueError on an unknown step and on a deadlock."""
    cpus = plan["placement"]
    pending = [deque(steps) for steps in plan["steps"]]
    clock = [0.0] * len(pending)
    on_the_way: dict[tuple[int, int, bool], deque[float]] = defaultdict(deque)
    moved = True
    while moved:
        moved = False
        for rank, steps in enumerate(pending):
            while steps and _step(steps[0], rank, clock, on_the_way, cpus, send, receive):
                steps.popleft()
                moved = True
    if any(pending):
        raise ValueError("deadlock")
    return clock


def _step(
    step: dict[str, Any],
    rank: int,
    clock: list[float],
    on_the_way: dict[tuple[int, int, bool], deque[float]],
    cpus: list[int],
    send: Costs,
    receive: Costs,
) -> bool:
    """Does the step if it can be done now."""
    kind = step["step"]
    if kind == "copy":
        return True
    peer = step["peer"]
    if kind in SENDING:
        clock[rank] += send[cpus[rank], cpus[peer]]
        on_the_way[rank, peer, kind == "signal"].append(clock[rank])
        return True
    if kind not in RECEIVING:
        raise ValueError(f"unknown step {kind}")
    waiting = on_the_way[peer, rank, kind == "wait"]
    if not waiting:
        return False
    clock[rank] = max(clock[rank], waiting.popleft()) + receive[cpus[peer], cpus[rank]]
    return True
