# SPDX-License-Identifier: Apache-2.0
"""The program plan_ranks, and how an MPI starts programs on nodes made of namespaces: MPICH, Open
MPI or Intel MPI, over TCP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodes
from shapes import Shape

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
    done = subprocess.run(
        [str(compiler), *words], capture_output=True, text=True, check=False, env=environment(mpi)
    )
    if done.returncode != 0:
        raise FailedError(f"compiling plan_ranks failed:\n{done.stderr}")
    return program


def kind_of(mpi: Path) -> str:
    """Which library a folder holds."""
    if (mpi / "bin" / "prterun").exists() or (mpi / "bin" / "ompi_info").exists():
        return "openmpi"
    return "impi" if (mpi / "bin" / "impi_info").exists() else "mpich"


HYDRA = '-launcher ssh -launcher-exec "$CORYMB_CLUSTER_AGENT" -iface "$CORYMB_CLUSTER_INTERFACE"'
PRTE = (
    '--prtemca plm_ssh_agent "$CORYMB_CLUSTER_AGENT" '
    '--prtemca prte_if_include "$CORYMB_CLUSTER_SUBNET" '
    '--mca btl_tcp_if_include "$CORYMB_CLUSTER_SUBNET" --mca btl self,sm,tcp --mca pml ob1 '
    "--map-by seq:OVERSUBSCRIBE --bind-to none"
)


def words_of(kind: str, shape: Shape) -> str:
    """What the launcher is told, for a shell on the front that has the variables of nodes.py and
    the program with its arguments as its own."""
    runs = [(nodes.address(node), ranks) for node, ranks in shape.stretches]
    if kind == "openmpi":
        hosts = ",".join(host for host, ranks in runs for _ in range(ranks))
        return f'{PRTE} --host {hosts} -n {shape.ranks} "$@"'
    if kind == "mpich":
        hosts = ",".join(f"{host}:{ranks}" for host, ranks in runs)
        return f'{HYDRA} -hosts {hosts} -n {shape.ranks} "$@"'
    # Intel MPI takes no hosts that come again.
    return f"{HYDRA} " + " : ".join(f'-host {host} -n {ranks} "$@"' for host, ranks in runs)


# TCP between nodes, and waiting that leaves the CPU to others where the library knows how.
VARIABLES = {
    "mpich": {"FI_PROVIDER": "tcp", "MPIR_CVAR_CH4_NETMOD": "ofi",
              "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"},
    "impi": {"FI_PROVIDER": "tcp", "I_MPI_FABRICS": "shm:ofi", "I_MPI_PIN": "0",
             "I_MPI_WAIT_MODE": "1", "I_MPI_THREAD_YIELD": "3"},
    "openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1",  # It does not see that nodes share CPUs.
                "PRTE_MCA_prte_tmpdir_base": "/dev/shm",  # Each node has its own.
                **{f"{head}_ALLOW_RUN_AS_ROOT{tail}": "1"
                   for head in ("OMPI", "PRTE") for tail in ("", "_CONFIRM")}},
}  # fmt: skip


def environment(mpi: Path) -> dict[str, str]:
    """Of the launcher, which hands it on to the ranks."""
    kind, place = kind_of(mpi), mpi.resolve()
    own = {"I_MPI_ROOT": str(place)} if kind == "impi" else {}
    return os.environ | VARIABLES[kind] | own | {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": str(place / "lib"),
    }  # fmt: skip


@dataclass(frozen=True)
class Site:
    """Nodes of that shape with links of `rate`, on which messages are under way for `delay_us`; and
    an MPI."""

    mpi: Path
    shape: Shape
    rate: str
    delay_us: int = 0

    def run(self, words: list[str], limit_s: float) -> str:
        """Runs a program of that MPI there; returns what it prints."""
        mpiexec = (
            f'exec "{self.mpi.resolve()}/bin/mpiexec" {words_of(kind_of(self.mpi), self.shape)}'
        )
        line = [sys.executable, str(HERE / "nodes.py"), "--nodes", str(self.shape.nodes),
                "--rate", self.rate, "--delay-us", str(self.delay_us), "--",
                "sh", "-c", mpiexec, "launch", *words]  # fmt: skip
        running = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env=environment(self.mpi),
        )  # fmt: skip
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

    @property
    def places(self) -> str:
        """The node of each rank, as plan_ranks takes them."""
        return ",".join(map(str, self.shape.node_of_rank))

    def rows(self, program: Path, words: list[str], limit_s: float) -> list[dict[str, Any]]:
        """What plan_ranks says there."""
        text = self.run([str(program), *words], limit_s)
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def network(self, program: Path, limit_s: float) -> str:
        """The network between those nodes, measured."""
        return str(self.rows(program, ["network", self.places], limit_s)[0]["network"])

    def choice(
        self, program: Path, op: str, size: int, network: str, limit_s: float
    ) -> dict[str, Any]:
        """Which scheme a team on this network ends up with: `planned` by its model, `chosen` after
        the best of those have been timed in its first calls."""
        words = ["choose", op, str(size), self.places, network]
        return self.rows(program, words, limit_s)[0]
