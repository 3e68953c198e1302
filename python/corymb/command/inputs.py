# SPDX-License-Identifier: Apache-2.0
"""From what was typed to a machine, a placement, an operation; one clear error for a wrong one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import corymb
from corymb.command import console

MEASURE_BUDGET_S = 20.0
LARGEST_CPU = 1_000_000


def usage(text: str) -> corymb.Error:
    return corymb.Error(text, "invalid_argument")


@dataclass(frozen=True)
class Chosen:
    """A machine and where it came from: "gallery", "file", "cached", "measured" or "topology"."""

    machine: corymb.Machine
    origin: str

    @property
    def is_here(self) -> bool:
        return self.origin in {"cached", "measured", "topology"}

    @property
    def title(self) -> str:
        return title_of(self.machine)


def title_of(machine: corymb.Machine) -> str:
    """What a machine is called in titles."""
    return machine.name or machine.fingerprint.cpu or "machine without a name"


def keep_doubts(machine: corymb.Machine | corymb.Cluster, title: str) -> None:
    """Says what its models lack or doubt when the command has shown its results."""
    for doubt in machine.doubts:
        console.keep(f"model of {title}: {doubt}")


def choose_machine(
    name: str | None,
    model: str | None,
    no_measure: bool = False,
    budget_s: float = MEASURE_BUDGET_S,
    levels: str | None = None,
) -> Chosen:
    """The machine of --machine or --model, else this one: cached, measured, or its topology; with
    the levels that are given. What its model lacks or doubts is said behind the results."""
    chosen = find_machine(name, model, no_measure, budget_s)
    if levels is not None:
        chosen = Chosen(chosen.machine.with_levels(levels), chosen.origin)
    keep_doubts(chosen.machine, chosen.title)
    return chosen


def find_machine(name: str | None, model: str | None, no_measure: bool, budget_s: float) -> Chosen:
    """The machine of choose_machine, for those who show all of its model."""
    if name is not None and model is not None:
        raise usage("give --machine or --model, not both")
    if name is not None:
        return Chosen(corymb.Machine.gallery(name), "gallery")
    if model is not None:
        return Chosen(load_model(model), "file")
    cached, why = corymb.cached_machine()
    if cached is not None:
        console.say(f"using the cached model of this machine ({corymb.cached_model_path()})")
        return Chosen(cached, "cached")
    if no_measure:
        console.say(f"no cached model ({why}); using the topology only, costs are relative")
        return Chosen(corymb.discover_topology(), "topology")
    console.say(f"no cached model ({why}); measuring this machine, at most {budget_s:g} s")
    return Chosen(measure_here(budget_s), "measured")


def load_model(file: str) -> corymb.Machine:
    if not Path(file).exists():
        raise corymb.Error(f"cannot read model {file}: no such file", "io")
    return corymb.Machine.load(file)


def measure_here(budget_s: float, full_matrix: bool = False) -> corymb.Machine:
    """Measures with a progress bar and caches the model; a cache that cannot be written is said."""
    with console.progress_bar("measuring this machine") as report:
        machine = corymb.measure(budget_s=budget_s, full_matrix=full_matrix, progress=report)
    if len(machine) < 2:
        return machine  # It holds no cost; the cached model of all CPUs is worth more.
    path = corymb.cached_model_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        machine.save(path)
    except (OSError, corymb.Error) as error:
        console.say(f"the model is not cached: {error}")
    return machine


def require_operation(op: str, operations: Sequence[str] = corymb.OPERATIONS) -> str:
    if op in operations:
        return op
    near = difflib.get_close_matches(op, operations, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    known = ", ".join(operations)
    raise corymb.Error(f"unknown operation '{op}'{hint} It is one of {known}", "unknown_name")


def require_algorithm(op: str, algorithm: str) -> None:
    known = corymb.algorithm_names(op)
    if algorithm != "best" and algorithm not in known:
        raise corymb.Error(
            f"unknown algorithm '{algorithm}' for {op}; it is best or one of {', '.join(known)}",
            "unknown_name",
        )


def require_root(root: int | None, ranks: int) -> None:
    if root is not None and not 0 <= root < ranks:
        raise usage(f"--root {root} is out of range: the ranks are 0 to {ranks - 1}")


def require_seconds(seconds: float) -> None:
    if not 0.5 <= seconds <= 86400:
        raise usage("--seconds must be from 0.5 to 86400")


def require_sizes(size: int, seed: int, moves: int) -> None:
    if not 0 <= size <= 2**40:
        raise usage(f"--bytes {size} must be from 0 to {2**40}")
    if not 0 <= seed < 2**64:
        raise usage(f"--seed {seed} must be from 0 to 2^64 - 1")
    if not 0 <= moves <= 10**12:
        raise usage(f"--moves {moves} must be from 0 to 10^12")


def parse_cpu_list(text: str) -> list[int]:
    """CPU numbers of a list such as "0-4,10-14"; errors say which entry is wrong."""
    cpus: list[int] = []
    seen: set[int] = set()
    for entry in text.split(","):
        for cpu in _entry(entry.strip(), text):
            if cpu in seen:
                raise usage(f"--ranks '{text}': CPU {cpu} occurs twice")
            seen.add(cpu)
            cpus.append(cpu)
    return cpus


def _entry(entry: str, text: str) -> range:
    if not entry:
        raise usage(f"--ranks '{text}': there is an empty entry")
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", entry)
    if not match:
        raise usage(f"--ranks '{text}': '{entry}' is neither a number nor a range such as 0-4")
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    if last < first:
        raise usage(f"--ranks '{text}': the range {entry} is reversed")
    if last > LARGEST_CPU:
        raise usage(f"--ranks '{text}': {last} is too large for a CPU number")
    return range(first, last + 1)


def placement_of(text: str | None, machine: corymb.Machine) -> list[int]:
    """PU index of each rank for --ranks: N is the first N CPUs, a list names CPUs."""
    size = len(machine)
    if text is None:
        return list(range(size))
    if re.fullmatch(r"[0-9]+", text.strip()):
        count = int(text) if len(text) < 10 else LARGEST_CPU
        if count < 1:
            raise usage("--ranks must be at least 1")
        if count > size:
            raise usage(f"--ranks {text}: {title_of(machine)} has only {size} CPUs")
        return list(range(count))
    cpus = parse_cpu_list(text)
    missing = [cpu for cpu in cpus if machine.index_of_cpu(cpu) < 0]
    if missing:
        known = cpu_list(machine.cpus)
        raise usage(
            f"--ranks '{text}': {title_of(machine)} has no CPU {cpu_list(missing)}; it has {known}"
        )
    return [machine.index_of_cpu(cpu) for cpu in cpus]


def cpu_list(cpus: list[int]) -> str:
    """Numbers in the short form "0-3,8"."""
    parts: list[str] = []
    start = previous = None
    for cpu in [*sorted(cpus), None]:
        if previous is not None and cpu != previous + 1:
            parts.append(str(start) if start == previous else f"{start}-{previous}")
            start = cpu
        elif previous is None:
            start = cpu
        previous = cpu
    return ",".join(parts)


def split(text: str | None, option: str) -> list[str]:
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise usage(f"{option} '{text}': there is an empty entry")
    return parts


def numbers(text: str | None, option: str, low: int, high: int) -> list[int]:
    """A list of numbers without repetition, each from `low` to `high`."""
    found: list[int] = []
    for part in split(text, option):
        if not part.isdecimal() or not part.isascii() or len(part) > 12:
            raise usage(f"{option} '{text}': '{part}' is not a number")
        if not low <= int(part) <= high:
            raise usage(f"{option} {part} is out of range: {low} to {high}")
        if int(part) in found:
            raise usage(f"{option} '{text}': {part} occurs twice")
        found.append(int(part))
    return found
