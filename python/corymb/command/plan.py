# SPDX-License-Identifier: Apache-2.0
"""corymb plan: the best plan for an operation on a machine."""

from __future__ import annotations

import functools
import time
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

import corymb
from corymb import messages
from corymb.command import clusters, console, files, inputs, sim_noise
from corymb.command.options import (
    Bytes,
    ClusterFile,
    JsonFile,
    Levels,
    MachineName,
    ModelFile,
    Moves,
    NetworkCosts,
    Nodes,
    NoiseText,
    NoMeasure,
    Objective,
    PerNode,
    Ranks,
    Replays,
    Root,
    Seed,
)

EXAMPLES = (
    "Examples: corymb plan barrier | "
    "corymb plan broadcast --machine smelt-e5v2-2x10 --root 0 --json plan.json | "
    "corymb plan allreduce --machine epyc-9754-2s-512t --ranks 0-7,256-263 --bytes 4096 | "
    "corymb plan allgather --nodes 8 --per-node 4 --bytes 4096 | "
    "corymb plan broadcast --root 0 --objective p99 --noise random:95000:5000:constant"
)
LARGEST_SHOWN_TREE = 64


def command(
    op: Annotated[str, typer.Argument(metavar="OP", help=", ".join(corymb.OPERATIONS) + ".")],
    machine: MachineName = None,
    model: ModelFile = None,
    ranks: Ranks = None,
    root: Root = None,
    algorithm: Annotated[
        str, typer.Option("--algorithm", metavar="A", help="A name of the portfolio, or best.")
    ] = "best",
    seed: Seed = 1,
    moves: Moves = 0,
    bytes_: Bytes = 8,
    levels: Levels = None,
    no_measure: NoMeasure = False,
    objective: Objective = "median",
    noise: NoiseText = None,
    replays: Replays = 1000,
    cluster: ClusterFile = None,
    nodes: Nodes = None,
    per_node: PerNode = None,
    network: NetworkCosts = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say what the search tried, and which numbers decided."),
    ] = False,
    all_: Annotated[
        bool,
        typer.Option("--all", help="Try every candidate, also what can only be compared with."),
    ] = False,
    json: JsonFile = None,
) -> None:
    """Plan an operation on a machine model; every plan is proven before it is shown."""
    inputs.require_operation(op)
    tail = under_noise(objective, noise, replays)
    wanted = clusters.Wanted(cluster, nodes, per_node, network, machine, model, ranks, levels)
    if wanted.is_any:
        how = {"exhaustive": all_, "explain": explain}
        clusters.plan(op, wanted, algorithm, bytes_, root, json, tail, **how)
        return
    inputs.require_algorithm(op, algorithm)
    inputs.require_sizes(bytes_, seed, moves)
    files.require_writable(json)
    chosen = inputs.choose_machine(machine, model, no_measure, levels=levels)
    placement = inputs.placement_of(ranks, chosen.machine)
    inputs.require_root(root, len(placement))
    work = functools.partial(
        corymb.make_plan,
        chosen.machine,
        op,
        placement=placement,
        root=root,
        bytes=bytes_,
        algorithm=algorithm,
        seed=seed,
        moves=moves,
        exhaustive=all_,
        **tail,
    )
    begin = time.monotonic()
    choice = console.busy(f"planning {op} for {len(placement)} ranks", work)
    taken = time.monotonic() - begin
    out = console.output(quiet=console.is_stdout(json))
    show(out, choice, chosen.machine, bytes_)
    clusters.show_noise(out, choice, chosen.machine.unit)
    if op == "barrier" and all_:
        _show_counter(out, choice, chosen.machine)
    if explain:
        clusters.explain_choice(out, choice, taken)
    if json is not None:
        files.write_text(json, choice.to_json(chosen.machine) + "\n")


def under_noise(objective: str, noise: str | None, replays: int) -> dict[str, Any]:
    """Arguments of the planner. The noise of this machine is read if the objective needs it."""
    if objective not in ("median", "p99"):
        raise inputs.usage(f"--objective {objective} must be median or p99")
    if not 100 <= replays <= 1_000_000:
        raise inputs.usage(f"--replays {replays} must be from 100 to 1000000")
    if objective == "median" and noise is None:
        return {}
    found = sim_noise.noise_from(noise)
    return {"objective": objective, "noise": found, "replays": replays}


def show(out: Console, choice: corymb.PlanChoice, machine: corymb.Machine, size: int) -> None:
    """Prints a plan for people."""
    plan, unit = choice.plan, machine.unit
    payload = "" if plan.op == "barrier" else f", {size} B"
    out.print(f"[bold]{plan.op}[/] among {len(plan)} ranks{payload} on ", end="")
    out.print(inputs.title_of(machine), markup=False)
    out.print(f"  algorithm    [bold]{plan.algorithm}[/], root {plan.root}, proven")
    out.print(f"  predicted    {choice.predicted:.1f} {unit} (simulated, not measured)")
    out.print(f"  lower bound  {_bound(choice, machine)}")
    out.print(_portfolio(choice, unit))
    if 1 < len(plan) <= LARGEST_SHOWN_TREE:
        tree = _tree(choice, machine, size)
        if tree is not None:
            out.print(tree)


def _show_counter(out: Console, choice: corymb.PlanChoice, machine: corymb.Machine) -> None:
    """What an OpenMP runtime's barrier would take; it is no plan."""
    counter = corymb.counter_barrier(machine, choice.placement)
    ratio = f", {counter.total / choice.predicted:.2f} x" if choice.predicted > 0 else ""
    out.print(
        f"for comparison, central counter: {counter.total:.1f} {machine.unit}{ratio} "
        f"(all have changed it after {counter.arrival:.1f}, {counter.origin}; "
        f"the last has seen the word {counter.release:.1f} later)"
    )


def _bound(choice: corymb.PlanChoice, machine: corymb.Machine) -> str:
    bound, kind = choice.lower_bound(machine)
    if bound <= 0:
        return "none"
    text = f"{bound:.1f} {machine.unit} ({kind}), for plans of messages; "
    gap = 100 * (choice.predicted / bound - 1)
    return text + f"the plan is {abs(gap):.1f} % {'above' if gap >= 0 else 'below'} it"


def _portfolio(choice: corymb.PlanChoice, unit: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("portfolio")
    table.add_column(f"predicted, {unit}", justify="right")
    table.add_column("of the best", justify="right")
    ranked = sorted(choice.portfolio.items(), key=lambda item: item[1])
    best = ranked[0][1] if ranked else 0.0
    for name, predicted in ranked:
        ratio = f"{predicted / best:.2f} x" if best > 0 else ""
        style = "bold" if name == choice.plan.algorithm else None
        table.add_row(name, f"{predicted:.1f}", ratio, style=style)
    return table


def _tree(choice: corymb.PlanChoice, machine: corymb.Machine, size: int) -> Tree | None:
    plan = choice.plan
    timeline = corymb.simulate(
        plan, machine, placement=choice.placement, bytes=size, activities=True
    )
    edges = messages.drawn_messages(plan, timeline)
    reverse = plan.op == "reduce"
    parents = messages.parents_of(edges, len(plan), reverse)
    if parents is None:
        return None
    end = {(m.target, m.source) if reverse else (m.source, m.target): m.received for m in edges}
    children = messages.children_of(parents, end)
    cpus = machine.cpus

    def label(rank: int) -> str:
        text = f"rank {rank} (CPU {cpus[choice.placement[rank]]})"
        parent = parents[rank]
        when = f" [dim]at {end[parent, rank]:.0f}[/]" if parent >= 0 else " [dim]root[/]"
        return text + when

    top = parents.index(-1)
    tree = Tree(label(top))
    pending = [(top, tree)]
    while pending:
        rank, branch = pending.pop()
        pending.extend((child, branch.add(label(child))) for child in children[rank])
    return tree
