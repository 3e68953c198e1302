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
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command
from limits import LIMIT_S, comes_true, wait_for

import corymb
from corymb.command import bench_iceoryx2, bench_peers, peers_tables
from corymb.command.console import Console
from corymb.peers import cases, contestant, measure, turn, verdict
from corymb.peers import session as sessions
from corymb.peers.ranks import payload

FAKE = Path(__file__).parent / "fake_ranks.py"


def pretender(name: str, took_ns: int, *behaviour: str, **what: Any) -> contestant.Contestant:
    family = "corymb" if name.startswith("corymb") else "mpi"
    launch = (sys.executable, str(FAKE), "{ranks}", str(took_ns), *behaviour)
    return contestant.Contestant(name, family, launch, (), **what)


OWN = pretender("corymb-threads", 500)


def no_report(done: float, what: str) -> None:
    assert 0 <= done <= 1
    assert what


def folders() -> set[str]:
    places = [Path("/dev/shm"), Path(os.environ.get("TMPDIR", "/tmp"))]
    return {str(p) for place in places if place.exists() for p in place.glob("corymb-peers-*")}


def run(*everybody: contestant.Contestant, **what: Any) -> measure.Results:
    before = folders()
    request = cases.Request(**({"ops": ["allreduce"], "sizes": [8], "seconds": 20} | what))
    results = measure.measure(request, everybody, no_report)
    assert folders() <= before
    return results


def by_name(rows: list[dict[str, Any]], kind: str = "latency") -> dict[str, dict[str, Any]]:
    return {row["contestant"]: row for row in rows if row["kind"] == kind}


def about(ns: float) -> Any:
    return pytest.approx(ns, abs=3)


def test_rows_hold_what_the_ranks_took() -> None:
    processes = pretender("corymb-processes", 1000)
    others = (pretender("fast", 250), pretender("slow", 2000))
    rows = run(OWN, processes, *others, ranks=[3]).rows
    for kind in cases.KINDS:
        found = by_name(rows, kind)
        assert {name: row["median_ns"] for name, row in found.items()} == {
            "corymb-threads": about(500), "corymb-processes": about(1000), "fast": about(250),
            "slow": about(2000),
        }  # fmt: skip
        assert found["slow"]["ratio"] == pytest.approx(4, rel=0.02)  # To the best of ours.
        assert {(row["op"], row["mode"]) for row in found.values()} == {("allreduce", "blocking")}
        assert all(row["q25"] <= row["median_ns"] <= row["q75"] for row in found.values())
    assert {row["regime"] for row in rows} == {"oversubscribed"}
    assert {row["pinned"] for row in rows} == {False}


def test_contestants_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    take_turn = turn.take_turn

    def noting(clock: turn.Clock, entry: turn.Entry, with_overlap: bool) -> None:
        taken.append(entry.contestant.name)
        take_turn(clock, entry, with_overlap)

    monkeypatch.setattr(measure, "take_turn", noting)
    run(OWN, pretender("a", 100), pretender("b", 100))
    assert len(taken) == 3 * measure.ROUNDS
    rounds = [taken[i : i + 3] for i in range(0, len(taken), 3)]
    assert all(sorted(each) == ["a", "b", "corymb-threads"] for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1, "in another order each round"


def test_a_ping_pong_counts_one_way() -> None:
    rows = run(OWN, ops=["pingpong"]).rows
    assert [row["median_ns"] for row in rows] == [about(250)] * len(cases.KINDS)


def test_a_call_that_failed_twice_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "QUIT_TIMEOUT_S", 0.3)
    rows = run(OWN, pretender("weak", 10, "dies-persistent"), sizes=[8, 16, 24], modes=cases.MODES)
    found = {(r["mode"], r["bytes"]): r["skipped"] for r in rows.rows if r["contestant"] == "weak"}
    assert "had enough" in found["persistent", 16]
    assert "left out after failing twice" in found["persistent", 24]
    assert {found["blocking", 24], found["nonblocking", 24]} == {None}


def test_overlap_is_what_the_computation_hides() -> None:
    everybody = (pretender("corymb-threads", 2000, "hides"), pretender("a", 5000))
    what = {"sizes": [8, 1024], "modes": ["blocking", "nonblocking"], "overlap": True}
    results = run(*everybody, **what)
    assert {(row["bytes"], row["mode"]) for row in results.overlap} == {(1024, "nonblocking")}
    found = {(row["contestant"], row["style"]): row["percent"] for row in results.overlap}
    assert found == {
        ("corymb-threads", style): pytest.approx(100, abs=1) for style in cases.STYLES
    } | {("a", style): pytest.approx(0, abs=1) for style in cases.STYLES}
    assert not run(*everybody, sizes=[1024], modes=["nonblocking"]).overlap


def test_large_messages_are_a_share_of_what_memory_permits() -> None:
    mib = 2**20
    results = run(pretender("corymb-threads", 204800), sizes=[8, mib], ranks=[2])
    (row,) = results.bandwidth  # The pretenders copy 1 KiB in 100 ns, each.
    assert row["bytes"] == mib
    assert row["median"] == pytest.approx(2 * mib / 102400e-9, rel=0.01)
    shares = {row["bytes"]: row["share"] for row in results.rows if row["kind"] == "rate"}
    # An allreduce of two reads two contributions and writes two: both ranks copy one each.
    assert shares == {8: None, mib: pytest.approx(0.5, rel=0.01)}
    found = verdict.shares(verdict.comparisons(results.rows))
    assert {(each["kind"], each["reached"], each["cases"]) for each in found} == {
        ("latency", 0, 1), ("rate", 0, 1),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("op", "copies"),
    [("broadcast", 1), ("reduce", 1.5), ("allgather", 3), ("alltoall", 4), ("pingpong", 1)],
)
def test_least_copies_of_two_ranks(op: str, copies: float) -> None:
    assert cases.least_copies(op, 2) == copies


@pytest.mark.parametrize("op", cases.OPERATIONS)
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_parts_are_what_the_ranks_hold(op: str, ranks: int) -> None:
    held = [payload.Payload(op, rank, ranks, 0, 2) for rank in range(ranks)]
    counted = op not in {"broadcast", "pingpong"}  # There the root's output is its input.
    if counted and op != "exscan":
        sizes = (sum(len(each.input) for each in held), sum(len(each.output) for each in held))
        assert sizes == tuple(2 * part for part in cases.parts(op, ranks))
    assert all(not each.is_right() for each in held if each.parts_out) or op in {
        "broadcast", "pingpong", "exscan",
    }  # fmt: skip


def test_results_of_python_ranks_are_checked_in_every_element() -> None:
    one = payload.Payload("alltoall", 1, 3, 0, 20)
    one.renew(7)
    for part in range(3):
        payload.write(one.output[20 * part : 20 * part + 20], payload.value(part, 1, 7))
    assert one.is_right()
    for at in (5, 17, 39, 59):
        one.output[at] += 1
        assert not one.is_right()
        one.output[at] -= 1
    one.renew(8)
    assert not one.is_right(), "a result of the iteration before"


def test_roots_of_python_ranks_move_on_and_inputs_are_new() -> None:
    held = [payload.Payload("reduce", rank, 3, 1, 9) for rank in range(3)]
    for iteration, root in ((0, 1), (1, 2), (2, 0)):
        for each in held:
            each.renew(iteration)
        assert [each.is_root for each in held] == [rank == root for rank in range(3)]
        held[root].output[:] = sum(each.input for each in held)
        assert all(each.is_right() for each in held)
    assert payload.Payload("reduce", 0, 3, 2, 9, root_stays=True).root == 2


def test_a_contestant_takes_part_when_it_says_so() -> None:
    always, floating = pretender("a", 10), pretender("f", 10, when="floating")
    assert set(by_name(run(OWN, always, floating).rows)) == {"corymb-threads", "a"}
    assert set(by_name(run(OWN, always, floating, ranks=[3]).rows)) == {"corymb-threads", "a", "f"}


def test_a_peer_that_fails_is_named_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turn, "DEADLINE_S", 0.3)
    monkeypatch.setattr(sessions, "QUIT_TIMEOUT_S", 0.3)
    results = run(
        OWN,
        pretender("silent", 1, "silent"),
        pretender("dies", 1, "dies"),
        pretender("wrong", 1, "wrong"),
        pretender("no-barrier", 700, "no-barrier"),
        pretender("forgetful", 700, "forgetful"),
        contestant.Contestant("absent", "mpi", ("/nowhere/mpirun",), ()),
        ops=["barrier", "allreduce"],
        sizes=[2048],
    )
    rows = results.rows
    barrier = by_name([row for row in rows if row["op"] == "barrier"])
    assert barrier["corymb-threads"]["skipped"] is None
    assert "no answer" in barrier["silent"]["skipped"]
    assert "had enough" in barrier["dies"]["skipped"]
    assert barrier["wrong"]["skipped"] == "wrong result"
    assert barrier["no-barrier"]["skipped"] == "unsupported"
    assert "cannot start /nowhere/mpirun" in barrier["absent"]["skipped"]
    allreduce = by_name([row for row in rows if row["op"] == "allreduce"])
    assert allreduce["corymb-threads"]["median_ns"] == about(500)
    assert allreduce["no-barrier"]["median_ns"] == about(700)
    assert allreduce["forgetful"]["skipped"] == "no memory"
    assert "cannot start /nowhere/mpirun" in allreduce["absent"]["skipped"]
    # Nothing of the failed ones is in the figures.
    assert {row["median_ns"] for row in rows if row["contestant"] == "wrong"} == {None}


def test_without_time_the_rows_say_so() -> None:
    rows = run(OWN, seconds=-1).rows
    assert {row["skipped"] for row in rows} == {measure.NO_TIME}


def test_cases_that_need_too_much_memory_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "most_memory", lambda: 2**20)
    rows = run(OWN, ops=["alltoall"], sizes=[8, 2**20]).rows
    found = {row["bytes"]: row["skipped"] for row in rows}
    assert found == {8: None, 2**20: "needs 8 MiB of buffers"}


def test_segments_of_a_killed_library_go_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "QUIT_TIMEOUT_S", 0.2)
    before = set(os.listdir("/dev/shm"))
    with sessions.Session(pretender("stubborn", 10, "stubborn"), 2, pin=False):
        left = {n for n in set(os.listdir("/dev/shm")) - before if n.startswith("fake-segment")}
        assert left
    assert not left & set(os.listdir("/dev/shm"))


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
        "op": "allreduce", "contestant": name, "language": "c", "default": True,
        "family": "corymb" if name.startswith("corymb") else "mpi", "ranks": 2, "bytes": size,
        "pinned": True, "median_ns": median, "mode": "blocking", "kind": "latency", "share": None,
        "skipped": None if median else "unsupported",
    } | what  # fmt: skip


ROWS = [
    row("corymb", 8, 100), row("a", 8, 400), row("b", 8, 900),
    row("corymb", 1024, 100), row("a", 1024, 100), row("b", 1024, 104),
    row("corymb", 65536, 100), row("a", 65536, 90), row("b", 65536, None),
    row("corymb", 2**24, None), row("a", 2**24, 90),
]  # fmt: skip


def test_verdict_takes_the_best_peer_of_each_case() -> None:
    found = verdict.comparisons(ROWS)
    assert [(one.result, one.peer) for one in found] == [
        ("win", "a"), ("tie", "a"), ("loss", "a"), ("none", "a"),
    ]  # fmt: skip
    assert found[3].note == "corymb: unsupported"
    means = verdict.means(found)
    assert [(m["band"], m["cases"], m["target"]) for m in means] == [
        ("to 1 KiB", 2, 3.0), ("all", 3, None), ("to 64 KiB", 1, 2.0),
    ]  # fmt: skip
    assert means[0]["mean"] == pytest.approx(2.0)
    assert means[0]["least"] == pytest.approx(1.0)
    assert verdict.counts(found) == [{"own": "corymb", "ranks": 2, "win": 1, "tie": 1, "loss": 1}]
    assert [one.bytes for one in verdict.worst(found, 5)] == [65536]
    assert verdict.band(2**22) == "to 4 MiB"
    assert verdict.band(2**22 + 8) == "above"


def test_verdict_compares_like_with_like() -> None:
    rows = [
        row("corymb-threads", 8, 100), row("corymb-processes", 8, 200), row("a", 8, 300),
        row("tuned", 8, 150, default=False), row("python", 8, 10, language="python"),
        row("corymb-python", 8, 20, language="python"),
    ]  # fmt: skip
    found = {one.own: one for one in verdict.comparisons(rows)}
    assert {name: (one.peer, one.result) for name, one in found.items()} == {
        "corymb-threads": ("tuned", "win"), "corymb-processes": ("tuned", "loss"),
        "corymb-python": ("python", "loss"),
    }  # fmt: skip
    defaults = {one.own: one.peer for one in verdict.comparisons(rows, defaults_only=True)}
    assert defaults["corymb-processes"] == "a"


@pytest.mark.parametrize(
    ("own", "mode", "pinned", "band", "wanted"),
    [
        ("corymb-threads", "blocking", True, "above", 1.0),
        ("corymb-threads", "persistent", True, "all", 2.0),
        ("corymb-threads", "persistent", True, "above", None),
        ("corymb-threads", "blocking", False, "all", 3.0),
        ("corymb-python", "blocking", True, "to 1 KiB", None),
    ],
)
def test_targets(own: str, mode: str, pinned: bool, band: str, wanted: float | None) -> None:
    assert verdict.target(own, mode, pinned, band) == wanted


def test_the_tables_show_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    results = run(OWN, pretender("a", 100), ranks=[2, 3], sizes=[8, 1048576])
    found = verdict.comparisons(results.rows)
    peers_tables.show(Console(width=100, highlight=False), results, found)
    text = capsys.readouterr().out
    for words in (
        "blocking, latency, 2 ranks, pinned", "blocking, rate, 3 ranks, not pinned", "1 MiB",
        "0.20 -", "The greatest losses", "(1.2)", "(3)", "GB/s", "of what memory permits",
        "corymb-threads, 2 ranks, against the best peer of each case: 0 wins, 0 ties",
        "as they come",
    ):  # fmt: skip
        assert words in text


def test_the_report_draws_sizes(corymb_call: Command, tmp_path: Path) -> None:
    results = run(OWN, pretender("a <b>", 100), ops=["barrier", "allreduce"], sizes=[8, 1024])
    file = tmp_path / "peers.json"
    file.write_text(json.dumps({"rows": results.rows}))
    page = tmp_path / "report.html"
    done = corymb_call("report", "--machine", "smelt-e5v2-2x10", "--bench", file, "-o", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    for words in (
        "Beside MPI libraries: blocking, 2 ranks", "corymb-threads with 2 ranks wins 0 cases",
        ">8 B<", ">1 KiB<", "no payload", "a &lt;b&gt;",
    ):  # fmt: skip
        assert words in text
    assert "Not measured for this report" not in text
    assert "<b>," not in text


def test_skipped_cases_are_gathered() -> None:
    rows = [row("a", size, None) for size in (8, 64, 512, 4096, 32768)]
    assert peers_tables.skipped(rows) == [
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
        ("[[peer]]\nname = 'a'\n", "contestant"),
        (
            "[[peer]]\nname = 'a'\nlaunch = []\npinned = []\nfloating = []\n"
            "[[peer.contestant]]\nname = 'a'\n",
            "a compiler or a worker",
        ),
        ("peer = 3", "iterable"),
    ],
)
def test_a_wrong_list_is_refused(make_peers: Any, text: str, word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=word):
        make_peers.read_peers(text)


def test_packages_that_cannot_be_had_are_missing(
    make_peers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def refuse(*_: object) -> None:
        raise make_peers.MissingError("no network")

    monkeypatch.setattr(make_peers, "make_environment", refuse)
    assert make_peers.main(["--only", "iceoryx2", "--folder", str(tmp_path / "peers")]) == 1
    assert "iceoryx2: missing: no network" in capsys.readouterr().out
    assert not (tmp_path / "peers" / "peers.json").exists()


def test_iceoryx2_is_skipped_where_it_is_not(tmp_path: Path) -> None:
    own = {bench_iceoryx2.OWN, bench_iceoryx2.TRIP_OWN}
    rows, skipped = bench_iceoryx2.rows(1, tmp_path)
    assert {row["contestant"] for row in rows} == own
    assert "make bench-peers" in skipped[0]["reason"]
    python = tmp_path / "iceoryx2" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)  # An interpreter that has no such module.
    rows, skipped = bench_iceoryx2.rows(1, tmp_path)
    assert {row["contestant"] for row in rows} == own
    assert "ended" in skipped[0]["reason"]


def test_a_peer_without_its_compiler_is_missing(make_peers: Any, tmp_path: Path) -> None:
    peer = {"name": "a", "compiler": "no-such-mpicc", "launch": [], "pinned": [], "floating": []}
    with pytest.raises(make_peers.MissingError, match="no-such-mpicc is not installed"):
        make_peers.make(peer | {"contestant": []}, tmp_path, tmp_path)
    filled = make_peers.filled({"x": ["{place}/bin", "{ranks}"]}, place="/p")
    assert filled == {"x": ["/p/bin", "{ranks}"]}


def test_what_the_set_up_writes_is_read(tmp_path: Path) -> None:
    peer = {
        "name": "m", "launch": ["/p/bin/mpirun", "-n", "{ranks}", "{bind}"], "pinned": ["--core"],
        "floating": ["--none"], "variables": {"BASE": "{folder}/x"}, "worker": ["/p/ranks"],
        "contestant": [{"name": "M"}, {"name": "M y", "words": ["--y"], "variables": {"Y": "1"},
                                       "tuned": True, "when": "floating"}],
    }  # fmt: skip
    missing = [{"name": "gone", "reason": "why"}]
    data = {"schema": "corymb-peers/1", "peers": [peer], "missing": missing}
    (tmp_path / "peers.json").write_text(json.dumps(data))
    found, gone = contestant.load(tmp_path)
    assert [entry.name for entry in found] == ["M", "M y"]
    assert [entry.is_default for entry in found] == [True, False]
    assert [entry.takes_part(pin=True) for entry in found] == [True, False]
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
        (["--ops", "nothing"], "nothing"),
        (["--modes", "loud"], "persistent"),
        (["--bytes", "12"], "multiples of 8"),
        (["--ranks", "1"], "2 to 256"),
        (["--seconds", "0"], "--seconds"),
    ],
)
def test_wrong_words_are_usage(corymb_call: Command, words: list[str], said: str) -> None:
    done = corymb_call("bench", "peers", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_set_up_the_command_says_what_to_do(corymb_call: Command, tmp_path: Path) -> None:
    done = corymb_call("bench", "peers", "--folder", tmp_path)
    assert done.returncode == 1
    assert "make bench-peers" in done.stderr


def write_peers(folder: Path, name: str) -> None:
    """A set-up with one peer, which pretends, and one that is missing."""
    peer = {
        "name": name, "launch": [sys.executable, str(FAKE), "{ranks}", "900"], "pinned": [],
        "floating": [], "variables": {}, "worker": [], "contestant": [{"name": name}],
    }  # fmt: skip
    missing = [{"name": "gone", "reason": "no compiler"}]
    data = {"schema": "corymb-peers/1", "peers": [peer], "missing": missing}
    (folder / "peers.json").write_text(json.dumps(data))


def test_peers_are_chosen_by_parts_of_names(tmp_path: Path) -> None:
    write_peers(tmp_path, "Fake MPI 5")
    chosen, missing = bench_peers.choose(tmp_path, "mpi 5")
    assert [one.name for one in chosen] == ["corymb-threads", "corymb-processes", "Fake MPI 5"]
    assert missing == []
    chosen, _ = bench_peers.choose(tmp_path, "corymb-python,mpi 5,multiproc")
    assert [one.name for one in chosen] == [
        "corymb-threads", "corymb-processes", "corymb-python", "Fake MPI 5", "multiprocessing",
    ]  # fmt: skip
    chosen, missing = bench_peers.choose(tmp_path, "threads,gone")
    assert [one.name for one in chosen] == ["corymb-threads"]
    assert [one.reason for one in missing] == ["no compiler"]
    everybody, _ = bench_peers.choose(tmp_path, None)
    assert {"corymb-threads", "Fake MPI 5", "multiprocessing"} <= {one.name for one in everybody}
    with pytest.raises(corymb.Error, match="unknown peer 'nobody'; there are corymb-threads"):
        bench_peers.choose(tmp_path, "nobody")


@pytest.mark.parametrize(
    "name", ["corymb-threads", "corymb-processes", "corymb-python", "multiprocessing"]
)
def test_real_ranks_give_right_results(name: str, tmp_path: Path) -> None:
    """Every operation in every mode; a wrong element would be an error."""
    write_peers(tmp_path, "fake")
    (one,) = (each for each in bench_peers.choose(tmp_path, None)[0] if each.name == name)
    refused: set[tuple[str, str, str]] = set()
    with sessions.Session(one, 3, pin=False) as session:
        for op in (*cases.OPERATIONS, "copy", "compute"):
            for mode in cases.MODES:
                for size in (8, 1000):
                    try:
                        session.run(sessions.Turn(op, mode, size, 1, 2, 1000, 500, 2), 60)
                        assert session.run(sessions.Turn(op, mode, size, 1, 2), 60)[0] >= 0
                    except sessions.RefusalError as refusal:
                        refused.add((op, mode, str(refusal)))
        with pytest.raises(sessions.RefusalError, match="unsupported"):
            session.run(sessions.Turn("dance", "blocking", 8, 1, 1), 60)
    if name == "multiprocessing":
        lacking = {op for op, mode, why in refused if (mode, why) == ("blocking", "unsupported")}
        able = set(cases.OPERATIONS) - lacking
        assert able == {"barrier", "broadcast", "reduce", "allreduce"}
    else:
        assert not refused


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt_leaves_nothing(
    number: signal.Signals, status: int, tmp_path: Path, environment: dict[str, str]
) -> None:
    before = folders()
    write_peers(tmp_path, "fake")
    process = subprocess.Popen(
        [sys.executable, "-m", "corymb", "bench", "peers", "--folder", str(tmp_path), "--peers",
         "corymb-t,corymb-pr,fake,multiprocessing", "--seconds", "600", "--no-measure"],
        env=environment | {"CORYMB_TEST": str(tmp_path)}, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    wait_for(lambda: len(folders() - before) >= 4 or process.poll() is not None)
    process.send_signal(number)
    _, text = process.communicate(timeout=LIMIT_S)
    assert process.returncode == status, text
    assert folders() <= before
    assert comes_true(lambda: not alive(tmp_path)), f"left behind: {alive(tmp_path)}"


def alive(mark: Path) -> list[str]:
    """The processes that this test has started, itself or by others."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"CORYMB_TEST={mark}".encode() in (place / "environ").read_bytes():
                found.append((place / "comm").read_text().strip())
        except OSError:
            continue
    return found
