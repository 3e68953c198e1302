# SPDX-License-Identifier: Apache-2.0
"""What a rank does for others: their calls come in, and are answered."""

from __future__ import annotations

import asyncio
import itertools
import pickle
import secrets
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from corymb._core import NativeRemoteRank
from corymb.errors import Error
from corymb.remote.call import RemoteCall
from corymb.remote.group import method_of, run_group
from corymb.remote.proxy import Proxy
from corymb.remote.wire import PROTOCOL, SIMPLE, dumped, dumped_exception, loaded

if TYPE_CHECKING:
    from corymb.remote.rank import RemoteRank

NAME = "corymb.python"
"""The function that ranks in Python offer each other."""

Outcome = Callable[[], Any]
"""Gives the result of a method that is over, or raises what it has raised."""

# What a call is of: (which, target, name, args, kwargs).
METHOD, FUNCTION, CREATE, DESTROY, GROUP, TAKEN = range(6)


class Serving:
    """The objects and functions of a rank that others call, and what runs for them."""

    def __init__(self, own: RemoteRank, native: NativeRemoteRank) -> None:
        self._own = own
        self._native = native
        self.served_count = 0
        """Calls of others that have come."""
        self._served: dict[int, asyncio.Task[Any] | RemoteCall[Any]] = {}
        """What runs for others, by the call that its caller may stop."""
        self._posted: set[asyncio.Task[Any]] = set()
        """What runs for others who have forgotten it."""
        # A number is never used again, also not in another group: an old proxy finds nothing.
        self._numbers = itertools.count(secrets.randbits(40) << 20)
        self._objects: dict[int, Any] = {}
        self._functions: list[Callable[[int, bytes], Any]] = []
        self.offer(NAME, lambda source, argument: None)

    @property
    def object_count(self) -> int:
        return len(self._objects)

    def offer(self, name: str, handler: Callable[[int, bytes], Any]) -> None:
        number = len(self._functions)
        self._native.offer(number, name)
        self._functions.append(handler)

    def stop(self, number: int) -> None:
        """The caller wants no answer any more."""
        served = self._served.get(number)
        if served is not None:
            served.cancel()

    def close(self) -> None:
        for served in [*self._served.values(), *self._posted]:
            served.cancel()
        self._objects.clear()

    def keep(self, thing: Any) -> int:
        """The number of an object that others may call from now on."""
        number = next(self._numbers)
        self._objects[number] = thing
        return number

    def object_of(self, number: int) -> Any:
        try:
            return self._objects[number]
        except KeyError:
            raise Error(
                f"rank {self._own.rank} has no such object: it is gone, or the proxy is of another "
                "group",
                "invalid_argument",
                [self._own.rank],
            ) from None

    def serve(self, number: int, source: int, function: int, data: bytes) -> None:
        self.served_count += 1
        try:
            if function != 0:
                result = self._functions[function](source, data)
            else:
                result = self._run(*self._loaded(source, data))
            if type(result) in SIMPLE and function == 0:
                if number != 0:
                    self._native.answer(number, pickle.dumps(result, PROTOCOL))
            elif (running := self.started(result)) is not None:
                self._note_served(number, running)
                self.when_over(running, partial(self._end_served, number, source, function))
            else:
                self._answer_any(number, source, function, result)
        except BaseException as error:
            self._raise(number, function, error)
            if not isinstance(error, Exception):
                raise

    def _loaded(self, source: int, data: bytes) -> Any:
        try:
            return loaded(data)
        except Error:
            raise
        except Exception as error:
            raise Error(
                f"rank {self._own.rank} cannot unpickle a call of rank {source}: "
                f"{type(error).__name__}: {error}",
                "mismatch",
                [self._own.rank],
            ) from error

    def _run(self, which: int, target: Any, name: str, args: Any, kwargs: Any) -> Any:
        if which == METHOD:
            thing = self._objects[target] if target in self._objects else self.object_of(target)
            return method_of(thing, name)(*args, **kwargs)
        if which == FUNCTION:
            return target(*args, **kwargs)
        if which == CREATE:
            return Proxy(self._own, self._own.rank, self.keep(target(*args, **kwargs)))
        if which == GROUP:
            return run_group(self._own, target)
        if which == DESTROY:
            self.object_of(target)
            del self._objects[target]
        return None  # TAKEN: the answer says that all that came before has been taken.

    def started(self, result: Any) -> asyncio.Task[Any] | RemoteCall[Any] | None:
        """What gives the result of a method later; None: it is there."""
        if type(result) is CoroutineType:
            return self._start_task(result)
        return result if isinstance(result, RemoteCall) else None

    def when_over(
        self, running: asyncio.Task[Any] | RemoteCall[Any], end: Callable[[Outcome], None]
    ) -> None:
        """Calls end(outcome) then."""
        if isinstance(running, RemoteCall):
            running.then(lambda call: end(call._outcome))
            return

        def outcome(task: asyncio.Task[Any]) -> Any:
            if task.cancelled():
                raise Error("the method was cancelled on its rank", "interrupted", [self._own.rank])
            return task.result()

        running.add_done_callback(lambda task: end(partial(outcome, task)))

    def _start_task(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        if self._own._loop is None:
            coroutine.close()
            raise Error(
                f"rank {self._own.rank} has no event loop, which an asynchronous method needs: "
                "enter it by `async with`",
                "unsupported",
                [self._own.rank],
            )
        return self._own._loop.create_task(coroutine)

    def _note_served(self, number: int, served: asyncio.Task[Any] | RemoteCall[Any]) -> None:
        if number != 0:
            self._served[number] = served
        elif isinstance(served, asyncio.Task):
            self._posted.add(served)
            served.add_done_callback(self._posted.discard)

    def _end_served(self, number: int, source: int, function: int, outcome: Outcome) -> None:
        self._served.pop(number, None)
        if self._native.rank < 0:
            return  # It has left.
        try:
            self._answer_any(number, source, function, outcome())
        except BaseException as error:
            self._raise(number, function, error)

    def _answer_any(self, number: int, source: int, function: int, result: Any) -> None:
        if function != 0:
            self._answer_bytes(number, source, result)
        else:
            self._answer(number, source, result)

    def _answer(self, number: int, source: int, result: Any) -> None:
        if number == 0:
            return  # Nobody wants one.
        try:
            data, memory = dumped(result, self._own._by_value)
        except pickle.PicklingError as error:
            text = f"the result of the call cannot be pickled: {error}"
            raise pickle.PicklingError(text) from error.__cause__
        try:
            self._native.answer(number, data)
        except BaseException:
            if memory is not None:
                memory.close()
            raise
        if memory is not None:  # Until the caller has mapped it, or has gone.
            own = self._own
            taken = RemoteCall[None](own, memory)
            empty = pickle.dumps((TAKEN, None, None, (), {}), PROTOCOL)
            with suppress(Error):
                own._expect(taken, source, NAME, empty)

    def _answer_bytes(self, number: int, source: int, result: Any) -> None:
        if number != 0:
            self._native.answer(number, b"" if result is None else result)

    def _raise(self, number: int, function: int, error: BaseException) -> None:
        if number == 0 or self._native.rank < 0:
            return
        if function == 0:
            self._native.answer(number, dumped_exception(error, self._own._by_value))
        else:
            self._native.fail(number, f"{type(error).__name__}: {error}")
