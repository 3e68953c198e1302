# SPDX-License-Identifier: Apache-2.0
"""corymb sim noise: phases of computing and an operation under noise, over the number of ranks."""

from __future__ import annotations

import functools
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb.command import clusters, console, files, inputs
from corymb.command.options import (
    Bytes,
    ClusterFile,
    HtmlFile,
    JsonFile,
    MachineName,
    ModelFile,
    NetworkCosts,
    NoiseText,
    PerNode,
)

EXAMPLES = (
    "Examples: corymb sim noise --noise random:1e6:25000 | "
    "corymb sim noise --op allreduce --machine epyc-7742-2s-256t --per-node 128 --sizes 256,4096 | "
    "corymb sim noise --html noise.html --json noise.json"
)
FORMS = ("blocking", "nonblocking", "persistent", "aligned")
OPERATIONS = ("barrier", "broadcast", "reduce", "allreduce")
SIZES = (100, 1000, 10_000, 100_000)
RANKS_OF_NODE = 64
PLANNED_RANKS_MOST = 1024  # More ranks take the scheme that is best for so many.
DELAYED_RANKS = 16  # Drawn to stop, one at a time.
Row = dict[str, Any]


@dataclass(frozen=True)
class Study:
    """What is asked for."""

    noise: corymb.Noise
    op: str = "barrier"
    size: int = 8
    compute_ns: float = 100_000.0
    phases: int = 100
    looks: int = 10
    delay: float = 50_000.0  # How long one rank stops, in ns.
    start_ns: float = 500.0  # Assumed: to prepare a nonblocking operation.
    slack: float = 0.25  # Assumed: of the period of aligned phases.

    @property
    def options(self) -> dict[str, Any]:
        return {"compute_ns": self.compute_ns, "looks": self.looks, "start_ns": self.start_ns,
                "slack": self.slack}  # fmt: skip


def noise_from(text: str | None, *, aligned: bool = False, seed: int = 1) -> corymb.Noise:
    """--noise, else the recording of `corymb doctor --noise`."""
    if text is None:
        kept = Path(corymb.cached_noise_path())
        if not kept.exists():
            raise inputs.usage(
                "there is no noise: record this machine's with corymb doctor --noise, or give "
                "--noise FILE, periodic:PERIOD:LENGTH or random:GAP:LENGTH, in ns"
            )
        text = str(kept)
    return corymb.Noise.from_text(text, aligned=aligned, seed=seed)


def command(
    noise: NoiseText = None,
    op: Annotated[
        str, typer.Option("--op", metavar="OP", help=", ".join(OPERATIONS) + ".")
    ] = "barrier",
    bytes_: Bytes = 8,
    sizes: Annotated[
        str | None, typer.Option("--sizes", metavar="LIST", help="Numbers of ranks.")
    ] = None,
    per_node: PerNode = None,
    network: NetworkCosts = None,
    machine: MachineName = None,
    model: ModelFile = None,
    cluster: ClusterFile = None,
    compute: Annotated[
        float, typer.Option("--compute", metavar="NS", help="Computing of a rank in a phase.")
    ] = 100_000.0,
    phases: Annotated[int, typer.Option("--phases", metavar="N", help="Phases.")] = 100,
    looks: Annotated[
        int, typer.Option("--looks", metavar="N", help="Looks while a rank computes.")
    ] = 10,
    slack: Annotated[
        float, typer.Option("--slack", metavar="F", help="Slack of aligned phases, a part.")
    ] = 0.25,
    delay: Annotated[
        float | None,
        typer.Option("--delay", metavar="NS", help="Stop of one rank; else half the computing."),
    ] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="All ranks are interrupted at the same times.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Another draw.")] = 1,
    html: HtmlFile = None,
    json: JsonFile = None,
) -> None:
    """Simulate phases of computing and an operation under noise, in each form of call."""
    inputs.require_operation(op, OPERATIONS)
    inputs.require_sizes(bytes_, seed, 0)
    files.require_writable(html, json)
    study = Study(
        noise_from(noise, aligned=aligned, seed=seed), op, bytes_, compute, phases, looks,
        compute / 2 if delay is None else delay, slack=slack,
    )  # fmt: skip
    wanted = clusters.Wanted(cluster, None, per_node, network, machine, model, None)
    counts = [len(wanted.cluster())] if cluster else inputs.numbers(sizes, "--sizes", 2, 2**20)
    some = [cluster_of(wanted, size) for size in counts or SIZES]
    scheme = console.busy("planning", lambda: scheme_for(wanted, some, study))
    rows: list[Row] = []
    for one in some:
        work = functools.partial(simulate, one, scheme, study)
        rows += console.busy(f"simulating {len(one):,} ranks", work)
    out = console.output(quiet=console.is_stdout(html, json))
    show(out, rows, study, scheme)
    if html is not None:
        from corymb.picture.noise import noise_page

        files.write_text(html, noise_page(rows, study.noise.text))
    if json is not None:
        files.write_json(json, as_json(rows, study, scheme))


def cluster_of(wanted: clusters.Wanted, size: int) -> corymb.Cluster:
    """About so many ranks, on nodes as they are wanted."""
    if wanted.file is not None:
        return wanted.cluster()
    per_node = min(wanted.per_node or wanted.cpus_of_node() or RANKS_OF_NODE, size)
    return clusters.Wanted(
        None, -(-size // per_node), per_node, wanted.network, wanted.machine, wanted.model, None
    ).cluster()


def scheme_for(wanted: clusters.Wanted, some: Sequence[corymb.Cluster], study: Study) -> str:
    """The best scheme for the largest number of ranks that is planned whole."""
    few = [cluster for cluster in some if len(cluster) <= PLANNED_RANKS_MOST]
    cluster = max(few, key=len) if few else cluster_of(wanted, PLANNED_RANKS_MOST)
    choice = corymb.make_cluster_plan(cluster, study.op, bytes=study.size, proven=False)
    return choice.plan.algorithm


def simulate(cluster: corymb.Cluster, scheme: str, study: Study) -> list[Row]:
    """A row for each form."""
    plan = corymb.make_cluster_plan(
        cluster, study.op, bytes=study.size, algorithm=scheme, proven=False
    ).plan
    phases = corymb.Phases(plan, cluster, study.size)
    rows = []
    for form in FORMS:
        quiet = phases.run(form, phases=2, **study.options)[0][-1]
        times = phases.run(form, study.noise, phases=study.phases, **study.options)[0]
        rows.append(
            {
                "form": form,
                "ranks": len(cluster),
                "nodes": cluster.nodes,
                "quiet_ns": quiet,
                "median_ns": statistics.median(times),
                "p99_ns": sorted(times)[max(0, len(times) - 1 - len(times) // 100)],
                "slowdown": statistics.fmean(times) / quiet if quiet > 0 else 1.0,
                "seen_by_others": seen_by_others(phases, form, study),
            }
        )
    return rows


def seen_by_others(phases: corymb.Phases, form: str, study: Study) -> float:
    """How much later the other ranks end two phases when one stops in the first, in parts of its
    stop; mean over some ranks that stop."""
    if study.delay <= 0 or len(phases) < 2:
        return 0.0
    before = phases.run(form, phases=2, **study.options)[1]
    source = random.Random(1)
    seen = []
    for rank in source.sample(range(len(phases)), min(DELAYED_RANKS, len(phases))):
        after = phases.run(form, phases=2, delayed=rank, delay_ns=study.delay, **study.options)[1]
        added = sum(after) - sum(before) - (after[rank] - before[rank])
        seen.append(added / ((len(phases) - 1) * study.delay))
    return statistics.fmean(seen)


def show(out: Console, rows: Sequence[Row], study: Study, scheme: str) -> None:
    out.print(f"{study.op} by {scheme}, simulated; noise: {study.noise.text}", markup=False)
    out.print(
        f"  a phase computes {study.compute_ns:,.0f} ns; a rank that stops does so for "
        f"{study.delay:,.0f} ns",
        markup=False,
    )
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("ranks", justify="right")
    table.add_column("form")
    for name in ("quiet, ns", "median, ns", "p99, ns", "slowdown", "others see"):
        table.add_column(name, justify="right")
    last = 0
    for row in rows:
        table.add_row(
            f"{row['ranks']:,}" if row["ranks"] != last else "",
            row["form"],
            *(f"{row[name]:,.0f}" for name in ("quiet_ns", "median_ns", "p99_ns")),
            f"{row['slowdown']:.2f} x",
            f"{round(100 * row['seen_by_others']):d} %",
        )
        last = row["ranks"]
    out.print(table)


def as_json(rows: Sequence[Row], study: Study, scheme: str) -> dict[str, Any]:
    return {
        "schema": "corymb-sim-noise/1",
        "noise": {
            "text": study.noise.text,
            "lost_share": study.noise.lost_share,
            "aligned": study.noise.aligned,
            "seed": study.noise.seed,
        },
        "op": study.op,
        "scheme": scheme,
        "bytes": study.size,
        "compute_ns": study.compute_ns,
        "phases": study.phases,
        "looks": study.looks,
        "delay_ns": study.delay,
        "start_ns": study.start_ns,
        "slack": study.slack,
        "rows": list(rows),
    }
