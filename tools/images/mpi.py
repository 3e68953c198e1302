# SPDX-License-Identifier: Apache-2.0
"""docs/images/start-mpi.svg: a step of examples/mpi/dots.c, with corymb and without."""

from __future__ import annotations

import svg
from images.measured import overview, save, title

WAYS = ("alone", "with corymb")


def make() -> None:
    data = overview()
    times = {row["name"]: row["ns"] for row in data["rows"]["programs"] if row["program"] == "dots"}
    names = list(dict.fromkeys(name.removesuffix(" " + way) for name in times for way in WAYS
                               if name.endswith(" " + way)))  # fmt: skip
    series = [
        svg.Series(way, [(times[f"{name} {way}"], at) for at, name in enumerate(names)], number)
        for number, way in enumerate(WAYS)
    ]
    heading = title("A step of examples/mpi/dots.c, two ranks", data)
    save("start-mpi.svg", svg.points(heading, "ns a step", names, series, from_zero=True))
