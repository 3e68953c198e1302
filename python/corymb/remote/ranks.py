# SPDX-License-Identifier: Apache-2.0
"""The ranks that call each other."""

from __future__ import annotations

from typing import Any

from corymb._core import NativeRemoteGroup
from corymb.descriptors import Descriptor, attached, reduce_group
from corymb.remote.rank import RemoteRank
from corymb.texts import text_of

MESSAGE_BYTES = 248
"""Four cache lines. Reasoning: the pickle of a call with a few numbers has 60 to 150 bytes, and a
call that is one message is the fastest. Too small: calls are cut. Too large: memory, which grows
with the square of the ranks."""


class RemoteGroup:
    """The ranks that call each other: threads of this process, or processes. Make it once; then
    each thread joins with its own rank, in other processes after `open`, by the same `name`, or as
    an argument of a `multiprocessing.Process`."""

    def __init__(
        self,
        size: int,
        *,
        message_bytes: int = MESSAGE_BYTES,
        capacity: int = 64,
        wait: str = "ladder",
        between_processes: bool = False,
        name: str = "",
    ) -> None:
        self._native = NativeRemoteGroup(
            size,
            message_bytes=message_bytes,
            capacity=capacity,
            wait=wait,
            between_processes=between_processes,
            name=name,
        )
        self._is_shared = between_processes or name != ""

    @classmethod
    def open(cls, descriptor: int) -> RemoteGroup:
        """The group behind an inherited descriptor, which stays the caller's."""
        opened = cls.__new__(cls)
        opened._native = NativeRemoteGroup.open(descriptor)
        opened._is_shared = True
        return opened

    def make_descriptor(self) -> Descriptor:
        """A descriptor for child processes, of a group between processes; close it."""
        return Descriptor(self._native.make_descriptor())

    def __repr__(self) -> str:
        return text_of(self)

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self._native.size

    def join(self, rank: int) -> RemoteRank:
        """This thread becomes `rank`. Use the result in `async with`, or `with`."""
        return RemoteRank(self._native.join(rank), self._is_shared)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_group(opened)(self)


def opened(number: int) -> RemoteGroup:
    """In the process that unpickles."""
    group: RemoteGroup = attached(number, RemoteGroup.open)
    return group
