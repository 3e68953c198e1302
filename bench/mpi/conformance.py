#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs mpi4py's own tests with corymb's collectives and without, and compares.

    tools/mpi_conformance.py [--libraries mpich,openmpi] [--ranks 2,3] [--only PATTERN]

The tests are those of mpi4py's source package, of the version that build/mpi/NAME holds
(`make test STAGES=mpi` makes these environments), fetched with pip. Nothing is tried against the
MPI: corymb does all it can. Exit status 1 if a test fails only with corymb, or a run does not end.
Tests that start processes are left out: they need a resource manager.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ROOT / "build" / "mpi"
SOURCES = ROOT / "build" / "mpi4py-source"
LIMIT_S = 900
LEFT_OUT = ("spawn", "Spawn", "dynproc")
VERDICT = re.compile(r"^(?:FAIL|ERROR): (.*)$", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests", re.MULTILINE)
OPENMPI_OPTIONS = ("--bind-to", "none", "--oversubscribe")


def fail(text: str) -> None:
    sys.stderr.write(f"mpi-conformance: {text}\n")
    sys.exit(1)


def tests_of(name: str) -> Path:
    """The folder of tests for the mpi4py of a library, fetched if it is not there."""
    python = LIBRARIES / name / "bin" / "python"
    if not python.exists():
        fail(f"there is no {python}; run make test STAGES=mpi")
    ask = "import importlib.metadata as m; print(m.version('mpi4py'))"
    version = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    package = f"mpi4py-{version.stdout.strip()}"
    folder = SOURCES / package / "test"
    if not folder.exists():
        SOURCES.mkdir(parents=True, exist_ok=True)
        wanted = package.replace("-", "==")
        done = subprocess.run(
            [python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "mpi4py",
             "--dest", SOURCES, wanted], check=False,
        )  # fmt: skip
        if done.returncode != 0:
            fail(f"{wanted} could not be fetched")
        shutil.unpack_archive(SOURCES / f"{package}.tar.gz", SOURCES)
    return folder


def run(name: str, ranks: int, tests: Path, only: str, with_corymb: bool) -> tuple[int, set[str]]:
    """Number of tests that ran, and those that failed on some rank."""
    place = LIBRARIES / name / "bin"
    options = OPENMPI_OPTIONS if name == "openmpi" else ()
    head = [sys.executable, "-m", "corymb", "mpirun"] if with_corymb else [place / "mpiexec"]
    words = [*head, *options, "-n", str(ranks), place / "python", tests / "main.py"]
    for pattern in LEFT_OUT:
        words += ["-x", pattern]
    may = {
        f"{head}_ALLOW_RUN_AS_ROOT{tail}": "1"
        for head in ("OMPI", "PRTE")
        for tail in ("", "_CONFIRM")
    }
    adapters = str(ROOT / "build" / "dev" / "adapters" / "mpi")
    environment = {
        **os.environ, **may, "PATH": f"{place}:{os.environ['PATH']}", "CORYMB_MPI": "always",
        "CORYMB_MPI_ADAPTERS": os.environ.get("CORYMB_MPI_ADAPTERS", adapters),
    }  # fmt: skip
    try:
        done = subprocess.run(
            [*map(str, words), only], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env=environment, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        fail(f"{name}, {ranks} ranks: the tests did not end within {LIMIT_S} s")
        raise
    ran = RAN.findall(done.stdout)
    if len(ran) != ranks:
        sys.stderr.write(done.stdout[-4000:])
        fail(f"{name}: {len(ran)} of {ranks} ranks came to the end of the tests")
    return int(ran[0]), set(VERDICT.findall(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", default="mpich,openmpi")
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--only", default="*", help="pattern of mpi4py's, such as test_cco")
    options = parser.parse_args()
    worse = 0
    for name in options.libraries.split(","):
        tests = tests_of(name)
        for ranks in map(int, options.ranks.split(",")):
            count, plain = run(name, ranks, tests, options.only, False)
            _, corymb = run(name, ranks, tests, options.only, True)
            print(f"{name}, {ranks} ranks: {count} tests; failed without corymb {len(plain)}, "
                  f"with it {len(corymb)}", flush=True)  # fmt: skip
            for test in sorted(corymb - plain):
                print(f"  only with corymb: {test}")
            worse += len(corymb - plain)
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
