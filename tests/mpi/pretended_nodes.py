# SPDX-License-Identifier: Apache-2.0
"""Ranks of this machine that are told that others are on other nodes."""

from __future__ import annotations

import subprocess

from conftest import ADAPTERS, Finished, Mpi
from limits import LIMIT_S

# Each rank says on which node it is, and loads the adapter: "0011" is two nodes of two ranks.
ON_NODES = """
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
CORYMB_MPI_NODE=$(printf %s "$1" | cut -c$((rank + 1)))
export CORYMB_MPI_NODE LD_PRELOAD="$2"
shift 2
exec "$@"
"""


def on_nodes(
    mpi: Mpi, nodes: str, *words: object, script: str = ON_NODES, **variables: str
) -> Finished:
    """Runs a program with ranks that are told not to share memory with those of other nodes."""
    adapter = ADAPTERS / f"libcorymb-mpi-{mpi.name}.so"
    launch = [str(mpi.compiler.parent / "mpirun"), *mpi.options, "-n", str(len(nodes))]
    return subprocess.run(
        [*launch, "sh", "-c", script, "rank", nodes, str(adapter), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=mpi.environment
        | {"CORYMB_MPI": "always", "CORYMB_MPI_EXPLAIN": "1", "CORYMB_DEADLINE": f"{LIMIT_S / 2}"}
        | variables,
    )
