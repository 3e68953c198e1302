#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/images. Needs the installed package; `report` needs Chromium, too.

tools/make_images.py              # all
tools/make_images.py overview     # some
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench" / "papers"), str(ROOT / "tools")]

# Name of the picture -> the module that has make(). Measured figures come from docs/results.
PICTURES = {
    "report": "images.report",
    "overview": "images.overview",
    "threads": "images.threads",
    "python": "images.python_rows",
    "mpi": "images.mpi",
    "machine": "images.machine",
}


def main() -> None:
    wanted = sys.argv[1:] or list(PICTURES)
    for name in wanted:
        if name not in PICTURES:
            sys.exit(f"make_images: no picture '{name}'; there are {', '.join(PICTURES)}")
    for name in wanted:
        importlib.import_module(PICTURES[name]).make()


if __name__ == "__main__":
    main()
