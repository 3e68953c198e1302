# SPDX-License-Identifier: Apache-2.0
"""The Python API: the same contracts as the C++ headers."""

from __future__ import annotations

import gc
import json
import pickle
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import SMELT
from hypothesis import given, settings
from hypothesis import strategies as st

import corymb
from corymb import study


@pytest.fixture(scope="module")
def smelt() -> corymb.Machine:
    return corymb.Machine.gallery(SMELT)


def latency_csv(matrix: np.ndarray) -> str:  # type: ignore[type-arg]
    count = len(matrix)
    rows = ["cpu," + ",".join(map(str, range(count)))]
    rows += [f"{i}," + ",".join(f"{value:.1f}" for value in matrix[i]) for i in range(count)]
    return "\n".join(rows) + "\n"


def test_gallery() -> None:
    names = corymb.gallery_names()
    assert names == sorted(names)
    assert len(names) >= 19
    assert SMELT in names


def test_unknown_machine_proposes_one() -> None:
    with pytest.raises(corymb.Error, match="ryzen-5950x-1s-32t") as caught:
        corymb.Machine.gallery("ryzen-5950x-1s-32")
    assert caught.value.code == "unknown_name"


CLASSES = {
    "invalid_argument": (corymb.InvalidArgumentError, ValueError),
    "unknown_name": (corymb.UnknownNameError, LookupError),
    "invalid_model": (corymb.InvalidModelError, ValueError),
    "stale_model": (corymb.StaleModelError, RuntimeError),
    "invalid_plan": (corymb.InvalidPlanError, ValueError),
    "io": (corymb.FileError, OSError),
    "unsupported": (corymb.UnsupportedError, RuntimeError),
    "timeout": (corymb.TimeoutError, TimeoutError),
    "team_broken": (corymb.TeamBrokenError, RuntimeError),
    "interrupted": (corymb.InterruptError, RuntimeError),
    "mismatch": (corymb.MismatchError, RuntimeError),
    "deadlock": (corymb.DeadlockError, RuntimeError),
    "internal": (corymb.InternalError, RuntimeError),
}


def test_every_code_of_the_library_has_a_class() -> None:
    header = (Path(__file__).parents[2] / "include" / "corymb" / "error.hpp").read_text()
    body = re.search(r"enum class Errc \{(.*?)\};", header, re.DOTALL)
    assert body is not None
    assert re.findall(r"^    (\w+),", body[1], re.MULTILINE) == list(CLASSES)


@pytest.mark.parametrize("code", CLASSES)
def test_errors_are_selected_by_class(code: str) -> None:
    chosen, usual = CLASSES[code]
    for error in (one := corymb.Error("late", code, [3]), pickle.loads(pickle.dumps(one))):
        assert type(error) is chosen
        assert isinstance(error, corymb.Error)
        assert isinstance(error, usual)
        assert (str(error), error.args, error.code, error.ranks) == ("late", ("late",), code, [3])


def test_errors_of_the_library_have_their_class(tmp_path: Path) -> None:
    with pytest.raises(corymb.UnknownNameError):
        corymb.Machine.gallery("none")
    with pytest.raises(OSError, match=r"none\.json"):
        corymb.Machine.load(tmp_path / "none.json")
    with pytest.raises(corymb.InvalidModelError):
        corymb.Machine.from_json("{}")


def test_json_round_trip(smelt: corymb.Machine, tmp_path: Path) -> None:
    again = corymb.Machine.from_json(smelt.to_json())
    assert again.sha256() == smelt.sha256()
    smelt.save(tmp_path / "m.json")
    assert corymb.Machine.load(tmp_path / "m.json").sha256() == smelt.sha256()


def test_matrices_are_views(smelt: corymb.Machine) -> None:
    assert smelt.send is not None
    assert smelt.send.shape == (20, 20)
    assert not smelt.send.flags.writeable
    first, second = smelt.send, smelt.send
    assert first.ctypes.data == second.ctypes.data
    machine = corymb.Machine.gallery("m1-ultra-20c")
    view = machine.receive
    assert view is not None
    expected = float(view[0, 1])
    del machine
    gc.collect()
    assert float(view[0, 1]) == expected  # the view keeps the machine


def test_costs_follow_matrix_and_assumption() -> None:
    machine = corymb.Machine.gallery("ryzen-5950x-1s-32t")
    send, receive = machine.send_costs(), machine.receive_costs()
    off = ~np.eye(32, dtype=bool)
    assert np.isnan(np.diag(send)).all()
    np.testing.assert_allclose(send[off], 0.28 * receive[off], rtol=1e-5)


def test_class_matrix_and_class_of(smelt: corymb.Machine) -> None:
    classes = np.asarray(smelt.class_matrix())
    group = smelt.group
    assert smelt.class_of(0, 15) == classes[group[0], group[15]]
    with pytest.raises(IndexError):
        smelt.class_of(0, 20)
    with pytest.raises(IndexError):
        smelt.class_of(-1, 2)


def test_plan_round_trip_and_hash(smelt: corymb.Machine) -> None:
    choice = corymb.make_plan(smelt, "broadcast", root=0)
    plan = corymb.Plan.from_json(choice.plan.to_json())
    assert plan == choice.plan
    assert plan.hash() == choice.plan.hash()
    assert hash(plan) == hash(choice.plan)
    plan.check()
    assert len(plan) == len(plan.steps) == 20


def test_choice_json_is_a_plan(smelt: corymb.Machine) -> None:
    choice = corymb.make_plan(smelt, "reduce", root=3)
    assert corymb.Plan.from_json(choice.to_json(smelt)) == choice.plan
    assert json.loads(choice.to_json(smelt))["model_sha256"] == smelt.sha256()


def test_wrong_plan_has_its_rank(smelt: corymb.Machine) -> None:
    value = json.loads(corymb.make_plan(smelt, "broadcast", root=0).plan.to_json())
    victim = next(r for r, steps in enumerate(value["steps"]) if len(steps) == 1)
    value["steps"][victim] = []
    with pytest.raises(corymb.Error) as caught:
        corymb.Plan.from_json(json.dumps(value)).check()
    assert caught.value.code == "invalid_plan"
    assert caught.value.ranks


def test_simulation_has_activities(smelt: corymb.Machine) -> None:
    choice = corymb.make_plan(smelt, "allreduce")
    plain = corymb.simulate(choice.plan, smelt)
    assert plain.activities == []
    timeline = corymb.simulate(choice.plan, smelt, activities=True)
    assert timeline.simulated_on == SMELT
    assert timeline.makespan == timeline.finish.max() == pytest.approx(choice.predicted)
    for steps, table in zip(choice.plan.steps, timeline.activities, strict=True):
        assert table.shape == (len(steps), 4)
        assert (table[:, 1] <= table[:, 2]).all()
        assert (table[:, 2] <= table[:, 3]).all()


def test_bad_arguments(smelt: corymb.Machine) -> None:
    with pytest.raises(corymb.Error) as caught:
        corymb.make_plan(smelt, "gathre")
    assert caught.value.code == "unknown_name"
    with pytest.raises(corymb.Error) as caught:
        corymb.make_plan(smelt, "reduce", root=99)
    assert caught.value.code == "invalid_argument"
    with pytest.raises(corymb.Error) as caught:
        corymb.make_plan(smelt, "reduce", placement=[0, 99])
    assert caught.value.code == "invalid_argument"
    with pytest.raises(ValueError, match="unit"):
        corymb.Machine.import_latency_csv("cpu,0\n0,0\n", "x", "furlongs")


def test_planning_releases_the_interpreter(smelt: corymb.Machine) -> None:
    """While one thread plans, another one runs Python."""
    machine = corymb.Machine.gallery("epyc-7742-2s-256t")
    thread = threading.Thread(target=corymb.make_plan, args=(machine, "broadcast"))
    thread.start()
    ticks = 0
    while thread.is_alive() and ticks < 10_000:
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 10


def test_measure_can_be_stopped_by_its_callback() -> None:
    if corymb.usable_cpus().count() < 2:
        pytest.skip("one CPU: there is nothing to measure")
    calls: list[tuple[float, str]] = []

    def stop(done: float, what: str) -> bool:
        calls.append((done, what))
        return len(calls) < 3

    with pytest.raises(corymb.Error) as caught:
        corymb.measure(budget_s=30, progress=stop)
    assert caught.value.code == "interrupted"
    assert all(0 <= done <= 1 for done, _ in calls)


def test_exceptions_of_the_callback_come_back() -> None:
    if corymb.usable_cpus().count() < 2:
        pytest.skip("one CPU: there is nothing to measure")

    def fail(_: float, __: str) -> None:
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        corymb.measure(budget_s=30, progress=fail)


@pytest.mark.parametrize("op", study.OPERATIONS)
@pytest.mark.parametrize("ranks", [2, 3])
def test_plans_run_and_give_right_results(smelt: corymb.Machine, op: str, ranks: int) -> None:
    choice = corymb.make_plan(smelt, op, placement=list(range(ranks)), bytes=64)
    result = corymb.run_plan(choice.plan, repetitions=200, bytes=64)
    assert result["wrong"] == 0
    assert result["entry"].shape == result["exit"].shape == (ranks, 200)
    assert (result["exit"] >= result["entry"]).all()
    if op == "barrier":  # nobody leaves before everybody has come
        assert (result["exit"].min(axis=0) >= result["entry"].max(axis=0)).all()


def test_parts_and_flags(smelt: corymb.Machine) -> None:
    choice = corymb.make_plan(smelt, "alltoall", placement=[0, 1, 2], bytes=4096, keeps_parts=True)
    value = json.loads(choice.to_json(smelt))
    assert value["parts"] == value["ranks"] == 3
    assert value["scratch_blocks"] == 0
    assert "bruck" not in choice.portfolio
    choice = corymb.make_plan(smelt, "allreduce", placement=list(range(5)), reproducible=True)
    assert set(choice.portfolio) == {"canonical"}


def test_run_refuses_a_wrong_plan(smelt: corymb.Machine) -> None:
    value = json.loads(corymb.make_plan(smelt, "broadcast", placement=[0, 1]).plan.to_json())
    value["steps"][0], value["steps"][1] = [], []
    with pytest.raises(corymb.Error) as caught:
        corymb.run_plan(corymb.Plan.from_json(json.dumps(value)))
    assert caught.value.code == "invalid_plan"


def test_usable_cpus_and_permissions() -> None:
    usable = corymb.usable_cpus()
    assert 1 <= usable.count() <= len(usable.allowed)
    assert all(row.name and row.detail for row in corymb.probe_permissions())


@settings(max_examples=40)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1), st.sampled_from(corymb.OPERATIONS))
def test_random_machines(count: int, seed: int, op: str) -> None:
    """Every plan on any machine is proven, above its bound, and predicted as simulated."""
    random = np.random.default_rng(seed)
    matrix = random.uniform(5, 500, (count, count)).round(1)
    np.fill_diagonal(matrix, 0)
    machine = corymb.Machine.import_latency_csv(latency_csv(matrix), "random", "ns")
    choice = corymb.make_plan(machine, op, seed=seed, moves=1000)
    choice.plan.check()
    makespan = corymb.simulate(choice.plan, machine, placement=choice.placement).makespan
    assert makespan == pytest.approx(choice.predicted)
    assert choice.lower_bound(machine)[0] <= choice.predicted * (1 + 1e-9)
    assert min(choice.portfolio.values()) == pytest.approx(choice.predicted)


def test_plans_for_any_length_and_channels() -> None:
    """What a team asks of a plan source, a program can ask of the planner."""
    machine = corymb.Machine.gallery("epyc-7742-2s-256t")
    ranks = list(range(4))
    of_one = corymb.make_plan(machine, "allgather", placement=ranks, bytes=65536)
    of_any = corymb.make_plan(machine, "allgather", placement=ranks, bytes=65536, any_length=True)
    assert json.loads(of_one.to_json(machine))["bytes_max"] == 65536
    assert json.loads(of_any.to_json(machine))["bytes_max"] == 2**48
    whole = corymb.make_plan(
        machine, "broadcast", placement=ranks, root=0, bytes=1 << 20, one_block=True
    )
    assert json.loads(whole.plan.to_json())["block_count"] == 1
    with pytest.raises(corymb.Error, match="cells"):
        corymb.make_plan(machine, "barrier", placement=ranks, cell_slots=1)
    every = corymb.make_plan(machine, "barrier", placement=ranks, exhaustive=True).portfolio
    usual = corymb.make_plan(machine, "barrier", placement=ranks).portfolio
    assert set(every) > set(usual)


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=60), st.binary(max_size=60).map(lambda b: b.decode("latin1"))))
def test_hostile_text_raises_our_error(text: str) -> None:
    for read in (corymb.Machine.from_json, corymb.Plan.from_json):
        with pytest.raises(corymb.Error):
            read(text)
