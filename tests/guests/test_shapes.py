# SPDX-License-Identifier: Apache-2.0
"""Machines of other shapes, in QEMU. What must be found is computed from the shape that was asked
for; nothing is read back from hwloc or lscpu."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "guest"))

from machine import CPU, Guest  # noqa: E402
from shape import Cpu, Shape, parse_shape  # noqa: E402

RING = "10,16,32,16;16,10,16,32;32,16,10,16;16,32,16,10"


@dataclass(frozen=True)
class Case:
    """A machine, and situations of tests/guests/look.py with the CPUs that are left in each."""

    name: str
    shape: Shape
    situations: dict[str, list[int]]
    append: str = ""
    has_l3: bool = True
    mebibytes: int = 2048


def cases() -> list[Case]:
    every = list(range(16))
    return [
        Case(
            "two packages, a node each",
            parse_shape("2x4x2", "10,21;21,10"),
            {
                "whole": every,
                "offline=3,5": [cpu for cpu in every if cpu not in (3, 5)],
                "offline=8,9,10,11,12,13,14,15": every[:8],
                "cpuset=2-3,8-11/1": [2, 3, 8, 9, 10, 11],
                "taskset=1,2,9": [1, 2, 9],
            },
        ),
        Case("a ring of four", parse_shape("4x2x1", RING), {"whole": list(range(8))}),
        Case(
            "packages of one node, no L3",
            parse_shape("2x4x1"),
            {"whole": list(range(8)), "offline=1": [0, 2, 3, 4, 5, 6, 7]},
            has_l3=False,
        ),
        Case(
            "dies, SMT off",
            parse_shape("2x2x2x2", "4"),
            {"whole": list(range(0, 16, 2))},
            append="nosmt",
        ),
        Case(
            "nodes that cut a package, isolated CPUs",
            parse_shape("1x8x1", "4"),
            {"whole": [0, 1, 4, 5, 6, 7], "taskset=2,3,4": [2, 3, 4]},
            append="isolcpus=2,3",
        ),
    ]


@pytest.fixture(scope="module", params=cases(), ids=lambda case: case.name)
def seen(request: pytest.FixtureRequest) -> tuple[Case, dict[str, Any]]:
    """One boot for all situations of a machine."""
    case: Case = request.param
    guest = Guest(
        case.shape,
        case.mebibytes,
        CPU if case.has_l3 else CPU + ",l3-cache=off",
        case.append,
        seconds=3600,
    )
    out = io.BytesIO()
    look = str(Path(__file__).with_name("look.py"))
    command = [sys.executable, look, *case.situations]
    errors = io.BytesIO()
    status = guest.run(command, ROOT / "build" / "guest", out, errors)
    assert status == 0, errors.getvalue().decode()
    return case, json.loads(out.getvalue())


def left(case: Case, situation: str) -> list[Cpu]:
    wanted = case.situations[situation]
    return [cpu for cpu in case.shape.cpus() if cpu.number in wanted]


def test_the_cpus_that_may_be_used(seen: tuple[Case, dict[str, Any]]) -> None:
    case, found = seen
    for situation, expected in case.situations.items():
        assert found[situation]["allowed"] == expected, situation
        assert sorted(pu["cpu"] for pu in found[situation]["pus"]) == expected, situation


def test_who_shares_what(seen: tuple[Case, dict[str, Any]]) -> None:
    """QEMU gives each die an L3."""
    case, found = seen
    many_dies = case.shape.dies > 1
    for situation in case.situations:
        at = {cpu.number: cpu for cpu in left(case, situation)}
        for a in found[situation]["pus"]:
            assert (a["l3"] is not None) == case.has_l3, situation
            for b in found[situation]["pus"]:
                one, other = at[a["cpu"]], at[b["cpu"]]
                where = f"{situation}: CPUs {a['cpu']} and {b['cpu']}"
                assert (a["core"] == b["core"]) == (one.core == other.core), where
                assert (a["package"] == b["package"]) == (one.package == other.package), where
                assert (a["numa"] == b["numa"]) == (one.node == other.node), where
                if case.has_l3:
                    assert (a["l3"] == b["l3"]) == (one.die == other.die), where
                if many_dies:
                    assert (a["die"] == b["die"]) == (one.die == other.die), where


def test_costs_grow_outwards(seen: tuple[Case, dict[str, Any]]) -> None:
    case, found = seen
    for situation in case.situations:
        answer = found[situation]
        at = {cpu.number: cpu for cpu in left(case, situation)}
        cpus = [at[pu["cpu"]] for pu in answer["pus"]]
        pairs = [
            (_shared(case, a, b), _distance(case, a, b), answer["cost"][i][j])
            for i, a in enumerate(cpus)
            for j, b in enumerate(cpus)
            if i != j
        ]
        for near in pairs:
            for far in pairs:
                if near[0] > far[0]:  # The far pair shares less.
                    assert near[2] < far[2], f"{situation}: {near} and {far}"
                if near[0] == far[0] and near[1] < far[1]:
                    assert near[2] < far[2], f"{situation}: {near} and {far}"


def _shared(case: Case, a: Cpu, b: Cpu) -> frozenset[str]:
    """Compared as sets: > means that all that the other pair shares is shared, and more."""
    names = {"core", "die", "package"} if case.shape.dies > 1 else {"core", "package"}
    shared = {name for name in names if getattr(a, name) == getattr(b, name)}
    return frozenset(shared | ({"node"} if a.node == b.node else set()))


def _distance(case: Case, a: Cpu, b: Cpu) -> int:
    return case.shape.distance(a.node, b.node)


def test_permissions_and_plans(seen: tuple[Case, dict[str, Any]]) -> None:
    """Root may do all of it in a guest, whatever the cpuset."""
    case, found = seen
    for situation in case.situations:
        answer = found[situation]
        assert answer["planned"], situation
        for name in ("pinning", "NUMA policy", "futex", "membarrier"):
            available, detail = answer["permissions"][name]
            assert available, f"{situation}: {name}: {detail}"
