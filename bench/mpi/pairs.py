# SPDX-License-Identifier: Apache-2.0
"""Runs of one unmodified MPI program with corymb's collectives and without, in turns.

How each library is started is written in tools/peers.toml; `make bench-peers` makes them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import tomllib

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "build" / "peers"
# A row at or above this counts as never slower.
NOT_SLOWER = 0.97
ADAPTERS = ROOT / "build" / "dev" / "adapters" / "mpi"


class FailedError(Exception):
    """A program did not end well; the text says which and how."""


@dataclass(frozen=True)
class Mpi:
    """One library of tools/peers.toml."""

    name: str
    title: str
    place: Path
    peer: dict[str, Any]

    @property
    def compiler(self) -> str:
        return self.peer.get("compiler", "").format(place=self.place)

    @property
    def adapter(self) -> Path:
        """What `corymb mpirun` has programs of this library load."""
        folder = Path(os.environ.get("CORYMB_MPI_ADAPTERS", ADAPTERS))
        kind = next((abi for abi in ("openmpi", "standard") if self.name.endswith(abi)), "mpich")
        return folder / f"libcorymb-mpi-{kind}.so"

    def by_standard_abi(self) -> Mpi:
        """The same library for programs that its mpicc_abi has made. FailedError: it has none."""
        if not (self.place / "bin" / "mpicc_abi").exists():
            raise FailedError(f"{self.title} has no mpicc_abi, so no programs of the standard ABI")
        return replace(
            self, name=f"{self.name}-standard", title=f"{self.title}, standard ABI",
            peer={**self.peer, "compiler": "{place}/bin/mpicc_abi"},
        )  # fmt: skip

    def command(self, ranks: int, bound: bool, with_corymb: bool) -> list[str]:
        """The launcher with its words; corymb's becomes the library's own."""
        bind = self.peer["pinned" if bound else "floating"]
        words: list[str] = []
        for word in self.peer["launch"]:
            words += bind if word == "{bind}" else [word.format(place=self.place, ranks=ranks)]
        return [sys.executable, "-m", "corymb", "mpirun", *words[1:]] if with_corymb else words

    def environment(self, folder: str) -> dict[str, str]:
        """One thread a rank, for libraries below the program too. The program's libmpi is this
        library's, whichever it was made with."""
        values = {
            key: value.format(place=self.place, folder=folder, sources=ROOT)
            for key, value in self.peer.get("variables", {}).items()
        }
        return {
            **os.environ, **values, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
            "PATH": f"{self.place / 'bin'}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": str(self.place / "lib"),
            "CORYMB_MPI_ADAPTERS": os.environ.get("CORYMB_MPI_ADAPTERS", str(ADAPTERS)),
        }  # fmt: skip


def libraries(names: Sequence[str]) -> list[Mpi]:
    """Those named that are below build/peers; a line for each that is not. FailedError for a name
    that tools/peers.toml does not know, and when none is left."""
    peers = tomllib.loads((ROOT / "tools" / "peers.toml").read_text())["peer"]
    by_name = {peer["name"]: peer for peer in peers if peer["launch"][0].startswith("{place}")}
    found = []
    for name in names:
        if name not in by_name:
            raise FailedError(f"no library {name}; there are: {', '.join(by_name)}")
        peer, place = by_name[name], PEERS / name
        if (place / "bin" / "mpirun").exists():
            found.append(Mpi(name, peer["contestant"][0]["name"], place, peer))
        else:
            print(f"{name}: not in {place}; run make bench-peers", file=sys.stderr)
    if not found:
        raise FailedError("no MPI library; run make bench-peers")
    return found


def run(mpi: Mpi, ranks: int, words: Sequence[Any], with_corymb: bool, limit_s: float) -> str:
    """Standard output of the program; ranks are bound where each has a CPU."""
    bound = ranks <= len(os.sched_getaffinity(0))
    line = [*mpi.command(ranks, bound, with_corymb), *map(str, words)]
    with tempfile.TemporaryDirectory(prefix="corymb-pairs-") as folder:
        running = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=mpi.environment(folder),
        )  # fmt: skip
        try:
            output, errors = running.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise FailedError(f"did not end within {limit_s:.0f} s: {' '.join(line)}") from None
        finally:
            running.terminate()  # The launcher ends its ranks then; SIGKILL might leave them.
            running.wait()
    if running.returncode != 0:
        end = "\n".join((output + errors).splitlines()[-15:])
        raise FailedError(f"exit status {running.returncode} of {' '.join(line)}\n{end}")
    return output


def in_turns(run_side: Callable[[bool], str], rounds: int) -> tuple[list[str], list[str]]:
    """Outputs without corymb and with it, of `rounds` runs each; who goes first changes."""
    outputs: tuple[list[str], list[str]] = ([], [])
    for turn in range(rounds):
        for with_corymb in (False, True) if turn % 2 == 0 else (True, False):
            outputs[with_corymb].append(run_side(with_corymb))
    return outputs


def spread(values: Sequence[float]) -> str:
    """Median [least, most]."""
    return f"{statistics.median(values):.3g} [{min(values):.3g}, {max(values):.3g}]"


def mean(rows: list[Any]) -> float:
    """Geometric mean of the ratios."""
    return math.exp(statistics.mean(math.log(row["ratio"]) for row in rows))


def tell(rows: list[Any]) -> None:
    """A line for each operation of one library and number of ranks."""
    width = max((len(row["operation"]) for row in rows), default=0)
    for operation in dict.fromkeys(row["operation"] for row in rows):
        own = [row for row in rows if row["operation"] == operation]
        slower = [row for row in own if row["ratio"] < NOT_SLOWER]
        where = ", ".join(f"{row['bytes']} B {row['ratio']:.2f}" for row in slower)
        who = f"{own[0]['library']:18} {own[0]['ranks']:3} ranks {operation:{width}}"
        print(f"{who} {len(own):3} rows mean {mean(own):6.2f}  "
              f"least {min(r['ratio'] for r in own):5.2f}  {where}", flush=True)  # fmt: skip


def keep(rows: list[Any], options: argparse.Namespace) -> None:
    """In the file of --json, if there is one."""
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1))


def conclude(rows: list[Any]) -> None:
    """The last line."""
    slower = sum(row["ratio"] < NOT_SLOWER for row in rows)
    print(f"{len(rows)} rows, geometric mean {mean(rows):.2f}, below {NOT_SLOWER}: {slower}")


def end_with(name: str, main: Callable[[], int]) -> NoReturn:
    """The whole of a program: what has failed is one line, Ctrl-C none."""
    try:
        sys.exit(main())
    except (FailedError, subprocess.CalledProcessError) as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def arguments(description: str, libraries_default: str) -> argparse.ArgumentParser:
    """What all of them take. SIGTERM ends a program as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--libraries", default=libraries_default, help="names of tools/peers.toml")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    return parser
