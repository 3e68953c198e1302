# SPDX-License-Identifier: Apache-2.0
"""Groups of objects, which are called together along a binary tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from corymb.errors import Error
from corymb.remote.call import RemoteCall
from corymb.remote.proxy import Proxy, place_of
from corymb.remote.wire import dumped, loaded

if TYPE_CHECKING:
    from corymb.remote.rank import RemoteRank

T = TypeVar("T")

# What becomes of the members' results.
STEP, GATHER, REDUCE = range(3)


@dataclass
class GroupCall:
    """A call of some members, in order, on its way to the rank of the first one."""

    members: list[tuple[int, int]]
    kind: int
    call: bytes
    """Pickled: the method or function, the predicate, the operator, arguments."""


class ProxyGroup(Generic[T]):
    """Objects that are called together, in an order. A value: it may be sent in calls.

    A method is given by its name, or as a function f(member, ...), which travels: `Class.method`
    does. With `where`, only members for which where(member) holds are called; it is asked where the
    member is. A call travels a binary tree over the members.
    """

    def __init__(self, members: Sequence[Proxy[T]]) -> None:
        self._members = list(members)
        for member in self._members:
            place_of(member)

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Proxy[T]]:
        return iter(self._members)

    def __getitem__(self, index: int) -> Proxy[T]:
        return self._members[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return ProxyGroup, (self._members,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProxyGroup) and other._members == self._members

    def __hash__(self) -> int:
        return hash(tuple(self._members))

    def step(
        self,
        method: str | Callable[..., Any],
        *args: Any,
        where: Callable[[T], bool] | None = None,
        **kwargs: Any,
    ) -> RemoteCall[None]:
        """Calls all members; over when all have ended."""
        return self._call(STEP, method, where, None, args, kwargs)

    def map(
        self,
        method: str | Callable[..., Any],
        *args: Any,
        where: Callable[[T], bool] | None = None,
        **kwargs: Any,
    ) -> None:
        """As `step`, without waiting: `finish` of the rank waits for the end, and raises."""
        self._own()._tell_call(self._call(STEP, method, where, None, args, kwargs))

    def gather(
        self,
        method: str | Callable[..., Any],
        *args: Any,
        where: Callable[[T], bool] | None = None,
        **kwargs: Any,
    ) -> RemoteCall[list[Any]]:
        """The results, in the order of the members."""
        return self._call(GATHER, method, where, None, args, kwargs)

    def reduce(
        self,
        op: Callable[[Any, Any], Any],
        method: str | Callable[..., Any],
        *args: Any,
        where: Callable[[T], bool] | None = None,
        **kwargs: Any,
    ) -> RemoteCall[Any]:
        """The results combined by op(left, right), which is associative, in the order of the
        members. Raises corymb.Error if no member was called."""
        return self._call(REDUCE, method, where, op, args, kwargs)

    def scan(
        self,
        op: Callable[[Any, Any], Any],
        method: str | Callable[..., Any],
        *args: Any,
        where: Callable[[T], bool] | None = None,
        **kwargs: Any,
    ) -> RemoteCall[list[Any]]:
        """For each member the results up to it combined by op(left, right), in the order of the
        members."""
        results = self._call(GATHER, method, where, None, args, kwargs)
        return self._made_of(results, lambda values: list(accumulate(values, op)))

    def select(self, where: Callable[[T], bool]) -> RemoteCall[ProxyGroup[T]]:
        """A group of those members for which where(member) holds now. Calls of it reach no rank
        that has none of them."""

        def chosen(holds: list[Any]) -> ProxyGroup[T]:
            return ProxyGroup([each for each, is_in in zip(self, holds, strict=True) if is_in])

        return self._made_of(self._call(GATHER, where, None, None, (), {}), chosen)

    def _made_of(self, call: RemoteCall[Any], make: Callable[[Any], Any]) -> RemoteCall[Any]:
        result: RemoteCall[Any] = RemoteCall(self._own())

        def finish(ended: RemoteCall[Any]) -> None:
            try:
                if ended.error is not None:
                    raise ended.error
                result.settle(make(ended.value), None)
            except Exception as error:
                result.settle(None, error)

        result.consist_of([call])
        call.then(finish)
        return result

    def _own(self) -> RemoteRank:
        from corymb.remote.rank import here

        return self._members[0]._own if self._members else here()

    def _call(
        self,
        kind: int,
        method: str | Callable[..., Any],
        where: Callable[[T], bool] | None,
        op: Callable[[Any, Any], Any] | None,
        args: Any,
        kwargs: Any,
    ) -> RemoteCall[Any]:
        own = self._own()
        result: RemoteCall[Any] = RemoteCall(own)

        def finish(call: RemoteCall[Any]) -> None:
            if call.error is not None or kind == STEP:
                result.settle(None, call.error)
            elif kind == GATHER:
                result.settle(call.value, None)
            elif call.value:
                result.settle(call.value[0], None)
            else:
                result.settle(
                    None, Error("a group of no members has nothing to combine", "invalid_argument")
                )

        if not self._members:
            empty: RemoteCall[Any] = RemoteCall(own)
            empty.settle([], None)
            finish(empty)
            return result
        data, memory = dumped((method, where, op, args, kwargs), own._by_value)
        if memory is not None:
            memory.close()
            raise Error("arguments of calls of groups have less than 64 KiB", "unsupported")
        members = [place_of(member) for member in self._members]
        call = own._call_group(members[0][0], GroupCall(members, kind, data))
        result.consist_of([call])
        call.then(finish)
        return result


@dataclass
class GroupPart:
    """A rank's share: hands on the latter halves, then calls its own member."""

    own: RemoteRank
    kind: int
    op: Callable[[Any, Any], Any]
    over: RemoteCall[Any]
    behind: list[RemoteCall[Any]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    error: BaseException | None = None
    left: int = 1

    def end_own(self, outcome: Callable[[], list[Any]]) -> None:
        try:
            results = outcome()
            if self.kind != STEP:
                self.results = results
        except BaseException as error:
            self.error = error
        self.end_one()

    def end_one(self, _: object = None) -> None:
        self.left -= 1
        if self.left != 0:
            return
        try:
            for call in reversed(self.behind):  # The nearest ones first: the members' order.
                self.error = self.error or call.error
                if self.error is None and self.kind != STEP:
                    self._join(call.value)
        except Exception as error:
            self.error = error
        self.over.settle(None if self.error else self.results, self.error)

    def _join(self, others: list[Any]) -> None:
        if self.kind == GATHER or not self.results:
            self.results = self.results + others
        elif others:
            self.results = [self.op(self.results[0], others[0])]


def method_of(thing: Any, name: str) -> Any:
    """A method as other ranks may call it."""
    if name[:1] == "_":
        raise AttributeError(f"'{name}' is private, and is not called from other ranks")
    return getattr(thing, name)


def run_group(own: RemoteRank, call: GroupCall) -> RemoteCall[Any]:
    """Where the call arrives."""
    members = call.members
    method, where, op, args, kwargs = loaded(call.call)
    over: RemoteCall[Any] = RemoteCall(own)
    part = GroupPart(own, call.kind, op, over)
    while len(members) > 1:
        middle = len(members) // 2
        half = GroupCall(members[middle:], call.kind, call.call)
        part.behind.append(own._call_group(half.members[0][0], half))
        members = members[:middle]
    part.left += len(part.behind)
    parts: list[Any] = list(part.behind)
    over.consist_of(parts)
    for behind in part.behind:
        behind.then(part.end_one)
    try:
        member = own._serving.object_of(members[0][1])
        if where is not None and not where(member):
            part.end_own(list)
            return over
        if isinstance(method, str):
            result = method_of(member, method)(*args, **kwargs)
        else:
            result = method(member, *args, **kwargs)
        running = own._serving.started(result)
    except Exception as error:
        part.error = error
        part.end_one()
        return over
    if running is None:
        part.end_own(lambda: [result])
    else:
        parts.append(running)
        own._serving.when_over(running, lambda outcome: part.end_own(lambda: [outcome()]))
    return over
