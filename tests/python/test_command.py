# SPDX-License-Identifier: Apache-2.0
"""The subcommands as a user runs them, where all goes well."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import SMELT, Command, stdout_json
from limits import LIMIT_S

import corymb
from corymb.command import bench_calls, lazy
from corymb.command.app import COMMANDS

PLAN_KEYS = {
    "op", "root", "unit", "predicted", "lower_bound", "bound_kind", "algorithm", "portfolio",
    "model_sha256", "steps",
}  # fmt: skip


def test_version(corymb_command: Command) -> None:
    done = corymb_command("--version")
    assert (done.returncode, done.stdout) == (0, f"corymb {corymb.__version__}\n")
    assert importlib.metadata.version("corymb") == corymb.__version__


def every_command(
    entries: Sequence[lazy.Command | lazy.Group] = COMMANDS, before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], lazy.Command]]:
    """The words of each command, with its entry."""
    for entry in entries:
        if isinstance(entry, lazy.Group):
            yield from every_command(entry.commands, (*before, entry.name))
        else:
            yield (*before, entry.name), entry


STARTERS = ("run", "mpirun")  # They become other programs, whose help it is.
COMMANDS_OF_TYPER = [
    pytest.param(words, entry, id=" ".join(words))
    for words, entry in every_command()
    if words[0] not in STARTERS
]


@pytest.mark.parametrize(("words", "entry"), COMMANDS_OF_TYPER)
def test_help_has_examples(
    corymb_call: Command, words: tuple[str, ...], entry: lazy.Command
) -> None:
    done = corymb_call(*words, "--help")
    assert done.returncode == 0
    assert f"corymb {' '.join(words)}" in done.stdout
    assert "Example" in done.stdout
    assert "--json" in done.stdout
    # The list of commands has the text without importing the module.
    function = getattr(importlib.import_module(f"corymb.command.{entry.module}"), entry.function)
    assert " ".join(inspect.getdoc(function).split("\n\n")[0].split()) == entry.help


def test_lists_import_no_command(corymb_call: Command) -> None:
    """What `--help` imports is what makes a user wait."""
    script = """
import sys
from corymb.command.app import run
for words in ([], ["bench"], ["sim"]):
    assert run([*words, "--help"]) == 0
print([name for name in ("numpy", "corymb.picture", "corymb.command.map", "corymb.peers")
       if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("\n[]\n")


MISSING = """
import sys
for name in {names}:
    sys.modules[name] = None
sys.argv = ["corymb", *{words}]
from corymb_command import main
main()
"""


@pytest.mark.parametrize(
    ("names", "words", "said"),
    [
        (["typer"], ["map"], "this needs typer, which is not installed; "
                             "in corymb's sources: pip install '.[command]'"),
        (["numpy"], ["map", "--machine", SMELT], "pip install '.[command]'"),
    ],
)  # fmt: skip
def test_a_missing_extra_is_named(
    tmp_path: Path, environment: dict[str, str], names: list[str], words: list[str], said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(names=names, words=words)],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_programs_start_without_extras(environment: dict[str, str]) -> None:
    script = MISSING.format(names=["typer", "rich", "numpy"], words=["run", "--help"])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "corymb run" in done.stdout


def test_teams_need_no_library() -> None:
    """A program that uses teams installs nothing besides the package."""
    script = """
import sys
for name in ("numpy", "rich", "typer", "cloudpickle"):
    sys.modules[name] = None
import array
import corymb

def work(team):
    total = array.array("d", [0.0])
    team.Allreduce(array.array("d", [team.rank + 1.0]), total)
    return total[0], team.bcast({"a": 1}, root=0)

print(corymb.run(work, 2, threads=True))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "[(3.0, {'a': 1}), (3.0, {'a': 1})]\n", done.stderr


def test_machines_are_listed_and_drawn(corymb_call: Command, corymb_command: Command) -> None:
    rows = {
        row["name"]: row for row in stdout_json(corymb_call("machines", "--json", "-"))["machines"]
    }
    assert rows.keys() == set(corymb.gallery_names())
    smelt = rows[SMELT]
    assert (smelt["cpus"], smelt["classes"], smelt["unit"]) == (20, 2, "cycles")
    assert smelt["nearest"] < smelt["farthest"]
    for columns in ("40", "80"):
        shown = corymb_command("machines", env={"COLUMNS": columns}).stdout
        assert all(line in shown for line in (SMELT, "283", "886"))
        assert max(map(len, shown.splitlines())) <= int(columns)
    drawn = corymb_call("machines", SMELT)
    assert drawn.stdout == corymb_call("map", "--machine", SMELT).stdout


@pytest.fixture(scope="module")
def map_in_80_columns(corymb_command: Command) -> str:
    return corymb_command("map", "--machine", SMELT, env={"COLUMNS": "80"}).stdout


@pytest.mark.parametrize("columns", ["0", "abc", "1"])
def test_a_width_that_cannot_be_used(
    corymb_command: Command, map_in_80_columns: str, columns: str
) -> None:
    sizes = {"COLUMNS": columns, "LINES": "0"}
    done = corymb_command("map", "--machine", SMELT, env=sizes)
    assert (done.returncode, done.stdout) == (0, map_in_80_columns)


def test_texts_in_0_columns(corymb_command: Command) -> None:
    assert "no-such" in corymb_command("plan", "no-such", env={"COLUMNS": "0"}).stderr
    assert "--machine" in corymb_command("map", "--help", env={"COLUMNS": "0"}).stdout


def test_bench_multicast(corymb_call: Command) -> None:
    done = corymb_call("bench", "multicast", "--threads", "3", "--seconds", "0.5", "--json", "-")
    assert done.returncode == 0, done.stderr
    report = stdout_json(done)
    assert report["schema"] == "corymb-bench-multicast/1"
    members = {row["members"] for row in report["rows"]}
    assert members == {1, 2}
    names = {row["contestant"] for row in report["rows"] if row["regime"] == "asleep"}
    assert {"corymb", "condition variable", "flag for each thread"} <= names
    compared = sum(len(lines) for lines in report["verdict"].values())
    assert compared == 6, "flags twice in both regimes, the condition variable twice"
    refused = corymb_call("bench", "multicast", "--bytes", "8")
    assert refused.returncode == 2
    assert "--bytes" in refused.stderr


def test_bench_shows_who_burns_cpu_time(corymb_call: Command) -> None:
    many = str(2 * max(2, len(os.sched_getaffinity(0))))
    arguments = (
        "bench",
        "collectives",
        "barrier",
        "--threads",
        many,
        "--seconds",
        "1",
        "--contestants",
        "corymb",
    )
    done = corymb_call(*arguments)
    assert done.returncode == 0, done.stderr
    assert "oversubscribed" in done.stdout
    assert "CPU, ns" in done.stdout
    assert "slower in" in done.stdout


def test_bench_prediction(corymb_call: Command) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU: no plan has a CPU for each rank")
    done = corymb_call("bench", "prediction", "--seconds", "3", "--json", "-")
    assert done.returncode == 0, done.stderr
    report = stdout_json(done)
    assert report["schema"] == "corymb-bench-prediction/1"
    rows, summary = report["rows"], report["summary"]
    assert len(rows) >= 20
    assert {row["op"] for row in rows} == {*corymb.OPERATIONS, "mailbox"}
    assert all(row["predicted_ns"] > 0 for row in rows)
    parts = list(summary["by_op"].values())
    for part in [summary, *parts]:
        assert part["spearman"] is None or -1 <= part["spearman"] <= 1
        assert part["plans_apart"] <= part["plans"]
    assert summary["plans"] == sum(part["plans"] for part in parts) <= len(rows)
    mailboxes = {(row["plan"], row["bytes"]) for row in rows if row["op"] == "mailbox"}
    assert mailboxes == set(itertools.product(("ring", "nvp", "srbp"), (8, 64, 256)))
    for option, value in (("--bytes", "8"), ("--threads", "2"), ("--regimes", "alone")):
        refused = corymb_call("bench", "prediction", option, value)
        assert refused.returncode == 2
        assert option in refused.stderr


def test_sim_multicast(corymb_call: Command, tmp_path: Path) -> None:
    page = tmp_path / "curves.html"
    sizes = "1,4,19"
    done = corymb_call(
        "sim",
        "multicast",
        "--machine",
        SMELT,
        "--members",
        sizes,
        "--html",
        str(page),
        "--json",
        "-",
    )
    report = stdout_json(done)
    assert report["simulated_on"] == SMELT
    latency = {(row["variant"], row["members"]): row["latency"] for row in report["rows"]}
    assert latency["flat", 1] == latency["best", 1]
    assert latency["best", 19] < latency["flat", 19]
    assert latency["flat, helping", 1] > latency["flat", 1]
    assert latency["binary tree, helping", 4] > latency["binary tree, skipping", 4]
    assert latency["tree, to all", 1] == latency["tree, skipping", 19]
    gathered = {size for variant, size in latency if variant == "best, gather tree"}
    assert gathered == {1, 4, 19}
    assert latency["tree, gather tree", 1] == latency["tree, skipping", 1]
    assert report["choice"]["acknowledgement"] in ("counters", "messages", "gather")
    assert "simulated on " + SMELT in report["choice"]["reason"]
    assert "simulated" in page.read_text()
    assert corymb_call("sim", "multicast", "--machine", SMELT, "--members", "20").returncode == 2
    assert corymb_call("sim", "plan", "plan.json", "--members", "2").returncode == 2


def test_bench_calls(corymb_call: Command) -> None:
    done = corymb_call("bench", "calls", "--seconds", "0.5", "--json", "-")
    assert done.returncode == 0, done.stderr
    report = stdout_json(done)
    assert report["schema"] == "corymb-bench-calls/1"
    names = {(row["op"], row["contestant"]) for row in report["rows"]}
    assert {
        ("empty", "two plain lines"),
        ("empty", "corymb task"),
        ("bytes64", "corymb call"),
        ("own", "corymb exclusive method"),
        ("one_way", "rings of items by hand"),
        ("work_50", "corymb group step"),
        ("work_90", "queue with a mutex"),
    } <= names
    assert all(row["q25"] <= row["median_ns"] <= row["q75"] for row in report["rows"])
    compared = sum(
        row["family"] == "peer" and row["op"] in bench_calls.OWN for row in report["rows"]
    )
    assert sum(len(lines) for lines in report["verdict"].values()) == compared
    for option, value in (("--threads", "2"), ("--bytes", "8")):
        refused = corymb_call("bench", "calls", option, value)
        assert refused.returncode == 2
        assert option in refused.stderr


def test_what_bench_does_not_know(corymb_call: Command) -> None:
    unknown = corymb_call("bench", "cals")
    assert unknown.returncode == 2
    assert "'cals'" in unknown.stderr
    assert "calls" in unknown.stderr


def test_bench_messages(corymb_call: Command) -> None:
    done = corymb_call("bench", "messages", "--bytes", "8", "--seconds", "0.5", "--json", "-")
    assert done.returncode == 0, done.stderr
    report = stdout_json(done)
    assert report["schema"] == "corymb-bench-messages/1"
    names = {(row["op"], row["contestant"]) for row in report["rows"]}
    assert {
        ("round_trip", "plain lines"),
        ("round_trip", "mailbox nvp, processes"),
        ("stream", "mailbox srbp"),
        ("idle_poll", "mailbox nvp"),
        ("publish", "broadcast ring, shared memory"),
    } <= names
    assert {row["size"] for row in report["rows"] if row["op"] == "publish"} == {1, 8, 64, 200}
    assert ("publish_python", "broadcast ring, Python") in names
    assert ("round_trip_python", "mailbox, Python, processes") in names
    if ("publish_python", "iceoryx2, Python") not in names:
        assert "make bench-peers" in report["skipped"][0]["reason"]
    assert all(row["q25"] <= row["median_ns"] <= row["q75"] for row in report["rows"])
    peers = sum(row["family"] == "peer" for row in report["rows"])
    assert sum(len(lines) for lines in report["verdict"].values()) == peers
    for option, value in (("--threads", "2"), ("--bytes", "16")):
        refused = corymb_call("bench", "messages", option, value)
        assert refused.returncode == 2
        assert option in refused.stderr


def test_what_a_model_doubts_is_said_where_it_is_used(corymb_call: Command, tmp_path: Path) -> None:
    document = json.loads(corymb.Machine.gallery(SMELT).to_json())
    document["unit"], document["unit_ns"] = "ns", 1  # A cluster counts in no other.
    document["quality"]["noisy"] = True
    document["quality"]["dropped_batches"] = 0.31
    document["quality"]["remarks"] = ["No pair of these classes could be measured: same-l3."]
    document["topology"]["disagreements"] = ["Some pairs are nearer than they should be."]
    model, plan, page = (str(tmp_path / name) for name in ("m.json", "plan.json", "page.html"))
    Path(model).write_text(json.dumps(document))
    for call in (
        ["plan", "barrier", "--model", model, "--json", plan],
        ["plan", "barrier", "--model", model, "--json", "-"],
        ["sim", "plan", plan, "--model", model],
        ["sim", "multicast", "--model", model],
        ["sim", "messages", "--model", model],
        ["report", "--model", model, "-o", page],
    ):
        done = corymb_call(*call)
        assert done.returncode == 0, done.stderr
        for text in ("31 %", "same-l3.", "nearer than they should be"):
            assert text in done.stderr, call
    times, doubts = str(tmp_path / "times.json"), corymb.Machine.load(model).doubts
    assert len(doubts) >= 3
    for call in (
        ["plan", "barrier", "--model", model],
        ["plan", "barrier", "--model", model, "--nodes", "2", "--per-node", "2"],
        ["sim", "plan", plan, "--model", model],
        ["sim", "multicast", "--model", model],
        ["sim", "messages", "--model", model],
    ):
        assert corymb_call(*call, "--json", times).returncode in {0, 1}, call
        assert json.loads(Path(times).read_text())["doubts"] == doubts, call


def test_programs_say_what_their_model_doubts(environment: dict[str, str], tmp_path: Path) -> None:
    program = "import corymb; corymb.run(lambda team: team.barrier(), 1, threads=True)"
    for wanted in ("1", "0"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment | {"CORYMB_CACHE_DIR": str(tmp_path), "CORYMB_EXPLAIN": wanted},
            capture_output=True, text=True, check=True, timeout=LIMIT_S,
        )  # fmt: skip
        said = ": Assumed: typical costs of each topology level" in done.stderr
        assert said == (wanted == "1"), done.stderr


def test_map_of_the_gallery(corymb_call: Command) -> None:
    done = corymb_call("map", "--machine", SMELT)
    assert done.returncode == 0
    assert "20 PUs" in done.stdout
    assert "cycles" in done.stdout
    assert done.stderr == ""


def test_map_of_512_cpus_fits_a_narrow_terminal(corymb_command: Command) -> None:
    done = corymb_command("map", "--machine", "epyc-9754-2s-512t", env={"COLUMNS": "50"})
    assert done.returncode == 0
    assert max(len(line) for line in done.stdout.splitlines()) <= 50


def test_map_without_unicode(corymb_command: Command) -> None:
    done = corymb_command(
        "map", "--machine", SMELT, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


def test_map_json(corymb_call: Command) -> None:
    value = stdout_json(corymb_call("map", "--machine", SMELT, "--json", "-"))
    assert value["schema"] == "corymb-map/1"
    assert sorted(value["order"]) == sorted(value["cpus"]) == list(range(20))
    # The two packages stand together: CPUs 0-9 and 10-19.
    halves = {frozenset(value["order"][:10]), frozenset(value["order"][10:])}
    assert halves == {frozenset(range(10)), frozenset(range(10, 20))}
    assert value["classes"][0]["send"]["median"] > 0


def test_map_writes_files(corymb_call: Command, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("m.json", "m.html", "m.xml")}
    done = corymb_call(
        "map", "--machine", "m1-ultra-20c", "--save", files["m.json"], "--html", files["m.html"],
        "--export-hwloc", files["m.xml"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)
    assert corymb.Machine.load(files["m.json"]).sha256() == (
        corymb.Machine.gallery("m1-ultra-20c").sha256()
    )
    assert "<topology" in files["m.xml"].read_text()


def test_map_of_a_synthetic_machine(corymb_call: Command) -> None:
    done = corymb_call("map", "--synthetic", "pack:2 l3:2 core:4 pu:2", "--json", "-")
    value = stdout_json(done)
    assert value["size"] == 32
    assert len(value["classes"]) >= 3


def test_model_of_somebody_elses_measurements(corymb_call: Command, tmp_path: Path) -> None:
    square = tmp_path / "own.csv"
    square.write_text("cpu,0,1,2\n0,0,50,90\n1,50,0,90\n2,90,90,0\n")
    plan = stdout_json(corymb_call("plan", "broadcast", "--model", square, "--json", "-"))
    assert (plan["machine"], plan["unit"], plan["ranks"]) == ("own", "ns", 3)
    square.write_text("cpu,0,1\n0,0,50\n1,fast,0\n")
    refused = corymb_call("map", "--model", square)
    assert refused.returncode == 1
    assert "own.csv: line 3, column 2" in refused.stderr


def test_plan_json_keys(corymb_call: Command) -> None:
    plan = stdout_json(corymb_call("plan", "allreduce", "--machine", SMELT, "--json", "-"))
    assert plan.keys() >= PLAN_KEYS
    assert plan["op"] == "allreduce"
    assert re.fullmatch("[0-9a-f]{64}", plan["model_sha256"])
    assert plan["portfolio"][plan["algorithm"]] == pytest.approx(plan["predicted"])
    assert len(plan["steps"]) == 20
    assert all("step" in step for steps in plan["steps"] for step in steps)


@pytest.mark.parametrize("op", ["gather", "alltoall", "reduce_scatter", "exscan"])
def test_plan_and_sim_know_every_operation(corymb_call: Command, tmp_path: Path, op: str) -> None:
    file = tmp_path / "plan.json"
    arguments = ("plan", op, "--machine", SMELT, "--ranks", "0-6", "--bytes", "5000")
    done = corymb_call(*arguments, "--json", file)
    assert done.returncode == 0, done.stderr
    plan = json.loads(file.read_text())
    assert plan.get("parts", 1) == (1 if op == "exscan" else 7)
    sim = stdout_json(corymb_call("sim", "plan", file, "--machine", SMELT, "--json", "-"))
    assert sim["op"] == op
    assert sim["makespan"] == pytest.approx(plan["predicted"])


def test_plan_is_deterministic(corymb_call: Command) -> None:
    arguments = ("plan", "broadcast", "--machine", "ryzen-5950x-1s-32t", "--seed", "7", "--json")
    first, second = (corymb_call(*arguments, "-").stdout for _ in range(2))
    assert first == second


def test_plan_for_people(corymb_call: Command) -> None:
    done = corymb_call("plan", "broadcast", "--machine", SMELT, "--root", "0")
    assert done.returncode == 0
    for word in ("proven", "predicted", "lower bound", "portfolio", "simulated", "rank 0"):
        assert word in done.stdout


def test_plan_for_one_rank(corymb_call: Command) -> None:
    for op in corymb.OPERATIONS:
        plan = stdout_json(
            corymb_call("plan", op, "--machine", SMELT, "--ranks", "1", "--json", "-")
        )
        assert plan["predicted"] == 0


def test_json_into_a_file_keeps_nothing_else(corymb_call: Command, tmp_path: Path) -> None:
    done = corymb_call("plan", "barrier", "--machine", SMELT, "--json", tmp_path / "p.json")
    assert done.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]
    assert json.loads((tmp_path / "p.json").read_text())["op"] == "barrier"


def test_json_into_a_device(corymb_command: Command) -> None:
    assert corymb_command("doctor", "--json", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_no_measure_says_topology(corymb_command: Command, tmp_path: Path) -> None:
    done = corymb_command(
        "plan", "barrier", "--no-measure", env={"CORYMB_CACHE_DIR": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert "topology only" in done.stderr


def test_cache_shows_and_clears_plans(
    corymb_call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORYMB_CACHE_DIR", str(tmp_path))
    empty = stdout_json(corymb_call("cache", "--json", "-"))
    assert (empty["plans"], empty["bytes"], empty["model"]) == (0, 0, None)
    folder = Path(empty["folder"])
    assert folder.parent == tmp_path
    folder.mkdir()
    (folder / "one.plan").write_bytes(b"x" * 1000)
    (folder / "other.txt").write_text("not a plan")
    assert stdout_json(corymb_call("cache", "--json", "-"))["bytes"] == 1000
    assert "1 plan" in corymb_call("cache", "--clear").stdout
    assert [file.name for file in folder.iterdir()] == ["other.txt"]


def test_cache_is_where_programs_keep_plans(
    corymb_call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORYMB_CACHE_DIR", str(tmp_path))
    ranks = corymb.usable_cpus().count() + 3
    corymb.run(lambda team: team.warm_up("allgather", 4096), ranks, threads=True)
    assert stdout_json(corymb_call("cache", "--json", "-"))["plans"] == 1


def test_plan_explains_its_search(corymb_call: Command) -> None:
    done = corymb_call("plan", "barrier", "--machine", SMELT, "--ranks", "4", "--explain")
    assert re.search(r"search +\d+ candidates, [0-9.]+ ms", done.stdout)
    assert re.search(r"^  numbers +\w+/\S+ = ", done.stdout, re.MULTILINE)
    assert " plan/search/heat = 0.02 (simulated on the gallery)\n" in done.stdout
    done = corymb_call("plan", "barrier", "--machine", SMELT, "--ranks", "4", "--explain",
                       "--algorithm", "star")  # fmt: skip
    assert "numbers      none: all follows from the model" in done.stdout


def test_plan_of_nodes_explains_its_search(corymb_call: Command) -> None:
    done = corymb_call("plan", "broadcast", "--nodes", "4", "--per-node", "4", "--explain")
    assert re.search(r"search +\d+ candidates, [0-9.]+ ms", done.stdout)
    assert "plan/schemes/piece_bytes_least = 1024" in done.stdout


def test_programs_say_which_numbers_decided(environment: dict[str, str], tmp_path: Path) -> None:
    program = (
        "import corymb; corymb.run(lambda team: team.warm_up('allgather', 4096), 3, threads=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"CORYMB_CACHE_DIR": str(tmp_path), "CORYMB_EXPLAIN": "1"},
        capture_output=True, text=True, check=True, timeout=LIMIT_S,
    )  # fmt: skip
    assert re.search(r"plan of allgather of up to 4096 B.* ms, by .*plan/families/", done.stderr)


def test_doctor(corymb_call: Command) -> None:
    value = stdout_json(corymb_call("doctor", "--json", "-"))
    assert value["allowed_cpus"] == sorted(os.sched_getaffinity(0))
    names = {row["name"] for row in value["permissions"]}
    assert "pinning" in names
    assert all(row["detail"] for row in value["permissions"])
    assert value["cached_model"] is not None or value["doubts"] == []
    done = corymb_call("doctor")
    assert all(name.split()[0] in done.stdout for name in names)


def test_measure_caches_the_model(corymb_command: Command, tmp_path: Path) -> None:
    environment = {"CORYMB_CACHE_DIR": str(tmp_path / "cache")}
    done = corymb_command("map", "--measure", "--budget", "2", env=environment)
    assert done.returncode == 0, done.stderr
    assert "measuring" in done.stderr
    if len(os.sched_getaffinity(0)) < 2:
        return  # Nothing was measured.
    [model] = (tmp_path / "cache").iterdir()
    machine = corymb.Machine.load(model)
    assert machine.source == "measured"
    known = stdout_json(corymb_command("doctor", "--json", "-", env=environment))
    assert known["cached_model"] == str(model)
    assert known["doubts"] == machine.doubts


def test_one_cpu_leaves_the_cached_model_alone(environment: dict[str, str], tmp_path: Path) -> None:
    import subprocess

    cpu = min(os.sched_getaffinity(0))
    line = f"taskset -c {cpu} {sys.executable} -m corymb map --measure --budget 2"
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        env=environment | {"CORYMB_CACHE_DIR": str(tmp_path / "cache")},
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert "One CPU" in done.stdout
    assert not list(tmp_path.glob("cache/*"))


def test_reader_of_stdout_that_leaves(environment: dict[str, str], tmp_path: Path) -> None:
    """It misses the rest; the file that was asked for is written all the same."""
    import subprocess

    file = tmp_path / "model.json"
    line = f"{sys.executable} -m corymb map --machine epyc-9754-2s-512t --save {file} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=environment, timeout=LIMIT_S
    )
    assert done.stderr == ""
    assert "512 PUs" in done.stdout
    assert len(corymb.Machine.load(file)) == 512
