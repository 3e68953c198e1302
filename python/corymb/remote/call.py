# SPDX-License-Identifier: Apache-2.0
"""A call that is under way."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from corymb.errors import Error
from corymb.remote.wire import PICKLE, RAISED, Memory, loaded, loaded_exception

if TYPE_CHECKING:
    from corymb.remote.rank import RemoteRank

R = TypeVar("R")


class RemoteCall(Generic[R]):
    """A call that has begun. `await` it, or `wait` for it where there is no event loop.

    One that is thrown away goes on, and nobody learns of its end. When a task that awaits it is
    cancelled, so is the method that was called.
    """

    _number = 0
    _is_over = False
    _value: Any = None
    _error: BaseException | None = None
    _waiters: list[asyncio.Future[None]] | None = None
    _then: Callable[[RemoteCall[R]], None] | None = None
    _parts: list[Any] | None = None

    def __init__(self, own: RemoteRank, memory: Memory | None = None) -> None:
        self._own = own
        self._memory = memory

    def done(self) -> bool:
        """Whether the result is there. Looks at nothing."""
        return self._is_over

    def cancel(self) -> None:
        """Cancels the method that was called, if it is asynchronous, and ends the call."""
        if not self._is_over:
            if self._parts is None:
                self._own._cancel_call(self._number)
            else:
                for part in self._parts:
                    part.cancel()
            self.settle(None, Error("the call was cancelled", "interrupted"))

    def wait(self, seconds: float | None = None) -> R:
        """The result, or what the call has raised. Serves others meanwhile, without the interpreter
        lock; Ctrl-C ends it. After `seconds` an error (code "timeout"); the call goes on.

        Refused in a rank with an event loop: there `await` the call.
        """
        if not self._is_over:
            self._own._serve_until(self, seconds)
        return self._outcome()

    def __await__(self) -> Generator[Any, None, R]:
        if not self._is_over:
            future: asyncio.Future[None] = self._own._new_future()
            if self._waiters is None:
                self._waiters = []
            self._waiters.append(future)
            try:
                yield from future
            except asyncio.CancelledError:
                self.cancel()
                raise
        return self._outcome()

    def _outcome(self) -> R:
        if self._error is not None:
            raise self._error
        return cast(R, self._value)

    def take(self, data: bytes) -> None:
        """The answer has come."""
        try:
            if data[0] == PICKLE:
                value = pickle.loads(data)
            elif data[0] == RAISED:
                self.settle(None, loaded_exception(data))
                return
            else:
                value = loaded(data)
        except Error as error:
            self.settle(None, error)
        except Exception as error:
            text = f"the answer of a rank cannot be unpickled: {type(error).__name__}: {error}"
            self.settle(None, Error(text, "mismatch"))
        else:
            self.settle(value, None)

    def settle(self, value: Any, error: BaseException | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._value = value
        self._error = error
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        if self._waiters is not None:
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)
        if self._then is not None:
            self._then(self)

    def consist_of(self, parts: list[Any]) -> None:
        """To cancel the call is to cancel these calls and tasks."""
        self._parts = parts

    def then(self, function: Callable[[RemoteCall[R]], None]) -> None:
        """Calls function(self) at the end."""
        if self._is_over:
            function(self)
        else:
            self._then = function

    @property
    def error(self) -> BaseException | None:
        """What the call has raised, when it is over."""
        return self._error

    @property
    def value(self) -> R:
        """The result, when it is there."""
        return cast(R, self._value)


class BytesCall(RemoteCall[bytes]):
    """A call of a function by its name: the answer is bytes."""

    def take(self, data: bytes) -> None:
        self.settle(data, None)


class Limit:
    """Of a wait."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds >= 0:
            raise Error("seconds must be at least 0, or None", "invalid_argument")
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())
