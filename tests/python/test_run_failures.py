# SPDX-License-Identifier: Apache-2.0
"""What a failure of corymb.run leaves behind: output, functions of atexit, the exception in its own
words; and what is said where processes cannot be started."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import failing_bodies
import pytest
from limits import LIMIT_S, wait_for

import corymb

METHODS = ["spawn", "fork", "forkserver"]
HERE = Path(__file__).parent


def python(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=HERE,
        env=environment | options.pop("env", {}),
        **options,
    )


@pytest.mark.parametrize("method", METHODS)
def test_what_ranks_have_written_is_kept(method: str, tmp_path: Path) -> None:
    """Output without a newline that flushes, buffered logs, and atexit of every rank."""
    done = python("failing_bodies.py", method, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["after0", "after1", "before0", "before1", "rank0"]
    assert [(tmp_path / f"log{rank}").read_text() for rank in (0, 1)] == ["kept\n"] * 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (failing_bodies.raise_odd, ["rank 1 failed: Odd: config.toml:7"]),
        (failing_bodies.raise_lock, ["rank 1 failed: Holding: held"]),
        (failing_bodies.raise_mute, ["rank 1 failed: Mute"]),
    ],
)
def test_an_exception_is_told_in_its_own_words(method: str, body: Any, words: list[str]) -> None:
    with pytest.raises(corymb.RankError) as caught:
        corymb.run(body, 2, start_method=method)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.rank == 1
    trace = str(caught.value.__cause__.__cause__)  # type: ignore[union-attr]
    assert "failing_bodies.py" in trace
    assert "KeyError: 'the cause'" in trace


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (failing_bodies.return_lock, "type failing_bodies.Locked that cannot be pickled"),
        (failing_bodies.return_odd, "type failing_bodies.Odd that cannot be unpickled here"),
    ],
)
def test_a_result_that_cannot_travel_is_named(body: Any, word: str) -> None:
    with pytest.raises(corymb.RankError, match="rank 1 has returned an object of " + word):
        corymb.run(body, 2, start_method="fork")


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.parametrize("how", ["exit", "raise", "return"])
def test_a_process_that_a_rank_has_forked_is_no_rank(method: str, how: str) -> None:
    results = corymb.run(failing_bodies.fork_and_go_on, 2, (how,), start_method=method)
    assert results == [(2, 0 if how != "raise" else 1)] * 2


def test_a_rank_that_dies_is_noticed_though_a_process_of_it_lives() -> None:
    with pytest.raises(corymb.RankError, match=r"rank 1 .* was killed by signal 9"):
        corymb.run(failing_bodies.die_with_a_child, 2, start_method="fork")


def test_well_ranks_are_asked_before_they_are_killed(tmp_path: Path) -> None:
    with pytest.raises(corymb.RankError, match="rank 0 failed: ValueError: no luck"):
        corymb.run(failing_bodies.busy, 2, (str(tmp_path),), start_method="fork")
    assert (tmp_path / "ended").read_text() == "in order"


# Where processes cannot be started
# --------------------------------------------------------------------------------------------------

FROM_NOWHERE = """
import corymb
def work(team): return team.allreduce(team.rank)
for options in ({}, {"start_method": "forkserver"}, {"start_method": "fork"}, {"threads": True}):
    try: print(corymb.run(work, 2, **options))
    except corymb.Error as e: print(e.code, e)
"""


@pytest.mark.parametrize("words", [["-"], ["-c", FROM_NOWHERE]], ids=["stdin", "-c"])
def test_a_main_module_without_file(words: list[str]) -> None:
    done = python(*words, input=FROM_NOWHERE)
    lines = done.stdout.splitlines()
    assert len(lines) == 4, done.stderr
    for line in lines[:2]:
        assert line.startswith("unsupported other processes cannot import work from __main__")
        assert "threads=True" in line
    assert lines[2:] == ["[1, 1]"] * 2
    assert done.stderr == ""


def test_lambdas_and_arguments_that_cannot_be_pickled() -> None:
    with pytest.raises(corymb.Error, match=r"a lambda, cannot be pickled .* threads=True"):
        corymb.run(lambda team: 0, 2)
    with pytest.raises(corymb.Error, match="an argument cannot be pickled"):
        corymb.run(failing_bodies.fork_and_go_on, 2, (lambda: 0,))


def in_pool(_: int) -> tuple[str, str]:
    try:
        corymb.run(failing_bodies.raise_odd, 2)
    except corymb.Error as error:
        return error.code, str(error)
    return "", ""


def test_within_a_pool() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        code, text = pool.apply(in_pool, (0,))
    assert code == "unsupported"
    assert "ProcessPoolExecutor" in text
    assert "threads=True" in text


def test_a_script_without_its_guard_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import corymb\ndef f(team): pass\ncorymb.run(f, 1)\n")
    done = python(str(script))
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]


# Ends and times
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_ranks_end_with_their_caller(method: str, tmp_path: Path) -> None:
    caller = subprocess.Popen(
        [sys.executable, "failing_bodies.py", method, str(tmp_path), "sleep"],
        stderr=subprocess.DEVNULL,
        cwd=HERE,
    )
    try:
        wait_for(lambda: len(list(tmp_path.glob("pid*."))) == 2)
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    pids = [int(file.name[3:-1]) for file in tmp_path.glob("pid*.")]
    wait_for(lambda: not any(is_alive(pid) for pid in pids))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def test_patience_by_argument_and_by_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"corymb-test-{os.getpid()}-alone"
    with pytest.raises(corymb.Error, match="give more patience") as caught:
        corymb.attach(name, 2, patience=0.05)
    assert "::" not in str(caught.value)
    monkeypatch.setenv("CORYMB_PATIENCE", "0.05")
    with pytest.raises(corymb.Error, match="did not come in time"):
        corymb.attach(name, 2)
    monkeypatch.setenv("CORYMB_PATIENCE", "soon")
    with pytest.raises(corymb.Error, match="CORYMB_PATIENCE is 'soon'"):
        corymb.attach(name, 2)
