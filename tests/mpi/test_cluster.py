# SPDX-License-Identifier: Apache-2.0
"""MPI programs whose ranks are on several nodes, and plans for nodes that run over MPI."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ADAPTERS, MPIS, Finished, Mpi
from limits import LIMIT_S, SLOWNESS
from pretended_nodes import ON_NODES, on_nodes

import corymb
from corymb.command import clusters

Program = Callable[[Mpi, str], Path]
ROOT = Path(__file__).resolve().parents[2]

# MPICH's launcher ends all ranks when it sees one end, and signals those that are left.
UNSEEN_END = ON_NODES.replace('exec "$@"', f"trap '' USR1\n\"$@\" || sleep {10 * SLOWNESS}")


def taken(run: Finished) -> set[str]:
    """The operations that corymb did, as rank 0 says at the end."""
    return {line.split()[0] for line in run.stderr.splitlines() if line.endswith("  corymb")}


ALL = {
    f"MPI_{name}"
    for name in ("Barrier", "Bcast", "Gather", "Scatter", "Allgather", "Alltoall", "Reduce",
                 "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
                 "Gatherv", "Scatterv", "Allgatherv", "Alltoallv", "Alltoallw")
}  # fmt: skip


@pytest.mark.parametrize("nodes", ["0011", "0100", "0101", "0122"])
def test_random_collectives_on_nodes(mpi: Mpi, program: Program, nodes: str) -> None:
    """By their MPI_ and PMPI_ names they fill all buffers alike."""
    run = on_nodes(mpi, nodes, program(mpi, "random_collectives"), 300, 5, "single")
    assert "300 steps, 0 differences\n" in run.stdout, run.stderr
    assert run.returncode == 0
    assert taken(run) >= ALL
    assert re.search(r"^  MPI_Allreduce +\d+  (flat|lanes/\d|runs/\d)/", run.stderr, re.M)
    assert re.search(
        r"^planned for the network [-+.e\d]+(,[-+.e\d]+){3}[^ ]*: ns", run.stderr, re.M
    )
    told = re.search(r"^planned for (\d) nodes? (as measured|by topology|of which nothing)(.*)$",
                     run.stderr, re.M)  # fmt: skip
    assert told is not None, run.stderr
    counts = [int(told[1]), *map(int, re.findall(r", (\d) ", told[3]))]
    assert sum(counts) == len(set(nodes)), told[0]


@pytest.mark.parametrize(
    "how", ["order", "crossed", "late", "pending", "persistent", "unstarted", "failed"]
)
def test_teams_of_freed_communicators_on_nodes(mpi: Mpi, program: Program, how: str) -> None:
    """Those of the same ranks go on with them."""
    run = on_nodes(mpi, "010", program(mpi, "parked"), how)
    assert run.stdout == "0 wrong\n", run.stderr
    assert "MPI_Bcast" in taken(run)


def test_nodes_with_classes_of_adapters(program: Program) -> None:
    """Given by rank 0, used by all, told at the end."""
    network = "2000,400,3,12/20000,2000,0.25,0.5@1-2"
    run = on_nodes(MPIS["mpich"], "0123", program(MPIS["mpich"], "random_collectives"), 100, 5,
                   "single", CORYMB_NETWORK=network)  # fmt: skip
    assert "100 steps, 0 differences\n" in run.stdout, run.stderr
    assert f"planned for the network {network}: ns" in run.stderr
    refused = on_nodes(MPIS["mpich"], "01", program(MPIS["mpich"], "random_collectives"), 60, 5,
                       "single", CORYMB_NETWORK=network)  # fmt: skip
    assert "MPI: CORYMB_NETWORK says no costs, or names other nodes" in refused.stderr


NONBLOCKING = {
    f"MPI_I{name}"
    for name in ("barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce",
                 "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
                 "gatherv", "scatterv", "allgatherv", "alltoallv")
}  # fmt: skip


PERSISTENT = {f"{name}_init" for name in ALL - {"MPI_Alltoallw"}}


@pytest.mark.parametrize("nodes", ["0011", "011"])
@pytest.mark.parametrize("level", ["single", "multiple"])
def test_requests_on_nodes(mpi: Mpi, program: Program, nodes: str, level: str) -> None:
    """Completed in every way that MPI has, beside blocking ones and messages. MPI_Testall of MPICH
    5.0 refuses its own persistent vector operations."""
    words = [] if mpi.has_hook else ["no persistent vectors"]
    run = on_nodes(mpi, nodes, program(mpi, "requests"), 30, 3, level, *words)
    assert "30 rounds, 0 failures\n" in run.stdout, run.stderr
    assert run.returncode == 0, run.stderr
    if mpi.has_hook:
        assert taken(run) >= NONBLOCKING | PERSISTENT, run.stderr
    elif level == "multiple":  # A thread goes on with them, which may call the MPI.
        assert taken(run) >= NONBLOCKING, run.stderr
    else:
        assert not taken(run) & (NONBLOCKING | PERSISTENT)
        assert "requests of others cannot go on while this MPI waits" in run.stderr


@pytest.mark.parametrize("level", ["single", "multiple"])
@pytest.mark.parametrize("mode", ["large", "elsewhere", "unfinished"])
def test_far_requests(mpi: Mpi, program: Program, mode: str, level: str) -> None:
    run = on_nodes(mpi, "0011", program(mpi, "far_requests"), mode, level)
    assert f"{mode}: 0 failures\n" in run.stdout, run.stderr
    assert run.returncode == 0, run.stderr
    assert ("MPI_Iallreduce" in taken(run)) == (mpi.has_hook or level == "multiple"), run.stderr


@pytest.mark.parametrize("nodes", ["0011", "011"])
@pytest.mark.parametrize("level", ["single", "multiple"])
@pytest.mark.parametrize("mode", ["starts", "made"])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])  # The standard ABI: see conftest.program.
def test_far_persistent_requests(
    program: Program, name: str, mode: str, level: str, nodes: str
) -> None:
    mpi = MPIS[name]
    run = on_nodes(mpi, nodes, program(mpi, "far_requests"), mode, level)
    assert f"{mode}: 0 failures\n" in run.stdout, run.stderr
    assert run.returncode == 0, run.stderr
    assert "MPI_Allreduce_init" in taken(run), run.stderr


@pytest.mark.parametrize("mode", ["large", "elsewhere", "computes", "unfinished", "starts", "made"])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_a_thread_between_nodes(program: Program, name: str, mode: str) -> None:
    """In the place of the MPI's hook. It may call the MPI, as the program asks for threads."""
    mpi = MPIS[name]
    run = on_nodes(mpi, "0011", program(mpi, "far_requests"), mode, "multiple",
                   CORYMB_MPI_PROGRESS="thread")  # fmt: skip
    assert f"{mode}: 0 failures\n" in run.stdout, run.stderr
    assert run.returncode == 0, run.stderr
    assert taken(run) & {"MPI_Iallreduce", "MPI_Allreduce_init"}, run.stderr


def test_a_dead_rank_ends_persistent_requests(program: Program) -> None:
    """Its node sees that it has ended, other nodes miss messages."""
    mpi = dataclasses.replace(MPIS["mpich"], options=("-disable-auto-cleanup",))
    words = (program(mpi, "far_requests"), "dead")
    run = on_nodes(mpi, "0011", *words, script=UNSEEN_END, CORYMB_DEADLINE=f"{4 * SLOWNESS}")
    told = {line for line in run.stdout.splitlines() if line.startswith("rank")}
    assert told == {f"rank {rank} was told" for rank in (0, 2, 3)}, run.stdout + run.stderr
    assert "ended without finishing an operation: rank 1" in run.stderr, run.stderr
    assert re.search(r"\(persistent operation 2 on .* waited in vain", run.stderr), run.stderr


@pytest.mark.parametrize("nodes", ["001", "011"])
def test_requests_that_differ_on_nodes(program: Program, nodes: str) -> None:
    """Where the MPI would wait for ever, ranks say who calls something else."""
    for name in ("mpich", "openmpi"):
        mpi = MPIS[name]
        run = on_nodes(mpi, nodes, program(mpi, "far_requests"), "differ",
                       CORYMB_DEADLINE=f"{5 * SLOWNESS}")  # fmt: skip
        assert run.returncode != 0
        assert re.search("call different operations|differ in operation", run.stderr), run.stderr


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_a_message_that_is_too_long_names_the_calls(program: Program, name: str) -> None:
    """It has another call's size: no failure of the messages themselves."""
    mpi = MPIS[name]
    run = on_nodes(mpi, "01", program(mpi, "failures"), "longer")
    assert run.returncode != 0
    text = r"rank 1 \(node 1\), in broadcast.*, and rank 0 .* call different operations"
    assert re.search(text, run.stderr), run.stderr


@pytest.mark.parametrize("nodes", ["0011", "000"])
def test_nodes_without_process_vm_readv(program: Program, nodes: str) -> None:
    """Ranks of a node that cannot copy out of each other's memory use shared cells."""
    mpi = MPIS["mpich"]
    words = (program(mpi, "without_readv"), program(mpi, "random_collectives"), 60, 5, "single")
    run = on_nodes(mpi, nodes, *words, MPIR_CVAR_CH4_CMA_ENABLE="0")  # MPICH would fail.
    assert "60 steps, 0 differences\n" in run.stdout, run.stderr
    assert len(taken(run) & ALL) >= 9, run.stderr


def test_two_jobs_at_once(program: Program) -> None:
    mpi = MPIS["mpich"]
    words = (program(mpi, "random_collectives"), 60)
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(on_nodes, mpi, "011", *words, seed, "single") for seed in (5, 6)]
    for job in jobs:
        assert "60 steps, 0 differences\n" in job.result().stdout, job.result().stderr


@functools.cache
def no_namespaces() -> str:
    """Why nodes cannot be made of namespaces here; empty: they can."""
    if os.geteuid() != 0:
        return "making network namespaces needs root"
    for name in ("ip", "tc", "unshare", "nsenter", "setpriv"):
        if shutil.which(name) is None:
            return f"there is no {name}"
    nodes = [sys.executable, str(ROOT / "bench/cluster/nodes.py"), "--nodes", "1", "--", "true"]
    tried = subprocess.run(nodes, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return "" if tried.returncode == 0 else f"nodes cannot be made here: {tried.stderr.strip()}"


@pytest.mark.parametrize(
    ("name", "shape", "delay_us"),
    [("mpich", "2x2", 0), ("mpich", "cyclic:1x1+1x3", 200), ("openmpi", "2x2", 0),
     ("openmpi", "cyclic:1x3+1x1", 0)],
)  # fmt: skip
def test_random_collectives_in_namespaces(
    program: Program, capfd: pytest.CaptureFixture[str], name: str, shape: str, delay_us: int
) -> None:
    """The same on nodes that share neither memory nor processes nor a network. Open MPI 5.0.11
    without its own collectives for nodes: they gather types whose elements lie in another order
    than they are sent wrongly."""
    if reason := no_namespaces():
        pytest.skip(reason)
    mpi = MPIS[name]
    variables = {"LD_PRELOAD": str(ADAPTERS / f"libcorymb-mpi-{name}.so"), "CORYMB_MPI": "always",
                 "CORYMB_MPI_EXPLAIN": "1", "CORYMB_DEADLINE": f"{LIMIT_S / 2}",
                 "OMPI_MCA_coll": "^han"}  # fmt: skip
    words = ["env", *(f"{key}={value}" for key, value in variables.items()),
             str(program(mpi, "random_collectives")), "60", "8", "single"]  # fmt: skip
    text = site(mpi, shape, delay_us).run(words, LIMIT_S)
    errors = capfd.readouterr().err
    assert "60 steps, 0 differences\n" in text, errors
    done = {line.split()[0] for line in errors.splitlines() if line.endswith("  corymb")}
    assert len(done & ALL) >= 6, errors


@pytest.mark.parametrize(
    ("shape", "places"),
    [("3x2", "0,0,1,1,2,2"), ("1x3+2x1", "0,0,0,1,2"), ("cyclic:1x1+1x3", "0,1,1,1"),
     ("cyclic:2x2+1x1", "0,1,2,0,1")],
)  # fmt: skip
def test_ranks_are_where_a_shape_says(shape: str, places: str) -> None:
    if reason := no_namespaces():
        pytest.skip(reason)
    say = 'echo "${PMI_RANK:-$OMPI_COMM_WORLD_RANK} $(hostname)"'
    for mpi in (MPIS["mpich"], MPIS["openmpi"]):
        here = site(mpi, shape)
        assert here.places == places
        said = sorted(here.run(["sh", "-c", say], LIMIT_S).splitlines())
        assert said == [f"{rank} node{node}" for rank, node in enumerate(places.split(","))]


@pytest.mark.parametrize("word", ["", "2", "2x", "0x2", "2x0", "2x2+", "round:2x2", "65x1"])
def test_what_is_no_shape_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=f"'{re.escape(word)}' (is no shape such as|has more)"):
        bench_module("shapes").Shape.of(word)


def site(mpi: Mpi, shape: str, delay_us: int = 0) -> Any:
    """Of bench/cluster/launch.py."""
    return bench_module("launch").Site(
        mpi.compiler.parent.parent, bench_module("shapes").Shape.of(shape), "800mbit", delay_us
    )


def bench_module(name: str) -> ModuleType:
    """bench/cluster/NAME.py"""
    sys.path.insert(0, str(ROOT / "bench/cluster"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def test_plans_run_on_two_nodes(tmp_path: Path) -> None:
    """bench/cluster/plan_ranks compiles and runs plans for 2 x 2 ranks, counted to the byte."""
    launch = bench_module("launch")
    mpi = MPIS["mpich"]
    runner = launch.build(mpi.compiler.parent.parent, tmp_path)
    size = 64
    cluster = clusters.cluster_of([(2, 2)])
    files = []
    for name in ("lanes/2/doubling/shared", "node-major/2/doubling/messages"):
        choice = corymb.make_cluster_plan(cluster, "allgather", bytes=size, algorithm=name)
        files.append(tmp_path / f"plan-{len(files)}.json")
        files[-1].write_text(choice.to_json(cluster))
    run = subprocess.run(
        [str(mpi.compiler.parent / "mpirun"), "-n", "4", str(runner), "allgather", str(size), "3",
         "0,0,1,1", *map(str, files)], capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    rows = {row["name"]: row for row in map(json.loads, run.stdout.splitlines())}
    assert all(row["right"] for row in rows.values())
    assert len(rows) == 3
    assert rows["lanes/2/doubling/shared"]["node_bytes_in"] == 2 * size
    assert rows["node-major/2/doubling/messages"]["node_bytes_in"] == 2 * 2 * size
