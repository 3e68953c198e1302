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
    typer.Option("--model", metavar="FILE", help="A model file, or a CSV file of latencies."),
]
Levels = Annotated[
    str | None,
    typer.Option(
        "--levels",
        metavar="LIST|FILE",
        help="Levels for plans to follow, from coarse to fine, as in numa,l3; none; or a file.",
    ),
]
NoMeasure = Annotated[
    bool,
    typer.Option("--no-measure", help="Without a cached model use the topology only."),
]
ClusterFile = Annotated[
    str | None,
    typer.Option("--cluster", metavar="FILE", help="Several nodes: a cluster file."),
]
Nodes = Annotated[
    int | None,
    typer.Option("--nodes", metavar="N", help="Several nodes: how many, of --machine or made up."),
]
PerNode = Annotated[
    int | None, typer.Option("--per-node", metavar="C", help="Ranks of each of --nodes.")
]
NetworkCosts = Annotated[
    str | None,
    typer.Option(
        "--network",
        metavar="A,O,S,B[/A,O,S,B@NODES]",
        help="Of --nodes: start-up ns, message gap ns, 10^9 B/s of a message and of a node; other "
        "classes of adapters with their nodes.",
    ),
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
NoiseText = Annotated[
    str | None,
    typer.Option(
        "--noise",
        metavar="N",
        help="A recording, periodic:PERIOD:LENGTH or random:GAP:LENGTH[:LENGTHS], in ns; "
        "without it the recording of corymb doctor --noise.",
    ),
]
Objective = Annotated[
    str,
    typer.Option("--objective", metavar="O", help="median, or p99: the tail under --noise."),
]
Replays = Annotated[
    int, typer.Option("--replays", metavar="N", help="Replays of each plan under --noise.")
]
Moves = Annotated[
    int, typer.Option("--moves", metavar="N", help="Annealing moves; 0 is the default number.")
]
Budget = Annotated[
    float, typer.Option("--budget", metavar="S", help="Seconds that measuring may take.")
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", help="Time for everything together.")
]
Threads = Annotated[
    str | None,
    typer.Option("--threads", metavar="LIST", help="Numbers of threads, such as 2,4,8."),
]
HtmlFile = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write the curves, as a page.")
]
