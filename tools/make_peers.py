#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what benchmarks compare with ready below build/peers/ and says which is: the MPI libraries
of tools/peers.toml, and iceoryx2.

`tools/make_peers.py [--only NAME,NAME]`; needs Python 3.11's standard library. What is there
already is kept. build/peers/peers.json tells `corymb bench peers` how to start each, and why the
missing ones are missing. Exit status 1 if none is ready.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "bench" / "mpi" / "mpi_ranks.c"
TIMEOUT_S = 900
KNOWN_KEYS = {
    "name", "language", "requirements", "compiler", "worker", "launch", "pinned", "floating",
    "persistent", "variables", "contestant",
}  # fmt: skip
KNOWN_CONTESTANT_KEYS = {"name", "words", "variables", "tuned", "when"}


# Python packages that `corymb bench messages` compares with.
PACKAGES = {"iceoryx2": ["iceoryx2==0.10.0"]}


class MissingError(Exception):
    """This peer cannot be had here; the text says why."""


def read_peers(text: str) -> list[dict[str, Any]]:
    """The peers of a peers.toml; ValueError names what is wrong."""
    peers: list[dict[str, Any]] = tomllib.loads(text).get("peer", [])
    names: set[str] = set()
    for peer in peers:
        name = peer.get("name", "?")
        unknown = set(peer) - KNOWN_KEYS
        if unknown:
            raise ValueError(f"peer {name}: unknown key {sorted(unknown)[0]}")
        lacking = {"name", "launch", "pinned", "floating", "contestant"} - set(peer)
        if lacking:
            raise ValueError(f"peer {name}: {sorted(lacking)[0]} is missing")
        if ("compiler" in peer) == ("worker" in peer):
            raise ValueError(f"peer {name}: it needs a compiler or a worker")
        for entry in peer["contestant"]:
            odd = set(entry) - KNOWN_CONTESTANT_KEYS
            if odd:
                raise ValueError(f"peer {name}: unknown key {sorted(odd)[0]} of a contestant")
            if entry["name"] in names:
                raise ValueError(f"peer {name}: contestant {entry['name']} occurs twice")
            names.add(entry["name"])
    return peers


def run(command: list[str], log: Path, variables: dict[str, str] | None = None) -> None:
    """Runs with its output in a log; MissingError with the last line when it fails."""
    environment = os.environ | (variables or {})
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as stream:
        try:
            done = subprocess.run(
                command, stdout=stream, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env=environment, timeout=TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise MissingError(f"{command[0]} did not end within {TIMEOUT_S} s") from None
        except OSError as error:
            raise MissingError(f"cannot start {command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        raise MissingError(lines[-1].strip() if lines else f"{command[0]} failed")


def make_environment(peer: dict[str, Any], place: Path, logs: Path) -> None:
    """The Python packages, unless the same ones are there."""
    wanted = "\n".join(peer["requirements"]) + "\n"
    stamp = place / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(place, ignore_errors=True)
    run([sys.executable, "-m", "venv", str(place)], logs / f"peer-{peer['name']}-venv.log")
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
    run([*pip, "--no-input", *peer["requirements"]], logs / f"peer-{peer['name']}-pip.log")
    stamp.write_text(wanted)


def filled(value: Any, **words: str) -> Any:
    """`value` with {place} replaced everywhere; other braces stay for the driver."""
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace("{" + name + "}", word)
        return value
    if isinstance(value, list):
        return [filled(entry, **words) for entry in value]
    if isinstance(value, dict):
        return {key: filled(entry, **words) for key, entry in value.items()}
    return value


def compile_worker(peer: dict[str, Any], place: Path, worker: Path, log: Path) -> None:
    """The rank program, by this library's compiler."""
    compiler = shutil.which(peer["compiler"])
    if compiler is None:
        raise MissingError(f"{peer['compiler']} is not installed")
    worker.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra"]
    if peer.get("persistent", True):
        flags.append("-DCORYMB_PEER_PERSISTENT")
    variables = peer.get("variables", {}) | {"PATH": f"{place}/bin:{os.environ['PATH']}"}
    run([compiler, *flags, str(SOURCE), "-o", str(worker)], log, variables)


def make(peer: dict[str, Any], folder: Path, logs: Path) -> dict[str, Any]:
    """What peers.json says of a peer that is ready."""
    place = folder / peer["name"]
    if "requirements" in peer:
        make_environment(peer, place, logs)
    peer = filled(peer, place=str(place), sources=str(ROOT))
    if "compiler" in peer:
        worker = folder / "workers" / peer["name"]
        compile_worker(peer, place, worker, logs / f"peer-{peer['name']}-compile.log")
        peer["worker"] = [str(worker)]
    keys = ("name", "worker", "launch", "pinned", "floating", "contestant")
    return {key: peer[key] for key in keys} | {
        "variables": peer.get("variables", {}),
        "language": peer.get("language", "c"),
    }


def make_packages(names: list[str], folder: Path) -> int:
    """Environments with these packages; how many are ready."""
    ready = 0
    for name in names:
        try:
            peer = {"name": name, "requirements": PACKAGES[name]}
            make_environment(peer, folder / name, folder.parent / "log")
            print(f"{name}: ready", flush=True)
            ready += 1
        except MissingError as reason:
            print(f"{name}: missing: {reason}", flush=True)
    return ready


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Make the peers of `corymb bench peers` ready.")
    parser.add_argument("--only", help="names of tools/peers.toml, separated by commas")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "peers")
    options = parser.parse_args(arguments)
    peers = read_peers((ROOT / "tools" / "peers.toml").read_text())
    known = [*(peer["name"] for peer in peers), *PACKAGES]
    wanted = options.only.split(",") if options.only else known
    for name in wanted:
        if name not in known:
            parser.error(f"unknown peer '{name}'; there are {', '.join(known)}")
    packages = make_packages([name for name in PACKAGES if name in wanted], options.folder)
    if not any(peer["name"] in wanted for peer in peers):
        return 0 if packages else 1  # What is known of the others stays.
    ready, missing = [], []
    for peer in peers:
        if peer["name"] not in wanted:
            missing.append({"name": peer["name"], "reason": "not asked for (--only)"})
            continue
        try:
            ready.append(make(peer, options.folder, options.folder.parent / "log"))
            print(f"{peer['name']}: ready", flush=True)
        except MissingError as reason:
            missing.append({"name": peer["name"], "reason": str(reason)})
            print(f"{peer['name']}: missing: {reason}", flush=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"schema": "corymb-peers/1", "peers": ready, "missing": missing}, indent=1)
    file = options.folder / "peers.json"
    file.with_suffix(".new").write_text(text + "\n")
    file.with_suffix(".new").replace(file)
    return 0 if ready or packages else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        sys.exit(130)
