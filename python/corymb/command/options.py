# SPDX-License-Identifier: Apache-2.0
"""Options that several subcommands share, written once."""

from __future__ import annotations

from typing import Annotated

import typer

MachineName = Annotated[
    str | None,
    typer.Option("--machine", metavar="NAME", help="A machine of the gallery."),
]
ModelFile = Annotated[
    str | None,
    typer.Option("--model", metavar="FILE", help="A model file."),
]
NoMeasure = Annotated[
    bool,
    typer.Option("--no-measure", help="Without a cached model use the topology only."),
]
JsonFile = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write JSON; - is stdout."),
]
Ranks = Annotated[
    str | None,
    typer.Option(
        "--ranks",
        metavar="N|LIST",
        help="The first N CPUs, or CPU numbers such as 0-4,10-14: rank i on the i-th of them.",
    ),
]
Root = Annotated[
    int | None,
    typer.Option("--root", metavar="R", help="Root rank; the planner's choice without it."),
]
Bytes = Annotated[int, typer.Option("--bytes", metavar="B", help="Payload in bytes.")]
Seed = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the search.")]
Moves = Annotated[
    int, typer.Option("--moves", metavar="N", help="Annealing moves; 0 is the default number.")
]
Budget = Annotated[
    float, typer.Option("--budget", metavar="S", help="Seconds that measuring may take.")
]
