# SPDX-License-Identifier: Apache-2.0
"""`corymb.run(fn, n)` calls a function on every rank of a new team.

`python -m corymb.run -n 2 script.py` is the same for a script.

>>> import corymb
>>> corymb.run(lambda team: team.allreduce(team.rank), 4, threads=True)
[6, 6, 6, 6]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from corymb.errors import Error
from corymb.run.ranks import Task
from corymb.run.threads import run_threads

__all__ = ["run"]


def run(
    fn: Callable[..., Any],
    n: int,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    threads: bool = False,
    start_method: str = "spawn",
    patience: float = 0.0,
    deadline: float = 0.0,
    reproducible: bool = False,
    levels: str = "",
    objective: str = "",
) -> list[Any]:
    """Calls `fn(team, *args, **kwargs)` on each of `n` ranks; returns their results by rank.

    The ranks are processes that `multiprocessing` starts in the given way: with "spawn" `fn`, the
    arguments and the results must be picklable, and a script needs `if __name__ == "__main__":`.
    With `threads=True` they are threads of this process, rank 0 the calling one.

    If a rank fails, the others' operations fail at once, and `corymb.RankError` is raised here: its
    text and `ranks` name the rank, its `__cause__` is the exception. A process that is killed or
    leaves counts as a failure. Processes end in order (output, `atexit`), also when a rank fails;
    one that does not react within 2 seconds is asked to end by SIGTERM, then killed. None is left
    when this returns or raises, KeyboardInterrupt included.

    `patience` is how many seconds ranks wait for each other at the start (0: $CORYMB_PATIENCE, or
    60), `deadline` the longest wait of an operation (0: $CORYMB_DEADLINE, or 300). With
    `reproducible` reductions and scans combine in an order that depends on the ranks' numbers
    alone: floating-point results are bitwise equal on every machine. `levels` names the levels of
    the machine that plans may follow, as in `Machine.with_levels` ("": $CORYMB_LEVELS, or the
    model's own). `objective` is what plans are searched for: "median", or "p99", the tail under the
    noise that `corymb doctor --noise` has recorded ("": $CORYMB_OBJECTIVE, or "median").
    """
    if n < 1:
        raise Error(f"a team has 1 rank or more, not {n}", "invalid_argument")
    settings = (deadline, reproducible, patience, levels, objective)
    task = Task(fn, tuple(args), dict(kwargs or {}), *settings)
    if threads:
        return run_threads(task, n)
    from corymb.run.processes import run_processes  # Here, so that `import corymb` stays light.

    return run_processes(task, n, start_method)
