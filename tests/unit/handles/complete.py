#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public member function of a handle is in the tables of the sweep over empty, inherited and
shared handles: complete.py HANDLES_TESTS INCLUDE_FOLDER."""

import re
import subprocess
import sys
from pathlib import Path

# Classes that are no handles: values, what users derive from, and what cannot be moved.
VALUES = {
    "AnswerAwait",
    "ArrivalAwait",
    "BarrierCore",
    "CallSuspension",
    "Carrier",
    "Changing",
    "Cluster",
    "CompletionAwait",
    "Copies",
    "CopiesPlace",
    "EndOfAll",
    "EnterAwait",
    "Entry",
    "Error",
    "ExceptionEntry",
    "Fetch",
    "FinishScope",
    "Machine",
    "MoveTurn",
    "NamedAwait",
    "NamedObject",
    "NamedRequest",
    "NodeKind",
    "Noise",
    "NoiseTrace",
    "ObjectUse",
    "OutsideOfTasks",
    "PartMemory",
    "PeerWait",
    "Phases",
    "PolledAwait",
    "PostAwait",
    "RemoteFunction",
    "ReplicaCore",
    "ReplicaMemory",
    "ReplicaPlaces",
    "Reply",
    "RequestAwait",
    "Scope",
    "SharedGraph",
    "StackRun",
    "Staging",
    "Strand",
    "Subobject",
    "Suspension",
    "TaskErrors",
    "TaskPromiseBase",
    "TcpCarrier",
    "TimerAwait",
    "UnknownRemoteException",
    "UsableCpus",
    "WaitQueue",
}
COMMENT = re.compile(r"//[^\n]*")
CLASS = re.compile(r"^(?:class|struct) CORYMB_EXPORT (\w+)[^;{]*\{", re.MULTILINE)
SECTION = re.compile(r"\b(public|private|protected):")
NOT_CALLS = re.compile(r"^\s*(\[\[\w+\]\]\s*)?(friend|using|static)\b")
REQUIRES = re.compile(r"\b(?:requires|decltype)\s*\((?:[^()]|\([^()]*\))*\)")


def body_behind(text: str, begin: int) -> str:
    """What stands in the braces that have been opened before `begin`."""
    depth = 1
    for end in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin:end]
    raise ValueError("a brace is not closed")


def without_braces(text: str) -> str:
    """Bodies of functions and nested classes are cut out."""
    while True:
        shorter = re.sub(r"\{[^{}]*\}", ";", text)
        if shorter == text:
            return text
        text = shorter


def public_part(body: str, is_struct: bool) -> str:
    parts = SECTION.split(body)
    kept = [parts[0]] if is_struct else []
    kept += [part for name, part in zip(parts[1::2], parts[2::2], strict=True) if name == "public"]
    return "".join(kept)


def functions(header: str) -> set[str]:
    found = set()
    text = REQUIRES.sub("", COMMENT.sub("", header))
    for match in CLASS.finditer(text):
        name = match[1]
        if name in VALUES:
            continue
        flat = without_braces(body_behind(text, match.end()))
        for statement in public_part(flat, match[0].startswith("struct")).split(";"):
            call = re.search(r"(~?\w+)\s*\(", statement)
            if call is None or NOT_CALLS.match(statement) or "operator" in statement:
                continue
            if call[1].lstrip("~") != name:
                found.add(f"{name}::{call[1]}")
    return found


def listed(program: str) -> set[str]:
    command = [program, "--gtest_filter=HandleTable.HasNames"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"in the table: ([\w:]+)", printed))


def main(program: str, folder: str) -> int:
    wanted = set()
    for header in sorted(Path(folder).rglob("*.hpp")):
        wanted |= functions(header.read_text())
    missing = sorted(wanted - listed(program))
    for name in missing:
        print(f"{name} is in no table of tests/unit/handles; add a call of it")
    print(f"{len(wanted)} public functions of handles, {len(missing)} missing")
    return 1 if missing or len(wanted) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
