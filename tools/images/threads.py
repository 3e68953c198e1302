# SPDX-License-Identifier: Apache-2.0
"""docs/images/start-threads.svg: a round of examples/thread_pool.cpp, by what ends it."""

from __future__ import annotations

import svg
from images.measured import overview, save, title


def make() -> None:
    data = overview()
    rows = [row for row in data["rows"]["programs"] if row["program"] == "thread_pool"]
    names = list(dict.fromkeys(row["name"] for row in rows))
    words = {2: "2 threads, a CPU each", 4: "4 threads on 2 CPUs"}
    series = [
        svg.Series(
            words[ranks],
            [(row["ns"], names.index(row["name"])) for row in rows if row["ranks"] == ranks],
            number,
        )
        for number, ranks in enumerate(words)
    ]
    heading = title("A round of examples/thread_pool.cpp", data)
    save("start-threads.svg", svg.points(heading, "ns a round", names, series, is_log=True))
