# SPDX-License-Identifier: Apache-2.0
"""What tools/measure_overview.py has measured, and where pictures go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


def overview() -> dict[str, Any]:
    file = ROOT / "docs" / "results" / "data" / "overview.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def title(words: str, data: dict[str, Any]) -> str:
    """With the machine and the date of the figures."""
    measured = data["measured"]
    return f"{words} ({measured['machine']}, {measured['date']})"


def save(name: str, text: str) -> None:
    (ROOT / "docs" / "images" / name).write_text(text, encoding="utf-8")
