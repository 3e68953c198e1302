# SPDX-License-Identifier: Apache-2.0
"""Which MPI library a file is, and of which ABI: by its name within (soname) and its symbols.

The name of the file says little. A wheel has copies where other packages have links, and tools that
repair wheels rename libraries.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# ABI -> the version in the soname of its libraries.
ABIS = {"openmpi": 40, "mpich": 12, "standard": 1}
# What only libraries of an ABI define; the standard one is left.
_MARKS = {"openmpi": b"ompi_mpi_comm_world", "mpich": b"MPIR_Dup_fn"}
_STANDARD_MARK = b"MPI_Abi_get_version"
_FUNCTION = b"PMPI_Comm_size"
_FUNCTION_OF_MPI_4 = b"PMPI_Allreduce_c"

_LOAD, _DYNAMIC = 1, 2
_HASH, _STRTAB, _SYMTAB, _STRSZ, _SONAME, _GNU_HASH = 4, 5, 6, 10, 14, 0x6FFFFEF5
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True)
class Mpi:
    """An MPI library: its soname, its file, and its ABI (a key of ABIS)."""

    name: str
    file: Path
    abi: str
    has_mpi_4: bool = True


class _Object:
    """A shared object of this machine's kind (ELF, 64 bits, little-endian)."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        (begin,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        heads = [struct.unpack_from("<IIQQQQ", data, begin + i * size) for i in range(count)]
        self._loads = [head for head in heads if head[0] == _LOAD]
        self._dynamic: dict[int, int] = {}
        for kind, _, at, _, _, length in heads:
            if kind == _DYNAMIC:
                self._dynamic = dict(struct.iter_unpack("<qQ", data[at : at + length // 16 * 16]))

    def _place(self, tag: int) -> int:
        address = self._dynamic[tag]
        for _, _, at, begin, _, length in self._loads:
            if begin <= address < begin + length:
                return int(at + address - begin)
        raise ValueError("an address outside the file")

    @property
    def soname(self) -> str:
        if _SONAME not in self._dynamic:
            return ""
        at = self._place(_STRTAB) + self._dynamic[_SONAME]
        return self._data[at : self._data.find(b"\0", at)].decode(errors="replace")

    def _symbol_count(self) -> int:
        """The old hash table says it; in the new one it is where the last chain ends."""
        if _HASH in self._dynamic:
            return int(struct.unpack_from("<II", self._data, self._place(_HASH))[1])
        at = self._place(_GNU_HASH)
        bucket_count, first, bloom_words = struct.unpack_from("<III", self._data, at)
        at += 16 + 8 * bloom_words
        symbol = max(struct.unpack_from(f"<{bucket_count}I", self._data, at))
        at += 4 * bucket_count
        while symbol >= first:
            (entry,) = struct.unpack_from("<I", self._data, at + 4 * (symbol - first))
            symbol += 1
            if entry & 1:
                return int(symbol)
        return int(first)

    def defines(self, name: bytes) -> bool:
        """Whether it has that symbol; a name may be the end of a longer one."""
        names, symbols = self._place(_STRTAB), self._place(_SYMTAB)
        texts = self._data[names : names + self._dynamic[_STRSZ]]
        wanted = {found.start() for found in re.finditer(re.escape(name) + b"\0", texts)}
        if not wanted:
            return False
        table = self._data[symbols : symbols + self._symbol_count() * _SYMBOL.size]
        return any(symbol[0] in wanted and symbol[3] != 0 for symbol in _SYMBOL.iter_unpack(table))


def mpi_library(file: Path) -> Mpi | None:
    """The MPI library in this file; None: it is none, or none that anybody can tell."""
    try:
        with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as data:
            if data[:6] != b"\x7fELF\x02\x01":
                return None
            library = _Object(data)
            if not library.defines(_FUNCTION):
                return None
            abi = next((abi for abi, mark in _MARKS.items() if library.defines(mark)), None)
            if abi is None and library.defines(_STANDARD_MARK):
                abi = "standard"
            name = library.soname or file.name
            return Mpi(name, file, abi or "", library.defines(_FUNCTION_OF_MPI_4))
    except (OSError, ValueError, KeyError, OverflowError, struct.error):
        return None


def version_fits(mpi: Mpi) -> bool:
    """Whether corymb knows this version of the library's ABI."""
    version = re.search(r"\.so\.(\d+)", mpi.name)
    return mpi.abi in ABIS and (version is None or int(version[1]) == ABIS[mpi.abi])


def mpi_among(files: Iterator[Path]) -> Mpi | None:
    """The first of the files that is an MPI library."""
    return next((mpi for mpi in map(mpi_library, files) if mpi is not None), None)
