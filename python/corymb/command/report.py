# SPDX-License-Identifier: Apache-2.0
"""corymb report: one self-contained page about a machine and its plans."""

from __future__ import annotations

import functools
import json as json_text
from typing import Annotated, Any

import typer

import corymb
from corymb import study
from corymb.command import bench_program, bench_waiting, console, files, inputs, sim_multicast
from corymb.command.map import remarks_of
from corymb.command.options import (
    Bytes,
    JsonFile,
    Levels,
    MachineName,
    ModelFile,
    NoMeasure,
    Ranks,
    Root,
)

EXAMPLES = (
    "Examples: corymb report | corymb report --machine epyc-7742-2s-256t -o rome.html | "
    "corymb report --bench bench.json --op allreduce"
)
REPETITIONS = 2000
BENCH_SECONDS = 12.0
MULTICAST_SECONDS = 8.0
COMMON_FIELDS = frozenset({"op", "contestant", "ranks", "regime", "median_ns", "q25", "q75"})
BENCH_FIELDS = COMMON_FIELDS | {"bytes"}
MULTICAST_FIELDS = COMMON_FIELDS | {"members", "cpus"}
WAITING_FIELDS = frozenset(
    {*bench_waiting.AXES, "ratio", "worse_median", "worse_p99", "peer_first_us", "peer_p99_us"}
)
NOISE_FIELDS = frozenset({"form", "ranks", "median_ns", "p99_ns", "seen_by_others"})
NAMES = {
    MULTICAST_FIELDS: "corymb bench multicast",
    WAITING_FIELDS: "corymb bench waiting",
    NOISE_FIELDS: "corymb sim noise",
}
SHORT_CONTESTANTS = (
    "corymb", "flags", "flags-store-pause", "flags-exchange-pause", "std-barrier",
    "pthread-barrier", "mcs-dissemination", "central-sense", "libgomp", "libomp",
)  # fmt: skip


def command(
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where the page goes.")
    ] = "report.html",
    machine: MachineName = None,
    model: ModelFile = None,
    ranks: Ranks = None,
    root: Root = None,
    bytes_: Bytes = 8,
    op: Annotated[
        str, typer.Option("--op", metavar="OP", help="The operation whose plan is drawn.")
    ] = "broadcast",
    bench: Annotated[
        str | None,
        typer.Option("--bench", metavar="FILE", help="Of corymb bench collectives --json FILE."),
    ] = None,
    multicast: Annotated[
        str | None,
        typer.Option("--multicast", metavar="FILE", help="Of corymb bench multicast --json FILE."),
    ] = None,
    waiting: Annotated[
        str | None,
        typer.Option("--waiting", metavar="FILE", help="Of corymb bench waiting --json FILE."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option("--noise", metavar="FILE", help="Of corymb sim noise --json FILE."),
    ] = None,
    no_bench: Annotated[
        bool, typer.Option("--no-bench", help="Run nothing on this machine.")
    ] = False,
    levels: Levels = None,
    no_measure: NoMeasure = False,
    json: JsonFile = None,
) -> None:
    """Write heat maps, plans, timeline, bench curves and stragglers into one HTML file."""
    inputs.require_operation(op, study.OPERATIONS)
    inputs.require_sizes(bytes_, 1, 0)
    files.require_writable(output, json)
    rows = load_rows(bench) if bench is not None else []
    calls = load_rows(multicast, MULTICAST_FIELDS) if multicast is not None else []
    cells = load_rows(waiting, WAITING_FIELDS) if waiting is not None else []
    phases = load_rows(noise, NOISE_FIELDS) if noise is not None else []
    chosen = inputs.choose_machine(machine, model, no_measure, levels=levels)
    placement = inputs.placement_of(ranks, chosen.machine)
    inputs.require_root(root, len(placement))
    facts = study.study_of(chosen.machine, placement, bytes_)
    facts.bench = rows
    facts.multicast_bench = calls
    facts.waiting = cells
    facts.noise = phases
    plan_all(facts, root)
    simulate_multicast(facts)
    if chosen.is_here and not no_bench and len(placement) > 1:
        run_all(facts)
        if not rows and bench_program.program() is not None:
            facts.bench = short_bench(BENCH_SECONDS)
        if not calls and bench_program.program() is not None:
            facts.multicast_bench = short_multicast(MULTICAST_SECONDS)
    write_page(output, facts, chosen, op)
    out = console.output(quiet=console.is_stdout(output, json))
    out.print(f"wrote {output}", markup=False)
    if json is not None:
        files.write_json(json, as_json(facts, chosen))


def plan_all(facts: study.Study, root: int | None = None) -> None:
    for op in study.OPERATIONS:
        work = functools.partial(study.plan_one, facts, op, root)
        console.busy(f"planning {op} for {len(facts.placement)} ranks", work)


def simulate_multicast(facts: study.Study) -> None:
    """Rank 0 calls groups of about two sizes an octave."""
    ranks = len(facts.placement)
    if ranks > 1:
        sizes = list(sim_multicast.usual_sizes(ranks))

        def work() -> tuple[list[dict[str, Any]], corymb.MulticastChoice]:
            return sim_multicast.simulate(facts.machine, facts.placement, sizes)

        facts.multicast, choice = console.busy("simulating multicasts", work)
        facts.multicast_choice = choice.reason


def short_multicast(seconds: float) -> list[dict[str, Any]]:
    with console.progress_bar("comparing multicasts with plain ways") as report:
        return bench_program.run("corymb-bench-multicast", ["--seconds", f"{seconds:g}"], report)


def run_all(facts: study.Study, repetitions: int = REPETITIONS) -> None:
    """Runs the four plans on this machine, bound to their CPUs."""
    with console.progress_bar("running the plans") as report:
        for index, (op, planned) in enumerate(facts.planned.items()):

            def part(done: float, _: str, index: int = index, op: str = op) -> None:
                report((index + done) / len(facts.planned), op)

            study.run_one(planned, facts.cpus, facts.size, repetitions, part)


def short_bench(seconds: float) -> list[dict[str, Any]]:
    """A bench run for pictures: the operations alone on the machine, and a crowded barrier, each
    with the best-known peers only. All peers: corymb bench."""
    cpus = corymb.usable_cpus().count()
    parts = []
    if cpus > 1:
        threads = sorted({2, cpus})
        parts.append((["barrier", "broadcast", "allreduce"], threads, "alone", 0.7))
    parts.append((["barrier"], [2 * max(cpus, 2)], "oversubscribed", 1 - 0.7 * (cpus > 1)))
    rows: list[dict[str, Any]] = []
    with console.progress_bar("comparing with other libraries") as report:
        begin = 0.0
        for ops, threads, regime, share in parts:
            request = bench_program.Request(
                ops=ops, threads=threads, seconds=max(0.5, seconds * share), sizes=[8],
                regimes=[regime], contestants=SHORT_CONTESTANTS,
            )  # fmt: skip

            def part(done: float, what: str, begin: float = begin, share: float = share) -> None:
                report(begin + done * share, what)

            measuring = functools.partial(bench_program.measure, request, part)
            rows += bench_program.all_rows(measuring)[0]
            begin += share
    return rows


def load_rows(file: str, needed: frozenset[str] = BENCH_FIELDS) -> list[dict[str, Any]]:
    """The rows of a bench file, which have these fields; a wrong file is said."""
    name = NAMES.get(needed, "corymb bench")
    wrong = corymb.Error(f"{file} is not a file of {name} --json", "io")
    try:
        value = json_text.loads(files.read_text(file, "bench results"))
        rows = value["rows"]
        if not all(needed <= set(row) for row in rows):
            raise wrong
    except (ValueError, KeyError, TypeError, RecursionError):
        raise wrong from None
    return list(rows)


def write_page(output: str, facts: study.Study, chosen: inputs.Chosen, drawn: str) -> None:
    from corymb.picture.report import report_page

    work = functools.partial(report_page, facts, chosen.title, remarks_of(chosen.machine), drawn)
    page = console.busy("drawing", work)
    files.write_text(output, page)


def as_json(facts: study.Study, chosen: inputs.Chosen) -> dict[str, Any]:
    """The numbers behind the page."""
    return {
        "schema": "corymb-report/1",
        "machine": chosen.title,
        "origin": chosen.origin,
        "unit": facts.machine.unit,
        "model_sha256": facts.machine.sha256(),
        "doubts": facts.machine.doubts,
        "cpus": facts.cpus,
        "bytes": facts.size,
        "operations": {
            op: _operation(planned, facts.machine) for op, planned in facts.planned.items()
        },
        "bench": facts.bench,
        "prediction": facts.prediction,
        "multicast": {
            "choice": facts.multicast_choice,
            "simulated": facts.multicast,
            "measured": facts.multicast_bench,
        },
        "waiting": facts.waiting,
        "noise": facts.noise,
    }


def _operation(planned: study.Planned, machine: corymb.Machine) -> dict[str, Any]:
    choice, run = planned.choice, planned.run
    bound, kind = choice.lower_bound(machine)
    return {
        "algorithm": choice.plan.algorithm,
        "root": choice.plan.root,
        "predicted": choice.predicted,
        "lower_bound": bound,
        "bound_kind": kind,
        "finish": planned.timeline.finish,
        "waiting": planned.waiting,
        "measured_median_ns": run.median_ns if run else None,
        "wrong_results": run.wrong if run else None,
    }
