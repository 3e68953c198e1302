# SPDX-License-Identifier: Apache-2.0
"""What ranks do and how they fail, the same for threads and processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from corymb.errors import Error, RankError
from corymb.team import Team, describe


@dataclass(frozen=True)
class Task:
    """The function that every rank calls."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    deadline: float
    reproducible: bool = False

    def on(self, team: Team) -> Any:
        """Calls the function; all operations of the team are done when it returns."""
        result = self.fn(team, *self.args, **self.kwargs)
        team.Free()
        return result


@dataclass(frozen=True)
class Failure:
    """How a rank has failed; `error` is missing when its process just ended."""

    rank: int
    text: str
    error: BaseException | None = None

    def is_echo(self) -> bool:
        """Whether the rank only learnt of another's failure."""
        return isinstance(self.error, Error) and self.error.code in ("team_broken", "interrupted")


def failure_of(rank: int, error: BaseException) -> Failure:
    return Failure(rank, f"rank {rank} failed: {describe(error)}", error)


def raise_first(failures: list[Failure]) -> NoReturn:
    """Raises the failure that the others follow from."""
    for failure in failures:
        if isinstance(failure.error, KeyboardInterrupt):
            raise failure.error
    first = next((failure for failure in failures if not failure.is_echo()), failures[0])
    raise RankError(first.text, first.rank) from first.error
