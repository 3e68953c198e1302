# SPDX-License-Identifier: Apache-2.0
"""Every measured figure of the project, as pages and plots; `make results` calls it.

    python tools/results                    # writes docs/results from docs/results/data
    python tools/results check              # fails if a page or plot is not what its record gives
    python tools/results take RECORD ROWS FILE [--machine M]   # rows of a benchmark's --json

A record is a file docs/results/data/NAME.json (see render.py). Its page is docs/results/NAME.md.
The papers' figures are rendered by bench/papers. Needs Python's standard library only.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "papers"))

import pages  # noqa: E402  bench/papers/pages.py
import render  # noqa: E402
import take  # noqa: E402

FOLDER = ROOT / "docs" / "results"


def files(folder: Path) -> dict[str, str]:
    """File names below docs/results to texts."""
    return render.files(folder / "data") | {
        f"seeds/{name}": text for name, text in pages.files().items()
    }


def stale(folder: Path, texts: dict[str, str]) -> list[str]:
    found = []
    for name, text in texts.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            found.append(f"{name} is not what its record gives; run make results")
    kept = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    unknown = {name for name in kept - texts.keys() if not name.endswith(".json")}
    return found + [f"{name} has no record in docs/results/data" for name in sorted(unknown)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Pages and plots of all measured figures.")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("check", help="fail if a page or plot is not what its record gives")
    taking = commands.add_parser("take", help="put the rows of a benchmark's --json into a record")
    taking.add_argument("record", help="docs/results/data/RECORD.json")
    taking.add_argument("rows", help="the record's rows of this name are replaced")
    taking.add_argument("file", type=Path, help="what --json of the benchmark has written")
    taking.add_argument("--machine", default="", help="in words; default: processor and CPUs")
    options = parser.parse_args()
    if options.command == "take":
        take.take(FOLDER / "data" / f"{options.record}.json", options)
        return 0
    texts = files(FOLDER)
    if options.command == "check":
        found = stale(FOLDER, texts)
        print("\n".join(found) or f"results: {len(texts)} pages and plots")
        return 1 if found else 0
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
