# SPDX-License-Identifier: Apache-2.0
"""Nothing public crashes, whatever it is given: sweep.py says what is tried."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from limits import LIMIT_S

import corymb

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "sweep",
    [
        "unknown",
        "documented",
        "empty_objects",
        "copies",
        "ended_handles",
        "forked_child",
        "two_threads",
        "wrong_arguments",
    ],
)
def test_sweep(sweep: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    folder = tmp_path / "folder"
    folder.mkdir()
    places = os.pathsep.join([str(HERE.parent), str(HERE)])
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(HERE / "sweep.py"), sweep, str(said)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": places, "CORYMB_CACHE_DIR": str(folder / "cache")},
    )
    last = said.read_text().strip() if said.exists() else "nothing"
    assert done.returncode == 0, f"the last call was {last}\n{done.stderr[-4000:]}"
    assert done.stdout == ""


def test_a_new_function_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    import sweep

    monkeypatch.setattr(corymb, "newly_public", lambda: None, raising=False)
    monkeypatch.setattr(corymb, "__all__", [*corymb.__all__, "newly_public"])
    monkeypatch.setattr(corymb.Mailbox, "newly_public", lambda box: None, raising=False)
    assert sweep.unknown() == ["corymb.newly_public is not in FUNCTIONS", "Mailbox.newly_public"]
