# SPDX-License-Identifier: Apache-2.0
"""corymb mpirun: becomes the MPI's own mpirun, with corymb's adapter in front of the program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import corymb
from corymb import troubleshooting
from corymb.command.mpi_libraries import ABIS, Mpi, mpi_among, version_fits
from corymb.command.mpi_options import found_program, place_of_program

HELP = """usage: corymb mpirun [--explain] [--measure] [--mpirun PATH] [--abi NAME]
                     [options of mpirun] [--] program [arguments]

Starts an MPI program as the MPI's own mpirun does, with corymb's collectives.

  --explain      rank 0 says at the end which calls corymb did, and which not and why; and
                 for which network between nodes it planned
  --measure      measure that network now instead of taking what was measured before
  --mpirun PATH  the mpirun to use; default: the one beside the program's MPI library
  --abi NAME     mpich (also Intel MPI), openmpi or standard: for a script, or a program that
                 opens its MPI library itself; mpirun is then that on the PATH

`--` before the program helps where an option is taken for it. Example:
  corymb mpirun -n 4 --explain ./solver input
Exit status: that of mpirun; 2 if the program is none that corymb can help."""

# corymb's own options -> what they tell the adapter.
_VARIABLES = {
    "--explain": ("CORYMB_MPI_EXPLAIN=1", "CORYMB_EXPLAIN=1"),
    "--measure": ("CORYMB_NETWORK=measure",),
}

# What the --version of an mpirun says -> the ABI of the programs that it starts.
_LAUNCHERS = {
    "Open MPI": "openmpi",
    "OpenRTE": "openmpi",
    "PRRTE": "openmpi",
    "HYDRA": "mpich",
    "Intel(R) MPI": "mpich",
}
_MISSING_MPI = re.compile(r"(libmpi\w*\.so[.\d]*) => not found")
_SAY_ABI = "if it starts an MPI program, say of which ABI: --abi " + ", ".join(ABIS)

# What mpi4py has loaded, without starting MPI.
_ASK_MPI4PY = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(*{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}, sep="\\n")
"""


def _refuse(text: str) -> corymb.Error:
    return corymb.Error(text, "invalid_argument", heading=troubleshooting.MPI)


def _mpi_of_python(interpreter: str) -> Mpi | str:
    """That of its mpi4py, or why there is none."""
    try:
        asked = subprocess.run(
            [interpreter, "-c", _ASK_MPI4PY], capture_output=True, text=True, timeout=120
        )
    except OSError as error:
        return f"cannot start {interpreter}: {error.strerror}"
    if asked.returncode != 0:
        reason = (asked.stderr.strip().splitlines() or ["it says nothing"])[-1]
        return f"{interpreter} cannot load mpi4py: {reason}"
    mpi = mpi_among(Path(line) for line in asked.stdout.splitlines())
    return mpi or f"mpi4py of {interpreter} uses no MPI library that is known"


def _mpi_of_file(program: str, found: str) -> Mpi | str:
    """The MPI library that the program is linked with, or that its mpi4py uses; else why none."""
    with open(found, "rb") as file:
        head = file.read(256)
    if head.startswith(b"#!"):
        interpreter = head.splitlines()[0][2:].decode(errors="replace").split()
        if interpreter and Path(interpreter[0]).name == "env":
            interpreter = interpreter[1:]
        if interpreter and re.match(r"python\d*", Path(interpreter[0]).name):
            return _mpi_of_python(interpreter[0])
        return f"{program} is a script"
    if not head.startswith(b"\x7fELF"):
        return f"{program} is no program of this system"
    if re.fullmatch(r"python[\d.]*", Path(found).name):
        return _mpi_of_python(found)
    listed = subprocess.run(["ldd", found], capture_output=True, text=True, timeout=60).stdout
    if missing := _MISSING_MPI.search(listed):
        raise _refuse(f"{missing[1]}, which {program} needs, is not found; set LD_LIBRARY_PATH")
    files = (Path(word) for word in listed.split() if word.startswith("/"))
    return mpi_among(files) or f"{program} is not linked with a shared MPI library"


def mpi_of(words: list[str], at: int) -> Mpi:
    """The MPI library of the program at this place. A word such as `env`, `nice` or `gdb` is not
    the program itself: then it is that of the first program after it."""
    found = found_program(words, at)
    if found is None:
        raise _refuse(f"{words[at]}: no such program; put -- before the program if that is an"
                      " option's value")  # fmt: skip
    mpi = _mpi_of_file(words[at], found)
    if isinstance(mpi, Mpi):
        return mpi
    for place in range(at + 1, len(words)):
        inner = None if words[place].startswith("-") else found_program(words, place)
        its = mpi if inner is None else _mpi_of_file(words[place], inner)
        if isinstance(its, Mpi):
            return its
    raise _refuse(f"{mpi}; {_SAY_ABI}")


def check(mpi: Mpi) -> None:
    """Throws where corymb has no adapter for this library."""
    if not version_fits(mpi):
        known = ", ".join(f"{abi} {version}" for abi, version in ABIS.items())
        raise _refuse(f"{mpi.name} ({mpi.file}) has an ABI that corymb does not know ({known})")
    if mpi.abi == "mpich" and not mpi.has_mpi_4:
        raise _refuse(f"{mpi.file} is older than MPI 4.0, which corymb needs of this ABI")


def adapter_for(abi: str) -> Path:
    """The library to load before the program."""
    named = os.environ.get("CORYMB_MPI_ADAPTERS")
    folder = Path(named) if named else Path(corymb.__file__).parent
    adapter = (folder / f"libcorymb-mpi-{abi}.so").absolute()
    if not adapter.exists():
        raise _refuse(
            f"this installation has no {adapter.name}; build corymb with an mpicc of that MPI"
            " (docs/how-to/mpi.md), or name its folder in CORYMB_MPI_ADAPTERS"
        )
    return adapter


def _own_options(arguments: list[str]) -> tuple[list[str], list[str], dict[str, str]]:
    """The words for mpirun, the variables for the program, and corymb's options with a word."""
    end = place_of_program(arguments)
    head: list[str] = []
    variables: list[str] = []
    options: dict[str, str] = {}
    words = iter(arguments[:end])
    for word in words:
        name, equals, value = word.partition("=")
        if word in _VARIABLES:
            variables.extend(_VARIABLES[word])
        elif name in ("--mpirun", "--abi"):
            options[name] = value if equals else next(words, "")
        else:
            head.append(word)
    abi = options.get("--abi")
    if abi is not None and abi not in ABIS:
        raise _refuse(f"--abi {abi}: there is no such ABI; it may be {', '.join(ABIS)}")
    return head + arguments[end:], variables, options


def launcher_for(named: str | None, abi: str, file: Path | None) -> str:
    """The mpirun that starts programs of this ABI. `named`: the user says which; `file`: that of
    the MPI library, if it is known."""
    if named is not None:
        found = shutil.which(named)
        if found is None:
            raise _refuse(f"{named}: no such program")
        return found
    for folder in (file.parent, file.resolve().parent) if file is not None else ():
        for name in ("mpirun", "mpiexec"):
            beside = folder.parent / "bin" / name
            if os.access(beside, os.X_OK):
                return str(beside)
    # Where several MPIs are installed, the plain name is one of theirs.
    for name in (f"mpirun.{abi}", f"mpiexec.{abi}", "mpirun", "mpiexec", "mpiexec.hydra"):
        found = shutil.which(name)
        if found is not None and (abi == "standard" or _kind_of_launcher(found) in (abi, None)):
            return found
    where = f"of {abi}" if file is None else f"of that MPI beside {file} or"
    raise _refuse(f"no mpirun {where} on the PATH; name it with --mpirun")


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
    words, variables, own = _own_options(arguments)
    line: list[str] = []
    mpis: list[Mpi] = []
    abi = own.get("--abi", "")
    for section in _sections(words):
        at = place_of_program(section)
        if at == len(section):
            raise _refuse("no program is given; see corymb mpirun --help")
        if not own.get("--abi"):
            mpis.append(mpi_of(section, at))
            check(mpis[-1])
            abi = mpis[-1].abi
            if mpis[-1].name != mpis[0].name:
                raise _refuse(f"the programs use different MPI libraries: {mpis[0].name} and"
                              f" {mpis[-1].name}")  # fmt: skip
        before = os.environ.get("LD_PRELOAD")
        preload = str(adapter_for(abi)) + (f":{before}" if before else "")
        extra = ["env", f"LD_PRELOAD={preload}", *variables]
        options = [word for word in section[:at] if word != "--"]
        line += [":"] if line else []
        line += [*options, *extra, *section[at:]]
    return [launcher_for(own.get("--mpirun"), abi, mpis[0].file if mpis else None), *line]


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
