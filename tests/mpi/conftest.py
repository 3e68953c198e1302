# SPDX-License-Identifier: Apache-2.0
"""MPI libraries, the adapters and the programs of these tests.

tools/test/mpi.sh makes the first two: $CORYMB_MPI_LIBRARIES is the folder with the environments
`mpich` and `openmpi`, $CORYMB_MPI_ADAPTERS that with the adapters.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from limits import LIMIT_S

import corymb

HERE = Path(__file__).parent
LIBRARIES = Path(os.environ["CORYMB_MPI_LIBRARIES"])
ADAPTERS = Path(os.environ["CORYMB_MPI_ADAPTERS"])
Finished = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Mpi:
    """One ABI: its compiler and what its mpirun needs here."""

    name: str
    compiler: Path
    has_hook: bool = True  # It calls the adapter while it waits.
    has_persistent: bool = True
    options: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def python(self) -> Path:
        return self.compiler.parent / "python"

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | self.variables


AS_ROOT = {
    f"{head}_ALLOW_RUN_AS_ROOT{tail}": "1" for head in ("OMPI", "PRTE") for tail in ("", "_CONFIRM")
}
MPIS = {
    "mpich": Mpi("mpich", LIBRARIES / "mpich/bin/mpicc"),
    # MPI_Testall of MPICH 5.0 refuses persistent requests in the standard ABI.
    "standard": Mpi(
        "standard", LIBRARIES / "mpich/bin/mpicc_abi", has_hook=False, has_persistent=False
    ),
    "openmpi": Mpi(
        "openmpi",
        LIBRARIES / "openmpi/bin/mpicc",
        options=("--bind-to", "none", "--oversubscribe"),
        variables=AS_ROOT
        | {"OMPI_MCA_btl": "^ofi"},  # It looks for networks for a second whenever MPI starts.
    ),
}
# What Debian 12 has, for programs that were built long ago.
OLDER = {
    "mpich-4.0": Mpi("mpich-4.0", Path("/usr/bin/mpicc.mpich"), False, False),
    "openmpi-4.1": Mpi(
        "openmpi-4.1",
        Path("/usr/bin/mpicc.openmpi"),
        has_persistent=False,
        options=("--bind-to", "none", "--oversubscribe"),
        variables=AS_ROOT,
    ),
}


@pytest.fixture(params=MPIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return MPIS[request.param]


@pytest.fixture(params=OLDER)
def older(request: pytest.FixtureRequest) -> Mpi:
    mpi = OLDER[request.param]
    if not mpi.compiler.exists():
        pytest.skip(f"{mpi.compiler} is not installed")
    return mpi


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mpi, str], Path]:
    """Compiles tests/mpi/NAME.c for an MPI, once."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(mpi: Mpi, name: str) -> Path:
        path = folder / f"{name}-{mpi.name}"
        if not path.exists():
            define = "-DHAS_PERSISTENT" if mpi.has_persistent else "-DNO_PERSISTENT"
            words = [
                define,
                "-O1",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-stringop-overflow",  # Of MPI_STATUSES_IGNORE in MPICH 4.0.
                str(HERE / f"{name}.c"),
                "-o",
                str(path),
            ]
            subprocess.run([str(mpi.compiler), *words], check=True, timeout=LIMIT_S)
        return path

    return compiled


@pytest.fixture(scope="session")
def cpp_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mpi, str], Path]:
    """Compiles tests/mpi/NAME.cpp for an MPI, with the library in the package, once."""
    folder = tmp_path_factory.mktemp("cpp_programs")
    package = Path(corymb.__file__).parent

    def compiled(mpi: Mpi, name: str) -> Path:
        path = folder / f"{name}-{mpi.name}"
        if not path.exists():
            compiler = mpi.compiler.parent / mpi.compiler.name.replace("mpicc", "mpicxx")
            words = [
                "-std=c++20",
                "-O1",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-DOMPI_SKIP_MPICXX",  # Its own C++ does not compile without warnings.
                f"-I{HERE.parent.parent / 'include'}",
                str(HERE / f"{name}.cpp"),
                *map(str, package.glob("libcorymb.so.*")),
                f"-Wl,-rpath,{package}",
                "-o",
                str(path),
            ]
            subprocess.run([str(compiler), *words], check=True, timeout=LIMIT_S)
        return path

    return compiled


@pytest.fixture
def mpirun() -> Callable[..., Finished]:
    """`corymb mpirun` with N ranks, without trials; anything that hangs is ended."""

    def run(mpi: Mpi, ranks: int, *words: Any, **env: str) -> Finished:
        command = [sys.executable, "-m", "corymb", "mpirun", *mpi.options, "-n", str(ranks)]
        return subprocess.run(
            [*command, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=mpi.environment | {"CORYMB_MPI": "always"} | env,
        )

    return run


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """No test leaves anything in /dev/shm. What a killed rank of an MPI leaves is removed."""
    before = set(os.listdir("/dev/shm"))
    yield
    left = set(os.listdir("/dev/shm")) - before
    ours = {name for name in left if name.startswith("corymb")}
    for name in left - ours:
        if name.startswith(NAMES_OF_MPI) and not is_in_use(name):
            with contextlib.suppress(OSError):
                os.unlink(f"/dev/shm/{name}")
    assert not ours


# A rank of MPICH or Intel MPI that is killed leaves these.
NAMES_OF_MPI = ("mpich_shm_", "Intel_MPI_")


def is_in_use(name: str) -> bool:
    """Whether a process has it mapped: then it is another job's."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            if f"/dev/shm/{name}" in maps.read_text():
                return True
    return False
