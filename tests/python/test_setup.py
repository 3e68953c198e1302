# SPDX-License-Identifier: Apache-2.0
"""The set-up knows systems by their os-release file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

RECORDED = ROOT / "tests" / "data" / "os-release"


def system_of(path: Path) -> str:
    """What tools/lib.sh says of a system with this file."""
    command = ["bash", "-c", 'source "$1" && system_of "$2"', "bash", ROOT / "tools/lib.sh", path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("debian-12", "tried Debian GNU/Linux 12 (bookworm)"),
        ("debian-13", "tried Debian GNU/Linux 13 (trixie)"),
        ("debian-testing", "untried Debian GNU/Linux forky/sid"),
        ("ubuntu-24.04", "untried Ubuntu 24.04.1 LTS"),
        ("ubuntu-22.04", "old Ubuntu 22.04.4 LTS"),
        ("fedora-41", "unknown Fedora Linux 41 (Container Image)"),
    ],
)
def test_systems_are_recognised(name: str, said: str) -> None:
    assert system_of(RECORDED / name) == said


def test_a_system_without_the_file_is_unknown(tmp_path: Path) -> None:
    assert system_of(tmp_path / "none") == "unknown an unknown system"
