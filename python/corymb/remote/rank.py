# SPDX-License-Identifier: Apache-2.0
"""A rank that makes objects on others, calls them, and serves the calls of others."""

from __future__ import annotations

import asyncio
import pickle
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextvars import ContextVar, Token
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ParamSpec,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

from corymb._core import NativeRemoteRank
from corymb.errors import Error
from corymb.remote.array import SharedArray, make_array
from corymb.remote.call import BytesCall, Limit, RemoteCall
from corymb.remote.group import GroupCall, ProxyGroup
from corymb.remote.proxy import Proxy, place_of
from corymb.remote.serving import CREATE, DESTROY, FUNCTION, GROUP, METHOD, NAME, Serving
from corymb.remote.wire import PROTOCOL, SIMPLE, Memory, dumped, name_of
from corymb.texts import text_of

if TYPE_CHECKING:
    import numpy.typing as npt

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Row: TypeAlias = tuple[int, int, int, int, Any]

# What has come: PythonRemoteRank::Kind.
REQUEST, ANSWER, FAILURE, STOP, END = range(5)

_here: ContextVar[RemoteRank] = ContextVar("corymb.remote.here")


def here() -> RemoteRank:
    """The rank of the running task, method or block. Raises LookupError where there is none."""
    return _here.get()


class RemoteRank:
    """A rank of a `RemoteGroup`, of `join`. Used by one thread.

    `async with group.join(rank) as own` serves the calls of others in the event loop. `with
    group.join(rank) as own` has no event loop: it serves while it waits. The block ends when those
    of all ranks have, or at once by an exception. Both forms make the same calls: `await` them, or
    `wait` for them.
    """

    def __init__(self, native: NativeRemoteRank, by_value: bool) -> None:
        self._native = native
        self._by_value = by_value
        """Whether what `__main__` has travels with its code."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._descriptor = -1
        self._lingers = False
        """Whether `_linger` is called soon."""
        self._token: Token[RemoteRank] | None = None
        self._rows: deque[Row] = deque()
        self._calls: dict[int, RemoteCall[Any]] = {}
        self._tells: set[RemoteCall[Any]] = set()
        self._tell_errors: list[BaseException] = []
        self._finishing: list[RemoteCall[None]] = []
        self._end: RemoteCall[None] = RemoteCall(self)
        self._serving = Serving(self, native)

    def __repr__(self) -> str:
        return text_of(self)

    @property
    def rank(self) -> int:
        """This rank; -1 when it has left."""
        return self._native.rank

    @property
    def size(self) -> int:
        """Number of ranks; 0 when it has left."""
        return self._native.size

    @property
    def object_count(self) -> int:
        """Number of objects of this rank that others may call."""
        return self._serving.object_count

    # Objects and functions.

    def create(
        self, rank: int, kind: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> RemoteCall[Proxy[T]]:
        """Makes an object of a class there; the result is a proxy of it. The object lives until it
        is destroyed or its rank leaves."""
        return self._begin(rank, CREATE, kind, None, args, kwargs)

    def offer(self, thing: T) -> Proxy[T]:
        """A proxy of an object of this rank, which exists until it is destroyed."""
        return Proxy(self, self.rank, self._serving.keep(thing))

    def destroy(self, proxy: Proxy[Any]) -> RemoteCall[None]:
        """Calls of the object that run go on; later ones are refused."""
        rank, number = place_of(proxy)
        return self._begin(rank, DESTROY, number, None, (), {})

    def local(self, proxy: Proxy[T]) -> T | None:
        """The object itself if it is on this rank, else None."""
        rank, number = place_of(proxy)
        return cast(T, self._serving.object_of(number)) if rank == self.rank else None

    @overload
    def at(
        self,
        rank: int,
        function: Callable[P, Coroutine[Any, Any, R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> RemoteCall[R]: ...
    @overload
    def at(
        self, rank: int, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> RemoteCall[R]: ...
    def at(self, rank: int, function: Any, *args: Any, **kwargs: Any) -> RemoteCall[Any]:
        """Calls a function there. It may be asynchronous: then it runs as a task of that rank."""
        return self._begin(rank, FUNCTION, function, None, args, kwargs)

    @overload
    def call(
        self,
        proxy: Proxy[T],
        method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> RemoteCall[R]: ...
    @overload
    def call(
        self,
        proxy: Proxy[T],
        method: Callable[Concatenate[T, P], R],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> RemoteCall[R]: ...
    def call(self, proxy: Any, method: Any, *args: Any, **kwargs: Any) -> RemoteCall[Any]:
        """`call(proxy, Class.method, ...)` is `proxy.method(...)` for type checkers: arguments and
        result have the method's types."""
        rank, number = place_of(proxy)
        return self._call_method(rank, number, method.__name__, args, kwargs)

    def tell(
        self, rank: int, function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Calls a function there without a result; see `finish`."""
        self._tell_call(self._begin(rank, FUNCTION, function, None, args, kwargs))

    def post(
        self, rank: int, function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Calls a function there, and nobody learns of its end."""
        self._post(rank, FUNCTION, function, None, args, kwargs)

    def finish(self) -> RemoteCall[None]:
        """Until all that this rank has told so far has ended. Raises the first exception of it."""
        over: RemoteCall[None] = RemoteCall(self)
        self._finishing.append(over)
        self._end_tells()
        return over

    async def create_group(
        self, ranks: Sequence[int], kind: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> ProxyGroup[T]:
        """Makes an object on each of the ranks, and a group of them, in this order. If one cannot
        be made, the others are destroyed."""

        async def make(rank: int) -> Proxy[T]:
            return await self.create(rank, kind, *args, **kwargs)

        made = await asyncio.gather(*map(make, ranks), return_exceptions=True)
        failed = [error for error in made if isinstance(error, BaseException)]
        if failed:
            proxies = [proxy for proxy in made if isinstance(proxy, Proxy)]
            gone = [self._ended(self.destroy(proxy)) for proxy in proxies]
            await asyncio.gather(*gone, return_exceptions=True)
            raise failed[0]
        return ProxyGroup(cast("list[Proxy[T]]", made))

    def shared_array(
        self, name: str, shape: int | Sequence[int], dtype: npt.DTypeLike = float
    ) -> RemoteCall[SharedArray]:
        """On all ranks, with equal arguments: an array of zeros whose rows lie on all of them."""
        return make_array(self, name, shape, dtype)

    @staticmethod
    async def _ended(call: RemoteCall[None]) -> None:
        await call

    # Functions with names, of programs in any language.

    def offer_function(self, name: str, handler: Callable[[int, bytes], Any]) -> None:
        """Calls of `name` run handler(source, argument) here. It returns a buffer or None, or is
        asynchronous. Offer all names before the block begins, or before others call."""
        self._serving.offer(name, handler)

    def withdraw_function(self, name: str) -> None:
        self._native.withdraw(name)

    def call_function(self, rank: int, name: str, argument: Any = b"") -> RemoteCall[bytes]:
        """Calls a function that the rank offers by this name, with a buffer."""
        return self._expect(BytesCall(self), rank, name, argument)

    # Waiting.

    def serve(self, seconds: float | None = None) -> int:
        """Without an event loop: serves the calls of others; when there are none, waits for them.
        How many it has served."""
        before = self._serving.served_count
        limit = Limit(seconds)
        while self._serving.served_count == before:
            self._take_more(limit)
            if limit.left() == 0:
                break
        return self._serving.served_count - before

    def _serve_until(self, call: RemoteCall[Any], seconds: float | None) -> None:
        """For the calls."""
        if self._loop is not None:
            raise Error(
                f"rank {self.rank} has an event loop, which a wait would stop: await the call",
                "invalid_argument",
            )
        limit = Limit(seconds)
        while not call.done():
            self._take_more(limit)
            if limit.left() == 0 and not call.done():
                raise Error(f"the call has not ended within {seconds} s", "timeout")

    def _new_future(self) -> asyncio.Future[None]:
        if self._loop is None:
            raise Error(
                f"rank {self.rank} has no event loop: enter it by `async with`, or wait() for the "
                "call",
                "invalid_argument",
            )
        self._linger_soon()
        return self._loop.create_future()

    async def __aenter__(self) -> RemoteRank:
        self._loop = asyncio.get_running_loop()
        self._token = _here.set(self)
        self._descriptor = self._native.descriptor()
        self._loop.add_reader(self._descriptor, self._poll)
        self._poll()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                await self.finish()
                self._native.begin_end()
                await self._end
        finally:
            assert self._loop is not None
            self._loop.remove_reader(self._descriptor)
            self._leave()

    def __enter__(self) -> RemoteRank:
        self._token = _here.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.finish().wait()
                self._native.begin_end()
                self._end.wait()
        finally:
            self._leave()

    def _leave(self) -> None:
        """At the end of a block, in the context in which it has begun."""
        self.close()
        if self._token is not None:
            _here.reset(self._token)
            self._token = None

    def close(self) -> None:
        """Leaves the group at once. Calls to this rank fail from now on, and so do its own."""
        self._native.close()
        calls, self._calls = self._calls, {}  # Nothing that ends now finds them.
        gone = Error("this rank has left its group", "team_broken")
        for call in calls.values():
            call.settle(None, gone)
        self._serving.close()

    # The caller's side.

    def _call_method(
        self, rank: int, number: int, name: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> RemoteCall[Any]:
        if kwargs or not SIMPLE.issuperset(map(type, args)):
            return self._begin(rank, METHOD, number, name, args, kwargs)
        data = pickle.dumps((METHOD, number, name, args, kwargs), PROTOCOL)
        call: RemoteCall[Any] = RemoteCall(self)
        call._number = begun = self._native.begin(rank, NAME, data)
        self._calls[begun] = call
        return call

    def _post_method(
        self, rank: int, number: int, name: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        self._post(rank, METHOD, number, name, args, kwargs)

    def _call_group(self, rank: int, part: GroupCall) -> RemoteCall[Any]:
        return self._begin(rank, GROUP, part, None, (), {})

    def _cancel_call(self, number: int) -> None:
        if self._calls.pop(number, None) is not None:
            self._native.cancel(number)

    def _tell_call(self, call: RemoteCall[Any]) -> None:
        """`finish` waits for the call."""
        self._tells.add(call)
        call.then(self._end_tell)

    def _end_tell(self, call: RemoteCall[Any]) -> None:
        self._tells.discard(call)
        if call.error is not None:
            self._tell_errors.append(call.error)
        self._end_tells()

    def _end_tells(self) -> None:
        if self._tells or not self._finishing:
            return
        error = self._tell_errors[0] if self._tell_errors else None
        self._tell_errors.clear()
        for over in self._finishing:
            over.settle(None, error)
        self._finishing.clear()

    def _request(
        self, which: int, target: Any, name: str | None, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[bytes, Memory | None]:
        request = (which, target, name, args, kwargs)
        try:
            return dumped(request, self._by_value)
        except pickle.PicklingError as error:
            what = name or (name_of(target) if callable(target) else "an object")
            raise pickle.PicklingError(
                f"the call of {what} cannot be pickled: {error}"
            ) from error.__cause__

    def _begin(
        self,
        rank: int,
        which: int,
        target: Any,
        name: str | None,
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> RemoteCall[Any]:
        data, memory = self._request(which, target, name, args, kwargs)
        return self._expect(RemoteCall(self, memory), rank, NAME, data)

    def _expect(self, call: RemoteCall[R], rank: int, name: str, data: Any) -> RemoteCall[R]:
        return self._expect_number(call, lambda: self._native.begin(rank, name, data))

    def _expect_number(self, call: RemoteCall[R], begin: Callable[[], int]) -> RemoteCall[R]:
        """The answer with the number that `begin` returns is that of the call."""
        try:
            call._number = begin()
        except BaseException as error:
            call.settle(None, error)
            raise
        self._calls[call._number] = call
        return call

    def _post(
        self,
        rank: int,
        which: int,
        target: Any,
        name: str | None,
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> None:
        data, memory = self._request(which, target, name, args, kwargs)
        if memory is not None:  # Somebody has to give it back.
            self._expect(RemoteCall(self, memory), rank, NAME, data)
        else:
            self._native.post(rank, NAME, data)

    # What comes.

    def _poll(self) -> None:
        """The descriptor is readable, and stays so until `poll` has nothing to do."""
        if not self._lingers:
            self._take_and_linger(self._native.poll())

    def _linger_soon(self) -> None:
        if self._loop is not None and not self._lingers:
            self._lingers = True
            self._loop.call_soon(self._linger)

    def _linger(self) -> None:
        """Waits awake for a moment before the loop goes to sleep, because what comes next may come
        soon, and a sleep costs more."""
        self._lingers = False
        if self._native.rank < 0:
            return  # It has left meanwhile.
        self._take_and_linger(self._native.linger())

    def _take_and_linger(self, rows: list[Row]) -> None:
        served = self._serving.served_count
        self._take_in(rows)
        if self._serving.served_count != served or (rows and self._calls):
            self._linger_soon()  # Behind the tasks that go on now.

    def _take_more(self, limit: Limit) -> None:
        """Takes what is left of the last rows, or waits for more."""
        self._take_in([] if self._rows else self._native.wait(limit.left()))

    def _take_in(self, rows: list[Row]) -> None:
        """Rows that are left when a served method waits are taken in that wait."""
        self._rows.extend(rows)
        token = _here.set(self)
        try:
            while self._rows:
                self._take_row(*self._rows.popleft())
        finally:
            _here.reset(token)

    def _take_row(self, kind: int, number: int, source: int, function: int, data: Any) -> None:
        if kind == ANSWER:
            call = self._calls.pop(number, None)
            if call is not None:
                call.take(data)
        elif kind == REQUEST:
            self._serving.serve(number, source, function, data)
        elif kind == FAILURE:
            self._fail_call(number, *data)
        elif kind == STOP:
            self._serving.stop(number)
        elif kind == END:
            self._end.settle(None, None)

    def _fail_call(self, number: int, code: str, text: str, ranks: list[int]) -> None:
        call = self._calls.pop(number, None)
        if call is not None:
            call.settle(None, Error(text, code, ranks) if code else RuntimeError(text))
