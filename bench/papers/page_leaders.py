# SPDX-License-Identifier: Apache-2.0
"""The page of the multi-leader allgather, from the record `leaders`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import svg
from record import Data
from table import Row, markdown, verdict

TITLE = "Multi-leader allgather"
SOURCE = "Kandalla, Subramoni, Santhanaraman, Koop, Panda, CAC 2009"
STUDY = "make papers STUDIES=leaders"
SHOWN = (
    "corymb",
    "recursive doubling",
    "ring",
    "1 leader, shared",
    "2 lanes, shared",
    "4 lanes, shared",
    "4 lanes, messages",
    "4 node-major, shared",
)
CLOSE = 0.8  # A gain of this part of the paper's agrees.


def least(times: dict[str, float], leaders: int, way: str) -> float:
    """The best order of so many leaders: the slides do not say which one the paper has."""
    names = [f"{leaders} lanes, {way}", f"{leaders} node-major, {way}"]
    return min(times[name] for name in ([f"1 leader, {way}"] if leaders == 1 else names))


LESS = "the model's prices of memory and network are assumed, not those of the paper's machine."

Way = Callable[[dict[str, float]], float]


def best_gain(rows: Sequence[Data], slow: Way, fast: Way) -> tuple[float, int]:
    """The greatest share of the slow way's time that the fast one saves, and its size."""
    return max((1 - fast(row["times"]) / slow(row["times"]), row["bytes"]) for row in rows)


def charts_of(records: dict[str, Data]) -> dict[str, tuple[str, str]]:
    data = records["leaders"]["data"]
    title = "Allgather on 8 nodes of 16 ranks"
    series = [
        svg.Series(
            name,
            [(row["bytes"], row["times"][name] / 1000) for row in data["rows"]
             if name in row["times"]],
            number,
        )
        for number, name in enumerate(SHOWN)
    ]  # fmt: skip
    ticks = [8, 64, 512, 4096, 32768, 262144]
    chart = svg.lines(f"{title}, simulated", "contribution of a rank (bytes)", "time (µs)", series,
                      x_ticks=ticks, x_text=svg.size, log_x=True, log_y=True)  # fmt: skip
    return {"leaders-by-size.svg": (title, chart)}


def gain_row(rows: Sequence[Data], figure: str, claim: float, ways: tuple[Way, Way], how: str,
             why: str) -> Row:  # fmt: skip
    gain, size = best_gain(rows, *ways)
    return Row(
        figure,
        f"about {100 * claim:.0f} % less time",
        f"up to {100 * gain:.0f} %, at {svg.size(size)}",
        verdict([gain >= CLOSE * claim]),
        how,
        STUDY,
        why,
    )


def leader_rows(rows: Sequence[Data], how: str) -> list[Row]:
    def of(leaders: int, way: str) -> Way:
        return lambda times: least(times, leaders, way)

    def doubling(times: dict[str, float]) -> float:
        return times["recursive doubling"]

    return [
        gain_row(rows, "4 leaders beside 1, messages", 0.20,
                 (of(1, "messages"), of(4, "messages")), how, LESS),
        gain_row(rows, "4 leaders beside 1, shared memory", 0.25,
                 (of(1, "shared"), of(4, "shared")), how, LESS),
        gain_row(rows, "4 leaders, messages, beside recursive doubling", 0.50,
                 (doubling, of(4, "messages")), how, LESS),
        gain_row(rows, "4 leaders, shared memory, beside recursive doubling", 0.70,
                 (doubling, of(4, "shared")), how, LESS),
        gain_row(rows, "shared memory beside messages, 4 leaders", 0.40,
                 (of(4, "messages"), of(4, "shared")), how, LESS),
    ]  # fmt: skip


def reason_row(data: Data, how: str) -> Row:
    """The paper's reason for leaders: one controller cannot feed all copiers of a node."""

    def of(leaders: int) -> Way:
        return lambda times: least(times, leaders, "shared")

    limited, _ = best_gain(data["rows"], of(1), of(4))
    unlimited, _ = best_gain(data["unlimited"], of(1), of(4))
    return Row(
        "why leaders pay",
        "one memory controller cannot feed all copiers",
        f"4 leaders save up to {100 * limited:.0f} %; with unlimited memory up to "
        f"{100 * unlimited:.0f} %",
        verdict([limited > 1.5 * unlimited]),
        how,
        STUDY,
        "the network is what leaders relieve.",
    )


def size_rows(data: Data, how: str) -> list[Row]:
    rows = data["rows"]
    small, large = rows[0], rows[-1]
    ring = [row["bytes"] for row in rows
            if row["times"]["ring"] < min(least(row["times"], k, w) for k in (1, 2, 4)
                                          for w in ("messages", "shared"))]  # fmt: skip
    worse = [
        row["bytes"]
        for row in rows
        if row["times"]["4 node-major, shared"] > row["times"]["1 leader, shared"]
    ]
    slower = max(
        row["times"]["corymb"] / min(t for name, t in row["times"].items() if name != "corymb")
        for row in rows
    )
    return [
        Row(
            "large messages",
            "the plain ring wins",
            f"the ring beats every number of leaders at {', '.join(map(svg.size, ring))}"
            if ring
            else "the ring never wins",
            verdict([bool(ring), large["bytes"] in ring]),
            how,
            STUDY,
            "the table has sizes at which leaders win. There the flat ring meets a step of the "
            "model's prices; why has not been studied.",
        ),
        Row(
            "unified scheme: small, medium, large",
            "levels and doubling; shared memory; a flat ring",
            ", ".join(f"{svg.size(row['bytes'])} {row['chosen']}" for row in
                      (small, rows[len(rows) // 2], large)),
            verdict(["doubling" in small["chosen"], "ring" in large["chosen"],
                     "flat/ring" in large["chosen"]]),
            how,
            STUDY,
            "corymb has a way that the paper lacks: leaders exchange in a ring, and spread each "
            "round in their node while the next one is under way.",
        ),
        Row(
            "the unified scheme beside its parts",
            "the best of all at every size",
            f"the choice takes at most {slower:.2f} times as long as the best of the parts",
            verdict([slower <= 1.03]),
            how,
            STUDY,
            "the search stops at plans that are about as fast, or misses the best one.",
        ),
        Row(
            "order of the leaders",
            "not said",
            f"numbered node after node, 4 leaders lose to 1 from {svg.size(min(worse))} on; lanes "
            "do not" if worse else "no order loses",
            "-",
            how,
            STUDY,
        ),
    ]  # fmt: skip


def flat_rows(data: Data) -> list[Row]:
    flat, size = data["flat"], svg.size(data["flat_bytes"])
    how = f"simulated, {flat[0]['nodes']} ranks, {size}"
    doubling, ring = ([row["times"][name] for row in flat] for name in
                      ("recursive doubling", "ring"))  # fmt: skip
    return [
        Row("recursive doubling over cores of a node", "degrades with the cores",
            f"from 1 to {flat[-1]['ranks']} ranks a node {doubling[-1] / doubling[0]:.1f} times "
            "the time", verdict([doubling[-1] > 1.5 * doubling[0]]), how, STUDY,
            "doubling does not get slower with more ranks a node."),
        Row("ring over cores of a node", "does not degrade",
            f"from 1 to {flat[-1]['ranks']} ranks a node {ring[-1] / ring[0]:.1f} times the time",
            verdict([ring[-1] <= ring[0]]), how, STUDY,
            "the ring gets slower with more ranks a node."),
    ]  # fmt: skip


def large_rows(data: Data) -> list[Row]:
    nodes = data["large_nodes"]
    how = f"simulated, {nodes} nodes of 4 x 4 cores"
    gains = [
        (1 - least(row["times"], 4, "messages") / row["times"]["recursive doubling"], row["bytes"])
        for row in data["large"]
    ]
    return [
        Row(
            f"{16 * nodes:,} ranks: 4 leaders, messages, beside recursive doubling",
            "4 leaders win",
            f"{100 * min(gains)[0]:.0f} to {100 * max(gains)[0]:.0f} % less time",
            verdict([min(gains)[0] > 0]),
            how,
            STUDY,
            "doubling wins at some sizes.",
        )
    ]


def rows_of(records: dict[str, Data]) -> list[Row]:
    data = records["leaders"]["data"]
    how = f"simulated, {data['nodes']} nodes of 4 x 4 cores"
    return [
        *leader_rows(data["rows"], how),
        reason_row(data, how),
        *size_rows(data, how),
        *flat_rows(data),
        *large_rows(data),
    ]


def _table(rows: Sequence[Data]) -> str:
    names = list(rows[0]["times"])
    lines = [
        [svg.size(row["bytes"]), *(f"{row['times'][n] / 1000:,.1f}" for n in names),
         f"`{row['chosen']}`"]
        for row in rows
    ]  # fmt: skip
    return markdown(["bytes", *names, "the choice"], lines)


def body_of(records: dict[str, Data]) -> str:
    data = records["leaders"]["data"]
    node = data["node"]
    network = ",".join(str(value) for value in data["network"].values())
    return f"""## The model

A node has {node["packages"]} packages of {node["cores"]} cores, 100 ns within a package and 200
between them. A core copies {node["copy_gbs"]} GB/s, and each of {node["controllers"]} memory
controllers feeds {node["controller_gbs"]} GB/s. The network is `{network}`: two adapters of
InfiniBand DDR give 2 GB/s each, as in the paper. Everything else is assumed. Leaders are numbered
node after node (`node-major`), or exchange with those of equal number first (`lanes`);
[the schemes](../../explain/nodes.md#schemes) are explained elsewhere.

## {data["nodes"]} nodes by size

Microseconds by the contribution of a rank.

{_table(data["rows"])}

## The same with unlimited memory

{_table(data["unlimited"])}

## {data["large_nodes"]} nodes by size

{_table(data["large"])}
"""
