# SPDX-License-Identifier: Apache-2.0
"""The methods of `corymb.Team` for objects: pickled, sent as bytes, in mpi4py's lower case.

A collective tells the lengths first, then moves the bytes of each object as they are: no rank holds
or moves more than its part of them. Both steps say which call they belong to, so that ranks that
call something else are told so.

>>> import corymb
>>> corymb.run(lambda team: team.bcast({"a": 1} if team.rank == 0 else None), 2, threads=True)
[{'a': 1}, {'a': 1}]
"""

from __future__ import annotations

import functools
import io
import operator
import pickle
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from corymb._core import NativeTeam, Op, Operator, object_contents
from corymb.errors import Error
from corymb.object_messages import ObjectReceive, ObjectSend, refuse_tag

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


STEP_BYTES = 1 << 15
"""Bytes that Python pickles, copies and unpickles in the time of one collective step, some 15 us at
2 GB/s. Too small, and short objects take more steps than they need; too large, and every rank
unpickles what a part of the ranks could combine."""


def pickled(thing: Any) -> bytes:
    return pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)


def pickled_in_one(things: Sequence[Any]) -> tuple[memoryview, array[int]]:
    """All pickles, one after the other, and their lengths."""
    file = io.BytesIO()
    ends = []
    for thing in things:
        pickle.Pickler(file, pickle.HIGHEST_PROTOCOL).dump(thing)
        ends.append(file.tell())
    lengths = array("q", [end - begin for begin, end in zip([0, *ends], ends, strict=False)])
    return file.getbuffer(), lengths


def unpickled(data: Any, lengths: Sequence[int]) -> list[Any]:
    """The opposite."""
    view = memoryview(data)
    ends = list(accumulate(lengths))
    return [
        pickle.loads(view[end - length : end]) for end, length in zip(ends, lengths, strict=True)
    ]


@dataclass
class Packed:
    """A rank's pickle, until it is sent, and the lengths of all ranks' pickles."""

    data: bytes
    lengths: array[int]

    @property
    def are_few(self) -> bool:
        """Whether ranks gather them, or else combine in pairs.

        Gathering takes two steps, pairs take two more for each doubling of the ranks. Who gathers
        unpickles all, in pairs one for each doubling.
        """
        ranks = len(self.lengths)
        doublings = max(1, (ranks - 1).bit_length())
        return sum(self.lengths) * (1 - doublings / ranks) <= 2 * doublings * STEP_BYTES


class Raised:
    """What stands for an object that could not be combined."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            pickle.loads(pickle.dumps(self.error))
        except Exception:
            return Raised, (RuntimeError(f"{type(self.error).__name__}: {self.error}"),)
        return Raised, (self.error,)


def combined(fn: Combine, left: Any, right: Any) -> Any:
    for side in (left, right):
        if isinstance(side, Raised):
            return side
    try:
        return fn(left, right)
    except Exception as error:
        return Raised(error)


def result_of(thing: Any) -> Any:
    if isinstance(thing, Raised):
        raise thing.error
    return thing


class ObjectMethods(NativeTeam):
    """The methods in lower case."""

    _receives: dict[int, deque[ObjectReceive]]

    def barrier(self) -> None:
        """Returns when every rank has called it."""
        self.Barrier()

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """Returns the root's object on every rank."""
        return self._spread(object_contents("broadcast"), obj, root)

    def gather(self, obj: Any, root: int = 0) -> list[Any] | None:
        """Returns the list of all ranks' objects at the root, None elsewhere."""
        data = pickled(obj)
        contents = object_contents("gather")
        lengths = array("q", bytes(8 * self.size)) if self.rank == root else None
        self.native_part(contents, "gather", array("q", [len(data)]), lengths, root)
        return self._gathered(contents, data, lengths, root)

    def allgather(self, obj: Any) -> list[Any]:
        """Returns the list of all ranks' objects."""
        data = pickled(obj)
        contents = object_contents("allgather")
        return self._all_gathered(contents, data, self._lengths(contents, data))

    def scatter(self, objs: Sequence[Any] | None, root: int = 0) -> Any:
        """Returns item r of the root's sequence on rank r."""
        contents = object_contents("scatter")
        data: Any = None
        lengths: Any = None
        if self.rank == root:
            if objs is not None and len(objs) == self.size:
                data, lengths = pickled_in_one(objs)
            else:
                lengths = array("q", [-1]) * self.size
        length = array("q", [0])
        self.native_part(contents, "scatter", lengths, length, root)
        if length[0] < 0:
            raise Error(f"scatter: the root must give {self.size} objects", "invalid_argument")
        mine = bytearray(length[0])
        parts = None if data is None else [data, lengths]
        self.native_part(contents, "scatter", parts, mine, root, True)
        return pickle.loads(mine)

    def alltoall(self, objs: Sequence[Any]) -> list[Any]:
        """Item q of rank p's sequence becomes item p of rank q's list."""
        contents = object_contents("alltoall")
        fits = len(objs) == self.size
        data, lengths = pickled_in_one(objs if fits else [])
        out = lengths if fits else array("q", [-1]) * self.size
        incoming = array("q", bytes(8 * self.size))
        self.native_part(contents, "alltoall", out, incoming)
        if min(*incoming, *out) < 0:
            raise Error(f"alltoall: every rank must give {self.size} objects", "invalid_argument")
        room = bytearray(sum(incoming))
        self.native_part(contents, "alltoall", [data, out], [room, incoming], 0, True)
        return unpickled(room, incoming)

    def allreduce(self, obj: Any, op: Operator | Op | Combine = Operator.sum) -> Any:
        """Combines all ranks' objects in rank order, with an operator or a function of two, which
        must be associative.

        An operator of `Op.Create` is called with two objects and None.
        """
        contents = _contents("allreduce", op)
        packed = self._packed(contents, obj)
        if packed.are_few:
            everything = self._all_gathered(contents, packed.data, packed.lengths)
            return functools.reduce(_function(op), everything)
        whole = self._combined_at_0(contents, obj, packed, _function(op))
        return result_of(self._spread(contents, whole, 0))

    def reduce(self, obj: Any, op: Operator | Op | Combine = Operator.sum, root: int = 0) -> Any:
        """As `allreduce`, with the result at the root and None elsewhere."""
        contents = _contents("reduce", op)
        packed = self._packed(contents, obj)
        if packed.are_few:
            everything = self._gathered(contents, packed.data, packed.lengths, root)
            return None if everything is None else functools.reduce(_function(op), everything)
        whole = self._combined_at_0(contents, obj, packed, _function(op))
        if root != 0:
            whole = self._moved(contents, self._packed(contents, whole, self.rank == 0), {0: root})
        return result_of(whole) if self.rank == root else None

    def scan(self, obj: Any, op: Operator | Op | Combine = Operator.sum) -> Any:
        """Returns on rank r the objects of the ranks 0 to r combined, as `allreduce` does."""
        return self._prefix(_contents("scan", op), obj, _function(op), True)

    def exscan(self, obj: Any, op: Operator | Op | Combine = Operator.sum) -> Any:
        """As `scan`, of the ranks 0 to r - 1; None on rank 0."""
        return self._prefix(_contents("exscan", op), obj, _function(op), False)

    def send(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Sends an object; may wait for its `recv`."""
        self.isend(obj, dest, tag).wait()

    def isend(self, obj: Any, dest: int, tag: int = 0) -> ObjectSend:
        """Nonblocking `send`."""
        refuse_tag(tag)
        return ObjectSend(self, pickled(obj), dest)

    def recv(self, source: int, tag: int = 0) -> Any:
        """Returns the next object that a rank sends."""
        return self.irecv(source, tag).wait()

    def irecv(self, source: int, tag: int = 0) -> ObjectReceive:
        """Nonblocking `recv`: `wait` of what it returns gives the object."""
        refuse_tag(tag)
        before = self.__dict__.setdefault("_receives", {}).setdefault(source, deque())
        return ObjectReceive(self, source, before)

    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: None = None,
        source: int = -1,
        recvtag: int = 0,
    ) -> Any:
        """`send` and `recv` at once, with any two ranks."""
        incoming = self.irecv(source, recvtag)
        outgoing = self.isend(sendobj, dest, sendtag)
        thing = incoming.wait()
        outgoing.wait()
        return thing

    def _spread(self, contents: int, obj: Any, root: int) -> Any:
        """The root's object on every rank."""
        here = self.rank == root
        data = pickled(obj) if here else b""
        length = array("q", [len(data)])
        self.native_part(contents, "broadcast", None, length, root)
        room = data if here else bytearray(length[0])
        self.native_part(contents, "broadcast", None, room, root)
        return obj if here else pickle.loads(room)

    def _lengths(self, contents: int, data: bytes) -> array[int]:
        lengths = array("q", bytes(8 * self.size))
        self.native_part(contents, "allgather", array("q", [len(data)]), lengths)
        return lengths

    def _gathered(
        self, contents: int, data: bytes, lengths: array[int] | None, root: int
    ) -> list[Any] | None:
        if self.rank != root or lengths is None:
            self.native_part(contents, "gather", data, None, root, True)
            return None
        room = bytearray(sum(lengths))
        self.native_part(contents, "gather", data, [room, lengths], root, True)
        return unpickled(room, lengths)

    def _all_gathered(self, contents: int, data: bytes, lengths: array[int]) -> list[Any]:
        room = bytearray(sum(lengths))
        self.native_part(contents, "allgather", data, [room, lengths], 0, True)
        return unpickled(room, lengths)

    def _packed(self, contents: int, obj: Any, sends: bool = True) -> Packed:
        data = pickled(obj) if sends else b""
        return Packed(data, self._lengths(contents, data))

    def _moved(self, contents: int, packed: Packed, target_of: dict[int, int]) -> Any:
        """What the rank that sends to this one has given; None if none does."""
        own = self.rank
        data = packed.data if own in target_of else b""
        packed.data = b""
        out, incoming = (array("q", bytes(8 * self.size)) for _ in range(2))
        for source, target in target_of.items():
            if source == own:
                out[target] = len(data)
            if target == own:
                incoming[source] = packed.lengths[source]
        room = bytearray(sum(incoming))
        self.native_part(contents, "alltoall", [data, out], [room, incoming], 0, True)
        return pickle.loads(room) if room else None

    def _combined_at_0(self, contents: int, obj: Any, packed: Packed | None, fn: Combine) -> Any:
        """All ranks' objects combined, at rank 0. Neighbours combine in each round."""
        step = 1
        while step < self.size:
            rounds = {rank: rank - step for rank in range(step, self.size, 2 * step)}
            packed = packed or self._packed(contents, obj, self.rank in rounds)
            other = self._moved(contents, packed, rounds)
            packed = None
            if self.rank in rounds.values():
                obj = combined(fn, obj, other)
            step *= 2
        return obj

    def _prefix(self, contents: int, obj: Any, fn: Combine, own_too: bool) -> Any:
        """The objects of the ranks up to this one combined, or of those before it."""
        packed: Packed | None = self._packed(contents, obj)
        if packed is not None and packed.are_few:
            everything = self._all_gathered(contents, packed.data, packed.lengths)
            before = everything[: self.rank + own_too]
            return functools.reduce(fn, before) if before else None
        step = 1
        while step < self.size:
            rounds = {rank: rank + step for rank in range(self.size - step)}
            packed = packed or self._packed(contents, obj, self.rank in rounds)
            other = self._moved(contents, packed, rounds)
            packed = None
            if self.rank >= step:
                obj = combined(fn, other, obj)
            step *= 2
        if own_too:
            return result_of(obj)
        shift = {rank: rank + 1 for rank in range(self.size - 1)}
        packed = self._packed(contents, obj, self.rank in shift)
        return result_of(self._moved(contents, packed, shift))


def _function(op: Operator | Op | Combine) -> Combine:
    return COMBINE[op] if isinstance(op, Operator) else op


def _contents(called: str, op: Operator | Op | Combine) -> int:
    return object_contents(called, op if isinstance(op, Operator) else None)
