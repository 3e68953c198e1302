# SPDX-License-Identifier: Apache-2.0
"""The page of the in-memory messages, from the records `messaging` and `here`."""

from __future__ import annotations

import math

import svg
from record import Data, lower_quartile, measured
from table import Row, markdown, verdict

TITLE = "In-memory communication mechanisms for many-cores"
SOURCE = "Rotta, Prescher, Traue, Nolte, TACC-Intel HPC Symposium 2012"
# Why a claim of the paper does not hold in the simulation, by a part of the claim.
REASONS = {
    "collectives": "the slides do not say how tickets are taken. With a counter at each receiver "
    "nobody waits for it on a tree. All to one, where one counter serves all, SRBP is slower.",
    "distance": "NVP looks at two lines, and the looks hide half of the distance.",
    "15 times": "the looking alone is simulated. Tags, matching and chunks are not.",
    "70 %": "what is left beside notification and looking has no code in the model.",
    "200 cycles": "behind a lock SRBP pays two accesses more.",
    "round trips": "the looks of the model are longer than those of the machine.",
}
COLLECTIVE = {
    "round_trip": "round trip",
    "gather": "all to one",
    "collective": "up and down a tree",
    "idle_probe": "a look at silent peers",
}
PROTOCOLS = ("ring", "nvp", "srbp")


def charts_of(records: dict[str, Data]) -> dict[str, tuple[str, str]]:
    xeon = records["messaging"]["data"]["xeon"]
    ticks = [2, 4, 8, 16, 32, 48, 64, 96]
    found = {}
    for name in ("gather", "collective", "idle_probe"):
        title = f"{xeon['machine']}: {COLLECTIVE[name]}"
        series = [
            svg.Series(
                protocol,
                list(zip(xeon["ranks"], xeon["curves"][protocol][name], strict=True)),
                PROTOCOLS.index(protocol),
            )
            for protocol in PROTOCOLS
        ]
        found[f"messaging-{name.replace('_', '-')}.svg"] = (
            title,
            svg.lines(f"{title}, simulated", "ranks (cores)", f"time ({xeon['unit']})", series,
                      x_ticks=ticks, log_x=True, log_y=True),
        )  # fmt: skip
    return found


def _reason(claim: str) -> str:
    return next((text for word, text in REASONS.items() if word in claim.lower()), "")


def scc_rows(scc: Data) -> list[Row]:
    how = f"simulated, {scc['machine']}, {scc['ranks']} ranks"
    command = f"corymb sim messages --machine {scc['machine']}"
    return [
        Row(f"SCC {number}", one["claim"], one["simulated"].split(";")[0], one["agrees"], how,
            command, _reason(one["claim"]))
        for number, one in enumerate(scc["claims"], 1)
    ]  # fmt: skip


def xeon_rows(xeon: Data) -> list[Row]:
    how = f"simulated, {xeon['machine']}"
    command = f"corymb sim messages --machine {xeon['machine']}"
    ranks, curves, unit = xeon["ranks"], xeon["curves"], xeon["unit"]
    last = ranks[-1]

    def at_end(name: str) -> str:
        times = ", ".join(f"{curves[p][name][-1]:,.0f} {p}" for p in PROTOCOLS)
        return f"{last} ranks: {times} ({unit})"

    gather = {p: curves[p]["gather"] for p in PROTOCOLS}
    tree = {p: curves[p]["collective"] for p in PROTOCOLS}
    growth = {p: tree[p][-1] / tree[p][0] for p in PROTOCOLS}
    logarithm = math.log(last) / math.log(ranks[0])
    probe = {p: curves[p]["idle_probe"][-1] / curves[p]["idle_probe"][0] for p in PROTOCOLS}
    return [
        Row("appendix: protocols on the Xeon E7, all to one", "a picture without numbers",
            at_end("gather"), verdict([gather["srbp"][-1] > gather["nvp"][-1]]), how, command,
            "the slides say that the counter of SRBP congests. The model of this machine has no "
            "price for one word that many change."),
        Row("appendix: collectives on the Xeon E7", "they grow with the logarithm of the cores",
            f"{', '.join(f'{p} {growth[p]:.1f}' for p in PROTOCOLS)} times from 2 to {last} ranks; "
            f"the logarithm {logarithm:.1f}",
            verdict([growth[p] <= 2 * logarithm for p in ("nvp", "srbp")]), how, command,
            "they grow more than twice as much. Between two ranks NVP looks at one ring, so that "
            "its step from 2 to 4 ranks is large."),
        Row("appendix: polling on the Xeon E7", "a line for 32 peers, or one word",
            f"from 2 to {last} ranks {', '.join(f'{probe[p]:.1f} times {p}' for p in PROTOCOLS)}",
            verdict([probe["nvp"] <= 4, probe["srbp"] <= 1.1]), how, command,
            "a look takes longer than the lines that it reads."),
    ]  # fmt: skip


def here_rows(here: Data) -> list[Row]:
    how = measured(here, "threads")
    rows = here["data"]["messages"]

    def time(op: str, name: str, size: int) -> float:
        return lower_quartile(rows, op=op, contestant=name, size=size)

    trips = {p: time("round_trip", f"mailbox {p}", 8) for p in PROTOCOLS}
    nvp = [time("idle_poll", "mailbox nvp", peers) for peers in (1, 1024)]
    line = [time("idle_poll", "a line for each peer", peers) for peers in (1, 1024)]
    command = "corymb bench messages --bytes 8"
    return [
        Row("SRBP faster than NVP, point to point", "by more than 200 of 2,000 cycles",
            f"{', '.join(f'{p} {trips[p]:,.0f}' for p in PROTOCOLS)} ns",
            verdict([trips["srbp"] < 0.95 * trips["nvp"]]), how, command,
            "on coherent caches the vector of NVP and its message are two lines that travel at "
            "the same time."),
        Row("a look at silent peers", "a line for each peer costs 200 cycles a peer",
            f"1,024 peers: {line[1]:,.0f} ns by lines, {nvp[1]:,.1f} ns by NVP",
            verdict([line[1] > 20 * line[0], nvp[1] < 4 * nvp[0]]), how, command,
            "lines that nobody writes stay in the cache, so a look at one is cheap here."),
    ]  # fmt: skip


def rows_of(records: dict[str, Data]) -> list[Row]:
    data = records["messaging"]["data"]
    return [*scc_rows(data["scc"]), *xeon_rows(data["xeon"]), *here_rows(records["here"])]


def body_of(records: dict[str, Data]) -> str:
    data = records["messaging"]["data"]
    scc, xeon = data["scc"], data["xeon"]
    names = [name for name in scc["rows"][0] if name not in ("look", "protocol", "tickets")]
    table = [
        [row["look"], row["protocol"], row["tickets"] if row["protocol"] == "srbp" else "",
         *(f"{row[n]:.2f}" if n == "notification" else f"{row[n]:,.0f}" for n in names)]
        for row in scc["rows"]
    ]  # fmt: skip
    header = ["look", "protocol", "tickets", *(name.replace("_", " ") for name in names)]
    lines = [
        [protocol, COLLECTIVE[name], *(f"{value:,.0f}" for value in curve)]
        for protocol in PROTOCOLS
        for name, curve in xeon["curves"][protocol].items()
    ]
    return f"""## The SCC

Cycles, messages of {data["bytes"]} bytes among {scc["ranks"]} cores. A look with its `code` takes
200 cycles, as the slides say; `access` has the accesses alone. `tickets` are those of SRBP.
*notification* is the share of notification and looking.

{markdown(header, table)}

## The Xeon E7

{xeon["unit"].capitalize()}, messages of {data["bytes"]} bytes, over the number of ranks.

{markdown(["protocol", "what", *map(str, xeon["ranks"])], lines)}

The model chooses {", ".join(dict.fromkeys(xeon["choices"]))} for these numbers of ranks.
"""
