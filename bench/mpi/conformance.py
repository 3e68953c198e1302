#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi4py's own tests with corymb's collectives and without, compared.

    make mpi-conformance    or    tools/mpi_pairs.sh conformance [--libraries ...] [--only ...]

The tests are those of mpi4py's source package, of the version that tools/peers.toml names, fetched
with pip; one installation of mpi4py speaks to all libraries. Nothing is tried against the MPI:
corymb does all it can. Exit status 1 if a test fails only with corymb, or a run does not end. Tests
that start processes are left out: they need a resource manager.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pairs

PYTHON = pairs.PEERS / "mpi4py" / "bin" / "python"
SOURCES = pairs.ROOT / "build" / "mpi4py-source"
# Tests and files. Intel MPI without a network ends the process when it is asked for a port.
LEFT_OUT = ("-x", "spawn", "-x", "Spawn", "-x", "dynproc", "-e", "test_dynproc", "-e", "test_spawn")
VERDICT = re.compile(r"^(?:FAIL|ERROR): (.*)$", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests", re.MULTILINE)
SONAMES = ("libmpi.so.40", "libmpi.so.12")


def sources() -> Path:
    """The source package of the mpi4py that is installed, fetched if it is not there."""
    if not PYTHON.exists():
        raise pairs.FailedError(f"there is no {PYTHON}; run make bench-peers")
    ask = "import importlib.metadata as m; print(m.version('mpi4py'))"
    version = subprocess.run([PYTHON, "-c", ask], capture_output=True, text=True, check=True)
    package = f"mpi4py-{version.stdout.strip()}"
    folder = SOURCES / package
    if not folder.exists():
        SOURCES.mkdir(parents=True, exist_ok=True)
        wanted = package.replace("-", "==")
        done = subprocess.run(
            [PYTHON, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "mpi4py",
             "--dest", SOURCES, wanted], check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise pairs.FailedError(f"{wanted} could not be fetched")
        shutil.unpack_archive(SOURCES / f"{package}.tar.gz", SOURCES)
    return folder


def library(mpi: pairs.Mpi) -> Path:
    """What mpi4py is told to load; else it takes the one beside it."""
    folder = mpi.place / "lib"
    return next(folder / name for name in SONAMES if (folder / name).exists())


def environment(mpi: pairs.Mpi, folder: str) -> dict[str, str]:
    """Ranks that share CPUs wait as is best for that: some libraries take minutes otherwise."""
    patient = [
        kind["variables"] for kind in mpi.peer["contestant"] if kind.get("when") == "floating"
    ]
    own = {**mpi.environment(folder), **(patient[0] if patient else {})}
    return {**own, "MPI4PY_LIBMPI": str(library(mpi)), "CORYMB_MPI": "always"}


def run(mpi: pairs.Mpi, ranks: int, only: str, with_corymb: bool, limit_s: float) -> Any:
    """Number of tests that ran on a rank, and the names of those that failed on some rank."""
    tests = sources() / "test" / "main.py"
    words = [*mpi.command(ranks, False, with_corymb), PYTHON, tests, *LEFT_OUT]
    line = [*map(str, words), *(["-i", only] if only else [])]
    with tempfile.TemporaryDirectory(prefix="corymb-conformance-") as folder:
        try:
            done = subprocess.run(
                line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", env=environment(mpi, folder), timeout=limit_s, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            text = error.stdout or b""
            text = text.decode(errors="replace") if isinstance(text, bytes) else text
            end = "\n".join(text.splitlines()[-15:])
            raise pairs.FailedError(f"no end within {limit_s:.0f} s: {line}\n{end}") from None
    ran = RAN.findall(done.stdout)
    if len(ran) != ranks:
        end = "\n".join(done.stdout.splitlines()[-60:])
        raise pairs.FailedError(f"{len(ran)} of {ranks} ranks came to the end: {line}\n{end}")
    return int(ran[0]), set(VERDICT.findall(done.stdout))


def compare(mpi: pairs.Mpi, ranks: int, options: Any) -> bool:
    """Whether everything that passes without corymb passes with it."""
    sides = []
    for with_corymb in (False, True):
        try:
            sides.append(run(mpi, ranks, options.only, with_corymb, options.limit))
        except pairs.FailedError as error:
            print(f"{mpi.title}, {ranks} ranks, with{'' if with_corymb else 'out'} corymb: {error}",
                  flush=True)  # fmt: skip
            return False
    (count, plain), (_, corymb) = sides
    print(f"{mpi.title}, {ranks} ranks: {count} tests; failed without corymb {len(plain)}, "
          f"with it {len(corymb)}", flush=True)  # fmt: skip
    for test in sorted(corymb - plain):
        print(f"  only with corymb: {test}", flush=True)
    for test in sorted(plain - corymb):
        print(f"  only without corymb: {test}", flush=True)
    return corymb <= plain


def main() -> int:
    parser = pairs.arguments(__doc__.splitlines()[0], "mpich,openmpi,impi")
    parser.set_defaults(ranks="1,2,3", limit=900)
    parser.add_argument("--only", default="", help="only files that match, such as test_cco")
    options = parser.parse_args()
    good = [
        compare(mpi, ranks, options)
        for mpi in pairs.libraries(options.libraries.split(","))
        for ranks in map(int, options.ranks.split(","))
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    pairs.end_with("conformance", main)
