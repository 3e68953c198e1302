# SPDX-License-Identifier: Apache-2.0
"""Several nodes: the commands, the file format, and the namespaces of bench/cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, Command, stdout_json
from limits import LIMIT_S, comes_true

import corymb
from corymb.command import clusters

SMALL = ("--nodes", "4", "--per-node", "3")
NODES = ROOT / "bench" / "cluster" / "nodes.py"


def test_plan_and_sim_agree(corymb_call: Command, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    done = corymb_call("plan", "allgather", *SMALL, "--bytes", "512", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "simulated, not measured" in done.stdout
    stored = json.loads(file.read_text())
    result = stdout_json(corymb_call("sim", "plan", str(file), "--json", "-"))
    assert result["makespan"] == stored["predicted"]
    assert max(result["network"]["bytes_in"]) >= 3 * 3 * 512
    assert sum(node["ranks"] * node["count"] for node in stored["cluster"]["nodes"]) == 12


def test_plans_in_the_order_of_the_ranks() -> None:
    cluster = clusters.cluster_of([(4, 3)], "2000,400,3,12")
    plan = corymb.make_cluster_plan(cluster, "allreduce", bytes=4096, ordered=True).plan
    assert plan.algorithm.startswith("runs/")
    plan.check(ordered=True)
    names = corymb.scheme_names(cluster, "allreduce", 4096, ordered=True)
    assert names
    assert all(name.startswith("runs/") for name in names)
    assert not set(names) & set(corymb.scheme_names(cluster, "allreduce", 4096))


def test_cluster_file(corymb_call: Command, tmp_path: Path) -> None:
    schema = json.loads((ROOT / "docs" / "schema" / "cluster-1.schema.json").read_text())
    document = {
        "schema": "corymb-cluster/1",
        "machines": [{"shape": {"cores": 4}}],
        "nodes": [{"ranks": 4}, {"ranks": 1, "count": 2}],
        "order": "cyclic",
        "network": {"start_up_ns": 1000, "message_gap_ns": 0, "stream_gbs": 1, "node_gbs": 1},
    }
    jsonschema.validate(document, schema)
    cluster = corymb.Cluster.from_json(json.dumps(document))
    assert cluster.node_of_rank == [0, 1, 2, 0, 0, 0]
    jsonschema.validate(json.loads(cluster.to_json()), schema)
    file = tmp_path / "cluster.json"
    file.write_text(cluster.to_json())
    done = corymb_call("plan", "allreduce", "--cluster", str(file), "--bytes", "64")
    assert done.returncode == 0, done.stderr
    assert "6 ranks on 3 nodes" in done.stdout


def test_nodes_with_slow_adapters(corymb_call: Command, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    network = "2000,400,3,12/20000,2000,0.25,0.5@1,3"
    words = ("plan", "allreduce", "--nodes", "5", "--per-node", "2", "--network")
    assert corymb_call(*words, network, "--json", str(file)).returncode == 0
    cluster = json.loads(file.read_text())["cluster"]
    schema = json.loads((ROOT / "docs" / "schema" / "cluster-1.schema.json").read_text())
    jsonschema.validate(cluster, schema)
    assert [node["network"] for node in cluster["nodes"]] == [0, 1, 0, 1, 0]
    result = stdout_json(corymb_call("sim", "plan", str(file), "--json", "-"))
    assert result["makespan"] == json.loads(file.read_text())["predicted"]
    plain = stdout_json(corymb_call(*words, "2000,400,3,12", "--json", "-"))
    assert "networks" not in plain["cluster"]
    assert plain["predicted"] < result["makespan"]
    for wrong in (plain["cluster"] | {"networks": []}, {**cluster, "networks": []}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_nodes_of_a_model_and_ranks_on_their_cpus(corymb_call: Command, tmp_path: Path) -> None:
    model = tmp_path / "machine.json"
    corymb.Machine.gallery("power9-8335gth-2s-128t").save(model)
    words = ("plan", "allgather", "--nodes", "4", "--network", "1000,100,10,40", "--json", "-")
    crosswise = ",".join(f"{cpu},{cpu + 32}" for cpu in range(16))
    plans = {}
    for name, ranks in (("in turns", crosswise), ("in a row", "0-15,32-47")):
        plans[name] = stdout_json(corymb_call(*words, "--model", str(model), "--ranks", ranks))
        schema = json.loads((ROOT / "docs" / "schema" / "cluster-1.schema.json").read_text())
        jsonschema.validate(plans[name]["cluster"], schema)
    assert plans["in turns"]["cluster"]["nodes"][0]["pus"][:3] == [0, 32, 1]
    assert any(scheme.endswith("/near") for scheme in plans["in turns"]["portfolio"])
    assert not any("near" in scheme for scheme in plans["in a row"]["portfolio"])
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plans["in turns"]))
    result = stdout_json(corymb_call("sim", "plan", str(file), "--json", "-"))
    assert result["makespan"] == plans["in turns"]["predicted"]


def test_regret_of_a_few_shapes(corymb_call: Command) -> None:
    result = stdout_json(corymb_call("cluster", "regret", "--shapes", "3", "--json", "-"))
    assert result["shapes"] == 3
    for row in result["rows"]:
        assert row["regret"] >= 1
        assert min(row["flat"], row["single leader"], row["HAN"], row["unified"]) >= 1


def test_scale_beats_flat_plans_and_says_what_they_take(corymb_call: Command) -> None:
    words = ("cluster", "scale", "--ranks-most", "1024", "--op", "allgather", "--json", "-")
    rows = {(r["op"], r["bytes"], r["scheme"]): r for r in stdout_json(corymb_call(*words))["rows"]}
    assert {(row["ranks"], row["op"]) for row in rows.values()} == {(1024, "allgather")}
    flat = rows["allgather", 8, "flat/bruck/shared"]
    leader = rows["allgather", 8, "lanes/1/doubling/shared"]
    assert leader["predicted_us"] < flat["predicted_us"]
    # Bruck turns the parts of all ranks in scratch, doubling has them in place.
    assert flat["bytes_per_rank"] > 8 * 1024 > leader["bytes_per_rank"] > 0


def test_leaders_share_long_data_at_scale(corymb_call: Command) -> None:
    for op in ("broadcast", "reduce"):
        words = ("cluster", "scale", "--ranks-most", "1024", "--op", op, "--json", "-")
        rows = {r["scheme"]: r["predicted_us"] for r in stdout_json(corymb_call(*words))["rows"]}
        one = min(rows["flat/binomial/shared"], rows["lanes/1/binomial/shared"])
        assert 1.5 * rows["lanes/4/binomial/shared"] < one


def test_the_same_seed_gives_the_same_study(corymb_call: Command) -> None:
    words = ("cluster", "regret", "--shapes", "2", "--seed", "5", "--json", "-")
    assert stdout_json(corymb_call(*words)) == stdout_json(corymb_call(*words))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("plan", "allgather", "--nodes", "2"), "together, or --cluster"),
        (("plan", "allgather", "--nodes", "0", "--per-node", "1"), "at least 1"),
        (("plan", "allgather", "--nodes", "2", "--per-node", "0"), "must be at least 1"),
        (("plan", "allgather", *SMALL, "--network", "1,2"), "four numbers"),
        (("plan", "allgather", *SMALL, "--network", "1,2,9,3"), "network.node_gbs"),
        (("plan", "allgather", *SMALL, "--network", "1,2,3,3/2,2,3,3@4"), "there are 4"),
        (("plan", "allgather", *SMALL, "--ranks", "4"), "--ranks beside --nodes names CPUs of"),
        (("plan", "allgather", "--nodes", "2", "--ranks", "0-3"), "of --machine or --model"),
        (("plan", "allgather", *SMALL, "--machine", "scc-48c"), "counts in cycles"),
        (
            ("plan", "allgather", *SMALL, "--machine", "epyc-9654-2s-192c", "--ranks", "4"),
            "or --ranks",
        ),
        (
            (
                "plan",
                "allgather",
                "--nodes",
                "2",
                "--machine",
                "epyc-9654-2s-192c",
                "--ranks",
                "0,500",
            ),
            "has no CPU 500",
        ),
        (("plan", "allgather", *SMALL, "--algorithm", "lanes/x"), "no scheme"),
        (("plan", "alltoall", "--nodes", "1000", "--per-node", "64"), "no plan for alltoall"),
        (("plan", "reduce", *SMALL, "--root", "12"), "--root 12"),
        (("cluster", "regrets"), "'regret'"),
        (("cluster", "scale", "--ranks-most", "1023"), "at least 1024"),
        (("cluster", "scale", "--op", "median"), "one of allgather, allreduce"),
    ],
)
def test_wrong_usage_is_one_line(corymb_call: Command, words: tuple[str, ...], part: str) -> None:
    done = corymb_call(*words)
    assert done.returncode == 2
    assert part in done.stderr
    assert done.stderr.count("\n") == 1


def nodes_or_skip() -> None:
    if os.geteuid() != 0 or any(shutil.which(p) is None for p in ("ip", "tc", "nsenter")):
        pytest.skip("needs root, iproute2 and util-linux")
    probe = subprocess.run(
        ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "ip", "link", "add",
         "b0", "type", "bridge"], capture_output=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    if probe.returncode != 0:
        pytest.skip("this machine does not permit network namespaces")


def test_nodes_share_nothing_and_leave_nothing() -> None:
    nodes_or_skip()
    script = (
        'for host in $(echo "$CORYMB_CLUSTER_HOSTS" | tr , " "); do '
        '"$CORYMB_CLUSTER_AGENT" -x "$host" "hostname; ls /dev/shm | wc -l; touch /dev/shm/own; '
        'ls /proc | grep -c ^[0-9]; sed -n s/^Cpus_allowed_list:.//p /proc/self/status"; '
        "done; exit 3"
    )
    done = subprocess.run(
        [sys.executable, str(NODES), "--nodes", "2", "--", "sh", "-c", script],
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    words = done.stdout.split()
    first, second = words[:4], words[4:]
    assert [first[:2], second[:2]] == [["node0", "0"], ["node1", "0"]]
    assert all(int(node[2]) < 10 for node in (first, second))
    # Nodes have CPUs of their own where there are enough.
    assert (first[3] != second[3]) == (len(os.sched_getaffinity(0)) > 1)


def test_a_signal_ends_all_nodes() -> None:
    nodes_or_skip()
    # The only process of the nodes that could outlive them says what it is by its argument.
    mark = f"3{os.getpid():09d}"
    command = [sys.executable, str(NODES), "--nodes", "2", "--",
               "sh", "-c", f"echo up; exec sleep {mark}"]  # fmt: skip
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "up\n"
        assert comes_true(lambda: is_running(mark))
        running.terminate()
        assert running.wait(timeout=LIMIT_S) == 128 + 15
    finally:
        running.kill()
        running.wait(timeout=LIMIT_S)
    assert comes_true(lambda: not is_running(mark))


def is_running(word: str) -> bool:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in file.read_bytes().decode(errors="replace").split("\0"):
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize(
    "words",
    [
        ["--nodes", "0"],
        ["--nodes", "65"],
        ["--rate", "fast"],
        ["--rate", "1mbit,"],
        ["--nodes", "2"],
    ],
)
def test_wrong_nodes_are_refused(words: list[str]) -> None:
    command = ["true"] if words != ["--nodes", "2"] else []
    done = subprocess.run(
        [sys.executable, str(NODES), *words, "--", *command],
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("nodes.py: ")
