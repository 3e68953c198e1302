# SPDX-License-Identifier: Apache-2.0
"""corymb.run with processes, `python -m corymb.run`, corymb.attach: results, failures, Ctrl-C, and
that nothing stays behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest
import run_bodies
from limits import LIMIT_S, wait_for

import corymb

HERE = Path(__file__).parent


def children() -> set[str]:
    """Our child processes, without the one helper that multiprocessing keeps."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # A thread that ends meanwhile.
            found |= set((task / "children").read_text().split())
    return found - {str(resource_tracker._resource_tracker._pid)}  # type: ignore[attr-defined]


def descriptors() -> set[str]:
    """What our descriptors are, but for the pipe to that helper."""
    names = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            names.add(os.readlink(link))
        except OSError:  # The one that lists the folder.
            continue
    return {name for name in names if "memfd" in name or "socket" in name}


@pytest.fixture(autouse=True)
def _nothing_stays_behind() -> Iterator[None]:
    shm, before, open_before = set(os.listdir("/dev/shm")), children(), descriptors()
    yield
    assert children() <= before
    new = set(os.listdir("/dev/shm")) - shm
    assert [name for name in new if "corymb" in name and "peers" not in name] == []
    assert descriptors() <= open_before


# corymb.run
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start_method", "n"), [("spawn", 2), ("fork", 3)])
def test_results_of_all_ranks(start_method: str, n: int) -> None:
    results = corymb.run(run_bodies.total, n, (2,), {"plus": 1}, start_method=start_method)
    pids = {pid for pid, _, _ in results}
    assert len(pids) == n
    assert os.getpid() not in pids
    assert [rest for _, *rest in results] == [[r, n * (n - 1) + 1] for r in range(n)]


def test_reproducible_sums_are_the_same_among_processes_and_threads() -> None:
    wanted = ((1e16 + 1.5) + (-1e16 + 1.25)) + 3.5
    for threads in (False, True):
        sums = corymb.run(run_bodies.sum_of_unlike, 5, threads=threads, reproducible=True)
        assert sums == [wanted] * 5


@pytest.mark.parametrize(
    ("body", "rank", "text", "cause"),
    [
        (run_bodies.unlucky, 1, "rank 1 failed: ValueError: no luck", ValueError),
        (run_bodies.killed, 1, r"rank 1 \(pid \d+\) was killed by signal 9 \(Killed\)", None),
        (run_bodies.leaving, 0, r"rank 0 \(pid \d+\) ended with status 3 before", None),
        (run_bodies.unpicklable, 0, "pickle", Exception),
        (run_bodies.stubborn, 0, "rank 0 failed: ValueError: no luck", ValueError),
    ],
)
def test_the_first_failure_is_raised(
    body: Any, rank: int, text: str, cause: type[BaseException] | None
) -> None:
    with pytest.raises(corymb.RankError, match=text) as caught:
        corymb.run(body, 2, start_method="fork")
    if body is not run_bodies.unpicklable:  # There both fail.
        assert caught.value.rank == rank
    if cause is None:
        assert caught.value.__cause__ is None
    else:
        assert isinstance(caught.value.__cause__, cause)
        assert "run_bodies.py" in str(caught.value.__cause__.__cause__) or cause is Exception


def test_survivors_of_a_rank_go_on() -> None:
    assert corymb.run(run_bodies.survivors, 3, start_method="fork") == [2, -1, 2]


def test_what_cannot_be_started_is_said_at_once() -> None:
    with pytest.raises(Exception, match="pickle"):
        corymb.run(lambda team: None, 2)
    with pytest.raises(corymb.Error, match="1 rank or more, not 0"):
        corymb.run(run_bodies.unlucky, 0)
    with pytest.raises(ValueError, match="stone"):
        corymb.run(run_bodies.unlucky, 2, start_method="stone")


@pytest.mark.parametrize("words", [[], ["threads"]], ids=["processes", "threads"])
def test_interrupt(words: list[str], tmp_path: Path) -> None:
    """Only the first process gets the signal; nobody is left."""
    program = [sys.executable, str(HERE / "run_bodies.py"), str(tmp_path), *words]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: len(pids_in(tmp_path)) == 2)
        time.sleep(0.1)  # Into the wait, most likely; it works at any moment.
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "interrupted\n"), err
    assert "Traceback" not in err
    wait_for(lambda: not any(is_alive(pid) for pid in pids_in(tmp_path)))


def test_ranks_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    program = [sys.executable, str(HERE / "run_bodies.py"), str(tmp_path)]
    process = subprocess.Popen(program, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(pids_in(tmp_path)) == 2)
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not any(is_alive(pid) for pid in pids_in(tmp_path)))


def pids_in(folder: Path) -> list[int]:
    """What the ranks have written; none of it by halves."""
    texts = [file.read_text() for file in folder.iterdir()]
    return [int(text[:-1]) for text in texts if text.endswith(".")]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


# Launchers
# --------------------------------------------------------------------------------------------------

SCRIPT = r"""
import sys, corymb
team = corymb.attach()
# In one write, as both ranks have the same pipe.
sys.stdout.write(f"{team.allreduce(team.rank + 1)} {sys.argv[1:]}\n")
"""


def run_module(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "corymb.run", *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


def test_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run_module("-n", "2", str(script), "-n", "7")
    assert (done.returncode, done.stdout) == (0, "3 ['-n', '7']\n" * 2), done.stderr


def test_a_script_that_fails(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import corymb\nteam = corymb.attach()\nif team.rank: 1 / 0\nteam.Barrier()")
    done = run_module("-n", "2", "--", str(script))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "rank 1 (pid" in done.stderr


def test_a_script_that_never_attaches() -> None:
    done = run_module("-n", "2", "-c", "pass")
    assert done.returncode == 1
    assert "without attaching to the team" in done.stderr


@pytest.mark.parametrize("cpus", ["999999", "0,999999", "999998-999999"])
def test_a_cpu_that_is_not_there(cpus: str) -> None:
    done = run_module("-n", "2", "--bind", cpus, "-c", "pass")
    assert done.returncode == 2
    assert f"--bind {cpus}: there is no CPU 99999" in done.stderr
    assert "this process may use " in done.stderr


def test_a_cpu_that_is_not_allowed() -> None:
    """Bound to one CPU, if there are two."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("there is one CPU")
    code = (
        "import os, sys; from corymb.run.__main__ import main; "
        f"os.sched_setaffinity(0, [{cpus[0]}]); sys.exit(main(sys.argv[1:]))"
    )
    words = ["-n", "1", "--bind", str(cpus[1]), "-c", "pass"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 2
    assert f"CPU {cpus[1]} is not allowed; this process may use {cpus[0]};" in done.stderr


def test_times_reach_the_ranks() -> None:
    code = "import os; print(*map(os.environ.get, ('CORYMB_PATIENCE', 'CORYMB_DEADLINE')))"
    done = run_module("-n", "1", "--attach-deadline", "7", "--deadline", "8.5", "-c", code)
    assert done.stdout == "7 8.5\n"
    done = run_module("-n", "1", "--deadline", "-1", "-c", code)
    assert (done.returncode, "--deadline is '-1'" in done.stderr) == (2, True)


@pytest.mark.parametrize(("words", "status"), [([], 2), (["--help"], 0), (["-n", "2"], 2)])
def test_usage(words: list[str], status: int) -> None:
    assert run_module(*words).returncode == status


def test_meeting_by_name() -> None:
    name = f"corymb-test-{os.getpid()}"
    code = f"import corymb; print(corymb.attach({name!r}, 2).allreduce(1))"
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        with corymb.attach(name, 2) as team:
            assert team.allreduce(1) == 2
        assert other.communicate(timeout=LIMIT_S)[0] == "2\n"
    finally:
        other.kill()


def test_attach_without_a_team_is_an_error() -> None:
    with pytest.raises(corymb.Error, match="no team to attach to"):
        corymb.attach()
    with pytest.raises(corymb.Error, match="of 2 did not come") as caught:
        corymb.attach(f"corymb-test-{os.getpid()}-lonely", 2, patience=0.05)
    assert caught.value.code == "timeout"
