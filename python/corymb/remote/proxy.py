# SPDX-License-Identifier: Apache-2.0
"""What stands for objects of other ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from corymb.errors import Error

if TYPE_CHECKING:
    from corymb.remote.call import RemoteCall
    from corymb.remote.rank import RemoteRank

T = TypeVar("T")


class RemoteMethod:
    """A method of an object on some rank. Calling it gives a `RemoteCall`."""

    __slots__ = ("_name", "_number", "_own", "_rank")

    def __init__(self, own: RemoteRank, rank: int, number: int, name: str) -> None:
        self._own = own
        self._rank = rank
        self._number = number
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> RemoteCall[Any]:
        return self._own._call_method(self._rank, self._number, self._name, args, kwargs)

    def tell(self, *args: Any, **kwargs: Any) -> None:
        """Calls it without a result. `finish` of the rank waits for its end and raises what it has
        raised; so does the end of the rank's block."""
        self._own._tell_call(self(*args, **kwargs))

    def post(self, *args: Any, **kwargs: Any) -> None:
        """Calls it, and nobody learns of its end."""
        self._own._post_method(self._rank, self._number, self._name, args, kwargs)


class Proxy(Generic[T]):
    """Stands for an object of some rank: `await proxy.method(...)`. A value: it may be copied,
    compared and sent in calls. It has the methods of the object and no others; what else can be
    done with it is in the functions of `RemoteRank`."""

    def __init__(self, own: RemoteRank, rank: int, number: int) -> None:
        self._own = own
        self._rank = rank
        self._number = number

    def __getattr__(self, name: str) -> RemoteMethod:
        if name.startswith("_"):
            raise AttributeError(f"'{name}' is private, and is not called from other ranks")
        method = RemoteMethod(self._own, self._rank, self._number, name)
        self.__dict__[name] = method
        return method

    def __reduce__(self) -> tuple[Any, ...]:
        return proxy_here, (self._rank, self._number)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Proxy) and other._rank == self._rank and other._number == self._number
        )

    def __hash__(self) -> int:
        return hash((self._rank, self._number))

    def __repr__(self) -> str:
        return f"<Proxy of object {self._number:#x} on rank {self._rank}>"


def place_of(proxy: Proxy[Any]) -> tuple[int, int]:
    """The rank of the object, and its number there."""
    if not isinstance(proxy, Proxy):
        raise TypeError(f"a Proxy is needed, not {type(proxy).__name__}")
    return proxy._rank, proxy._number


def proxy_here(rank: int, number: int) -> Proxy[Any]:
    """Where a proxy is unpickled."""
    from corymb.remote.rank import here

    try:
        return Proxy(here(), rank, number)
    except LookupError:
        raise Error(
            "a proxy is of use on a rank of its group only; send it in calls", "invalid_argument"
        ) from None
