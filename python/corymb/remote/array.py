# SPDX-License-Identifier: Apache-2.0
"""An array whose rows lie on all ranks, seen through views of numpy."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from corymb._core import NativeSharedArray
from corymb.errors import Error
from corymb.remote.call import RemoteCall
from corymb.texts import text_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from corymb.remote.rank import RemoteRank


class SharedArray:
    """Rows of numbers, of which each rank has one run. All ranks read and write all rows, through
    views of the same memory. Who writes what others read meets them in `sync`, or sends a message.

    The memory lives as long as the arrays of the ranks and their views.
    """

    def __init__(
        self, own: RemoteRank, native: NativeSharedArray, shape: tuple[int, ...], dtype: Any
    ) -> None:
        self._own = own
        self._native = native
        self._rank = own.rank
        self._ranks = own.size
        self.shape = shape
        self.dtype: np.dtype[Any] = dtype

    def __repr__(self) -> str:
        return text_of(self)

    def __len__(self) -> int:
        return self.shape[0]

    def range(self, rank: int) -> range:
        """The rows of a rank."""
        run = rows_each(self.shape, self._ranks)
        return range(min(rank * run, len(self)), min((rank + 1) * run, len(self)))

    def owner(self, row: int) -> int:
        """The rank of a row."""
        if not 0 <= row < len(self):
            raise IndexError(f"there are {len(self)} rows, and no row {row}")
        return row // rows_each(self.shape, self._ranks)

    def part(self, rank: int) -> npt.NDArray[Any]:
        """A view of the rows of a rank."""
        rows: npt.NDArray[Any] = self._native.part(rank).view(self.dtype)
        return rows.reshape(len(self.range(rank)), *self.shape[1:])

    @property
    def local(self) -> npt.NDArray[Any]:
        """A view of the rows of this rank."""
        return self.part(self._rank)

    def copy(self) -> npt.NDArray[Any]:
        """A copy of all rows."""
        import numpy as np

        return np.concatenate([self.part(rank) for rank in range(self._ranks)])

    def sync(self) -> RemoteCall[None]:
        """On all ranks: what each has written before, all read after it."""
        return self._own._expect_number(
            SyncCall(self._own, self), lambda: self._own._native.sync_array(self._native)
        )


class SyncCall(RemoteCall[None]):
    """Holds the array until it is over."""

    def __init__(self, own: RemoteRank, array: SharedArray) -> None:
        super().__init__(own)
        self._array = array

    def take(self, data: bytes) -> None:
        self.settle(None, None)


class ArrayCall(RemoteCall[SharedArray]):
    """Makes an array."""

    def __init__(self, own: RemoteRank, shape: tuple[int, ...], dtype: Any) -> None:
        super().__init__(own)
        self._shape = shape
        self._dtype = dtype

    def take(self, data: bytes) -> None:
        native = self._own._native.take_array(self._number)
        self.settle(SharedArray(self._own, native, self._shape, self._dtype), None)


def rows_each(shape: tuple[int, ...], ranks: int) -> int:
    """Rows of a rank; the last ones may have fewer."""
    return max(1, -(-shape[0] // ranks))


def make_array(
    own: RemoteRank, name: str, shape: int | Sequence[int], dtype: npt.DTypeLike
) -> RemoteCall[SharedArray]:
    import numpy as np

    sizes = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
    kind = np.dtype(dtype)
    if not sizes or min(sizes) < 0:
        raise Error("the shape of an array is one or more sizes from 0 on", "invalid_argument")
    if kind.hasobject:
        raise Error("a shared array holds numbers, not references to objects", "invalid_argument")
    row = kind.itemsize * math.prod(sizes[1:])
    meaning = hashlib.sha256(repr((sizes, kind.descr)).encode()).digest()
    return own._expect_number(
        ArrayCall(own, sizes, kind),
        lambda: own._native.make_array(
            name,
            row * sizes[0],
            max(1, row * rows_each(sizes, max(1, own.size))),
            int.from_bytes(meaning[:8], "little"),
        ),
    )
