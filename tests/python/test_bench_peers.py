# SPDX-License-Identifier: Apache-2.0
"""The comparison with MPI libraries: its set-up list, its driver on ranks that only pretend, its
verdict. No MPI library and no network is needed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

import corymb
from corymb.command import bench_peers
from corymb.peers import contestant, measure, verdict
from corymb.peers import session as sessions

FAKE = Path(__file__).parent / "fake_ranks.py"


def pretender(name: str, took_ns: int, *behaviour: str) -> contestant.Contestant:
    family = "corymb" if name == "corymb" else "mpi"
    launch = (sys.executable, str(FAKE), "{ranks}", str(took_ns), *behaviour)
    return contestant.Contestant(name, family, launch, ())


def no_report(done: float, what: str) -> None:
    assert 0 <= done <= 1
    assert what


def folders() -> set[str]:
    places = [Path("/dev/shm"), Path(os.environ.get("TMPDIR", "/tmp"))]
    return {str(p) for place in places if place.exists() for p in place.glob("corymb-peers-*")}


def run(*everybody: contestant.Contestant, **what: Any) -> list[dict[str, Any]]:
    before = folders()
    request = measure.Request(**({"ops": ["allreduce"], "sizes": [8], "seconds": 20} | what))
    rows = measure.measure(request, everybody, no_report)
    assert folders() <= before
    return rows


def by_name(rows: list[dict[str, Any]], kind: str = "latency") -> dict[str, dict[str, Any]]:
    return {row["contestant"]: row for row in rows if row["measure"] == kind}


def test_rows_hold_what_the_ranks_took() -> None:
    rows = run(pretender("corymb", 500), pretender("fast", 250), pretender("slow", 2000), ranks=[3])
    for kind, label in (("latency", "allreduce"), ("stream", "allreduce, stream")):
        found = by_name(rows, kind)
        assert {name: row["median_ns"] for name, row in found.items()} == {
            "corymb": pytest.approx(500, abs=3),
            "fast": pytest.approx(250, abs=3),
            "slow": pytest.approx(2000, abs=3),
        }
        assert found["slow"]["ratio"] == pytest.approx(4, rel=0.02)
        assert {row["op"] for row in found.values()} == {label}
    assert {row["regime"] for row in rows} == {"oversubscribed"}


def test_a_peer_that_fails_is_named_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "DEADLINE_S", 0.3)
    monkeypatch.setattr(sessions, "QUIT_TIMEOUT_S", 0.3)
    rows = run(
        pretender("corymb", 500),
        pretender("silent", 1, "silent"),
        pretender("dies", 1, "dies"),
        pretender("wrong", 1, "wrong"),
        pretender("no-barrier", 700, "no-barrier"),
        contestant.Contestant("absent", "mpi", ("/nowhere/mpirun",), ()),
        ops=["barrier", "allreduce"],
    )
    barrier = by_name([row for row in rows if row["op"] == "barrier"])
    assert barrier["corymb"]["skipped"] is None
    assert "no answer" in barrier["silent"]["skipped"]
    assert "had enough" in barrier["dies"]["skipped"]
    assert barrier["wrong"]["skipped"] == "wrong result"
    assert barrier["no-barrier"]["skipped"] == "unsupported"
    assert "cannot start /nowhere/mpirun" in barrier["absent"]["skipped"]
    allreduce = by_name([row for row in rows if row["op"] == "allreduce"])
    assert allreduce["corymb"]["median_ns"] == pytest.approx(500, abs=3)
    assert allreduce["no-barrier"]["median_ns"] == pytest.approx(700, abs=3)
    # Nothing of the failed ones is in the figures.
    assert {row["median_ns"] for row in rows if row["contestant"] == "wrong"} == {None}


def test_without_time_the_rows_say_so() -> None:
    rows = run(pretender("corymb", 500), seconds=0)
    assert {row["skipped"] for row in rows} == {"no time left; raise --seconds"}


def test_ranks_are_gone_after_a_session() -> None:
    before = folders()
    with sessions.Session(pretender("fast", 10), 4, pin=False) as session:
        pids = session.pids
        assert pids
        assert folders() > before
    assert folders() <= before
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def row(name: str, size: int, median: float | None, **what: Any) -> dict[str, Any]:
    return {
        "op": "allreduce", "contestant": name, "family": "corymb" if name == "corymb" else "mpi",
        "ranks": 2, "bytes": size, "median_ns": median, "mode": "blocking", "measure": "latency",
        "skipped": None if median else "unsupported",
    } | what  # fmt: skip


def test_verdict_takes_the_best_peer_of_each_case() -> None:
    rows = [
        row("corymb", 8, 100), row("a", 8, 400), row("b", 8, 900),
        row("corymb", 1024, 100), row("a", 1024, 100), row("b", 1024, 104),
        row("corymb", 65536, 100), row("a", 65536, 90), row("b", 65536, None),
        row("corymb", 2**24, None), row("a", 2**24, 90),
    ]  # fmt: skip
    found = verdict.comparisons(rows)
    assert [(one.result, one.peer) for one in found] == [
        ("win", "a"), ("tie", "a"), ("loss", "a"), ("none", "a"),
    ]  # fmt: skip
    assert found[3].note == "corymb: unsupported"
    assert [(m["band"], m["cases"]) for m in verdict.means(found)] == [
        ("to 1 KiB", 2), ("to 64 KiB", 1),
    ]  # fmt: skip
    assert verdict.means(found)[0]["mean"] == pytest.approx(2.0)
    assert verdict.means(found)[0]["least"] == pytest.approx(1.0)
    assert verdict.band(2**22) == "to 4 MiB"
    assert verdict.band(2**22 + 8) == "above"


def test_skipped_cases_are_gathered() -> None:
    rows = [row("a", size, None) for size in (8, 64, 512, 4096, 32768)]
    assert bench_peers.skipped(rows) == [
        "skipped: a, unsupported: allreduce 8 B on 2, allreduce 64 B on 2, allreduce 512 B on 2 "
        "and 2 more"
    ]


# The set-up -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def make_peers() -> Any:
    place = ROOT / "tools" / "make_peers.py"
    spec = importlib.util.spec_from_file_location("make_peers", place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_peers_is_sound(make_peers: Any) -> None:
    peers = make_peers.read_peers((ROOT / "tools" / "peers.toml").read_text())
    assert {"openmpi", "mpich", "impi"} <= {peer["name"] for peer in peers}
    for peer in peers:
        assert {"{ranks}", "{bind}"} <= set(peer["launch"])
        for requirement in peer.get("requirements", []):
            assert "==" in requirement, "versions are pinned"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[[peer]]\nname = 'a'\ncolour = 1\n", "colour"),
        ("[[peer]]\nname = 'a'\n", "compiler"),
        ("peer = 3", "iterable"),
    ],
)
def test_a_wrong_list_is_refused(make_peers: Any, text: str, word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        make_peers.read_peers(text)


def test_a_peer_without_its_compiler_is_missing(make_peers: Any, tmp_path: Path) -> None:
    peer = {"name": "a", "compiler": "no-such-mpicc", "launch": [], "pinned": [], "floating": []}
    with pytest.raises(make_peers.MissingError, match="no-such-mpicc is not installed"):
        make_peers.make(peer | {"contestant": []}, tmp_path, tmp_path)
    filled = make_peers.filled({"x": ["{place}/bin", "{ranks}"]}, place="/p")
    assert filled == {"x": ["/p/bin", "{ranks}"]}


def test_what_the_set_up_writes_is_read(tmp_path: Path) -> None:
    peer = {
        "name": "m", "launch": ["/p/bin/mpirun", "-n", "{ranks}", "{bind}"], "pinned": ["--core"],
        "floating": ["--none"], "variables": {"BASE": "{folder}/x"}, "worker": "/p/ranks",
        "contestant": [{"name": "M"}, {"name": "M, y", "words": ["--y"], "variables": {"Y": "1"}}],
    }  # fmt: skip
    missing = [{"name": "gone", "reason": "why"}]
    data = {"schema": "corymb-peers/1", "peers": [peer], "missing": missing}
    (tmp_path / "peers.json").write_text(json.dumps(data))
    found, gone = contestant.load(tmp_path)
    assert [entry.name for entry in found] == ["M", "M, y"]
    assert gone == [contestant.Missing("gone", "why")]
    words = ["/p/bin/mpirun", "-n", "4", "--none", "--y", "/p/ranks"]
    assert found[1].command(4, False, tmp_path) == words
    assert "--core" in found[0].command(2, True, tmp_path)
    environment = found[1].environment(True, tmp_path)
    assert environment["BASE"] == f"{tmp_path}/x"
    assert environment["CORYMB_PEER_FOLDER"] == str(tmp_path)
    assert environment["PATH"].startswith("/p/bin:")
    assert "CORYMB_PEER_PIN" not in found[1].environment(False, tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "other/1"}'])
def test_a_wrong_peers_file_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "peers.json").write_text(text)
    with pytest.raises(corymb.Error, match=r"peers\.json"):
        contestant.load(tmp_path)


# The command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "nothing"),
        (["barrier", "--modes", "loud"], "persistent"),
        (["allreduce", "--bytes", "12"], "multiples of 8"),
        (["allreduce", "--ranks", "1"], "2 to 256"),
        (["allreduce", "--seconds", "0"], "--seconds"),
    ],
)
def test_wrong_words_are_usage(corymb_call: Command, words: list[str], said: str) -> None:
    done = corymb_call("bench-peers", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_set_up_the_command_says_what_to_do(corymb_call: Command, tmp_path: Path) -> None:
    done = corymb_call("bench-peers", "barrier", "--peers", tmp_path)
    assert done.returncode == 1
    assert "make bench-peers" in done.stderr


def test_interrupt_leaves_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    before = folders()
    peer = {
        "name": "fake", "launch": [sys.executable, str(FAKE), "{ranks}", "900"], "pinned": [],
        "floating": [], "variables": {}, "worker": "", "contestant": [{"name": "fake"}],
    }  # fmt: skip
    data = {"schema": "corymb-peers/1", "peers": [peer], "missing": []}
    (tmp_path / "peers.json").write_text(json.dumps(data))
    process = subprocess.Popen(
        [sys.executable, "-m", "corymb", "bench-peers", "all", "--peers", str(tmp_path),
         "--contestants", "fake", "--seconds", "600"],
        env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not folders() - before and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 130, text
    assert folders() <= before
