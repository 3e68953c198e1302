# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at any moment: status 130, no traceback, no process and no file left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from limits import LIMIT_S, comes_true

MOMENTS = (0.15, 0.6, 1.5, 3.0)
LONG = f"{LIMIT_S:.0f}"  # Measured for as long, if need be.


def children_of_session(session: int) -> list[str]:
    """Command lines of the processes whose environment carries our mark."""
    mark = f"CORYMB_TEST_MARK={session}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text())
        except (OSError, PermissionError):
            continue
    return found


def run_and_interrupt(
    arguments: list[str], moment: float, environment: dict[str, str], folder: Path, mark: int
) -> subprocess.CompletedProcess[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "corymb", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment | {"CORYMB_TEST_MARK": str(mark), "TMPDIR": str(folder)},
    )
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def had_not_started(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether the signal came to the interpreter before it had found the package."""
    return done.returncode == -signal.SIGINT or done.stderr.startswith("Could not import runpy")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    "arguments",
    [
        ["map", "--measure", "--budget", LONG],
        ["plan", "broadcast", "--machine", "epyc-9754-2s-512t", "--moves", "2000000000"],
        [
            "bench",
            "collectives",
            "barrier",
            "--threads",
            "2",
            "--seconds",
            LONG,
            "--json",
            "bench.json",
        ],
        ["demo", "--budget", LONG],
    ],
    ids=lambda arguments: arguments[0],
)
def test_interrupt(
    arguments: list[str], moment: float, environment: dict[str, str], tmp_path: Path
) -> None:
    mark = time.monotonic_ns()
    own = environment | {"CORYMB_CACHE_DIR": str(tmp_path / "cache")}
    done = run_and_interrupt(arguments, moment, own, tmp_path, mark)
    while had_not_started(done):
        moment *= 2
        assert moment < LIMIT_S
        done = run_and_interrupt(arguments, moment, own, tmp_path, mark)
    if done.returncode == 0:
        pytest.skip("the command was done before the signal came")
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    # A measurement and a planning model that were complete may stay, whole; nothing else may.
    cache = tmp_path / "cache"
    assert [path for path in tmp_path.iterdir() if path != cache] == []
    kept = {("machine", ".json"), ("planning", ".txt")}
    names = list(cache.iterdir()) if cache.exists() else []
    assert [path for path in names if (path.name.split("-")[0], path.suffix) not in kept] == []
    assert comes_true(lambda: not children_of_session(mark)), children_of_session(mark)


def test_interrupt_in_the_python_api(environment: dict[str, str]) -> None:
    """measure() raises KeyboardInterrupt and leaves the affinity as it was."""
    code = (
        "import os, signal, threading, corymb\n"
        "before = os.sched_getaffinity(0)\n"
        "threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    while True:\n"  # A quiet machine is measured in less than a second.
        "        corymb.measure(budget_s=600)\n"
        "except KeyboardInterrupt:\n"
        "    assert os.sched_getaffinity(0) == before\n"
        "    print('interrupted')\n"
    )
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU: there is nothing to measure, so nothing to interrupt")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=LIMIT_S,
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_interrupt_while_the_package_is_imported(tmp_path: Path) -> None:
    """The console script's own module is there before the package, and ends it quietly."""
    package = tmp_path / "corymb"
    package.mkdir()
    (package / "__init__.py").write_text(
        "print('importing', flush=True)\nimport time\ntime.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", "import corymb_command; corymb_command.main()"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert err == ""
