# SPDX-License-Identifier: Apache-2.0
"""The page of Smelt, from the records `smelt` and `here`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import svg
from record import Data, lower_quartile, measured
from table import Row, markdown, span, verdict

TITLE = "Smelt: machine-aware broadcast trees"
SOURCE = "Kaestle and others, *Machine-Aware Atomic Broadcast Trees for Multicores*, OSDI 2016"
OPERATIONS = ("broadcast", "reduce", "barrier", "two-phase commit")
# Least, mean and greatest gain over the best static tree of each machine: the talk's last slide.
CLAIMED = {
    "broadcast": (1.01, 1.147, 1.37),
    "reduce": (0.86, 1.172, 1.53),
    "barrier": (1.02, 1.156, 1.41),
    "two-phase commit": (1.01, 1.159, 1.35),
}
CLAIMED_MACHINES = 11
SHUFFLED = "smelt-adaptive-shuffle-sort"
# Root and cost of the tree that Smelt's simulator prints for its sample machine.
PRINTED = (13, 1386.5)
# The same tree on the sample machine, measured, over the best static one: `ab-bench.csv`.
MEASURED = {"broadcast": 0.91, "reduce": 0.86, "barrier": 1.07, "two-phase commit": 1.13}
BUSY = "Without real-time priority, a load above the CPUs takes time from it."
NEAR = 0.1  # Gains that differ by less agree.
COMMAND = "make papers STUDIES=smelt"


def mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def best_static(machine: Data, op: str) -> tuple[float, str]:
    return min((times[op], name) for name, times in machine["static"].items())


def gains(machines: Sequence[Data], op: str, of: str) -> list[float]:
    """Times of the best static tree over those of corymb, or of Smelt's better tree."""
    return [
        best_static(one, op)[0]
        / (one["corymb"][op] if of == "corymb" else min(t[op] for t in one["smelt"].values()))
        for one in machines
    ]


def gain_rows(machines: Sequence[Data]) -> list[Row]:
    rows = []
    models = f"simulated, {len(machines)} models of the gallery"
    for op, (low, middle, high) in CLAIMED.items():
        claim = f"{low} to {high}, mean {middle:.2f}, {CLAIMED_MACHINES} machines"
        own = gains(machines, op, "corymb")
        rows.append(
            Row(
                f"last slide, {op}",
                claim,
                f"{span(own)}, mean {mean(own):.2f}",
                verdict([mean(own) >= middle, min(own) >= low]),
                models,
                COMMAND,
                "on one machine or more the gain is less than the least that the paper has.",
            )
        )
    for op, (low, middle, high) in CLAIMED.items():
        theirs = gains(machines, op, "smelt")
        rows.append(
            Row(
                f"last slide, {op}, Smelt's tree",
                f"{low} to {high}, mean {middle:.2f}",
                f"{span(theirs)}, mean {mean(theirs):.2f}",
                verdict([abs(mean(theirs) / middle - 1) <= NEAR]),
                models,
                COMMAND,
                _why_smelt_differs(op),
            )
        )
    return rows


def _why_smelt_differs(op: str) -> str:
    if op == "reduce":
        return (
            "Smelt goes up the tree that it has made for going down. In the model receiving costs "
            "more than sending, so the wide root is slow. The paper's benchmark does not wait "
            "between reductions, which hides that."
        )
    if op == "broadcast":
        return (
            "these are other machines. Most have more cores and more levels than those of the "
            "paper, and trees that are the same everywhere lose more there."
        )
    return "its part that goes up is slow in the model, as in the row of the reduce."


def tree_rows(data: Data) -> list[Row]:
    sample = next(one for one in data["machines"] if one["machine"] == data["sample"])
    smelt, own = data["trees"][SHUFFLED], data["trees"]["annealed"]
    root, cost = PRINTED
    same = smelt["root"] == root and abs(smelt["predicted"] - cost) < 0.1
    command = f"corymb plan broadcast --machine {data['sample']} --algorithm"
    simulated = {op: gains([sample], op, "smelt")[0] for op in OPERATIONS}
    return [
        Row(
            "tree and send order of the sample machine",
            f"root {root}, {cost} cycles, as its simulator prints it",
            f"the same tree: root {smelt['root']}, {smelt['predicted']:.1f} cycles",
            verdict([same]),
            "simulated, the same matrix",
            f"{command} {SHUFFLED}",
            "the tree is another one.",
        ),
        Row(
            "the same, searched",
            f"{cost} cycles",
            f"root {own['root']}, {own['predicted']:.1f} cycles",
            verdict([own["predicted"] <= cost]),
            "simulated, the same matrix",
            f"{command} annealed",
            "the search finds a slower tree.",
        ),
        Row(
            "Smelt's tree measured on the sample machine, beside the best static tree",
            ", ".join(f"{op} {gain}" for op, gain in MEASURED.items()),
            ", ".join(f"{op} {gain:.2f}" for op, gain in simulated.items()),
            verdict([abs(simulated[op] / gain - 1) <= NEAR for op, gain in MEASURED.items()]),
            "simulated, the same matrix",
            COMMAND,
            "theirs was measured. It begins with a message from a leaf, and messages overlap that "
            "the model charges one after the other. So a gain in a model is no proof of one on "
            "the machine.",
        ),
    ]


def here_rows(here: Data) -> list[Row]:
    data = here["data"]
    threads, libraries = data["collectives"], data["mpi"]
    how = measured(here, "threads")

    def ratio(op: str, *others: str) -> float:
        times = [lower_quartile(threads, op=op, contestant=name) for name in others]
        return min(times) / lower_quartile(threads, op=op, contestant="corymb")

    def over_mpi(op: str) -> float:
        own, other = (
            lower_quartile(libraries, op=op, kind="latency", contestant=name)
            for name in ("corymb-processes", "MPICH 5")
        )
        return other / own

    openmp = [ratio(op, "libgomp", "libgomp-active") for op in ("barrier", "reduce")]
    textbook = [ratio("barrier", name) for name in ("mcs-dissemination", "pthread-barrier")]
    mpi = [over_mpi(op) for op in ("barrier", "broadcast", "reduce")]
    command = "corymb bench collectives barrier,reduce --threads 2 --bytes 8"
    return [
        Row(
            "barrier and reduce beside OpenMP of gcc",
            "2.2 and 6.9 times as fast, 20 cores",
            f"{openmp[0]:.1f} and {openmp[1]:.1f} times as fast, best of active and default waits",
            verdict([openmp[0] >= 1, openmp[1] >= 1]),
            how,
            command,
            "two threads meet on one line, where no tree can help. " + BUSY,
        ),
        Row(
            "barriers of other libraries",
            "much faster; a picture without numbers",
            f"{textbook[0]:.2f} times as fast as the MCS dissemination, {textbook[1]:.0f} times as "
            "pthread's",
            verdict([one >= 0.95 for one in textbook]),
            how,
            "corymb bench collectives barrier --threads 2 --contestants corymb,textbook,library",
            "the MCS barrier only spins. corymb gives its CPU away when it has waited for long. "
            + BUSY,
        ),
        Row(
            "barrier, broadcast and reduce beside MPI",
            "3.3, 2.9 and 3.6 times as fast as Open MPI 1.10, 20 cores",
            f"{mpi[0]:.1f}, {mpi[1]:.1f} and {mpi[2]:.1f} times as fast as MPICH 5",
            verdict([one >= 1 for one in mpi]),
            measured(here, "processes"),
            "corymb bench peers --peers 'processes,mpich 5' --ops barrier,broadcast,reduce "
            "--modes blocking --ranks 2 --bytes 8",
            "corymb is slower there. " + BUSY,
        ),
    ]


def static_table(machines: Sequence[Data]) -> str:
    """Times by machine: what is chosen, the best static tree, and what bounds the search."""
    lines = []
    for one in machines:
        cells = [f"{one['machine']}", str(one["ranks"]), one["unit"]]
        for op in OPERATIONS:
            time, name = best_static(one, op)
            cells.append(f"{one['corymb'][op]:,.0f}")
            cells.append(f"{time / one['corymb'][op]:.2f} {name}")
        lines.append(cells)
    header = ["machine", "ranks", "unit"]
    for op in OPERATIONS:
        header += [op, "static"]
    return markdown(header, lines)


def search_table(machines: Sequence[Data]) -> str:
    lines = []
    for one in machines:
        found = one["searched"]
        smelt = {op: min(t[op] for t in one["smelt"].values()) for op in OPERATIONS}
        cells = [one["machine"]]
        for op in ("broadcast", "reduce"):
            bound, kind = found[f"{op} bound"]
            cells += [f"{found[op]:,.1f}", f"{bound:,.1f} {kind}", f"{smelt[op]:,.0f}"]
        trees, other = found["barrier"], found["dissemination"]
        cells += [
            f"**{trees:,.1f}**" if trees < other else f"{trees:,.1f}",
            f"**{other:,.1f}**" if other <= trees else f"{other:,.1f}",
            f"{smelt['barrier']:,.0f}",
        ]
        lines.append(cells)
    header = ["machine", "broadcast", "bound", "Smelt", "reduce", "bound", "Smelt",
              "barrier, trees", "dissemination", "Smelt"]  # fmt: skip
    return markdown(header, lines)


def tree_text(tree: dict[str, Any]) -> str:
    """Parents by rank, each with its children in the order in which it sends."""
    lines = [
        f"    {rank}: {', '.join(map(str, peers))}"
        for rank, peers in sorted(
            tree["children"].items(), key=lambda item: (int(item[0]) != tree["root"], int(item[0]))
        )
    ]
    return "\n".join(lines)


def chart(machines: Sequence[Data]) -> str:
    names = [one["machine"] for one in machines]
    series = [
        svg.Series(op, [(gain, index) for index, gain in enumerate(gains(machines, op, "corymb"))],
                   number)
        for number, op in enumerate(OPERATIONS)
    ]  # fmt: skip
    return svg.points(
        "corymb beside the best of six static trees, simulated",
        "time of the best static tree over that of corymb's choice (no unit)",
        names,
        series,
        mark=1.0,
    )


def rows_of(records: dict[str, Data]) -> list[Row]:
    data = records["smelt"]["data"]
    return [
        *gain_rows(data["machines"]),
        *tree_rows(data),
        *here_rows(records["here"]),
        Row("EPCC", "barrier 1.14 times as fast", "not yet: it comes with OpenMP", "-", "-",
            COMMAND),
        Row("streamcluster", "1.15 to 1.26 times as fast",
            "`corymb-bench-tasks --streamcluster` times it; no figure is kept yet", "-", "-",
            COMMAND),
    ]  # fmt: skip


def body_of(records: dict[str, Data]) -> str:
    data = records["smelt"]["data"]
    own, smelt = data["trees"]["annealed"], data["trees"][SHUFFLED]
    return f"""## By machine

The table has corymb's choice in the unit of the model, and what the best static tree takes over it,
with its name. A static tree has the first core as its root, as in the paper. A two-phase commit is
a broadcast, a reduce and a broadcast with one root.

{static_table(data["machines"])}

## What the search finds

The table has every CPU of a machine, a free root, seed 1 and default moves. Of the models, only
those of Smelt have send costs of their own. The others assume send = 0.28 receive.

- *bound*: no tree of messages is faster in the model, with the kind of the bound.
- *Smelt*: the better of Smelt's plain and its shuffle-sort tree.
- *barrier, trees*: two searched trees, up and down.

{search_table(data["machines"])}

If the gap to the bound is large (SMT siblings, many L3 groups), the bound is weak: its least costs
are those of siblings.

## Trees and send orders

Broadcasts on `{data["sample"]}`: a rank, and its children in the order in which it sends to them.
Smelt's tree, {smelt["predicted"]:.1f} cycles:

{tree_text(smelt)}

The searched tree, {own["predicted"]:.1f} cycles:

{tree_text(own)}
"""


def charts_of(records: dict[str, Data]) -> dict[str, tuple[str, str]]:
    machines = records["smelt"]["data"]["machines"]
    return {"smelt-static.svg": ("Gain over static trees by machine", chart(machines))}
