# SPDX-License-Identifier: Apache-2.0
"""Operators that Python functions define: corymb.Op."""

from __future__ import annotations

import gc
import weakref
from array import array
from typing import Any

import numpy as np
import pytest
import run_bodies
from thread_ranks import N, in_form, on_threads

import corymb
from corymb import Op, Team


def products(inbuf: memoryview, inoutbuf: memoryview, datatype: Any) -> None:
    """Of 2 x 2 matrices: the order matters."""
    left, right = np.frombuffer(inbuf).reshape(-1, 2, 2), np.frombuffer(inoutbuf).reshape(-1, 2, 2)
    right[:] = left @ right


@pytest.mark.parametrize("form", ["blocking", "nonblocking", "persistent"])
def test_every_form_takes_one(form: str) -> None:
    op = Op.Create(run_bodies.gcds, commute=True)
    assert op.Is_commutative()

    def body(team: Team) -> None:
        mine, out = array("q", [12 * (team.rank + 1), 7]), array("q", [0, 0])
        in_form(team, form, "Allreduce", mine, out, op, starts=3)
        assert list(out) == [12, 7]

    on_threads(body)


def test_an_owner_whose_method_is_one_is_collected() -> None:
    class Model:
        def __init__(self) -> None:
            self.op = Op.Create(self.combine)

        def combine(self, inbuf: memoryview, inoutbuf: memoryview, datatype: Any) -> None:
            products(inbuf, inoutbuf, datatype)

    model = Model()
    gone = weakref.ref(model)
    gc.collect()
    assert not model.op.Is_commutative()
    del model
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_order_of_ranks_is_kept(ranks: int) -> None:
    matrices = np.random.default_rng(5).integers(-2, 3, (ranks, 50, 2, 2)).astype("f8")
    up_to = [matrices[0]]
    for matrix in matrices[1:]:
        up_to.append(up_to[-1] @ matrix)
    # A matrix is one element: a number of it alone could not be combined.
    element = np.dtype([("m", "f8", (2, 2))])

    def body(team: Team) -> None:
        op = Op.Create(products)
        mine = matrices[team.rank].reshape(-1, 4).view(element).ravel()
        out = np.zeros(50, element)
        team.Allreduce(mine, out, op)
        assert (out["m"] == up_to[-1]).all()
        team.Scan(mine, out, op)
        assert (out["m"] == up_to[team.rank]).all()
        team.Reduce(mine, out if team.rank == 1 else None, op, 1)
        assert team.rank != 1 or (out["m"] == up_to[-1]).all()

    on_threads(body, ranks)


def test_what_the_function_is_given() -> None:
    seen: list[Any] = []

    def look(inbuf: memoryview, inoutbuf: memoryview, datatype: Any) -> None:
        seen.append((inbuf.format, inbuf.readonly, inoutbuf.readonly, len(inbuf), datatype))

    def body(team: Team) -> None:
        op = Op.Create(look)
        team.Allreduce(array("f", [1.0] * 3), array("f", [0.0] * 3), op)
        team.Allreduce(np.zeros(3, "f2"), np.zeros(3, "f2"), op)
        team.Allreduce(np.zeros(3, "S5"), np.zeros(3, "S5"), op)

    on_threads(body, 2)
    assert set(seen) == {
        ("f", True, False, 3, corymb.FLOAT),
        ("B", True, False, 6, corymb.FLOAT16),
        ("B", True, False, 15, None),
    }


def test_the_function_may_keep_what_it_was_given() -> None:
    kept: list[memoryview] = []

    def keep(inbuf: memoryview, inoutbuf: memoryview, datatype: Any) -> None:
        kept.extend((inbuf, inoutbuf))

    def body(team: Team) -> None:
        team.Allreduce(array("q", [team.rank]), array("q", [0]), Op.Create(keep))

    on_threads(body, 2)
    assert {view[0] for view in kept} <= {0, 1}


def test_objects() -> None:
    def longer(a: str, b: str, datatype: None) -> str:
        assert datatype is None
        return a if len(a) >= len(b) else b

    def body(team: Team) -> None:
        assert team.allreduce("ab" * team.rank, Op.Create(longer)) == "ab" * (N - 1)

    on_threads(body)


def test_what_it_raises_leaves_the_operation_and_breaks_the_team() -> None:
    def refuse(inbuf: memoryview, inoutbuf: memoryview, datatype: Any) -> None:
        raise ValueError("not these")

    def body(team: Team) -> type[BaseException]:
        op = Op.Create(refuse)
        try:
            team.Allreduce(array("q", [1]), array("q", [0]), op)
        except Exception as error:
            return type(error)
        return type(None)

    kinds = on_threads(body)
    assert ValueError in kinds
    assert set(kinds) <= {ValueError, corymb.Error}


def test_wrong_use_is_refused() -> None:
    def body(team: Team) -> None:
        op = Op.Create(run_bodies.gcds)
        op.Free()
        for wrong in (op, None, run_bodies.gcds):
            with pytest.raises((corymb.Error, TypeError)):
                team.Allreduce(array("q", [1]), array("q", [0]), wrong)  # type: ignore[arg-type]
        with pytest.raises(corymb.Error, match="freed"):
            op(1, 2)
        total = array("q", [0])
        team.Allreduce(array("q", [1]), total)
        assert total[0] == N

    on_threads(body)
    with pytest.raises(TypeError):
        Op.Create(3)  # type: ignore[arg-type]


def test_among_processes() -> None:
    assert corymb.run(run_bodies.reduce_by_own_operator, 2) == [6, 6]


@pytest.mark.parametrize("form", ["blocking", "nonblocking", "persistent"])
def test_without_a_promise_vectors_come_whole(form: str) -> None:
    on_threads(run_bodies.whole_vectors, N, args=(form,))


def test_among_processes_vectors_come_whole() -> None:
    corymb.run(run_bodies.whole_vectors, 3)
