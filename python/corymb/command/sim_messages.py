# SPDX-License-Identifier: Apache-2.0
"""corymb sim messages: mailboxes on a machine model, and what was once claimed of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import console, files, inputs
from corymb.command.options import Bytes, JsonFile, MachineName, ModelFile, NoMeasure, Ranks

EXAMPLES = "Example: corymb sim messages --machine scc-48c"
Row = dict[str, Any]
CLAIMED_OF = "scc-48c"
TIMES = ("round_trip", "nearest", "farthest", "notification", "idle_probe", "gather", "collective")
LOOKS = {"code": "a look with its code", "access": "accesses alone"}
TICKETS = ("own", "locked", "common")


def command(
    machine: MachineName = None,
    model: ModelFile = None,
    ranks: Ranks = None,
    size: Bytes = 8,
    peers: Annotated[
        int | None, typer.Option("--peers", metavar="N", min=1, help="Members beside rank 0.")
    ] = None,
    no_measure: NoMeasure = False,
    json: JsonFile = None,
) -> None:
    """Simulate mailboxes, by each protocol, between rank 0 and the others."""
    inputs.require_sizes(size, 0, 0)
    chosen = inputs.choose_machine(machine, model, no_measure)
    placement = inputs.placement_of(ranks, chosen.machine)
    if peers is not None:
        if peers > len(placement) - 1:
            raise inputs.usage(f"--peers {peers}: there are {len(placement) - 1} beside rank 0")
        placement = placement[: peers + 1]
    if len(placement) < 2:
        raise inputs.usage("messages need at least 2 ranks")
    files.require_writable(json)
    rows = console.busy("simulating", lambda: simulate(chosen.machine, placement, size))
    choice = corymb.choose_mailbox(chosen.machine, len(placement))
    found = claims(rows) if chosen.machine.name == CLAIMED_OF and len(placement) == 48 else []
    out = console.output(quiet=console.is_stdout(json))
    show(out, chosen, len(placement), size, rows)
    out.print(f"the model's choice: {choice.reason}", markup=False)
    show_claims(out, found)
    if json is not None:
        files.write_json(
            json,
            {
                "schema": "corymb-sim-messages/1",
                "simulated_on": chosen.title,
                "model_sha256": chosen.machine.sha256(),
                "doubts": chosen.machine.doubts,
                "unit": chosen.machine.unit,
                "ranks": len(placement),
                "placement": list(placement),
                "bytes": size,
                "choice": {"protocol": choice.protocol, "reason": choice.reason},
                "rows": rows,
                "claims": found,
            },
        )


def simulate(machine: corymb.Machine, placement: Sequence[int], size: int) -> list[Row]:
    """A row for each protocol; where caches are not coherent, for each way of taking tickets, too,
    and with the model's look and without the code in it."""
    rows: list[Row] = []
    for look, protocol, tickets in variants(machine.has_access_model):
        times = corymb.simulate_mailbox(
            machine,
            protocol,
            placement=list(placement),
            message_bytes=size,
            look=0.0 if look == "access" else None,
            tickets=tickets,
        )
        row: Row = {"look": look, "protocol": protocol, "tickets": tickets}
        rows.append(row | {name: getattr(times, name) for name in TIMES})
    return rows


def variants(has_access_model: bool) -> Iterator[tuple[str, str, str]]:
    for look in LOOKS if has_access_model else ("code",):
        for protocol in ("ring", "nvp", "srbp"):
            for tickets in TICKETS if protocol == "srbp" and has_access_model else ("own",):
                yield look, protocol, tickets


def claims(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What the slides of 2012 say of the SCC, against the simulation with the model's look."""
    own = {(row["protocol"], row["tickets"]): row for row in rows if row["look"] == "code"}
    line, nvp = own["ring", "own"], own["nvp", "own"]
    srbp = [own["srbp", tickets] for tickets in TICKETS]
    trips = [row["round_trip"] for row in (nvp, *srbp)]
    ahead = [nvp["round_trip"] - row["round_trip"] for row in srbp]
    spread = [row["farthest"] / row["nearest"] - 1 for row in (nvp, *srbp)]
    behind = [row["collective"] / nvp["collective"] for row in srbp]
    heavy = [line["round_trip"] / row["round_trip"] for row in (nvp, *srbp)]
    share = [row["notification"] for row in (nvp, *srbp)]
    by_tickets = ", ".join(TICKETS)
    return [
        _claim(
            "round trips below 2,000 cycles",
            [t < 2000 for t in trips],
            f"at most {max(trips):,.0f}",
        ),
        _claim(
            "SRBP more than 200 cycles faster than NVP, point to point",
            [gain > 200 for gain in ahead],
            f"{_list(ahead, '{:,.0f}')} faster with tickets {by_tickets}",
        ),
        _claim(
            "SRBP slower than NVP in collectives",
            [ratio > 1.05 for ratio in behind],
            f"{_list(behind, '{:.2f}')} times NVP's up and down a tree with tickets {by_tickets}",
        ),
        _claim(
            "distance makes about 10 %",
            [0.05 <= part <= 0.15 for part in spread],
            f"{_list([100 * part for part in spread], '{:.0f}')} % from the nearest to the "
            f"farthest, NVP and SRBP with tickets {by_tickets}",
        ),
        _claim(
            "15 times faster than a protocol that looks at a line for each peer",
            [ratio >= 15 for ratio in heavy],
            f"{_list(heavy, '{:.1f}')} times, NVP and SRBP with tickets {by_tickets}; the looking "
            "alone is simulated, not the tags and the matching of that protocol",
        ),
        _claim(
            "about 70 % is notification and looking",
            [0.65 <= part <= 0.75 for part in share],
            f"{_list([100 * part for part in share], '{:.0f}')} %, the same four",
        ),
    ]


def _claim(text: str, agree: Sequence[bool], simulated: str) -> dict[str, Any]:
    verdict = "yes" if all(agree) else "partly" if any(agree) else "no"
    return {"claim": text, "agrees": verdict, "simulated": simulated}


def _list(values: Sequence[float], form: str) -> str:
    return ", ".join(form.format(value) for value in values)


def show(out: Console, chosen: inputs.Chosen, ranks: int, size: int, rows: Sequence[Row]) -> None:
    unit = chosen.machine.unit
    out.print(
        f"simulated on {chosen.title}, {ranks} ranks, messages of {size} B, {unit}:", markup=False
    )
    for look in dict.fromkeys(row["look"] for row in rows):
        members = [row for row in rows if row["look"] == look]
        if len({row["look"] for row in rows}) > 1:
            out.print(LOOKS[look] + ":")
        out.print(_table(members))


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("protocol", overflow="fold")
    for name in TIMES:
        table.add_column(name.replace("_", " "), justify="right", overflow="fold")
    for row in rows:
        more = f", tickets {row['tickets']}" if row["protocol"] == "srbp" else ""
        cells = [
            f"{100 * row[name]:.0f} %" if name == "notification" else f"{row[name]:,.0f}"
            for name in TIMES
        ]
        table.add_row(row["protocol"] + more, *cells)
    return table


def show_claims(out: Console, found: Sequence[dict[str, Any]]) -> None:
    if found:
        out.print("claimed of the real machine in 2012, and simulated here with looks and code:")
    for one in found:
        verdict = {"yes": "agrees", "partly": "agrees in part", "no": "DISAGREES"}[one["agrees"]]
        out.print(f"  {verdict}: {one['claim']}: {one['simulated']}", markup=False)
