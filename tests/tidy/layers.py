# SPDX-License-Identifier: Apache-2.0
"""Layers: docs/architecture.md's table says which folder may include which; this only reads it.

A row is `| folder | holds | includes | must not |`. The third cell names folders in backquotes;
`-` means none. Every folder under src/ must have a row.
"""

import re
from collections.abc import Iterator

from tree import Finding, Source, Tree

PAGE = "docs/architecture.md"

# A public header belongs to the layer that implements it; those not named here are for everybody.
PUBLIC_HEADERS = {
    "types.hpp": "src/reduce",
    "operators.hpp": "src/reduce",
    "machine.hpp": "src/machine/model",
    "cluster.hpp": "src/machine/model",
    "plan.hpp": "src/plan",
    "plan_need.hpp": "src/plan",
    "simulate.hpp": "src/sim",
    "planner.hpp": "src/tune",
    "discover.hpp": "src/machine/discover",
    "team.hpp": "src/team",
    "barrier.hpp": "src/team",
    "mailbox.hpp": "src/message",
    "multicast.hpp": "src/multicast",
    "multicast_model.hpp": "src/multicast",
    "array_mapping.hpp": "src/remote",
    "arrival.hpp": "src/remote",
    "call_rule.hpp": "src/remote",
    "distributed.hpp": "src/remote",
    "finish.hpp": "src/remote",
    "object_group.hpp": "src/remote",
    "rank_barrier.hpp": "src/remote",
    "remote.hpp": "src/remote",
    "remote_cereal.hpp": "src/remote",
    "remote_error.hpp": "src/remote",
    "remote_name.hpp": "src/remote",
    "remote_nodes.hpp": "src/remote",
    "remote_object.hpp": "src/remote",
    "placement.hpp": "src/remote",
    "replicated.hpp": "src/remote",
    "replicated_value.hpp": "src/remote",
    "scheduler.hpp": "src/remote",
    "shared_array.hpp": "src/remote",
    "shared_map.hpp": "src/remote",
    "task.hpp": "src/remote",
    "task_channel.hpp": "src/remote",
    "task_semaphore.hpp": "src/remote",
    "this_task.hpp": "src/remote",
    "waits.hpp": "src/remote",
    "when.hpp": "src/remote",
    "work_queue.hpp": "src/remote",
    "tcp_carrier.hpp": "src/tcp",
    "partition.hpp": "src/partition",
    "shared_graph.hpp": "src/partition",
    "trace.hpp": "src/trace",
}

# What the column "must not" forbids and an include shows: folder -> (system headers, reason).
_THREADS = (
    "thread",
    "mutex",
    "atomic",
    "condition_variable",
    "future",
    "barrier",
    "latch",
    "pthread.h",
)
_CLOCKS = ("chrono", "ctime", "time.h", "sys/time.h")
_OS = ("unistd.h", "sched.h", "sys/mman.h", "sys/syscall.h", "hwloc.h", "dirent.h")
_IO = ("fstream", "iostream", "cstdio", "filesystem")
SYSTEM_HEADERS = {
    "src/machine/model": (_THREADS + _OS, "the model is data: no threads, no operating system"),
    "src/reduce": (_THREADS + _CLOCKS + _OS + _IO, "kernels are functions on memory"),
    "src/plan": (_THREADS + _CLOCKS + _OS + _IO, "plans are data: no threads, clocks or I/O"),
    "src/sim": (_THREADS + _CLOCKS + _OS + _IO, "simulation is a function: no threads or clocks"),
    "adapters/mpi/policy": (
        (*_THREADS, *_CLOCKS, *_OS, *_IO, "mpi.h"),
        "the policy is a function of what it is told: no MPI, threads, clocks or I/O",
    ),
    "src/tune": (("thread", "future", "pthread.h", *_OS), "planning starts no threads"),
    "tests/model": (("thread", "chrono"), "worlds run under the explorer, never on real threads"),
}


# Folder of headers -> the header that includes them all.
UMBRELLAS = {
    "include/corymb": "include/corymb/corymb.hpp",
    "include/corymb/c": "include/corymb.h",
}
# Headers that need what not every program has.
OPTIONAL = {"include/corymb/remote_cereal.hpp"}


def check_umbrellas(tree: Tree) -> Iterator[Finding]:
    """Each public header is in the one that is to be enough for everything."""
    sources = tree.sources
    for path in sorted(sources):
        umbrella = UMBRELLAS.get(path.rpartition("/")[0])
        if umbrella is None or path == umbrella or path in OPTIONAL:
            continue
        line = f"#include <{path.removeprefix('include/')}>"
        if umbrella not in sources or line not in sources[umbrella].lines:
            yield Finding(path, 1, "umbrella", f"{umbrella} does not include it")


# The folders whose layers are folders below them, from which their includes are written.
ROOTS = ("src", "adapters/mpi")


def root_of(path: str) -> str:
    """The folder from which includes of the project are written in this file or folder."""
    return next((root for root in ROOTS if path.startswith(f"{root}/")), "src")


def layer_table(tree: Tree) -> dict[str, set[str]]:
    """folder -> folders that it may include, as written in docs/architecture.md."""
    table: dict[str, set[str]] = {}
    page = tree.sources.get(PAGE)
    for line in page.lines if page else []:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        folder = re.fullmatch(r"`([\w/]+?)/?`", cells[0])
        if folder and len(cells) >= 4:
            named = re.findall(r"`([\w/]+?)/?`", cells[2])
            root = root_of(folder[1])
            table[folder[1]] = {
                name if name.startswith("src/") else f"{root}/{name}" for name in named
            }
    return table


def layer_of(path: str, table: dict[str, set[str]]) -> str | None:
    """The deepest folder of the table that the file is in."""
    inside = [folder for folder in table if path.startswith(f"{folder}/")]
    return max(inside, key=len, default=None)


def check_layers(tree: Tree) -> Iterator[Finding]:
    table = layer_table(tree)
    if not table:
        if tree.cpp("src"):
            yield Finding(PAGE, 1, "layers", "no table `| folder | holds | includes | must not |`")
        return
    for source in tree.cpp("src", "include", "bench", "examples", "python", "verify", "adapters"):
        layer = layer_of(source.path, table)
        if layer is None:
            if source.path.startswith(tuple(f"{root}/" for root in ROOTS)):
                yield Finding(source.path, 1, "layers", f"its folder has no row in {PAGE}")
            continue
        for number, path, angled in source.includes:
            text = _forbidden(source, layer, path, angled, table, tree)
            if text:
                yield Finding(source.path, number, "layers", text)


def _forbidden(
    source: Source, layer: str, path: str, angled: bool, table: dict[str, set[str]], tree: Tree
) -> str | None:
    """Why this include is not allowed, or None."""
    allowed = table[layer]
    if path.startswith("corymb/"):
        owner = PUBLIC_HEADERS.get(path.removeprefix("corymb/"))
        if not angled:
            return f"write <{path}>: public headers are included with angle brackets"
        if layer.startswith("src") and owner and owner != layer and owner not in allowed:
            return f"{layer} may not use {owner}, which owns <{path}> ({PAGE})"
        return None
    if angled:
        return None
    root = root_of(source.path)
    target = layer_of(f"{root}/{path}", table) if tree.exists(f"{root}/{path}") else None
    if target is None:
        if layer.startswith("src"):
            return f'"{path}" does not exist below src/: write the path from src/'
        return None
    if target != layer and target not in allowed:
        return f"{layer} may not include {target} ({PAGE})"
    return None


def check_system_headers(tree: Tree) -> Iterator[Finding]:
    for folder, (headers, reason) in SYSTEM_HEADERS.items():
        for source in tree.cpp(folder):
            for number, path, _ in source.includes:
                if path in headers:
                    text = f"{folder} may not include <{path}>: {reason}"
                    yield Finding(source.path, number, "system-headers", text)
