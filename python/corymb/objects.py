# SPDX-License-Identifier: Apache-2.0
"""The methods of `corymb.Team` for objects: pickled, sent as bytes, in mpi4py's lower case.

>>> import corymb
>>> corymb.run(lambda team: team.bcast({"a": 1} if team.rank == 0 else None), 2, threads=True)
[{'a': 1}, {'a': 1}]
"""

from __future__ import annotations

import functools
import operator
import pickle
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from corymb._core import IN_PLACE, NativeTeam, Op, Operator
from corymb.errors import Error

Combine = Callable[[Any, Any], Any]

COMBINE: dict[Operator, Combine] = {
    Operator.sum: operator.add,
    Operator.prod: operator.mul,
    Operator.min: min,
    Operator.max: max,
    Operator.logical_and: lambda a, b: bool(a) and bool(b),
    Operator.logical_or: lambda a, b: bool(a) or bool(b),
    Operator.logical_xor: lambda a, b: bool(a) != bool(b),
    Operator.bitwise_and: operator.and_,
    Operator.bitwise_or: operator.or_,
    Operator.bitwise_xor: operator.xor,
    Operator.min_loc: lambda a, b: min(a, b),
    Operator.max_loc: lambda a, b: a if (a[0], -a[1]) >= (b[0], -b[1]) else b,
}


def pack(thing: Any, room: int) -> bytearray:
    """The pickle behind its length, with zeros up to `room` bytes."""
    data = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
    return bytearray(len(data).to_bytes(8, "little") + data).ljust(room, b"\0")


def unpack(data: memoryview) -> Any:
    """The opposite."""
    return pickle.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


class ObjectMethods(NativeTeam):
    """The methods in lower case."""

    def barrier(self) -> None:
        """Returns when every rank has called it."""
        self.Barrier()

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """Returns the root's object on every rank."""
        data = pack(obj, 0) if self.rank == root else bytearray()
        length = array("q", [len(data)])
        self.Bcast(length, root)
        if self.rank != root:
            data = bytearray(length[0])
        self.Bcast(data, root)
        return obj if self.rank == root else unpack(memoryview(data))

    def send(self, obj: Any, dest: int) -> None:
        """Sends an object; may wait for its `recv`."""
        data = pack(obj, 0)
        self.Send(array("q", [len(data)]), dest)
        self.Send(data, dest)

    def recv(self, source: int) -> Any:
        """Returns the next object that a rank sends."""
        length = array("q", [0])
        self.Recv(length, source)
        data = bytearray(length[0])
        self.Recv(data, source)
        return unpack(memoryview(data))

    def gather(self, obj: Any, root: int = 0) -> list[Any] | None:
        """Returns the list of all ranks' objects at the root, None elsewhere."""
        data, room = self._same_length(pack(obj, 0))
        here = self.rank == root
        everything = bytearray(room * self.size) if here else None
        self.Gather(data, everything, root)
        return self._parts(everything, room) if everything is not None else None

    def allgather(self, obj: Any) -> list[Any]:
        """Returns the list of all ranks' objects."""
        data, room = self._same_length(pack(obj, 0))
        everything = bytearray(room * self.size)
        self.Allgather(data, everything)
        return self._parts(everything, room)

    def scatter(self, objs: Sequence[Any] | None, root: int = 0) -> Any:
        """Returns item r of the root's sequence on rank r."""
        packed: list[bytearray] = []
        room = array("q", [-1])
        if self.rank == root and objs is not None and len(objs) == self.size:
            packed = [pack(item, 0) for item in objs]
            room[0] = max(len(item) for item in packed)
        self.Bcast(room, root)
        if room[0] < 0:
            raise Error(f"scatter: the root must give {self.size} objects", "invalid_argument")
        everything = bytearray().join(item.ljust(room[0], b"\0") for item in packed)
        mine = bytearray(room[0])
        self.Scatter(everything if packed else None, mine, root)
        return unpack(memoryview(mine))

    def alltoall(self, objs: Sequence[Any]) -> list[Any]:
        """Item q of rank p's sequence becomes item p of rank q's list."""
        packed = [pack(item, 0) for item in objs]
        longest = max((len(item) for item in packed), default=0)
        room = array("q", [longest if len(packed) == self.size else 1 << 62])
        self.Allreduce(IN_PLACE, room, Operator.max)
        if room[0] == 1 << 62:
            raise Error(f"alltoall: every rank must give {self.size} objects", "invalid_argument")
        everything = bytearray().join(item.ljust(room[0], b"\0") for item in packed)
        result = bytearray(len(everything))
        self.Alltoall(everything, result)
        return self._parts(result, room[0])

    def allreduce(self, obj: Any, op: Operator | Op | Combine = Operator.sum) -> Any:
        """Combines all ranks' objects in rank order, with an operator or a function of two.

        An operator of `Op.Create` is called with two objects and None.
        """
        return functools.reduce(_function(op), self.allgather(obj))

    def reduce(self, obj: Any, op: Operator | Op | Combine = Operator.sum, root: int = 0) -> Any:
        """As `allreduce`, with the result at the root and None elsewhere."""
        everything = self.gather(obj, root)
        return None if everything is None else functools.reduce(_function(op), everything)

    def _same_length(self, data: bytearray) -> tuple[bytearray, int]:
        room = array("q", [len(data)])
        self.Allreduce(IN_PLACE, room, Operator.max)
        return data.ljust(room[0], b"\0"), room[0]

    def _parts(self, everything: bytearray, room: int) -> list[Any]:
        view = memoryview(everything)
        return [unpack(view[rank * room : (rank + 1) * room]) for rank in range(self.size)]


def _function(op: Operator | Op | Combine) -> Combine:
    return COMBINE[op] if isinstance(op, Operator) else op
