# SPDX-License-Identifier: Apache-2.0
"""Objects as messages between two ranks: the length of the pickle, then the pickle."""

from __future__ import annotations

import pickle
from array import array
from collections import deque
from typing import Any

from corymb._core import NativeTeam
from corymb.errors import Error


def refuse_tag(tag: int) -> None:
    if tag != 0:
        raise Error(
            "messages of corymb have no tags, they arrive in the order in which they are sent; "
            "leave the tag 0",
            "invalid_argument",
        )


class ObjectSend:
    """An `isend` under way. `wait` and `test` are used as those of `corymb.Request`."""

    def __init__(self, team: NativeTeam, data: bytes, dest: int) -> None:
        self._parts = [
            team.native_isend(array("q", [len(data)]), dest),
            team.native_isend(data, dest),
        ]

    def wait(self) -> None:
        """Returns when the object has left."""
        for part in self._parts:
            if part.active:
                part.Wait()

    def test(self) -> tuple[bool, None]:
        """Whether it has left, and None."""
        return all(not part.active or part.Test() for part in self._parts), None

    def __repr__(self) -> str:
        return f"<corymb.ObjectSend {'active' if any(p.active for p in self._parts) else 'done'}>"


class ObjectReceive:
    """An `irecv` under way. The object comes out of `wait` or `test`."""

    def __init__(self, team: NativeTeam, source: int, queue: deque[ObjectReceive]) -> None:
        self._team = team
        self._source = source
        self._queue = queue
        """Those of this source that do not know their length yet, in order: a later one asks for
        its length when the one before it has asked for its pickle."""
        self._length = array("q", [0])
        self._head: Any = None
        self._body: Any = None
        self._data = bytearray()
        self._is_done = False
        self._thing: Any = None
        queue.append(self)
        self._begin(False)

    def wait(self) -> Any:
        """Returns the object when it has come."""
        self._begin(True)
        if not self._is_done:
            self._body.Wait()
            self._take()
        return self._thing

    def test(self) -> tuple[bool, Any]:
        """Whether it has come, and the object, or None."""
        self._begin(False)
        if not self._is_done and self._body is not None and self._body.Test():
            self._take()
        return self._is_done, self._thing

    def _begin(self, wait: bool) -> None:
        """Gets on with those that came before, and with this one."""
        while self._body is None and self._queue[0]._ask(wait):
            self._queue.popleft()

    def _ask(self, wait: bool) -> bool:
        """Asks for the length, then for the pickle; whether that has been done."""
        if self._head is None:
            self._head = self._team.native_irecv(self._length, self._source)
        if wait:
            self._head.Wait()
        elif not self._head.Test():
            return False
        self._data = bytearray(self._length[0])
        self._body = self._team.native_irecv(self._data, self._source)
        return True

    def _take(self) -> None:
        self._is_done = True
        self._thing = pickle.loads(self._data)
        self._data = bytearray()

    def __repr__(self) -> str:
        state = "done" if self._is_done else "active"
        return f"<corymb.ObjectReceive from rank {self._source} {state}>"
