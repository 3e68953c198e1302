#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MPICH's test suite with corymb's collectives and without, compared, on three MPI libraries.

    make mpi-suite    or    tools/mpi_pairs.sh suite [--libraries ...] [--only coll] [--nodes 2]
    tools/mpi_pairs.sh suite --libraries mpich --standard-abi

The suite is that of Debian's source package, fetched with apt-get; each library gets a build of its
own below build/mpi-suite. Every line of its lists is run, without corymb and with it. Nothing is
tried against the MPI, corymb does all it can, but with --trials: then as in any program's run. A
test that fails is run twice more on both sides before it is said to fail. With --nodes ranks are
dealt to that many groups which share no memory. Exit status 1 if a test fails only with corymb.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pairs

PLACE = pairs.ROOT / "build" / "mpi-suite"
# Folders of the suite with collectives, and those whose programs use them to meet.
FOLDERS = (
    "coll", "comm", "attr", "datatype", "errhan", "errors/coll", "errors/comm", "group", "info",
    "init", "pt2pt", "rma", "threads/coll", "threads/comm", "threads/init", "topo",
)  # fmt: skip
# Programs whose failures say nothing: they need much memory, or minutes on a few CPUs.
LEFT_OUT = {"bcasttest_large", "dims1", "dims2", "dims3", "dims4"}
TRIES = 3


@dataclass(frozen=True)
class Line:
    """A line of a list: a program, how it is started, and what it must do."""

    folder: str
    program: str
    ranks: int
    words: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    wants_failure: bool = False
    limit_s: float = 0

    @property
    def name(self) -> str:
        return " ".join((f"{self.folder}/{self.program}", str(self.ranks), *self.words))


@dataclass
class Side:
    """What came of the lines on one side."""

    failed: dict[str, str] = field(default_factory=dict)


def fetch() -> Path:
    """The folder of the suite, fetched with apt-get if it is not there. The system's own lists have
    no sources, so lists of its archives' sources are kept beside it."""
    found = sorted(PLACE.glob("mpich-*/test/mpi/configure"))
    if found:
        return found[0].parent
    shutil.rmtree(PLACE / "apt", ignore_errors=True)
    (PLACE / "apt" / "lists" / "partial").mkdir(parents=True)
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
         "Created-By: Packages"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    sources = PLACE / "apt" / "sources.list"
    sources.write_text("".join(
        f"deb-src {line}\n" for line in sorted(set(targets.stdout.splitlines()))
        if line.endswith(" main")
    ))  # fmt: skip
    own = ["-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
           "-o", f"Dir::State::lists={PLACE / 'apt' / 'lists'}", "-qq"]  # fmt: skip
    for words in (["update"], ["source", "--download-only", "mpich"]):
        done = subprocess.run(["apt-get", *own, *words], cwd=PLACE, check=False)
        if done.returncode != 0:
            raise pairs.FailedError("the source package mpich could not be fetched with apt-get")
    (archive,) = PLACE.glob("mpich_*.orig.tar.*")
    subprocess.run(["tar", "xf", archive, "--wildcards", "*/test/mpi/*"], cwd=PLACE, check=True)
    return fetch()


def as_its_mpicc(mpi: pairs.Mpi, place: Path) -> Path:
    """A folder like the library's, in which the compiler is called mpicc: the suite asks for that
    name, whatever else it is told."""
    if Path(mpi.compiler).name == "mpicc":
        return mpi.place
    (place / "bin").mkdir(parents=True)
    by_name = place / "bin" / "mpicc"  # No link: the compiler does what it is called for.
    by_name.write_text(f'#!/bin/sh\nexec "{mpi.compiler}" "$@"\n')
    by_name.chmod(0o755)
    for folder in ("include", "lib"):
        (place / folder).symlink_to(mpi.place / folder)
    return place


def build(mpi: pairs.Mpi) -> Path:
    """The suite as configured for the library; programs are made when they are needed."""
    place = PLACE / mpi.name
    if (place / "whole").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    log = place / "build.log"
    with log.open("w") as output, tempfile.TemporaryDirectory() as folder:
        library = as_its_mpicc(mpi, place / "library")
        for words in (
            [fetch() / "configure", "--disable-fortran", "--disable-cxx", "--enable-strictmpi",
             "--disable-spawn", "--enable-threads=multiple", f"--with-mpi={library}",
             f"CC={mpi.compiler}"],
            ["make", "-C", "util"], ["make", "-C", "dtpools"],
        ):  # fmt: skip
            done = subprocess.run(
                words, cwd=place, stdout=output, stderr=subprocess.STDOUT, check=False,
                env=mpi.environment(folder),
            )  # fmt: skip
            if done.returncode != 0:
                raise pairs.FailedError(f"the suite cannot be built for {mpi.title}: see {log}")
    (place / "whole").touch()
    return place


def lines_of(place: Path, folder: str) -> list[Line]:
    """The lines of the folder's list, one that the build has made or that came with the suite."""
    text = ""
    parent = place / folder
    for where in (place, fetch()):
        path = where / folder / "testlist"
        if path.exists():
            text, parent = path.read_text(), path.parent
            break
    lines: list[Line] = []
    for row in text.splitlines():
        words = row.split("#")[0].split()
        if not words or words[0].startswith("!") or words[0] in LEFT_OUT:
            continue
        if (parent / words[0]).is_dir():
            lines += lines_of(place, f"{folder}/{words[0]}")
            continue
        options: dict[str, list[str]] = {}
        for word in (word for word in words[1:] if "=" in word):
            key, value = word.split("=", 1)
            options.setdefault(key, []).append(value)
        if options.get("strict") == ["false"] or "xfail" in options or "mpix" in options:
            continue
        count = words[1] if len(words) > 1 and words[1].isdigit() else "2"
        variables = tuple(tuple(value.split("=", 1)) for value in options.get("env", ()))
        verdict = options.get("resultTest", [""])[0]
        lines.append(Line(
            folder, words[0], int(count), tuple(options.get("arg", ())),
            tuple((pair[0], pair[1]) for pair in variables if len(pair) == 2),
            verdict.startswith("TestStatus"), float(options.get("timeLimit", ["0"])[0]),
        ))  # fmt: skip
    return list(dict.fromkeys(lines))


def compile_program(mpi: pairs.Mpi, place: Path, line: Line) -> bool:
    """Whether there is a program; the library may lack what it calls."""
    folder = place / line.folder
    if (folder / line.program).exists():
        return True
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            ["make", "-C", folder, line.program], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=mpi.environment(scratch), check=False,
        )  # fmt: skip
    return done.returncode == 0


def end_group(running: subprocess.Popen[str]) -> None:
    """Of a launcher and all that it has started here."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, number)
            running.wait(timeout=5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def fault_of(mpi: pairs.Mpi, place: Path, line: Line, with_corymb: bool, options: Any) -> str:
    """Empty if the test has passed, else why not."""
    program = [f"./{line.program}", *line.words]
    if options.nodes > 1 and with_corymb:
        node = f"$((${{PMI_RANK:-${{OMPI_COMM_WORLD_RANK}}}} % {options.nodes}))"
        program = ["sh", "-c", f"export CORYMB_MPI_NODE={node}; exec {shlex.join(program)}"]
    mpi = able_to_spawn(mpi, line)
    command = [*mpi.command(line.ranks, False, with_corymb and options.nodes == 1), *program]
    with tempfile.TemporaryDirectory(prefix="corymb-suite-") as folder:
        own = mpi.environment(folder)
        patient = [kind["variables"] for kind in mpi.peer["contestant"]
                   if kind.get("when") == "floating"]  # fmt: skip
        own |= {**(patient[0] if patient else {}), **dict(line.variables)}
        own["CORYMB_MPI"] = "early" if options.trials else "always"  # The programs are short.
        if options.nodes > 1 and with_corymb:
            own["LD_PRELOAD"] = str(mpi.adapter)
            if options.trials:
                own["CORYMB_NETWORK"] = "measure"  # A team at once.
        running = subprocess.Popen(
            list(map(str, command)), cwd=place / line.folder, env=own, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        limit_s = max(options.limit, line.limit_s)
        try:
            output, _ = running.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            end_group(running)
            return f"no end within {limit_s:.0f} s"
        except BaseException:
            end_group(running)
            raise
    if line.wants_failure:
        return "" if running.returncode != 0 else "exit status 0, other wanted"
    if running.returncode != 0 or not re.search(r"no errors|test passed", output, re.IGNORECASE):
        end = "\n      ".join(output.splitlines()[-8:])
        return f"exit status {running.returncode}\n      {end}"
    return ""


def able_to_spawn(mpi: pairs.Mpi, line: Line) -> pairs.Mpi:
    """MPICH's launcher starts no further processes in a job that was told not to bind its own,
    which it does not do anyway."""
    if mpi.name.startswith("mpich") and line.folder.endswith("spawn"):
        return replace(mpi, peer={**mpi.peer, "floating": []})
    return mpi


def compare(mpi: pairs.Mpi, place: Path, line: Line, sides: list[Side], options: Any) -> None:
    """Runs it on both sides; sides that differ are tried again, since some tests fail at times."""
    faults = ["", ""]
    for _ in range(TRIES):
        for side in (0, 1):
            if not faults[side]:
                faults[side] = fault_of(mpi, place, line, side == 1, options)
        if not faults[1] or faults[0]:
            break
        if fault_of(mpi, place, line, True, options) == "":
            faults[1] = ""
    for side in (0, 1):
        if faults[side]:
            sides[side].failed[line.name] = faults[side]


def compare_all(mpi: pairs.Mpi, options: Any) -> dict[str, Any]:
    place = build(mpi)
    sides = [Side(), Side()]
    count, missing, begin = 0, [], time.monotonic()
    for folder in options.only.split(","):
        for line in lines_of(place, folder):
            if line.ranks > options.ranks_most or options.match not in line.name:
                continue
            if not compile_program(mpi, place, line):
                missing.append(line.name)
                continue
            before = set(sides[1].failed)
            compare(mpi, place, line, sides, options)
            count += 1
            for name in set(sides[1].failed) - before:
                where = "both" if name in sides[0].failed else "only with corymb"
                print(f"  {where}: {name}: {sides[1].failed[name]}", flush=True)
    only = sorted(set(sides[1].failed) - set(sides[0].failed))
    print(f"{mpi.title}: {count} tests in {time.monotonic() - begin:.0f} s; failed without corymb "
          f"{len(sides[0].failed)}, with it {len(sides[1].failed)}, only with it {len(only)}; "
          f"{len(set(missing))} programs that this library cannot compile", flush=True)  # fmt: skip
    return {"library": mpi.title, "tests": count, "failed": [side.failed for side in sides],
            "only_with_corymb": only, "not_compiled": missing}  # fmt: skip


def options_of() -> argparse.Namespace:
    parser = pairs.arguments(__doc__.splitlines()[0], "mpich,openmpi,impi")
    parser.set_defaults(limit=120)
    parser.add_argument("--only", default=",".join(FOLDERS), help="folders of the suite")
    parser.add_argument("--match", default="", help="only tests whose name holds this")
    parser.add_argument("--ranks-most", type=int, default=10, help="leave out what needs more")
    parser.add_argument("--nodes", type=int, default=1, help="groups that share no memory")
    parser.add_argument("--standard-abi", action="store_true", help="programs made by mpicc_abi")
    parser.add_argument("--trials", action="store_true", help="what the MPI does faster is its")
    return parser.parse_args()


def main() -> int:
    options = options_of()
    chosen = pairs.libraries(options.libraries.split(","))
    if options.standard_abi:
        chosen = [mpi.by_standard_abi() for mpi in chosen]
    results = [compare_all(mpi, options) for mpi in chosen]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if any(result["only_with_corymb"] for result in results) else 0


if __name__ == "__main__":
    pairs.end_with("suite", main)
