# SPDX-License-Identifier: Apache-2.0
"""The program plan_ranks, and how it is started by an MPICH on nodes made of namespaces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import corymb

HERE = Path(__file__).resolve().parent


class FailedError(Exception):
    """The program could not be made or run."""


def build(mpi: Path, folder: Path) -> Path:
    """The program plan_ranks, linked with that MPI and the library in the package."""
    package = Path(corymb.__file__).parent
    libraries = sorted(package.glob("libcorymb.so.*"))
    compiler = mpi / "bin" / "mpicxx"
    if not libraries or not compiler.exists():
        raise FailedError(f"there is no {compiler}, or no library in {package}; "
                          "run make bench-peers")  # fmt: skip
    program = folder / "plan_ranks"
    words = ["-std=c++20", "-O2", "-I", str(HERE.parent.parent / "include"),
             str(HERE / "plan_ranks.cpp"), "-o", str(program), str(libraries[0]),
             f"-Wl,-rpath,{package}"]  # fmt: skip
    done = subprocess.run([str(compiler), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FailedError(f"compiling plan_ranks failed:\n{done.stderr}")
    return program


def run(
    mpi: Path, rate: str, nodes: int, per_node: int, words: list[str], limit_s: float,
    delay_us: int = 0,
) -> str:  # fmt: skip
    """Runs a program of that MPI on nodes with links of `rate`, on which messages are under way for
    `delay_us`; returns what it prints."""
    mpiexec = (
        f'exec "{mpi.resolve()}/bin/mpiexec" -launcher ssh '
        '-launcher-exec "$CORYMB_CLUSTER_AGENT" -iface "$CORYMB_CLUSTER_INTERFACE" '
        f'-hosts "$CORYMB_CLUSTER_HOSTS" -ppn {per_node} -n {nodes * per_node} "$@"'
    )
    line = [sys.executable, str(HERE / "nodes.py"), "--nodes", str(nodes), "--rate", rate,
            "--delay-us", str(delay_us), "--", "sh", "-c", mpiexec, "launch", *words]  # fmt: skip
    tuned = {"FI_PROVIDER": "tcp", "MPIR_CVAR_CH4_NETMOD": "ofi",
             "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}  # fmt: skip
    running = subprocess.Popen(
        line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=os.environ | tuned
    )
    try:
        text, _ = running.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise FailedError(f"{' '.join(words[1:3])} took more than {limit_s:.0f} s") from None
    finally:
        running.terminate()
        running.wait()
    if running.returncode != 0:
        raise FailedError(f"the ranks ended with status {running.returncode}")
    return text


def places(nodes: int, per_node: int) -> str:
    """The node of each rank, as plan_ranks takes them."""
    return ",".join(str(rank // per_node) for rank in range(nodes * per_node))


def rows(
    mpi: Path, rate: str, shape: tuple[int, int], program: Path, words: list[str], limit_s: float
) -> list[dict[str, Any]]:
    """What plan_ranks says on that many nodes of that many ranks."""
    text = run(mpi, rate, *shape, [str(program), *words], limit_s)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def network(mpi: Path, rate: str, shape: tuple[int, int], program: Path, limit_s: float) -> str:
    """The network between those nodes, measured."""
    words = ["network", places(*shape)]
    return str(rows(mpi, rate, shape, program, words, limit_s)[0]["network"])
