# SPDX-License-Identifier: Apache-2.0
"""The page of Cheetah, from the records `cheetah`, `noise` and `here`."""

from __future__ import annotations

from collections.abc import Sequence

import svg
from record import Data, measured
from table import Row, markdown, span, verdict

TITLE = "Cheetah: hierarchical collectives"
SOURCE = "Graham, Ladd, Venkata and others, CAC 2010, CCGrid 2011, Cluster 2011, CASS 2011"
# The ends of the axes of the slides, µs: all ranks of a node, and up to four.
AXES = {"Jaguar": (9.0, 2.0), "Smoky": (12.0, 2.0)}
OVERLAPPING = {"corymb-processes": "corymb", "MPICH 5": "MPICH 5"}
CURVES = ("flat", "two levels", "corymb")
# The paper compares with the library of the machine, which is not known.
WHY_NOT_NATIVE = {
    "barrier": "the rival is a flat dissemination on the same model, not the native barrier of the "
    "paper, which is not known.",
    "broadcast": "the rival is a flat tree on the same model, not the native one of the paper, "
    "which is not known. Numbered node after node, such a tree crosses few links needlessly.",
}
STUDY = "make papers STUDIES=cheetah"


def microseconds(node: Data, cycles: float) -> float:
    return cycles / node["clock_ghz"] / 1000 if node["unit"] == "cycles" else cycles / 1000


def charts_of(records: dict[str, Data]) -> dict[str, tuple[str, str]]:
    found = {}
    for node in records["cheetah"]["data"]["nodes"]:
        title = f"Barrier on {node['packages']} x {node['cores']} cores, as on {node['cluster']}"
        series = [
            svg.Series(
                name,
                [
                    (one["ranks"], microseconds(node, one[name]))
                    for one in node["curve"]
                    if name in one
                ],
                number,
            )
            for number, name in enumerate(CURVES)
        ]
        ticks = list(range(2, len(node["curve"]) + 2, 2))
        found[f"cheetah-barrier-{node['cluster'].lower()}.svg"] = (
            title,
            svg.lines(f"{title}, simulated", "ranks", "time (µs)", series, x_ticks=ticks),
        )
    found["cheetah-noise.svg"] = _noise_chart(records["noise"]["data"])
    found["cheetah-overlap.svg"] = _overlap_chart(records["here"])
    return found


def _overlap_chart(here: Data) -> tuple[str, str]:
    rows = [row for row in here["data"]["overlap"] if row["op"] == "broadcast"]
    names = [(who, style) for who in OVERLAPPING for style in ("poll", "wait")]
    series = [
        svg.Series(
            f"{OVERLAPPING[who]}, {style}",
            [
                (r["bytes"], r["percent"])
                for r in rows
                if (r["contestant"], r["style"]) == (who, style)
            ],
            number,
        )
        for number, (who, style) in enumerate(names)
    ]
    title = "Broadcast that a computation hides"
    ticks = sorted({row["bytes"] for row in rows})
    cpus = here["data"]["cpus"]
    return title, svg.lines(
        f"{title}, measured, 2 processes on {cpus} CPUs", "payload (bytes)", "hidden (%)", series,
        x_ticks=ticks, x_text=svg.size, log_x=True,
    )  # fmt: skip


def barrier_rows(node: Data) -> list[Row]:
    how = f"simulated, {node['machine']}, {node['clock_ghz']} GHz"
    all_axis, few_axis = AXES[node["cluster"]]
    last = node["curve"][-1]
    times = {name: microseconds(node, last[name]) for name in CURVES}
    places = {name: microseconds(node, one["corymb"]) for name, one in node["places"].items()}
    shape = f"{node['packages']} x {node['cores']}"
    return [
        Row(
            f"barrier, 2 to {last['ranks']} ranks of {shape} ({node['cluster']})",
            f"two levels by shared memory stay below the axis of {all_axis:.0f} µs",
            ", ".join(f"{name} {time:.2f}" for name, time in times.items())
            + f" µs for {last['ranks']} ranks",
            verdict([times["two levels"] <= all_axis, times["corymb"] <= all_axis]),
            how,
            STUDY,
            "the model has the messages of another operating system, which take longer.",
        ),
        Row(
            f"two levels faster than one ({node['cluster']})",
            "good barriers by levels; curves without numbers",
            f"two levels take {last['two levels'] / last['flat']:.2f} times as long as flat",
            verdict([last["two levels"] <= last["flat"]]),
            how,
            STUDY,
            "one rank of each package receives from all others there, one message after the other. "
            "In this model a message to another package takes little longer than one within.",
        ),
        Row(
            f"barrier, same and other package ({node['cluster']})",
            f"2 to 4 ranks below the axis of {few_axis:.0f} µs",
            ", ".join(f"{name} {time:.2f}" for name, time in places.items()) + " µs",
            verdict([max(places.values()) <= few_axis]),
            how,
            STUDY,
            "the model has the messages of another operating system, which take longer.",
        ),
    ]


def host_row(hosts: Sequence[Data]) -> Row:
    flat, levels = hosts
    return Row(
        "drawing: 4 ranks on 2 hosts",
        "flat: the second of 2 steps crosses hosts on all ranks; levels: one pair crosses",
        f"doubling sends {flat['messages']} messages between hosts flat, {levels['messages']} by "
        "levels: one each way",
        verdict([flat["messages"] == 4, levels["messages"] == 2]),
        "counted from the steps",
        "corymb plan allreduce --nodes 2 --per-node 2 --algorithm " + levels["scheme"],
        "the plans have another number of messages.",
    )


def scale_rows(data: Data) -> list[Row]:
    scale = data["scale"]
    ranks = scale["nodes"] * scale["ranks"]
    how = f"simulated, {scale['nodes']:,} nodes of {scale['ranks']}, network {data['network']}"
    claims = {
        ("barrier", 0): ("75 % better than the native one, 49,152 ranks", 0.75),
        ("broadcast", 32): ("62 % better than native, 49,152 ranks", 0.62),
        ("broadcast", 1 << 20): ("11 % better than native, 49,152 ranks", 0.11),
    }
    rows = []
    for row in scale["rows"]:
        claim, least = claims.get((row["op"], row["bytes"]), ("", 0.0))
        if not claim:
            continue
        better = 1 - row["levels"] / row["flat"]
        name = row["op"] if row["op"] == "barrier" else f"broadcast of {svg.size(row['bytes'])}"
        rows.append(
            Row(
                f"{name} at scale",
                claim,
                f"{100 * better:.0f} % less time than flat, {ranks:,} ranks; {row['chosen']}",
                verdict([better >= least]),
                how,
                STUDY,
                WHY_NOT_NATIVE[row["op"]],
            )
        )
    return rows


def overlap_rows(here: Data) -> list[Row]:
    rows = here["data"]["overlap"]

    def hidden(who: str, style: str) -> str:
        found = [
            row["percent"] for row in rows if (row["contestant"], row["style"]) == (who, style)
        ]
        return span(found, "{:.0f}")

    own = [row["percent"] for row in rows if row["contestant"] == "corymb-processes"]
    text = "; ".join(
        f"{name} {hidden(who, 'poll')} polled, {hidden(who, 'wait')} waited for"
        for who, name in OVERLAPPING.items()
    )
    return [
        Row(
            "overlap by size, in a node",
            "offloaded 99.9 % polled, 95.1 waited for; by the CPU 92.4 and 17.0, 64 ranks",
            f"per cent: {text}",
            verdict([min(own) >= 17.0, max(own) >= 92.4]),
            measured(here, "processes"),
            "corymb bench peers --peers 'processes,mpich 5' --modes nonblocking --ranks 2 "
            "--ops broadcast,allreduce",
            "within a node the processors of the ranks copy the data. While a rank copies it does "
            "not compute, so little can be hidden. A part of the operation is over at its start.",
        ),
        Row(
            "overlap by size, between nodes",
            "as above",
            "in [its own table](../mpi.md#hidden-behind-computation)",
            "-",
            "measured, 2 nodes of namespaces, as root",
            "make mpi-overlap",
        ),
    ]


def noise_rows(data: Data) -> list[Row]:
    last = max(row["ranks"] for row in data["rows"])
    of = {row["form"]: row for row in data["rows"] if row["ranks"] == last}
    how = f"simulated, {data['noise']}, {data['ranks_of_node']} ranks a node"
    command = (
        f"corymb sim noise --noise {data['noise']} --per-node {data['ranks_of_node']} "
        f"--sizes {last}"
    )
    blocking, nonblocking = of["blocking"], of["nonblocking"]
    return [
        Row(
            "noise: a phase with a barrier",
            "operations that go on by themselves tolerate noise; no numbers",
            f"{last:,} ranks: blocking {blocking['slowdown']:.2f}, nonblocking "
            f"{nonblocking['slowdown']:.2f} times as long as without noise",
            verdict([nonblocking["slowdown"] < blocking["slowdown"]]),
            how,
            command,
            "a phase ends when all have ended it, so the latest rank decides in both forms.",
        ),
        Row(
            "noise: one rank stops",
            "others need not see it; no numbers",
            f"others see {100 * blocking['seen_by_others']:.0f} % of the stop blocking, "
            f"{100 * nonblocking['seen_by_others']:.0f} % nonblocking",
            verdict([nonblocking["seen_by_others"] < blocking["seen_by_others"]]),
            how,
            command,
            "the stop is longer than what the others compute meanwhile.",
        ),
    ]


def _noise_chart(data: Data) -> tuple[str, str]:
    forms = list(dict.fromkeys(row["form"] for row in data["rows"]))
    series = [
        svg.Series(
            form,
            [(row["ranks"], row["slowdown"]) for row in data["rows"] if row["form"] == form],
            number,
        )
        for number, form in enumerate(forms)
    ]
    title = "Phases of computing and a barrier under noise"
    ticks = sorted({row["ranks"] for row in data["rows"]})
    return title, svg.lines(
        f"{title}, simulated", "ranks", "time with noise over time without (no unit)", series,
        x_ticks=ticks, log_x=True,
    )  # fmt: skip


def rows_of(records: dict[str, Data]) -> list[Row]:
    data = records["cheetah"]["data"]
    return [
        host_row(data["two_hosts"]),
        *(row for node in data["nodes"] for row in barrier_rows(node)),
        *scale_rows(data),
        *overlap_rows(records["here"]),
        *noise_rows(records["noise"]["data"]),
    ]


def body_of(records: dict[str, Data]) -> str:
    data = records["cheetah"]["data"]
    parts = []
    for node in data["nodes"]:
        lines = [
            [str(one["ranks"]), *(f"{one[n]:,.0f}" if n in one else "" for n in CURVES),
             one["chosen"]]
            for one in node["curve"]
        ] + [
            [name, *(f"{one[n]:,.0f}" if n in one else "" for n in CURVES), one["chosen"]]
            for name, one in node["places"].items()
        ]  # fmt: skip
        table = markdown(["ranks", *CURVES, "the choice"], lines)
        parts.append(f"""## Barriers on {node["packages"]} x {node["cores"]} cores

{node["unit"].capitalize()} on `{node["machine"]}`, which has the processors of {node["cluster"]}.

{table}""")
    lines = [
        [row["op"], svg.size(row["bytes"]) if row["bytes"] else "", f"{row['flat'] / 1000:,.1f}",
         f"{row['levels'] / 1000:,.1f}", f"`{row['chosen']}`"]
        for row in data["scale"]["rows"]
    ]  # fmt: skip
    scale = data["scale"]
    parts.append(f"""## At scale

Microseconds for {scale["nodes"]:,} nodes of {scale["ranks"]} ranks, made up: two packages a node,
network `{data["network"]}`. Plans of this size are not proven.

{markdown(["operation", "payload", "flat", "by levels", "scheme"], lines)}""")
    lines = [
        [row["contestant"], row["op"], svg.size(row["bytes"]), row["style"],
         f"{row['percent']:.0f}",
         f"{row['q25']:.0f} to {row['q75']:.0f}"]
        for row in records["here"]["data"]["overlap"]
        if row["contestant"] in OVERLAPPING
    ]  # fmt: skip
    parts.append(f"""## Overlap

Per cent of a nonblocking operation that a computation as long as it hides. The style `poll` has 16
tests in between, `wait` none.

{markdown(["who", "operation", "payload", "style", "hidden", "quartiles"], lines)}""")
    parts.append(_noise_text(records["noise"]["data"]))
    return "\n\n".join(parts) + "\n"


def _noise_text(data: Data) -> str:
    lines = [
        [f"{row['ranks']:,}", row["form"],
         *(f"{row[name] / 1000:,.1f}" for name in ("quiet_ns", "median_ns", "p99_ns")),
         f"{row['slowdown']:.2f}", f"{100 * row['seen_by_others']:.0f}"]
        for row in data["rows"]
    ]  # fmt: skip
    header = ["ranks", "form", "quiet", "median", "99th percentile", "slowdown", "others see, %"]
    return f"""## Noise

{data["phases"]} phases of {data["compute_ns"] / 1000:,.0f} µs of computing and a {data["op"]} by
`{data["scheme"]}`, in microseconds a phase. The noise is made up.
[Noise](../../explain/noise.md#phases-over-many-ranks) explains the forms of call.

{markdown(header, lines)}"""
