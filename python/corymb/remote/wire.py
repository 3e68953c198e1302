# SPDX-License-Identifier: Apache-2.0
"""Calls and results as bytes.

A pickle travels as it is: it begins with 0x80. What is large lies in memory of its own, which the
receiver maps, so that it is copied once; then the bytes say where. An exception has a byte of its
own in front.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import mmap
import os
import pickle
import struct
import sys
import traceback
from collections.abc import Sequence
from types import FunctionType, MethodType
from typing import Any

from corymb.errors import Error, RemoteTraceback

PROTOCOL = 5
LARGE = 1 << 16
"""Bytes from which a buffer lies in memory of its own. Reasoning: making and mapping it takes some
20 us, in which 64 KiB are copied through messages and pickles. Too small: small arrays are slow.
Too large: arrays are copied several times."""
ALIGNED = 64

PICKLE = 0x80
SEGMENTS = 1
RAISED = 2
PLACE = struct.Struct("<BxxxIiIQ")  # SEGMENTS, process, descriptor, number of lengths, inode

# Before Python 3.13 each mapping keeps a descriptor as long as an array lies in it.
UNTRACKED: dict[str, Any] = {"trackfd": False} if sys.version_info >= (3, 13) else {}

SIMPLE = frozenset({bool, bytes, complex, float, int, str, type(None)})


def is_found(thing: Any, by_value: bool) -> bool:
    """Whether another rank finds a function or class by its name."""
    name = getattr(thing, "__module__", None)
    if name == "builtins":
        return True  # Also types that have no name there.
    if name is None or (by_value and name == "__main__"):
        return False
    found: Any = sys.modules.get(name)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing


def by_cloudpickle(thing: Any) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        raise pickle.PicklingError(
            f"{thing.__qualname__} of {thing.__module__} is not found by its name in other "
            "processes; define it in a module that they import, or: pip install cloudpickle"
        ) from None
    data: bytes = cloudpickle.dumps(thing, PROTOCOL)
    return data


class CodePickler(pickle.Pickler):
    """Functions and classes that others do not find by their names travel with their code."""

    by_value = False

    def reducer_override(self, thing: Any) -> Any:
        if not isinstance(thing, type | FunctionType) or is_found(thing, self.by_value):
            return NotImplemented
        if self.by_value and not has_cloudpickle() and is_found(thing, False):
            return NotImplemented  # Of __main__, which may be the same program everywhere.
        return pickle.loads, (by_cloudpickle(thing),)


@functools.cache
def has_cloudpickle() -> bool:
    return importlib.util.find_spec("cloudpickle") is not None


class Memory:
    """What is large, until the receiver has it."""

    def __init__(self, views: Sequence[memoryview]) -> None:
        self.number = os.memfd_create("corymb", os.MFD_CLOEXEC)
        try:
            self._fill(views)
        except BaseException:
            self.close()
            raise
        self.inode = os.fstat(self.number).st_ino
        """Tells it from one that has the same number later."""

    def _fill(self, views: Sequence[memoryview]) -> None:
        offset = 0
        for view in views:
            while len(view):
                written = os.pwrite(self.number, view, offset)
                offset += written
                view = view[written:]
            offset += -offset % ALIGNED
        os.ftruncate(self.number, max(offset, 1))

    def close(self) -> None:
        os.close(self.number)


def dumped(thing: Any, by_value: bool) -> tuple[bytes, Memory | None]:
    """Raises pickle.PicklingError."""
    large: list[memoryview] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes < LARGE:
            return True
        large.append(view)
        return False

    file = io.BytesIO()
    pickler = CodePickler(file, PROTOCOL, buffer_callback=keep)
    pickler.by_value = by_value
    try:
        pickler.dump(thing)
    except pickle.PicklingError:
        raise
    except Exception as error:
        raise pickle.PicklingError(f"{type(error).__name__}: {error}") from error
    data = file.getvalue()
    if not large and len(data) < LARGE:
        return data, None
    views = [memoryview(data), *large]
    memory = Memory(views)
    lengths = struct.pack(f"<{len(views)}Q", *(view.nbytes for view in views))
    place = PLACE.pack(SEGMENTS, os.getpid(), memory.number, len(views), memory.inode)
    return place + lengths, memory


def loaded(data: bytes) -> Any:
    """Raises whatever unpickling raises, and corymb.Error if the memory cannot be had."""
    if data[0] == PICKLE:
        return pickle.loads(data)
    _, process, number, count, inode = PLACE.unpack_from(data)
    lengths = struct.unpack_from(f"<{count}Q", data, PLACE.size)
    path = f"/proc/{process}/fd/{number}"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise Error(
            f"the memory of an argument or result cannot be opened as {path}: {error.strerror}; "
            "both processes must be of one user and see each other in /proc",
            "unsupported",
        ) from None
    try:
        if os.fstat(descriptor).st_ino != inode:
            raise Error("the caller waits no more, and has taken its arguments back", "interrupted")
        whole = memoryview(mmap.mmap(descriptor, 0, **UNTRACKED))
    finally:
        os.close(descriptor)
    views = []
    offset = 0
    for length in lengths:
        views.append(whole[offset : offset + length])
        offset += length + -length % ALIGNED
    return pickle.loads(views[0], buffers=views[1:])


def dumped_exception(error: BaseException, by_value: bool) -> bytes:
    """With its traceback. What cannot be pickled and unpickled becomes a RuntimeError."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        data, memory = dumped((error, text), by_value)
        if memory is not None:
            memory.close()
            raise pickle.PicklingError("an exception is too large")
        pickle.loads(data)
    except Exception:
        plain = RuntimeError(f"{type(error).__name__}: {error}"[: LARGE // 4])
        data = pickle.dumps((plain, text[: LARGE // 4]), PROTOCOL)
    return bytes([RAISED]) + data


def loaded_exception(data: bytes) -> BaseException:
    error, text = pickle.loads(memoryview(data)[1:])
    error.__cause__ = RemoteTraceback(text)
    assert isinstance(error, BaseException)
    return error


def name_of(function: Any) -> str:
    """For people."""
    if isinstance(function, MethodType | FunctionType | type):
        return function.__qualname__
    return str(getattr(function, "__name__", type(function).__name__))
