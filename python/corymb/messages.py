# SPDX-License-Identifier: Apache-2.0
"""The messages of a plan with their simulated times: what trees and timelines are drawn from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corymb import Plan, Timeline

SENDING = {"send": "data", "offer": "data", "signal": "signal", "publish": "publication"}
RECEIVING = {
    "recv": "data",
    "fold": "data",
    "put": "data",
    "put_fold": "data",
    "wait": "signal",
    "read": "publication",
    "read_fold": "publication",
}


@dataclass(frozen=True)
class Message:
    """One edge. Times are in the model's unit, simulated."""

    source: int
    target: int
    kind: str  # "data", "signal" or "publication"
    sent: float  # when the sender had sent it
    received: float  # when the receiver had it


def messages_of(plan: Plan, timeline: Timeline) -> list[Message]:
    """Matches every receiving step with its sending step; `timeline` needs activities. What a rank
    reads of its own is no message."""
    ends = [table[:, 3] for table in timeline.activities]
    sent = _sending_times(plan, ends)
    taken: dict[tuple[int, int, str], int] = defaultdict(int)
    found = []
    for rank, steps in enumerate(plan.steps):
        for index, step in enumerate(steps):
            kind = RECEIVING.get(step.kind)
            if kind is None or step.peer == rank:
                continue
            key = (step.peer, -1 if kind == "publication" else rank, kind)
            which = step.ordinal if kind == "publication" else taken[key]
            taken[key] += 1
            done = float(ends[rank][index])
            if step.via == "push":  # The data goes to the rank that has offered its buffer.
                begun = float(timeline.activities[rank][index, 2])
                found.append(Message(rank, step.peer, kind, begun, done))
            else:
                found.append(Message(step.peer, rank, kind, sent[key][which], done))
    return found


def _sending_times(
    plan: Plan, ends: list[NDArray[np.float64]]
) -> dict[tuple[int, int, str], list[float]]:
    sent: dict[tuple[int, int, str], list[float]] = defaultdict(list)
    for rank, steps in enumerate(plan.steps):
        for index, step in enumerate(steps):
            kind = SENDING.get(step.kind)
            if kind is not None:
                target = -1 if kind == "publication" else step.peer
                sent[rank, target, kind].append(float(ends[rank][index]))
    return sent


def drawn_messages(plan: Plan, timeline: Timeline) -> list[Message]:
    """The messages that make the shape of a plan: its data, or the signals of a barrier.
    Acknowledgements of pulled data are left out."""
    every = messages_of(plan, timeline)
    data = [message for message in every if message.kind != "signal"]
    return data if data else every


def waiting_times(timeline: Timeline) -> NDArray[np.float64]:
    """Per rank: time spent waiting for others, simulated."""
    return np.asarray([float((t[:, 2] - t[:, 1]).sum()) for t in timeline.activities])


def parents_of(messages: list[Message], ranks: int, reverse: bool) -> list[int] | None:
    """parents[rank] (-1 for the root) if the messages form one tree, else None. With `reverse`
    (reductions) the receiver is the parent."""
    parents = [-1] * ranks
    for message in messages:
        parent, child = message.source, message.target
        if reverse:
            parent, child = child, parent
        if parents[child] != -1:
            return None
        parents[child] = parent
    return parents if parents.count(-1) == 1 else None


def children_of(parents: list[int], order: dict[tuple[int, int], float]) -> list[list[int]]:
    """Children of each rank in the order of `order[parent, child]`."""
    children: list[list[int]] = [[] for _ in parents]
    for child, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(child)
    for parent, members in enumerate(children):
        members.sort(key=lambda child, parent=parent: order[parent, child])  # type: ignore[misc]
    return children


def steps_as_json(plan: Plan) -> list[list[dict[str, Any]]]:
    """Kinds, peers and mechanisms only; the full form is Plan.to_json()."""
    return [[{"step": s.kind, "peer": s.peer, "via": s.via} for s in steps] for steps in plan.steps]
