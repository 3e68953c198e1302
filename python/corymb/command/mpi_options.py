# SPDX-License-Identifier: Apache-2.0
"""What the words of an mpirun's command line mean to corymb: where the program is."""

from __future__ import annotations

import shutil
from pathlib import Path

# Options of the launchers with words after them; what else begins with - stands alone.
_ONE_WORD = """n np c N ppn perhost host hosts H f hostfile machinefile default-hostfile add-host
    add-hostfile rf rankfile bind-to map-by rank-by wdir wd x path launcher launcher-exec
    launch-agent bootstrap bootstrap-exec iface outfile-pattern errfile-pattern prepend-pattern
    npernode npersocket ranks-per-proc cpus-per-proc cpus-per-rank output output-filename display
    stdin timeout cpu-set cpu-list slot-list envlist genvlist prefix rmk configfile app tune am
    personality runtime-options report-uri ompi-server dvm tmpdir xterm max-restarts membind
    usize gtool gtoolfile topolib port-range nameserver order-nodes mpirun abi"""
_TWO_WORDS = "env genv mca gmca prtemca pmixmca omca"
_VALUES = dict.fromkeys(_ONE_WORD.split(), 1) | dict.fromkeys(_TWO_WORDS.split(), 2)

_FOLDERS = ("wdir", "wd")


def place_of_program(words: list[str]) -> int:
    """The index of the program among mpirun's words, past a `--`; len(words) if there is none."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            return at + 1
        at += 1 + _VALUES.get(words[at].lstrip("-"), 0)
    at = min(at, len(words))
    if "--" in words[at:] and found_program(words, at) is None:  # The value of an unknown option.
        return words.index("--", at) + 1
    return at


def found_program(words: list[str], at: int) -> str | None:
    """The file of the program at this place, where mpirun would find it; None: there is none."""
    if at >= len(words):
        return None
    for place in range(at - 1):
        if words[place].startswith("-") and words[place].lstrip("-") in _FOLDERS:
            there = shutil.which(str(Path(words[place + 1], words[at])))
            if there is not None:
                return there
    return shutil.which(words[at])
