# SPDX-License-Identifier: Apache-2.0
"""`corymb.Team`: one rank's handle on its team, with mpi4py's names.

>>> import corymb
>>> from array import array
>>> def total(team):
...     mine, sums = array("d", [team.rank, 1.0]), array("d", [0.0, 0.0])
...     team.Allreduce(mine, sums)
...     return list(sums)
>>> corymb.run(total, 3, threads=True)
[[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

from corymb import _core
from corymb._core import StopSource
from corymb.objects import ObjectMethods

Limits = tuple[float, StopSource | None]


class Team(ObjectMethods):
    """One rank's handle on its team. One thread at a time uses it.

    All ranks call the same operations in the same order, with the same root, counts and types. The
    methods in capitals take buffers, those in lower case any object that pickle takes. Blocking
    calls release the interpreter lock, and Ctrl-C ends them with KeyboardInterrupt, which breaks
    the team. A team that is broken raises `corymb.Error`; `shrink` makes a new one.

    As a context manager it gives the team back at the end, and breaks it when an exception leaves
    the block, so that the other ranks do not wait.
    """

    _limits: Limits = (0.0, None)

    def Get_rank(self) -> int:  # noqa: N802
        """This rank's number, as `rank`."""
        return self.rank

    def Get_size(self) -> int:  # noqa: N802
        """The number of ranks, as `size`."""
        return self.size

    def Split(self, color: int = 0, key: int = 0) -> Team | None:  # noqa: N802
        """Collective: ranks of equal color form a new team, ordered by (key, rank).

        A negative color (`corymb.UNDEFINED`) gives None.
        """
        part = self.native_split(color, key)
        return Team(part) if part.size else None

    def Dup(self) -> Team:  # noqa: N802
        """Collective: a new team of the same ranks, with messages and operations of its own."""
        return Team(self.native_split(0, self.rank))

    def shrink(self) -> Team:
        """After a failure: a new team of the ranks that call this, in their old order.

        Ranks that have ended are not waited for, others until the deadline.
        """
        return Team(self.native_shrink())

    def warm_up(self, op: str, nbytes: int = 8, root: int = 0, ordered: bool = False) -> None:
        """Collective: search for the best plan of a kind of calls at once.

        Blocking calls of the kind run with it from the next one on. Without this they begin with a
        plan that is made at once, and go over to the best one when they have taken as long as the
        search. `op` is an operation such as "allreduce", `nbytes` the bytes of a part; `ordered`
        says that operands are combined in rank order. Raises `corymb.Error` for an unknown
        operation or a root out of range.
        """
        self.native_warm_up(op, nbytes, root, ordered)

    def limits(
        self, *, deadline: float = 0.0, stop: StopSource | None = None
    ) -> AbstractContextManager[None]:
        """From now on this rank's operations have these limits in place of the team's.

        `deadline` is the longest wait of an operation in seconds; 0 stands for the team's. When
        `stop.request_stop()` is called, by any thread, this rank's operation ends. An operation
        that a limit ends raises `corymb.Error` with the code "timeout" or "interrupted", and breaks
        the team. So does a stop between two operations. As a context manager it gives the limits
        from before back at the end of the block.
        """
        self.native_set_limits(deadline, stop)
        before, self._limits = self._limits, (deadline, stop)
        return self._limited(before)

    @contextmanager
    def _limited(self, before: Limits) -> Iterator[None]:
        try:
            yield
        finally:
            self._limits = before
            if self.size:  # Else the team was given back in the block.
                self.native_set_limits(*before)

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.Free()
        else:
            self.abandon(describe(error))

    def __repr__(self) -> str:
        return f"<corymb.Team rank {self.rank} of {self.size}>"


def describe(error: BaseException) -> str:
    """One line about an exception, for the other ranks."""
    try:
        text = str(error).strip().split("\n")[0]
    except Exception:
        text = "(its text cannot be had)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def attach(
    name: str = "",
    size: int = 0,
    rank: int = -1,
    *,
    descriptor: int = -1,
    patience: float = 0.0,
    deadline: float = 0.0,
    reproducible: bool = False,
    levels: str = "",
    objective: str = "",
) -> Team:
    """This process becomes one rank of a team of processes; returns when all are there.

    Without arguments it is the team of `corymb run`, `python -m corymb.run` or `corymb.run`.
    Processes that give the same `name` and `size` meet without a launcher. `descriptor` is one of
    `make_team_descriptor` that this process has inherited. `patience` is how many seconds to wait
    for the other processes (0: $CORYMB_PATIENCE, or 60), `deadline` the longest wait of an
    operation (0: $CORYMB_DEADLINE, or 300). With `reproducible`, which all ranks give, reductions
    and scans combine in an order that depends on the ranks' numbers alone: floating-point results
    are bitwise equal on every machine. `levels` names the levels of the
    machine that plans may follow, as in `Machine.with_levels` ("": $CORYMB_LEVELS, or the model's
    own). `objective` is what plans are searched for: "median", or "p99", the tail under the noise
    that `corymb doctor --noise` has recorded ("": $CORYMB_OBJECTIVE, or "median").
    """
    return Team(
        _core.attach(
            name=name,
            size=size,
            rank=rank,
            descriptor=descriptor,
            patience=patience,
            deadline=deadline,
            reproducible=reproducible,
            levels=levels,
            objective=objective,
        )
    )
