# SPDX-License-Identifier: Apache-2.0
"""What `corymb plan`, `corymb sim` and `corymb cluster` do about several nodes."""

from __future__ import annotations

import functools
import itertools
import json as json_text
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import console, files, inputs, sim_json

DEFAULT_NETWORK = "2000,400,3,12"
SHOWN_SCHEMES = 12


def cluster_of(
    runs: list[tuple[int, int]],
    network: str = DEFAULT_NETWORK,
    kind: dict[str, Any] | None = None,
    order: str = "block",
    name: str = "",
    pus: list[int] | None = None,
) -> corymb.Cluster:
    """Runs of (nodes, ranks of each), all of one kind of machine, as a cluster's file has it, or of
    one shape; `pus` are those of the ranks of each node."""
    most = max(ranks for _, ranks in runs)
    packages = 2 if most > 1 else 1
    shape = {"packages": packages, "cores": -(-most // packages)}
    ranks_of_node = [ranks for count, ranks in runs for _ in range(count)]
    classes, class_of_node = corymb.networks_from(network, len(ranks_of_node))
    names = ("start_up_ns", "message_gap_ns", "stream_gbs", "node_gbs")
    networks = [dict(zip(names, costs, strict=True)) for costs in classes]
    nodes = [
        {"machine": 0, "count": len(list(equal)), "ranks": ranks, "network": number, "pus": pus}
        for (ranks, number), equal in itertools.groupby(
            zip(ranks_of_node, class_of_node, strict=True)
        )
    ]
    document = {
        "schema": "corymb-cluster/1",
        "name": name or " + ".join(f"{count} x {ranks}" for count, ranks in runs),
        "machines": [kind or {"shape": shape}],
        "nodes": nodes,
        "order": order,
        "networks": networks,
    }
    return corymb.Cluster.from_json(json_text.dumps(document))


@dataclass(frozen=True)
class Wanted:
    """The options that ask for several nodes."""

    file: str | None
    nodes: int | None
    per_node: int | None
    network: str | None
    machine: str | None
    model: str | None
    ranks: str | None
    levels: str | None = None

    @property
    def is_any(self) -> bool:
        options = (self.file, self.nodes, self.per_node, self.network)
        return any(option is not None for option in options)

    def cluster(self) -> corymb.Cluster:
        if self.levels is not None:
            raise inputs.usage("--levels is for one machine; plans over nodes have nodes as levels")
        if self.file is not None:
            refuse_with({"--nodes": self.nodes, "--per-node": self.per_node,
                         "--network": self.network, "--machine": self.machine,
                         "--model": self.model, "--ranks": self.ranks})  # fmt: skip
            return load(self.file)
        if self.nodes is None or (self.per_node is None and self.ranks is None):
            raise inputs.usage(
                "give --nodes and --per-node, or --ranks, together, or --cluster FILE"
            )
        if self.nodes < 1 or (self.per_node is not None and self.per_node < 1):
            raise inputs.usage("--nodes and --per-node must be at least 1")
        pus = self._pus()
        per_node = self.per_node or len(pus or [])
        network = self.network or DEFAULT_NETWORK
        try:
            return cluster_of([(self.nodes, per_node)], network, self._kind(), pus=pus)
        except corymb.Error as error:
            raise inputs.usage(str(error)) from None

    def cpus_of_node(self) -> int | None:
        """Of the nodes' machine; none for nodes that are made up."""
        return None if self.machine is None and self.model is None else len(self._chosen)

    @functools.cached_property
    def _chosen(self) -> corymb.Machine:
        return inputs.find_machine(self.machine, self.model, False, 0).machine

    def _kind(self) -> dict[str, Any] | None:
        """What all nodes are, as a cluster's file has it."""
        if self.model is not None:
            return {"model": json_text.loads(self._chosen.to_json())}
        return {"gallery": self.machine} if self.machine is not None else None

    def _pus(self) -> list[int] | None:
        """Those of the ranks of each node."""
        if self.ranks is None:
            return None
        if self.machine is None and self.model is None:
            raise inputs.usage("--ranks beside --nodes names CPUs of --machine or --model")
        if self.per_node is not None:
            raise inputs.usage("give --per-node, for the first CPUs of each node, or --ranks")
        return inputs.placement_of(self.ranks, self._chosen)


def refuse_with(options: dict[str, Any]) -> None:
    """Raises for options that mean nothing beside those for several nodes."""
    for option, value in options.items():
        if value is not None:
            raise inputs.usage(f"{option} cannot be given here: the cluster says what ranks run on")


def load(file: str) -> corymb.Cluster:
    if not Path(file).exists():
        raise corymb.Error(f"cannot read cluster {file}: no such file", "io")
    return corymb.Cluster.load(file)


def title_of(cluster: corymb.Cluster) -> str:
    name = cluster.name or "cluster without a name"
    return f"{name}: {len(cluster)} ranks on {cluster.nodes} nodes"


def plan(
    op: str,
    wanted: Wanted,
    algorithm: str,
    size: int,
    root: int | None,
    json: str | None,
    tail: dict[str, Any],
    *,
    exhaustive: bool,
    explain: bool,
) -> None:
    """The command `corymb plan` for several nodes."""
    inputs.require_sizes(size, 0, 0)
    files.require_writable(json)
    cluster = wanted.cluster()
    inputs.keep_doubts(cluster, cluster.name or "the nodes")
    inputs.require_root(root, len(cluster))
    work = functools.partial(
        corymb.make_cluster_plan,
        cluster,
        op,
        bytes=size,
        root=root or 0,
        algorithm=algorithm,
        exhaustive=exhaustive,
        **tail,
    )
    begin = time.monotonic()
    choice = console.busy(f"planning {op} for {len(cluster)} ranks", work)
    taken = time.monotonic() - begin
    out = console.output(quiet=console.is_stdout(json))
    payload = "" if op == "barrier" else f", {size} B"
    out.print(f"[bold]{op}[/]{payload} on {title_of(cluster)}")
    out.print(f"  scheme       [bold]{choice.plan.algorithm}[/], proven")
    out.print(f"  predicted    {choice.predicted:.0f} ns (simulated, not measured)")
    show_traffic(out, choice.plan, cluster, size)
    show_portfolio(out, choice)
    show_noise(out, choice, "ns")
    if explain:
        explain_choice(out, choice, taken)
    if json is not None:
        files.write_text(json, choice.to_json(cluster) + "\n")


def explain_choice(out: Console, choice: corymb.PlanChoice, taken: float) -> None:
    """What the search tried, how long it took, and the numbers that decided."""
    out.print(f"  search       {len(choice.portfolio)} candidates, {taken * 1e3:.1f} ms")
    if not choice.decided:
        out.print("  numbers      none: all follows from the model")
    title = "numbers"
    for name, value, origin in choice.decided:
        out.print(f"  {title:<12} {name} = {value:g} ({origin})", highlight=False, soft_wrap=True)
        title = ""


def show_noise(out: Console, choice: corymb.PlanChoice, unit: str) -> None:
    """What the choice costs under noise, if there was any."""
    cost = choice.noise_cost
    if cost is None:
        return
    chosen, fastest = cost["chosen"], cost["fastest"]
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("under noise")
    for name in ("quiet", "median", "p99"):
        table.add_column(f"{name}, {unit}", justify="right")
    for times in (chosen, fastest) if chosen != fastest else (chosen,):
        table.add_row(
            times["algorithm"], *(f"{times[name]:.1f}" for name in ("quiet", "median", "p99"))
        )
    out.print(table)
    if chosen == fastest:
        out.print("  no plan does better at the 99th percentile, as far as the replays can tell")
        return
    median = 100 * (chosen["median"] / fastest["median"] - 1)
    p99 = 100 * (1 - chosen["p99"] / fastest["p99"])
    out.print(
        f"  the chosen plan takes {p99:.1f} % less at the 99th percentile and "
        f"{abs(median):.1f} % {'more' if median >= 0 else 'less'} at the median"
    )


def show_traffic(out: Console, plan: corymb.Plan, cluster: corymb.Cluster, size: int) -> None:
    counts = corymb.node_traffic(plan, cluster, size)
    out.print(
        f"  network      {counts['messages']} messages in {counts['rounds']} rounds; "
        f"at most {max(counts['bytes_in'])} B into a node,\n"
        f"               {max(counts['rank_bytes_in'])} B into a rank"
    )


def show_portfolio(out: Console, choice: corymb.PlanChoice) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("scheme")
    table.add_column("predicted, ns", justify="right")
    table.add_column("of the best", justify="right")
    ranked = sorted(choice.portfolio.items(), key=lambda item: item[1])
    for name, predicted in ranked[:SHOWN_SCHEMES]:
        ratio = f"{predicted / ranked[0][1]:.2f} x" if ranked[0][1] > 0 else ""
        style = "bold" if name == choice.plan.algorithm else None
        table.add_row(name, f"{predicted:.0f}", ratio, style=style)
    out.print(table)
    if len(ranked) > SHOWN_SCHEMES:
        out.print(f"and {len(ranked) - SHOWN_SCHEMES} slower ones")


def of_plan_file(text: str, file: str | None, others: dict[str, Any]) -> corymb.Cluster | None:
    """The cluster of --cluster, else the one that a plan file holds unless `others` are given."""
    if file is not None:
        refuse_with(others)
        return load(file)
    stored = json_text.loads(text).get("cluster")
    if stored is None or any(value is not None for value in others.values()):
        return None
    return corymb.Cluster.from_json(json_text.dumps(stored))


def sim(plan: corymb.Plan, cluster: corymb.Cluster, size: int, json: str | None) -> None:
    """The command `corymb sim` for several nodes."""
    inputs.keep_doubts(cluster, cluster.name or "the nodes")
    work = functools.partial(corymb.simulate_cluster, plan, cluster, bytes=size)
    timeline = console.busy("simulating", work)
    finish = timeline.finish
    slowest = int(np.argmax(finish))
    out = console.output(quiet=console.is_stdout(json))
    out.print(f"{plan.op}, {plan.algorithm or 'no name'}: proven", markup=False)
    out.print(f"simulated on {title_of(cluster)}, {size} B:", markup=False)
    out.print(f"  makespan  [bold]{timeline.makespan:.0f} ns[/], last is rank {slowest}")
    show_traffic(out, plan, cluster, size)
    if json is not None:
        on = {
            "simulated_on": timeline.simulated_on,
            "cluster": json_text.loads(cluster.to_json()),
            "doubts": cluster.doubts,
            "unit": "ns",
        }
        network = corymb.node_traffic(plan, cluster, size)
        files.write_json(json, sim_json.result(plan, size, timeline, on) | {"network": network})
