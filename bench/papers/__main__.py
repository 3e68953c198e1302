# SPDX-License-Identifier: Apache-2.0
"""The figures of the papers that corymb began with, repeated; `make papers` calls it.

    python bench/papers [STUDY ...]     # simulates and measures, writes the records

The records are docs/results/seeds/STUDY.json. `make results` writes pages and plots beside them.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import platform
import re
import sys
import time
from pathlib import Path

import pages
import record


def processor() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    names = re.findall(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return names[0] if names else platform.machine()


def measure(studies: list[str]) -> None:
    import corymb

    for name in studies:
        begin, cpu_begin = time.monotonic(), time.process_time()

        def report(part: float, text: str, name: str = name) -> None:
            print(f"{name}: {100 * part:3.0f} % {text}", file=sys.stderr, flush=True)

        data = importlib.import_module(name).study(report)
        # A simulation has one thread. What it needs does not depend on the load, as its time does.
        is_measured = name == "here"
        seconds = (time.monotonic() if is_measured else time.process_time()) - (
            begin if is_measured else cpu_begin
        )
        head = {
            "schema": record.SCHEMA,
            "study": name,
            "command": f"make papers STUDIES={name}",
            "version": corymb.__version__,
            "date": datetime.date.today().isoformat(),
            "processor": processor(),
            "seconds": round(seconds),
        }
        print(f"{record.save({**head, 'data': data})}: {seconds:.0f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description="The papers' figures, repeated.")
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(pages.STUDIES))
    options = parser.parse_args()
    for name in options.studies:
        if name not in pages.STUDIES:
            parser.error(f"unknown study '{name}'; there are {', '.join(pages.STUDIES)}")
    measure(options.studies or list(pages.STUDIES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
