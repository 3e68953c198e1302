# SPDX-License-Identifier: Apache-2.0
"""Who takes part: corymb's own ranks, and the peers that `make bench-peers` made ready."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import corymb

SCHEMA = "corymb-peers/1"
WHEN = ("always", "pinned", "floating")
RANKS = "corymb.peers.ranks"


@dataclass(frozen=True)
class Contestant:
    """How the ranks of one contestant are started. The word {bind} in `launch` stands for the words
    of `pinned` or `floating`; {ranks} and {folder} are filled in everywhere. A family is compared
    with peers of its language; `is_default` is false where a user must set something first."""

    name: str
    family: str
    launch: Sequence[str]
    worker: Sequence[str]
    pinned: Sequence[str] = ()
    floating: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    language: str = "c"
    is_default: bool = True
    when: str = "always"

    @property
    def is_own(self) -> bool:
        return self.family == "corymb"

    def takes_part(self, pin: bool) -> bool:
        return self.when in {"always", "pinned" if pin else "floating"}

    def command(self, ranks: int, pin: bool, folder: Path) -> list[str]:
        words: list[str] = []
        for word in [*self.launch, *self.worker]:
            if word == "{bind}":
                words += self.pinned if pin else self.floating
            else:
                words.append(word.replace("{ranks}", str(ranks)).replace("{folder}", str(folder)))
        return words

    def environment(self, pin: bool, folder: Path) -> dict[str, str]:
        own = {name: text.replace("{folder}", str(folder)) for name, text in self.variables.items()}
        place = os.path.dirname(self.launch[0])
        if place:  # Some launchers are scripts that look for others.
            own["PATH"] = f"{place}:{os.environ.get('PATH', '')}"
        own |= {"CORYMB_PEER_FOLDER": str(folder)} | ({"CORYMB_PEER_PIN": "1"} if pin else {})
        return dict(os.environ) | own


@dataclass(frozen=True)
class Missing:
    """A contestant that is not measured, and why."""

    name: str
    reason: str


def own_threads(program: Path) -> Contestant:
    """corymb with threads as ranks."""
    launch = (str(program), "threads", "{ranks}", "{bind}")
    return Contestant("corymb-threads", "corymb", launch, (), ("pin",), ("float",))


def own_processes(launcher: Path, worker: Sequence[str], name: str, language: str) -> Contestant:
    """corymb with processes as ranks, started as MPI's are."""
    return Contestant(
        name,
        "corymb",
        (str(launcher), "-n", "{ranks}", "{bind}", "--"),
        worker,
        ("--bind", "core"),
        ("--bind", "none"),
        language=language,
    )


def pipes() -> Contestant:
    """Python's multiprocessing: pipes, its barrier and numpy."""
    launch = (sys.executable, "-m", f"{RANKS}.pipe_ranks", "{ranks}")
    return Contestant("multiprocessing", "python", launch, (), language="python")


def own(program: Path, launcher: Path | None) -> tuple[list[Contestant], list[Missing]]:
    """corymb's contestants, and those that this installation cannot run."""
    found = [own_threads(program)]
    missing: list[Missing] = []
    if launcher is None:
        reason = "corymb-run is not part of this installation"
        missing += [Missing("corymb-processes", reason), Missing("corymb-python", reason)]
        return found, missing
    worker = [str(program), "attach"]
    found.append(own_processes(launcher, worker, "corymb-processes", "c"))
    if hasattr(corymb, "attach"):
        worker = [sys.executable, "-m", f"{RANKS}.buffer_ranks", "corymb"]
        found.append(own_processes(launcher, worker, "corymb-python", "python"))
    else:
        missing.append(Missing("corymb-python", "this corymb has no teams for Python"))
    return found, missing


def load(folder: Path) -> tuple[list[Contestant], list[Missing]]:
    """The peers of `folder`/peers.json and the missing ones; corymb.Error if there is no such."""
    file = folder / "peers.json"
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise corymb.Error(
            f"cannot read {file} ({error.strerror}); `make bench-peers` in corymb's sources makes "
            "it, --folder names its folder",
            "io",
        ) from None
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']}")
        found = [entry for peer in data["peers"] for entry in _contestants(peer)]
        missing = [Missing(str(peer["name"]), str(peer["reason"])) for peer in data["missing"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise corymb.Error(f"{file} is not what `make bench-peers` writes: {error}", "io") from None
    return found, missing


def _contestants(peer: Mapping[str, Any]) -> list[Contestant]:
    if isinstance(peer["worker"], str):
        raise ValueError("worker is one word")
    return [
        Contestant(
            name=str(entry["name"]),
            family="python" if peer.get("language") == "python" else "mpi",
            launch=(*peer["launch"], *entry.get("words", ())),
            worker=tuple(peer["worker"]),
            pinned=tuple(peer["pinned"]),
            floating=tuple(peer["floating"]),
            variables={**peer["variables"], **entry.get("variables", {})},
            language=str(peer.get("language", "c")),
            is_default=not entry.get("tuned", False),
            when=str(entry.get("when", "always")),
        )
        for entry in peer["contestant"]
    ]
