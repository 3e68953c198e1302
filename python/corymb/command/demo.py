# SPDX-License-Identifier: Apache-2.0
"""corymb demo: the whole path on this machine, told on one screen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import corymb
from corymb import study
from corymb.command import bench_prediction, bench_program, console, files, inputs, report
from corymb.command import map as map_command
from corymb.command.options import JsonFile

EXAMPLES = "Examples: corymb demo | corymb demo --budget 5 -o /tmp/report.html"
MEASURE_S = 15.0
BENCH_S = 10.0
PREDICTION_S = 4.0


def command(
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where the page goes.")
    ] = "report.html",
    budget: Annotated[
        float, typer.Option("--budget", metavar="S", help="Seconds for measuring the machine.")
    ] = MEASURE_S,
    bench_seconds: Annotated[
        float, typer.Option("--bench-seconds", metavar="S", help="Seconds for the comparison.")
    ] = BENCH_S,
    json: JsonFile = None,
) -> None:
    """Measure this machine, plan on it, prove and run the plans, compare, write a report."""
    if not 0 < budget <= 3600 or not 0.5 <= bench_seconds <= 3600:
        raise inputs.usage("--budget and --bench-seconds must be seconds, at most 3600")
    files.require_writable(output, json)
    out = console.output(quiet=console.is_stdout(output, json))
    usable = corymb.usable_cpus()
    alone = usable.count() < 2
    heading(out, 1, "Measure: how long do the cores take to hand each other a message?")
    machine = inputs.measure_here(budget)
    chosen = inputs.Chosen(machine, "measured")
    map_command.show(out, chosen)
    if alone:
        out.print("Only one CPU is usable here, so no message between two cores can be timed.")
    facts = study.study_of(machine, _placement(machine, usable), 8)
    heading(out, 2, "Plan: the best of the portfolio for each operation, proven before it runs")
    report.plan_all(facts)
    if len(facts.placement) > 1:
        report.run_all(facts)
    show_plans(out, facts)
    heading(out, 3, "Compare: the same operations by other libraries, alternating in one run")
    compare(out, facts, bench_seconds)
    if not alone and bench_program.program() is not None:
        _, facts.prediction = bench_prediction.measure(PREDICTION_S)
    report.write_page(output, facts, chosen, "broadcast")
    heading(out, 4, "What was learned")
    for line in learned(facts):
        out.print("  " + line, markup=False)
    show_files(out, output, None if alone else corymb.cached_model_path())
    if json is not None:
        files.write_json(json, report.as_json(facts, chosen))


def heading(out: Console, number: int, text: str) -> None:
    out.print(f"\n[bold]{number}. {text}[/]")


def _placement(machine: corymb.Machine, usable: Any) -> list[int]:
    """One rank on each PU, as many as can run at the same time."""
    return list(range(max(1, min(len(machine), usable.count()))))


def show_plans(out: Console, facts: study.Study) -> None:
    unit = facts.machine.unit
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("operation")
    table.add_column("plan", no_wrap=True)
    times = {"simulated": unit, "bound": unit, "measured": "ns"}
    for title, of in times.items():
        table.add_column(f"{title}\n{of}", justify="right", no_wrap=True)
    table.add_column("proven, run", no_wrap=True)
    for op, planned in facts.planned.items():
        choice, run = planned.choice, planned.run
        measured = f"{run.median_ns:.0f}" if run else "-"
        right = "" if run is None else ", right" if run.wrong == 0 else f", {run.wrong} WRONG"
        table.add_row(
            op, choice.plan.algorithm, f"{choice.predicted:.0f}",
            bound_of(choice, facts.machine), measured, "proven" + right,
        )  # fmt: skip
    out.print(table)


def bound_of(choice: corymb.PlanChoice, machine: corymb.Machine) -> str:
    bound, _ = choice.lower_bound(machine)
    return f"{bound:.0f}" if bound > 0 else "-"


def compare(out: Console, facts: study.Study, seconds: float) -> None:
    """The short bench; what is absent is said, not fatal."""
    if bench_program.program() is None:
        out.print("  corymb-bench is not part of this installation: nothing to compare with.")
        return
    facts.bench = report.short_bench(seconds)
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("case")
    for title in ("floor, ns", "corymb, ns", "best peer, ns", "worst peer, ns"):
        table.add_column(title, justify="right")
    for case in cases(facts.bench):
        table.add_row(*case)
    if table.row_count == 0:
        out.print("  The machine was too busy: no slot was measured. Try --bench-seconds 60.")
        return
    out.print(table)


def cases(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """One line a case: the floor, corymb, and the best and the worst of its peers."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["median_ns"] is not None:
            payload = "" if row["op"] == "barrier" else f" {row['bytes']} B"
            name = f"{row['op']}{payload}, {row['ranks']} threads, {row['regime']}"
            grouped.setdefault(name, []).append(row)
    lines: list[tuple[str, ...]] = []
    for name, members in grouped.items():
        floor = [r for r in members if r["contestant"] == "floor"]
        ours = [r for r in members if r["contestant"] == "corymb"]
        peers = [r for r in members if r["family"] not in {"corymb", "floor"}]
        peers.sort(key=lambda row: float(row["median_ns"]))
        lines.append((name, _cell(floor), _cell(ours), _named(peers[:1]), _named(peers[-1:])))
    return lines


def _cell(rows: list[dict[str, Any]]) -> str:
    return f"{rows[0]['median_ns']:,.0f}" if rows else "-"


def _named(rows: list[dict[str, Any]]) -> str:
    return f"{rows[0]['contestant']} {rows[0]['median_ns']:,.0f}" if rows else "-"


def learned(facts: study.Study) -> list[str]:
    """A few sentences, each with a number that was measured or proven here."""
    machine = facts.machine
    lines = []
    classes = [c for c in machine.classes if c.send.count > 0]
    if classes:
        cheap = min(classes, key=lambda c: c.receive.median)
        dear = max(classes, key=lambda c: c.receive.median)
        text = f"A message costs {_message(cheap):.0f} {machine.unit} ({cheap.name})"
        if dear is not cheap:
            text += f" to {_message(dear):.0f} {machine.unit} ({dear.name})"
        lines.append(text + ".")
    ran = [planned for planned in facts.planned.values() if planned.run]
    lines.append(f"{len(facts.planned)} plans were proven; {len(ran)} ran here.")
    wrong = sum(planned.run.wrong for planned in ran if planned.run)
    if wrong:
        lines.append(f"{wrong} results were WRONG; please report this.")
    if facts.prediction and facts.prediction["spearman"] is not None:
        lines.append(
            f"{facts.prediction['plans']} plans, good and bad, simulated and measured: rank "
            f"correlation {facts.prediction['spearman']:.2f}, median error "
            f"{100 * facts.prediction['median_relative_error']:.0f} %."
        )
    verdict = study.bench_verdict(facts.bench)
    if any(verdict.values()):
        lines.append(
            f"Against peers corymb was faster {len(verdict['wins'])} times, equal "
            f"{len(verdict['ties'])} times, slower {len(verdict['losses'])} times."
        )
        lines.extend("Slower: " + loss + "." for loss in verdict["losses"][:3])
    return lines


def _message(pair_class: Any) -> float:
    return float(pair_class.send.median + pair_class.receive.median)


def show_files(out: Console, output: str, model: Path | None) -> None:
    if output != "-":
        out.print(f"  report  {Path(output).resolve()}", markup=False, soft_wrap=True)
    if model is not None and model.exists():
        out.print(f"  model   {model}", markup=False, soft_wrap=True)
    out.print("  Next: corymb --help, corymb doctor, corymb plan barrier")
