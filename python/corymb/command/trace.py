# SPDX-License-Identifier: Apache-2.0
"""corymb trace: the groups of running processes, their members and who is behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import console, files, inputs, trace_tasks
from corymb.command.options import JsonFile

Group = dict[str, Any]
LATE_SHOWN = 8


EXAMPLES = (
    "Examples: corymb trace | corymb trace 4711 --watch 1 | corymb trace 4711 --json - | "
    "corymb trace --merge traces/*.json -o tasks.html"
)


def command(
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PID|FILE...",
            help="A process of the groups, all processes without it; of --merge: files.",
        ),
    ] = None,
    merge: Annotated[
        bool,
        typer.Option("--merge", help="Tasks and calls from files that ranks wrote (CORYMB_TRACE)."),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Of --merge: a page with pictures."),
    ] = None,
    watch: Annotated[
        float | None,
        typer.Option("--watch", metavar="SECONDS", help="Look again and again, so far apart."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", metavar="N", help="Of --watch: how many looks.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Show the groups of running processes: members, states, sequence numbers, who is behind."""
    if merge:
        if watch is not None or count is not None:
            raise inputs.usage("--merge reads files, which --watch and --count do not")
        _merge(given or [], output, json)
        return
    if output is not None:
        raise inputs.usage("--output needs --merge")
    pid = _pid_of(given or [])
    if watch is None and count is not None:
        raise inputs.usage("--count needs --watch SECONDS")
    if watch is not None and not 0.01 <= watch <= 86400:
        raise inputs.usage(f"--watch {watch:g}: give 0.01 to 86400 seconds")
    if count is not None and count < 1:
        raise inputs.usage(f"--count {count}: give at least 1")
    files.require_writable(json)
    out = console.output(quiet=console.is_stdout(json))
    looks: list[dict[str, Any]] = []
    try:
        for look in range(1 if watch is None else count or 2**62):
            if look:
                time.sleep(watch or 0)
            found = groups_of(pid)
            looks.append({"seconds": time.time(), "groups": found})
            if json is None or count is None:
                del looks[:-1]  # Who watches without an end keeps the last look.
            show(out, found, since=looks[-1]["seconds"] if watch else None)
    finally:
        if json is not None and looks:
            files.write_json(json, {"schema": "corymb-trace/1", "looks": looks})


def _merge(names: list[str], output: str | None, json: str | None) -> None:
    files.require_writable(output, json)
    merged = trace_tasks.merge(names)
    trace_tasks.show(console.output(quiet=console.is_stdout(json, output)), merged)
    files.write_json(json, merged.as_data())
    if output is not None:
        files.write_text(output, trace_tasks.page_of(merged))


def _pid_of(given: list[str]) -> int | None:
    if len(given) > 1:
        raise inputs.usage("give one process, or --merge with files")
    if given and not given[0].isdecimal():
        raise inputs.usage(f"{given[0]} is not the number of a process; for files give --merge")
    return int(given[0]) if given else None


def groups_of(pid: int | None) -> list[Group]:
    """Those of one process, which must have some, or of all processes that may be looked at."""
    if pid is not None:
        if not 0 < pid < 2**31:
            raise inputs.usage(f"{pid} is not the number of a process")
        groups = corymb.trace_process(pid)
        if not groups:
            raise corymb.Error(
                f"process {pid} has no group between processes; groups of threads are not traced",
                "invalid_argument",
            )
        if all(group.kind == "unknown" for group in groups):
            raise corymb.Error(
                f"the groups of process {pid} were made by another version of corymb; trace them "
                "with that one",
                "unsupported",
            )
    else:
        groups = list(_everywhere())
    return [_as_data(group) for group in groups]


def _everywhere() -> Iterable[corymb.TracedGroup]:
    found: dict[int, corymb.TracedGroup] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            try:
                for group in corymb.trace_process(int(folder.name)):
                    found.setdefault(group.id, group)
            except corymb.Error:
                continue  # Ended, or another user's.
    return found.values()


def _as_data(group: corymb.TracedGroup) -> Group:
    fields = ("rank", "pid", "state", "process", "sequence", "behind")
    return {
        "id": group.id,
        "kind": group.kind,
        "about": group.about,
        "size": group.size,
        "sequence": group.sequence,
        "members": [{name: getattr(one, name) for name in fields} for one in group.members],
        "calls": [
            {
                "initiator": call.initiator,
                "number": call.number,
                "members": call.members,
                "late": [
                    {"rank": late.rank, "pid": late.pid, "state": late.state}
                    | {"seconds": late.seconds}
                    for late in call.late
                ],
            }
            for call in group.calls
        ],
    }


def show(out: Console, groups: list[Group], since: float | None) -> None:
    if since is not None:
        out.print(time.strftime("%H:%M:%S", time.localtime(since)))
    if not groups:
        out.print("no process that may be looked at has a group between processes")
    for group in groups:
        counted = {"multicast": "calls", "broadcast": "published", "mailboxes": "taken"}
        what = counted.get(group["kind"])
        count = f", {what} {group['sequence']}" if what else ""
        out.print(f"{group['kind']} {group['id']}: {group['about']}{count}", markup=False)
        if group["members"]:
            out.print(_table(group))
        for call in group["calls"]:
            out.print(f"  {_call(call)}", markup=False)


def _table(group: Group) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("  rank" if group["kind"] != "broadcast" else "  reader", justify="right")
    for title in ("pid", "process", "state"):
        table.add_column(title, overflow="fold")
    has_sequence = group["kind"] != "multicast"
    if has_sequence:
        table.add_column("sequence", justify="right")
    table.add_column("behind", justify="right")
    slowest = max(one["behind"] for one in group["members"])
    for one in group["members"]:
        cells = ["publisher" if one["rank"] < 0 else str(one["rank"]), str(one["pid"])]
        cells += [one["process"], one["state"]]
        if has_sequence:
            cells.append(str(one["sequence"]))
        lags = one["behind"] == slowest > 0
        cells.append(f"{one['behind']} <-" if lags else str(one["behind"]))
        stands_still = one["process"] != "running"
        table.add_row(*cells, style="bold" if lags or stands_still else None)
    return table


def _call(call: dict[str, Any]) -> str:
    text = f"call {call['number']} of rank {call['initiator']}, {call['members']} members: "
    if not call["late"]:
        return text + "all have run it"
    text += f"{len(call['late'])} late: "
    shown = [
        f"rank {late['rank']} (pid {late['pid']}) {late['state']}, {1000 * late['seconds']:.1f} ms"
        for late in call["late"][:LATE_SHOWN]
    ]
    more = len(call["late"]) - len(shown)
    return text + "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
