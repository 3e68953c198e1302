# SPDX-License-Identifier: Apache-2.0
"""Runs in a guest: what corymb finds there, as one JSON document on standard output.

Each argument is a situation: `whole`, `offline=3,5`, `cpuset=0-2/1` (CPUs / nodes of memory),
`taskset=1,2`. CPUs are online again and the process has its first cpuset back after each.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import corymb

CGROUP = Path("/sys/fs/cgroup")
COLUMNS = ("core", "l3", "die", "package", "numa")


def main() -> None:
    found = {}
    for situation in sys.argv[1:]:
        with _situation(*situation.partition("=")[::2]):
            found[situation] = look()
    json.dump(found, sys.stdout)


def look() -> dict[str, Any]:
    machine = corymb.discover_topology()
    document = json.loads(machine.to_json())
    usable = corymb.usable_cpus()
    permissions = corymb.probe_permissions()
    plan = corymb.make_plan(machine, "allreduce") if len(machine) > 1 else None
    if plan is not None:
        plan.plan.check()
    return {
        "allowed": usable.allowed,
        "pus": [
            {"cpu": pu["cpu"], **{name: pu.get(name) for name in COLUMNS}}
            for pu in document["topology"]["pus"]
        ],
        "cost": (machine.send_costs() + machine.receive_costs()).tolist(),
        "remarks": machine.quality.remarks + machine.disagreements,
        "permissions": {row.name: [row.available, row.detail] for row in permissions},
        "planned": plan.plan.algorithm if plan is not None else None,
    }


@contextmanager
def _situation(name: str, value: str) -> Iterator[None]:
    mask = os.sched_getaffinity(0)
    if name == "whole":
        yield
    elif name == "taskset":
        os.sched_setaffinity(0, {int(cpu) for cpu in value.split(",")})
        yield
        os.sched_setaffinity(0, mask)
    elif name == "offline":
        files = [Path(f"/sys/devices/system/cpu/cpu{cpu}/online") for cpu in value.split(",")]
        for file in files:
            file.write_text("0")
        yield
        for file in files:
            file.write_text("1")
        os.sched_setaffinity(0, mask)
    elif name == "cpuset":
        cpus, nodes = value.split("/")
        (CGROUP / "cgroup.subtree_control").write_text("+cpuset")
        group = CGROUP / "guest"
        group.mkdir()
        (group / "cpuset.cpus").write_text(cpus)
        (group / "cpuset.mems").write_text(nodes)
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
        (CGROUP / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()
        os.sched_setaffinity(0, mask)
    else:
        raise ValueError(f"unknown situation {name}")


if __name__ == "__main__":
    main()
