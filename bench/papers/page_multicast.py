# SPDX-License-Identifier: Apache-2.0
"""The page of the dynamic multicasts, from the records `multicast` and `here`."""

from __future__ import annotations

from collections.abc import Sequence

import svg
from record import Data, lower_quartile, measured
from table import Row, markdown, verdict

TITLE = "Dynamic multicasts over static topologies"
SOURCE = "Kuban, Rotta, Nolte, Euro-Par 2017 Workshops"
# The paper's three figures, as corymb names what is in them.
FIGURES = {
    "flat": ("Flat: broadcast to all and multicast", ("flat, to all", "flat")),
    "helping": (
        "Flat: broadcast, multicast, helping",
        ("flat, to all", "flat", "flat, helping"),
    ),
    "tree": (
        "Binary tree: helping and skipping, and corymb's choice",
        ("binary tree, helping", "binary tree, skipping", "tree, skipping", "tree, to all", "best"),
    ),
}
# A curve looks the same in all figures.
ORDER = ("best", "flat", "flat, helping", "tree, skipping", "tree, to all", "flat, to all",
         "binary tree, helping", "binary tree, skipping")  # fmt: skip
NEAR = 0.1  # Latencies that differ by less are equal.


def curves(data: Data, names: Sequence[str]) -> list[svg.Series]:
    return [
        svg.Series(
            name, list(zip(data["members"], data["latency"][name], strict=True)), ORDER.index(name)
        )
        for name in names
    ]


def charts_of(records: dict[str, Data]) -> dict[str, tuple[str, str]]:
    data = records["multicast"]["data"]
    ticks = [size for size in data["members"] if size in (1, 8, 16, 25, 35, 45, 59)]
    return {
        f"multicast-{name}.svg": (
            title,
            svg.lines(
                f"{title}, simulated",
                "members of the group (ranks)",
                f"median latency ({data['unit']})",
                curves(data, variants),
                x_ticks=ticks,
            ),
        )
        for name, (title, variants) in FIGURES.items()
    }


def figure_rows(data: Data, how: str, command: str) -> list[Row]:
    latency, members, unit = data["latency"], data["members"], data["unit"]
    flat, to_all, helping = latency["flat"], latency["flat, to all"], latency["flat, helping"]
    middle = len(members) // 2
    gap = [h - f for h, f in zip(helping, flat, strict=True)]
    skip = [
        h / s
        for h, s in zip(
            latency["binary tree, helping"], latency["binary tree, skipping"], strict=True
        )
    ]
    return [
        Row(
            "figure 1: flat, broadcast and multicast",
            "a multicast grows with the group, a broadcast takes the same for every group",
            f"{flat[0]:,.0f} {unit} for 1 member, {flat[-1]:,.0f} for {members[-1]}; to all "
            f"{to_all[0]:,.0f}",
            verdict([flat[0] < flat[-1] / 4, len(set(to_all)) == 1]),
            how,
            command,
            "the two curves have another shape.",
        ),
        Row(
            "figure 1: the axis",
            "at most 80,000 cycles for 60 members, 76,000 ns at 1.053 GHz",
            f"{flat[-1]:,.0f} {unit}",
            verdict([flat[-1] <= 76000]),
            how,
            command,
            "corymb takes longer than the axis of the paper reaches.",
        ),
        Row(
            "figure 2: flat, helping",
            "above the multicast, by tests of members and the walk",
            f"above it by {gap[0]:,.0f} {unit} for 1 member, {gap[middle]:,.0f} for "
            f"{members[middle]}, {gap[-1]:,.0f} for {members[-1]}",
            verdict([min(gap) >= 0, max(gap) > 0]),
            how,
            command,
            "a delay before an acknowledgement can shorten the line at a counter, so that helping "
            "comes out a little below now and then.",
        ),
        Row(
            "figure 3: binary tree, helping and skipping",
            "skipping is faster for small groups",
            f"helping takes {skip[0]:.2f} times as long for 1 member, {skip[middle]:.2f} for "
            f"{members[middle]}, {skip[-1]:.2f} for {members[-1]}",
            verdict([skip[0] > 1 + NEAR, abs(skip[-1] - 1) < NEAR]),
            how,
            command,
            "both take nearly as long for one member.",
        ),
    ]


def verdict_rows(data: Data, how: str, command: str) -> list[Row]:
    latency, members = data["latency"], data["members"]
    best, flat = latency["best"], latency["flat"]
    gathered, middle = latency["best, gather tree"], len(members) // 2
    few = [b / f for b, f, m in zip(best, flat, members, strict=True) if m <= 4]
    many = [f / b for b, f, m in zip(best, flat, members, strict=True) if m >= 30]
    return [
        Row(
            "verdict: large groups",
            "a clear win over flat calls",
            f"the choice is {min(many):.1f} to {max(many):.1f} times as fast for 30 members and "
            "more",
            verdict([min(many) > 1 + NEAR]),
            how,
            command,
            "flat calls are as fast for some groups of 30 members and more.",
        ),
        Row(
            "verdict: small groups",
            "acceptable",
            f"the choice takes {min(few):.2f} to {max(few):.2f} times as long as flat up to 4 "
            "members",
            verdict([max(few) < 1 + NEAR]),
            how,
            command,
            "the choice is slower than flat for some small groups.",
        ),
        Row(
            "acknowledgement by counters or messages",
            "counters are fewer messages; no figure",
            f"messages take {latency['best, answers as messages'][-1] / best[-1]:.2f} times as "
            f"long for {members[-1]} members",
            "-",
            how,
            command,
        ),
        Row(
            "scatter and gather nodes: a gather tree of its own",
            "the tree of acknowledgements may have another shape; no figure",
            f"the choice takes {gathered[-1] / best[-1]:.2f} times as long up a planned reduce for "
            f"{members[-1]} members, {gathered[middle] / best[middle]:.2f} for {members[middle]}",
            "-",
            how,
            command,
        ),
    ]


def rows_of(records: dict[str, Data]) -> list[Row]:
    data = records["multicast"]["data"]
    how = f"simulated, {data['machine']}, {data['ranks']} ranks"
    command = f"corymb sim multicast --machine {data['machine']} --ranks {data['ranks']}"
    return [
        *figure_rows(data, how, command),
        *verdict_rows(data, how, command),
        *_here_rows(records["here"]),
    ]


def _here_rows(here: Data) -> list[Row]:
    rows = here["data"]["multicast"]
    own, kernel = (
        lower_quartile(rows, regime="polling", members=1, contestant=name)
        for name in ("corymb", "membarrier, no call")
    )
    return [
        Row(
            "interrupts by the kernel",
            "Linux calls each core by an interrupt; no figure",
            f"{own:,.0f} ns to a polling member; membarrier, which runs nothing, {kernel:,.0f} ns",
            "-",
            measured(here, "threads"),
            "corymb bench multicast --threads 2",
        )
    ]


def body_of(records: dict[str, Data]) -> str:
    data = records["multicast"]["data"]
    shown = [1, 2, 4, 8, 16, 30, 45, 59]
    places = [data["members"].index(size) for size in shown]
    lines = [
        [name, *(f"{times[place]:,.0f}" for place in places)]
        for name, times in data["latency"].items()
    ]
    return f"""## All variants

Latency in {data["unit"]} over the members of the group, medians of {data["draws"]} groups drawn at
random. The paper's processor is the Xeon Phi of the generation before this model.
The model's choice is: {data["choice"]}.

{markdown(["members", *map(str, shown)], lines)}
"""
