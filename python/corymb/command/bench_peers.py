# SPDX-License-Identifier: Apache-2.0
"""corymb bench peers: corymb and MPI libraries, alternating in one run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

import corymb
from corymb.command import bench_program, console, files, inputs, peers_tables, run
from corymb.command.options import JsonFile, NoMeasure
from corymb.peers import cases, contestant, measure, verdict

EXAMPLES = (
    "Examples: corymb bench peers | corymb bench peers --full --json peers.json | "
    "corymb bench peers --ops barrier,allreduce --modes blocking --ranks 2,4,8 --bytes 8,65536 "
    "--peers 'open mpi,intel'"
)
SIZE_MAX = 2**28


@dataclass(frozen=True)
class Extent:
    """What --quick and --full measure; `seconds` for a case of weight 1."""

    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    seconds: float


QUICK = Extent((2,), (8, 1024, 16384, 262144, 8388608), 0.7)
FULL = Extent(
    (2, 4, 8),
    (8, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216),
    3.0,
)


def command(
    ops: Annotated[
        str,
        typer.Option("--ops", metavar="LIST", help="all, or " + ", ".join(cases.OPERATIONS) + "."),
    ] = "all",
    modes: Annotated[
        str, typer.Option("--modes", metavar="LIST", help=", ".join(cases.MODES) + ".")
    ] = ",".join(cases.MODES),
    ranks: Annotated[
        str | None, typer.Option("--ranks", metavar="LIST", help="Numbers of ranks.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option("--bytes", metavar="LIST", help="Bytes of one contribution.")
    ] = None,
    peers: Annotated[
        str | None,
        typer.Option("--peers", metavar="LIST", help="Those to keep; parts of names do."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="2, 4 and 8 ranks and all sizes, or a few.")
    ] = False,
    overlap: Annotated[
        bool, typer.Option("--overlap/--no-overlap", help="How much computing hides.")
    ] = True,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="S", help="Time for all measurements.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="FOLDER", help="Where the peers are: build/peers."),
    ] = None,
    no_measure: NoMeasure = False,
    json: JsonFile = None,
) -> None:
    """Time corymb beside MPI libraries, which `make bench-peers` in the sources installs."""
    extent = FULL if full else QUICK
    names = list(cases.OPERATIONS) if ops == "all" else inputs.split(ops, "--ops")
    _require_known("operation", names, cases.OPERATIONS)
    chosen_modes = inputs.split(modes, "--modes")
    _require_known("mode", chosen_modes, cases.MODES)
    chosen_sizes = inputs.numbers(sizes, "--bytes", 8, SIZE_MAX) or list(extent.sizes)
    if any(size % 8 for size in chosen_sizes):
        raise inputs.usage(f"--bytes '{sizes}': elements are double, so multiples of 8")
    if seconds is not None and not 1 <= seconds <= 86400:
        raise inputs.usage("--seconds must be from 1 to 86400")
    request = cases.Request(
        ops=names,
        ranks=inputs.numbers(ranks, "--ranks", 2, 256) or list(extent.ranks),
        sizes=chosen_sizes,
        modes=chosen_modes,
        cpus=len(os.sched_getaffinity(0)),
        overlap=overlap,
    )
    weights = sum(case.weight for case in request.cases())
    request.seconds = seconds or max(1.0, extent.seconds * weights)
    files.require_writable(json)
    chosen, missing = choose(folder or Path(os.environ.get("CORYMB_PEERS", "build/peers")), peers)
    for peer in missing:
        console.say(f"missing: {peer.name}: {peer.reason}")
    inputs.choose_machine(None, None, no_measure)  # The ranks plan on the model that it caches.
    with ending_cleanly(), console.progress_bar("measuring beside MPI libraries") as report:
        results = measure.measure(request, chosen, report)
    found = verdict.comparisons(results.rows)
    peers_tables.show(console.output(quiet=console.is_stdout(json)), results, found)
    if json is not None:
        files.write_json(json, as_json(request, results, found, missing))


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Someone who ends this process by SIGTERM gets the same cleaning up as by Ctrl-C."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def as_json(
    request: cases.Request,
    results: measure.Results,
    found: Sequence[verdict.Comparison],
    missing: Sequence[contestant.Missing],
) -> dict[str, Any]:
    defaults = verdict.comparisons(results.rows, defaults_only=True)
    return {
        "schema": "corymb-bench/1", "version": corymb.__version__, "cpus": request.cpus,
        "rows": results.rows, "overlap": results.overlap, "bandwidth": results.bandwidth,
        "counts": verdict.counts(found), "means": verdict.means(found),
        "means_of_defaults": verdict.means(defaults), "shares": verdict.shares(found),
        "missing": [{"name": peer.name, "reason": peer.reason} for peer in missing],
        "remarks": results.remarks,
    }  # fmt: skip


def _require_known(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise inputs.usage(f"unknown {what} '{name}'; there are {', '.join(known)}")


def choose(
    folder: Path, wanted: str | None
) -> tuple[list[contestant.Contestant], list[contestant.Missing]]:
    """corymb's contestants and the peers, and who is missing. Of `wanted`, each word keeps those
    whose names hold it; corymb's of the same language take part in any case, all unless some are
    named."""
    others, missing = contestant.load(folder)
    driver = bench_program.program()
    program = driver.with_name("corymb-bench-ranks") if driver else None
    if program is None or not program.exists():
        raise corymb.Error(
            "corymb-bench-ranks is not part of this installation; build with CORYMB_BENCH=ON", "io"
        )
    own, own_missing = contestant.own(program, run.program())
    everybody = [*own, *others, contestant.pipes()]
    missing = own_missing + missing
    if wanted is None:
        return everybody, missing
    words = [word.lower() for word in inputs.split(wanted, "--peers")]
    names = [one.name for one in everybody] + [one.name for one in missing]
    for word in words:
        if not any(word in name.lower() for name in names):
            raise inputs.usage(f"unknown peer '{word}'; there are {', '.join(names)}")
    kept = [one for one in everybody if any(word in one.name.lower() for word in words)]
    gone = [one for one in missing if any(word in one.name.lower() for word in words)]
    alone = {one.language for one in kept} - {one.language for one in kept if one.is_own}
    return [one for one in own if one.language in alone] + kept, gone
