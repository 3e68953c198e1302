# SPDX-License-Identifier: Apache-2.0
"""corymb mpirun: becomes the MPI's own mpirun, with corymb's adapter in front of the program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import corymb
from corymb.command.mpi_options import found_program, place_of_program

HELP = """usage: corymb mpirun [--explain] [--measure] [--mpirun PATH]
                     [options of mpirun] [--] program [arguments]

Starts an MPI program as the MPI's own mpirun does, with corymb's collectives.

  --explain      rank 0 says at the end which calls corymb did, and which not and why; and
                 for which network between nodes it planned
  --measure      measure that network now instead of taking what was measured before
  --mpirun PATH  the mpirun to use; default: the one beside the program's MPI library

`--` before the program helps where an option is taken for it. Example:
  corymb mpirun -n 4 --explain ./solver input
Exit status: that of mpirun; 2 if the program is none that corymb can help."""

# corymb's own options -> what they tell the adapter.
_VARIABLES = {"--explain": "CORYMB_MPI_EXPLAIN=1", "--measure": "CORYMB_NETWORK=measure"}

# The name of an MPI library -> the adapter for its ABI.
_ADAPTERS = {
    "libmpi.so.40": "openmpi",
    "libmpi.so.12": "mpich",
    "libmpich.so.12": "mpich",
    "libmpi_abi.so.1": "standard",
}
# What the --version of an mpirun says -> the ABI of the programs that it starts.
_LAUNCHERS = {
    "Open MPI": "openmpi",
    "OpenRTE": "openmpi",
    "PRRTE": "openmpi",
    "HYDRA": "mpich",
    "Intel(R) MPI": "mpich",
}
_MPI_LIBRARY = re.compile(r"(libmpi(?:ch|_abi)?\.so\.\d+)")

# What mpi4py has loaded, without starting MPI.
_ASK_MPI4PY = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libmpi" in line}, sep="\\n")
"""


@dataclass(frozen=True)
class Mpi:
    """The MPI library of a program: its name as the loader knows it, and its file."""

    name: str
    file: Path


def _refuse(text: str) -> corymb.Error:
    return corymb.Error(text, "invalid_argument")


def _mpi_in(lines: list[str]) -> Mpi | None:
    for line in lines:
        words = line.split()
        path = next((word for word in words if word.startswith("/")), None)
        name = _MPI_LIBRARY.search(words[0] if words else "")
        if name and path:
            return Mpi(name[1], Path(path))
        if name:
            raise _refuse(f"{name[1]}, which the program needs, is not found; set LD_LIBRARY_PATH")
    return None


def _mpi_of_python(interpreter: str) -> Mpi:
    asked = subprocess.run(
        [interpreter, "-c", _ASK_MPI4PY], capture_output=True, text=True, timeout=120
    )
    if asked.returncode != 0:
        reason = (asked.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise _refuse(f"{interpreter} cannot load mpi4py: {reason}")
    mpi = _mpi_in(asked.stdout.splitlines())
    if mpi is None:
        raise _refuse(f"mpi4py of {interpreter} uses no MPI library that is known")
    return mpi


def mpi_of(program: str, found: str | None) -> Mpi:
    """The MPI library that the program is linked with, or that its mpi4py uses."""
    if found is None:
        raise _refuse(f"{program}: no such program; put -- before the program if that is an"
                      " option's value")  # fmt: skip
    with open(found, "rb") as file:
        head = file.read(256)
    if head.startswith(b"#!"):
        interpreter = head.splitlines()[0][2:].decode(errors="replace").split()
        if interpreter and Path(interpreter[0]).name == "env":
            interpreter = interpreter[1:]
        if interpreter and re.match(r"python\d*", Path(interpreter[0]).name):
            return _mpi_of_python(interpreter[0])
        raise _refuse(f"{program} is a script; give the MPI program itself")
    if not head.startswith(b"\x7fELF"):
        raise _refuse(f"{program} is no program of this system")
    if re.fullmatch(r"python[\d.]*", Path(found).name):
        return _mpi_of_python(found)
    listed = subprocess.run(["ldd", found], capture_output=True, text=True, timeout=60)
    mpi = _mpi_in(listed.stdout.splitlines())
    if mpi is None:
        raise _refuse(f"{program} is not linked with a shared MPI library; `corymb run` starts"
                      " programs that use corymb themselves")  # fmt: skip
    return mpi


def adapter_for(mpi: Mpi) -> Path:
    """The library to load before the program."""
    kind = _ADAPTERS.get(mpi.name)
    if kind is None:
        known = ", ".join(_ADAPTERS)
        raise _refuse(f"{mpi.name} ({mpi.file}) has an ABI that corymb does not know ({known})")
    if kind == "mpich" and b"\0PMPI_Allreduce_c\0" not in mpi.file.read_bytes():
        raise _refuse(f"{mpi.file} is older than MPI 4.0, which corymb needs of this ABI")
    named = os.environ.get("CORYMB_MPI_ADAPTERS")
    folder = Path(named) if named else Path(corymb.__file__).parent
    adapter = (folder / f"libcorymb-mpi-{kind}.so").absolute()
    if not adapter.exists():
        raise _refuse(
            f"this installation has no {adapter.name}; build corymb with an mpicc of that MPI"
            " (docs/mpi.md), or name its folder in CORYMB_MPI_ADAPTERS"
        )
    return adapter


def _own_options(arguments: list[str]) -> tuple[list[str], list[str], str | None]:
    """The words for mpirun, the variables for the program, which mpirun."""
    end = place_of_program(arguments)
    head: list[str] = []
    variables: list[str] = []
    launcher = None
    words = iter(arguments[:end])
    for word in words:
        if word in _VARIABLES:
            variables.append(_VARIABLES[word])
        elif word == "--mpirun":
            launcher = next(words, None)
        else:
            head.append(word)
    return head + arguments[end:], variables, launcher


def launcher_for(named: str | None, mpi: Mpi) -> str:
    """The mpirun that starts programs of this MPI; `named`: the user says which."""
    if named is not None:
        found = shutil.which(named)
        if found is None:
            raise _refuse(f"{named}: no such program")
        return found
    for folder in (mpi.file.parent, mpi.file.resolve().parent):
        for name in ("mpirun", "mpiexec"):
            beside = folder.parent / "bin" / name
            if os.access(beside, os.X_OK):
                return str(beside)
    kind = _ADAPTERS[mpi.name]
    # Where several MPIs are installed, the plain name is one of theirs.
    for name in (f"mpirun.{kind}", f"mpiexec.{kind}", "mpirun", "mpiexec", "mpiexec.hydra"):
        found = shutil.which(name)
        if found is not None and (kind == "standard" or _kind_of_launcher(found) in (kind, None)):
            return found
    raise _refuse(f"no mpirun of that MPI beside {mpi.file} or on the PATH; name it with --mpirun")


def _kind_of_launcher(path: str) -> str | None:
    """Whose mpirun it is; None: it does not say, or serves any."""
    try:
        asked = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = asked.stdout + asked.stderr
    for text, kind in _LAUNCHERS.items():
        if text in said:
            return kind
    return None


def command_for(arguments: list[str]) -> list[str]:
    """The command line of the MPI's mpirun."""
    words, variables, launcher = _own_options(arguments)
    line: list[str] = []
    mpis: list[Mpi] = []
    for section in _sections(words):
        at = place_of_program(section)
        if at == len(section):
            raise _refuse("no program is given; see corymb mpirun --help")
        mpis.append(mpi_of(section[at], found_program(section, at)))
        if mpis[-1].name != mpis[0].name:
            raise _refuse(f"the programs use different MPI libraries: {mpis[0].name} and"
                          f" {mpis[-1].name}")  # fmt: skip
        before = os.environ.get("LD_PRELOAD")
        preload = str(adapter_for(mpis[-1])) + (f":{before}" if before else "")
        extra = ["env", f"LD_PRELOAD={preload}", *variables]
        options = [word for word in section[:at] if word != "--"]
        line += [":"] if line else []
        line += [*options, *extra, *section[at:]]
    return [launcher_for(launcher, mpis[0]), *line]


def _sections(words: list[str]) -> list[list[str]]:
    """Several programs are told apart by a colon."""
    sections: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            sections.append([])
        else:
            sections[-1].append(word)
    return sections


def become(arguments: list[str]) -> None:
    """Replaces this process; returns only after --help or by an error."""
    if not arguments:
        print(HELP, file=sys.stderr)
        raise SystemExit(2)
    if arguments[0] in ("-h", "--help"):
        print(HELP)
        return
    line = command_for(arguments)
    try:
        os.execv(line[0], line)
    except OSError as error:
        raise corymb.Error(f"cannot start {line[0]}: {error.strerror}", "io") from None
