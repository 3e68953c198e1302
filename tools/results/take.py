# SPDX-License-Identifier: Apache-2.0
"""Rows that a benchmark has written with --json, as the rows of a record."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import record as records  # bench/papers/record.py
import render

# Fields of a row that pages and plots need.
KEPT = ("op", "mode", "kind", "ranks", "bytes", "contestant", "median_ns", "q25", "q75")


def save(file: Path, record: dict[str, Any]) -> None:
    file.write_text(records.as_lines(record) + "\n", encoding="utf-8")


def processor() -> str:
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.machine()


def origin(command: str, machine: str = "") -> dict[str, str]:
    """Where figures of now come from."""
    commit = subprocess.run(
        ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    return {
        "command": command,
        "machine": machine or f"{processor()}, {os.cpu_count()} CPUs",
        "date": datetime.date.today().isoformat(),
        "commit": commit,
    }


def take(file: Path, options: argparse.Namespace) -> None:
    record = render.load(file)
    found = json.loads(options.file.read_text(encoding="utf-8"))
    rows = [row for row in found["rows"] if row.get("median_ns") is not None]
    record["rows"][options.rows] = [
        {name: row[name] for name in KEPT if name in row} for row in rows
    ]
    for section in record["sections"]:
        if section.get("rows") == options.rows:
            section["measured"] = origin(section["measured"]["command"], options.machine)
    save(file, record)
