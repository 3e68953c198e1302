# SPDX-License-Identifier: Apache-2.0
"""What ranks do and how they fail, the same for threads and processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from corymb.errors import Error, RankError
from corymb.team import Team, describe

__all__ = ["Asked", "Failure", "Task", "describe", "failure_of", "is_echo", "raise_first"]


@dataclass(frozen=True)
class Task:
    """The function that every rank calls."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    deadline: float
    reproducible: bool = False
    patience: float = 0.0
    levels: str = ""
    objective: str = ""

    def on(self, team: Team) -> Any:
        """Calls the function; all operations of the team are done when it returns."""
        process = os.getpid()
        result = self.fn(team, *self.args, **self.kwargs)
        if os.getpid() == process:
            team.Free()
        return result


class Asked(SystemExit):
    """This rank was asked to end, since another has failed."""


@dataclass(frozen=True)
class Failure:
    """How a rank has failed; `error` is missing when its process just ended."""

    rank: int
    text: str
    error: BaseException | None = None
    echo: bool = False
    """The rank only learnt of another's failure."""


def is_echo(error: BaseException) -> bool:
    """Whether it says that another rank has failed."""
    broken = isinstance(error, Error) and error.code in ("team_broken", "interrupted")
    return broken or isinstance(error, Asked)


def failure_of(rank: int, error: BaseException) -> Failure:
    return Failure(rank, f"rank {rank} failed: {describe(error)}", error, is_echo(error))


def raise_first(failures: list[Failure]) -> NoReturn:
    """Raises the failure that the others follow from."""
    for failure in failures:
        if isinstance(failure.error, KeyboardInterrupt):
            raise failure.error
    first = next((failure for failure in failures if not failure.echo), failures[0])
    raise RankError(first.text, first.rank) from first.error
