# SPDX-License-Identifier: Apache-2.0
"""docs/images/overview.svg: times of names that people know, beside those of corymb."""

from __future__ import annotations

import svg
from images.measured import overview, save, title

SIZES = {0: "", 8: " of 8 B", 1 << 20: " of 1 MiB"}


def make() -> None:
    data = overview()
    cases: dict[str, dict[str, float]] = {}
    for row in data["rows"]["overview"]:
        case = f"{row['op']}{SIZES[row['bytes']]}, {row['ranks']} {row['kind']}"
        cases.setdefault(case, {})[row["contestant"]] = row["median_ns"]
    names = list(dict.fromkeys(name for times in cases.values() for name in times))
    names.remove("corymb")
    series = [
        svg.Series(
            name,
            [(times[name] / times["corymb"], place)
             for place, times in enumerate(cases.values()) if name in times],
            number,
        )
        for number, name in enumerate(names)
    ]  # fmt: skip
    save(
        "overview.svg",
        svg.points(
            title("Time over that of corymb", data),
            "times as long as corymb takes (left of 1: faster than corymb)",
            list(cases),
            series,
            mark=1,
            is_log=True,
        ),
    )
