# SPDX-License-Identifier: Apache-2.0
"""Teams of threads for the tests of corymb.Team."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import corymb
from corymb import Team

N = 3


def on_threads(fn: Callable[..., Any], n: int = N, **options: Any) -> list[Any]:
    return corymb.run(fn, n, threads=True, **options)


def inputs(dtype: str, count: int, seed: int, ranks: int = N) -> Any:
    """[rank, element]; small whole numbers, so that every order of combining is exact."""
    numbers = np.random.default_rng(seed).integers(0, 4, (ranks, count))
    return numbers.astype(dtype)


def in_form(team: Team, form: str, name: str, *arguments: Any, starts: int = 1) -> None:
    """One operation: blocking, nonblocking, or persistent and started `starts` times."""
    if form == "blocking":
        getattr(team, name)(*arguments)
    elif form == "nonblocking":
        request = getattr(team, f"I{name.lower()}")(*arguments)
        assert request.active
        request.Wait()
    else:
        request = getattr(team, f"{name}_init")(*arguments)
        for _ in range(starts):
            request.Start()
            request.Wait()
        assert request.persistent
