# SPDX-License-Identifier: Apache-2.0
"""Unmodified MPI programs with corymb's collectives: same results, and nothing hangs."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ADAPTERS, MPIS, Finished, Mpi
from limits import LIMIT_S, comes_true, scaled
from pretended_nodes import on_nodes

import corymb
import corymb.command.mpirun as mpirun_command
from corymb.command.mpi_options import place_of_program

Program = Callable[[Mpi, str], Path]
Mpirun = Callable[..., Finished]
HERE = Path(__file__).parent


@pytest.mark.parametrize(("ranks", "seed", "level"), [(2, 1, "multiple"), (3, 2, "single")])
def test_random_collectives(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int, seed: int, level: str
) -> None:
    """By their MPI_ and PMPI_ names they fill all buffers alike."""
    run = mpirun(mpi, ranks, "--explain", program(mpi, "random_collectives"), 120, seed, level)
    assert run.stdout == "120 steps, 0 differences\n", run.stderr
    assert run.returncode == 0
    taken = {line.split()[0] for line in run.stderr.splitlines() if line.endswith("  corymb")}
    assert {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Gatherv"} <= taken
    assert "only the MPI combines" not in run.stderr  # The program's operators, too.
    assert re.search(r"^  planned +bytes up to  by\n  MPI_Barrier +-  \S", run.stderr, re.M)
    assert re.search(r"^  MPI_Allreduce +\d+  [a-z0-9-]+(/|$)", run.stderr, re.M), run.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_calls_made_again(mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int) -> None:
    """What is known of a call holds for other buffers, and for nothing else."""
    run = mpirun(mpi, ranks, "--explain", program(mpi, "again"), 400, ranks)
    assert run.stdout == "400 bursts, 0 differences\n", run.stderr
    assert run.returncode == 0
    taken = {line.split()[0] for line in run.stderr.splitlines() if line.endswith("  corymb")}
    assert {"MPI_Bcast", "MPI_Exscan", "MPI_Allgather", "MPI_Reduce_scatter_block"} <= taken


@pytest.mark.parametrize("variables", [{"CORYMB_MPI": "off"}, {}], ids=["off", "always"])
def test_what_is_seldom_done(
    mpi: Mpi, program: Program, mpirun: Mpirun, variables: dict[str, str]
) -> None:
    """And allowed: what the MPI alone takes, the adapter does, too."""
    run = mpirun(mpi, 2, "--explain", program(mpi, "unusual"), **variables)
    assert run.stdout == "0 failures\n", run.stderr
    assert run.returncode == 0
    taken = {line.split()[0] for line in run.stderr.splitlines() if line.endswith("  corymb")}
    wanted = {"MPI_Alltoallv", "MPI_Alltoallw", "MPI_Scatter", "MPI_Allgather", "MPI_Bcast",
              "MPI_Allreduce"}  # fmt: skip
    assert taken == (set() if variables else wanted)


# How requests go on while the program waits in the MPI.
PROGRESS = [{}, {"CORYMB_MPI_PROGRESS": "thread"}]


@pytest.mark.parametrize("progress", PROGRESS, ids=["own", "thread"])
@pytest.mark.parametrize(("ranks", "level"), [(2, "multiple"), (3, "single")])
def test_requests(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int, level: str, progress: dict[str, str]
) -> None:
    """Every form of every operation fills all buffers as the MPI's blocking one does."""
    if progress and mpi.name == "openmpi":
        pytest.skip("Open MPI's own nonblocking reductions end by SIGSEGV in this program")
    path = program(mpi, "requests")
    run = mpirun(mpi, ranks, "--explain", path, 12, ranks, level, **progress)
    assert run.stdout == "12 rounds, 0 failures\n", run.stderr
    taken = {line.split()[0] for line in run.stderr.splitlines() if line.endswith("  corymb")}
    assert {"MPI_Iallreduce", "MPI_Ibcast", "MPI_Alltoallv"} <= taken
    assert any(name.endswith("_init") for name in taken) == mpi.has_persistent
    own_operators = "MPI: an operator that only the MPI's own threads may call"
    assert (own_operators in run.stderr) == (bool(progress) or not mpi.has_hook)


@pytest.mark.parametrize("progress", PROGRESS, ids=["own", "thread"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_nobody_is_held_up(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int, progress: dict[str, str]
) -> None:
    """Requests of a rank go on while it waits in the MPI or computes."""
    path = program(mpi, "held_up")
    run = mpirun(mpi, ranks, "--explain", path, **progress)
    assert run.stdout == "0 wrong\n", run.stderr
    assert re.search(r"MPI_Iallreduce +17 .* corymb$", run.stderr, re.M), run.stderr


def test_a_waiting_rank_keeps_mpi_going(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """A large message whose sender waits in a collective arrives."""
    run = mpirun(mpi, 3, program(mpi, "waiting"), 10)
    assert run.stdout == "10 rounds, 0 wrong\n", run.stderr


def test_what_goes_on_beside_collectives(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """One-sided operations on waiting ranks, and nonblocking calls that cross blocking ones."""
    run = mpirun(mpi, 2, program(mpi, "beside"))
    assert run.stdout == "0 wrong\n", run.stderr


def test_started_processes(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """Communicators with processes of another MPI_COMM_WORLD are left to the MPI."""
    run = mpirun(mpi, 2, "--explain", program(mpi, "spawned"))
    assert run.stdout == "0 wrong\n", run.stderr
    assert run.returncode == 0
    assert re.search(r"MPI_COMM_WORLD, 2 ranks\n.*\n( .*\n)* +MPI_Allreduce .* corymb$",
                     run.stderr, re.M), run.stderr  # fmt: skip


@pytest.mark.parametrize("variables", [{"CORYMB_MPI": "early"}, {}], ids=["tried", "always"])
def test_threads_with_communicators(
    mpi: Mpi, program: Program, mpirun: Mpirun, variables: dict[str, str]
) -> None:
    path = program(mpi, "with_threads")
    run = mpirun(mpi, 3, "--explain", path, **variables)
    assert run.stdout == "0 wrong\n", run.stderr
    assert run.returncode == 0
    assert re.search(r"MPI_Bcast .* corymb$", run.stderr, re.M), run.stderr


def test_communicators_come_and_go(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    run = mpirun(mpi, 3, "--explain", program(mpi, "many_comms"), 4)
    assert run.stdout == "4 rounds, 0 wrong\n", run.stderr
    assert "MPI: a rank has its limit of teams" in run.stderr


def test_a_program_has_most_of_what_is_limited(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    run = mpirun(mpi, 4, "--explain", program(mpi, "limits"), "teams")
    assert run.stdout.splitlines() == ["0 wrong, few descriptors, addresses left"] * 4, run.stderr
    assert "MPI: the memory of a team could not be made" in run.stderr
    assert re.search(r"^ *MPI_Allreduce .* corymb$", run.stderr, re.M), run.stderr


@pytest.mark.parametrize(("what", "ranks"), [("orders", 4), ("busy", 8)])
def test_limited_addresses_are_enough(
    mpi: Mpi, program: Program, mpirun: Mpirun, what: str, ranks: int
) -> None:
    """For a team with many operations under way, and for one team after the other."""
    run = mpirun(mpi, ranks, "--explain", program(mpi, "limits"), what, CORYMB_MPI="always")
    assert run.stdout.splitlines() == ["0 wrong"] * ranks, run.stderr
    assert "a rank cannot map" not in run.stderr
    assert "could not be made" not in run.stderr
    assert re.search(r"^ *MPI_All(reduce|toall) .* corymb$", run.stderr, re.M), run.stderr


def test_the_summary_has_bytes_of_lists(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    run = mpirun(mpi, 2, "--explain", program(mpi, "listed_bytes"))
    lines = [line.split() for line in run.stderr.splitlines() if "MPI: the first calls" in line]
    bytes_of = {name: int(count) for name, _, count, *_ in lines}
    ints = 2 * 3 * 4
    assert bytes_of == {
        "MPI_Gatherv": ints // 2, "MPI_Scatterv": ints // 2, "MPI_Allgatherv": ints,
        "MPI_Alltoall": ints, "MPI_Alltoallv": ints, "MPI_Alltoallw": ints,
        "MPI_Reduce_scatter": ints,
    }, run.stderr  # fmt: skip


def test_bytes_of_neighbours(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    run = mpirun(mpi, 2, "--explain", program(mpi, "neighbours"))
    lines = [line.split() for line in run.stderr.splitlines() if "MPI_Neighbor" in line]
    part = 3 * 4
    assert {name: int(count) for name, _, count, *_ in lines} == {
        "MPI_Neighbor_allgather": part, "MPI_Neighbor_alltoall": 2 * part,
        "MPI_Neighbor_alltoallw": 2 * part, "MPI_Neighbor_alltoallv": part,
        "MPI_Neighbor_allgatherv": part,
    }, run.stderr  # fmt: skip


@pytest.mark.parametrize("nodes", ["", "0101"], ids=["one", "two"])
def test_callbacks_of_the_programs_attributes(
    mpi: Mpi, program: Program, mpirun: Mpirun, nodes: str
) -> None:
    path = program(mpi, "callbacks")
    run = on_nodes(mpi, nodes, path) if nodes else mpirun(mpi, 4, path)
    assert run.stdout.splitlines() == ["0 wrong"] * 4, run.stderr
    assert run.returncode == 0


def test_preloaded_into_the_launcher(mpi: Mpi, program: Program) -> None:
    """Without `corymb mpirun`; the launcher hands it on to the ranks, and is no MPI program."""
    adapter = ADAPTERS / f"libcorymb-mpi-{mpi.name}.so"
    launcher = mpi.compiler.parent / "mpirun"
    run = subprocess.run(
        [launcher, *mpi.options, "-n", "2", program(mpi, "random_collectives"), "60", "1"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=mpi.environment
        | {"LD_PRELOAD": str(adapter), "CORYMB_MPI_EXPLAIN": "1", "CORYMB_MPI": "early"},
    )
    assert run.stdout == "60 steps, 0 differences\n", run.stderr
    assert run.returncode == 0
    assert re.search(r"MPI_Allreduce .* corymb$", run.stderr, re.M), run.stderr


def test_a_full_dev_shm(program: Program) -> None:
    """Teams need none of it. Nor does Open MPI; the others do not begin there, with corymb or
    without."""
    if os.geteuid() != 0:
        pytest.skip("mounting another /dev/shm needs root")
    mpi = MPIS["openmpi"]
    full = "mount -t tmpfs -o size=64k tmpfs /dev/shm && ! head -c 1m /dev/zero >/dev/shm/full"
    run = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f'{full} && exec "$@"', "sh",
         mpi.compiler.parent / "mpirun", *mpi.options, "-n", "3",
         program(mpi, "random_collectives"), "60", "1"],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
        env=mpi.environment | {"LD_PRELOAD": str(ADAPTERS / "libcorymb-mpi-openmpi.so"),
                               "CORYMB_MPI_EXPLAIN": "1", "CORYMB_MPI": "early"},
    )  # fmt: skip
    assert "60 steps, 0 differences\n" in run.stdout, run.stderr
    assert "No space left on device" in run.stderr
    assert re.search(r"MPI_Allreduce .* corymb$", run.stderr, re.M), run.stderr


def test_python(mpirun: Mpirun) -> None:
    """mpi4py calls the forms with large counts, of a library that Python loads out of sight."""
    mpi = MPIS["mpich"]
    run = mpirun(mpi, 2, "--explain", mpi.python, HERE / "with_mpi4py.py")
    assert run.stdout == "right\n" * 2, run.stderr
    assert any("MPI_Allreduce " in line and "  corymb" in line for line in run.stderr.splitlines())
    passed_on = r"MPI_Allreduce +\d+ +[1-9]\d* .* ms  MPI: the first calls"  # With their bytes.
    assert re.search(passed_on, run.stderr)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_the_faster_one_is_found(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """The first calls of an operation are tried on both, with the same results."""
    path = program(mpi, "random_collectives")
    run = mpirun(mpi, 2, "--explain", path, 120, 3, "single", CORYMB_MPI="early")
    assert run.stdout == "120 steps, 0 differences\n", run.stderr
    assert re.search(r"MPI_Barrier .* MPI: tried, to see which", run.stderr)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_a_verdict_is_checked_again(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """Eight calls more go to the MPI in each check. When checks are due, the policy's own tests
    say."""
    calls = 3000
    run = mpirun(mpi, 2, "--explain", program(mpi, "repeated"), calls, CORYMB_MPI="early")
    assert run.stdout == f"{calls} calls, 0 wrong bytes\n", run.stderr
    tried = re.search(r"MPI_Bcast +(\d+) .* MPI: tried, to see which", run.stderr)
    trials = re.search(r"^  MPI_Bcast +([1-9]\d*) +\d+ +[\d.]+ us", run.stderr, re.M)
    assert tried
    assert trials
    of_trials = 16 + 8 * (int(trials[1]) - 1)
    assert of_trials <= int(tried[1]) <= of_trials + 8, run.stderr  # One may not be over.


def test_misplaced_in_place(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """MPI_IN_PLACE for what is never in place is refused by the MPI, as without corymb."""
    run = mpirun(mpi, 2, program(mpi, "misplaced"))
    assert run.returncode == 0, run.stderr
    verdicts = [line.split()[1] for line in run.stdout.splitlines()]
    assert verdicts == 9 * ["refused"], run.stdout


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_calls_of_open_shapes(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """Calls of changing roots, sizes and places, some left to the MPI, some not."""
    run = mpirun(mpi, 2, program(mpi, "left_calls"), "mixed", 6000, CORYMB_MPI="early")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "6000 calls, 0 wrong\n"


@pytest.mark.parametrize("words", [[], ["--explain"]])
@pytest.mark.parametrize("ranks", [2, 4])
def test_calls_of_sizes_that_few_know(
    mpi: Mpi, program: Program, mpirun: Mpirun, ranks: int, words: list[str]
) -> None:
    """They are tried, all sizes together; calls that the MPI refuses on one rank are none."""
    path = program(mpi, "open_sizes")
    run = mpirun(mpi, ranks, *words, path, 3000, CORYMB_MPI="early")
    assert run.stdout == "3000 calls, 0 wrong, 600 refused\n", run.stderr
    if words and ranks <= len(os.sched_getaffinity(0)):  # Else not where the MPI's calls are long.
        found = re.findall(r"MPI_(\w+) +\d+ +any +[\d.]+ us +[\d.]+ us", run.stderr)
        assert {"Gatherv", "Scatterv", "Alltoallv", "Alltoallw"} <= set(found), run.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_calls_left_to_the_mpi(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """All calls after a trial that the MPI wins are the MPI's, and ranks stay together, also where
    one makes a call that the MPI refuses."""
    run = mpirun(mpi, 2, program(mpi, "left_calls"), "slow", 1000, CORYMB_MPI="early")
    assert run.returncode == 0, run.stderr
    assert run.stdout == (
        "trial: corymb 1, MPI 1; after it: corymb 0, MPI 1\n1000 calls, 0 wrong\n"
    )


def tried_requests(
    mpi: Mpi, program: Program, mpirun: Mpirun, how: str, calls: int
) -> tuple[int, str]:
    """How many nonblocking calls went to the MPI to see who is faster, and what came of it, by
    rank 0's summary."""
    path = program(mpi, "tried")
    run = mpirun(mpi, 2, "--explain", path, how, calls, CORYMB_MPI="early")
    assert run.stdout == f"{calls} calls, 0 wrong\n", run.stderr
    rows = re.findall(r"MPI_Iallgather +(\d+) .* (MPI: tried|MPI: it was|corymb)", run.stderr)
    assert sum(int(number) for number, _ in rows) == calls
    found = re.findall(r"MPI_Iallgather +\d+ +32767 +(not known|[\d.]+ us +[\d.]+ us)", run.stderr)
    return sum(int(number) for number, who in rows if who == "MPI: tried"), " ".join(found)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_nonblocking_calls_are_tried(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """However they are completed; and some once more where corymb has won closely."""
    tried, found = tried_requests(mpi, program, mpirun, "apart", 150)
    assert 16 <= tried <= 32
    assert all(float(time) > 0 for time in re.findall(r"[\d.]+", found))
    assert len(found.split()) == 4


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_nonblocking_calls_that_cross_are_tried(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """Where blocking calls stand among them plays no part."""
    tried, found = tried_requests(mpi, program, mpirun, "crossed", 190)
    assert tried >= 16
    assert len(found.split()) == 4


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_who_waits_for_others_is_not_slow(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """Of what needs all ranks the time counts from when the last one has come."""
    late_ms = int(scaled(30))
    words = ("late", 3 + 32 + 1, late_ms)
    run = mpirun(mpi, 2, "--explain", program(mpi, "tried"), *words, CORYMB_MPI="early")
    found = re.search(r"MPI_Barrier +\d+ +0 +([\d.]+) us +([\d.]+) us", run.stderr)
    assert found, run.stderr
    assert all(0 < float(time) < late_ms * 1000 / 2 for time in found.groups())


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_nonblocking_calls_alone_are_tried(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """Without blocking calls between them: the first rank that comes to a call decides."""
    tried, found = tried_requests(mpi, program, mpirun, "alone", 190)
    assert tried >= 16
    assert len(found.split()) == 4


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
@pytest.mark.parametrize("how", ["at_once", "kept"])
def test_a_trial_of_calls_that_are_not_over_has_no_winner(
    mpi: Mpi, program: Program, mpirun: Mpirun, how: str
) -> None:
    """Their communicator may be free before they are completed."""
    assert tried_requests(mpi, program, mpirun, how, 80) == (16, "")


def test_it_can_be_switched_off(program: Program, mpirun: Mpirun) -> None:
    mpi = MPIS["mpich"]
    path = program(mpi, "random_collectives")
    run = mpirun(mpi, 2, "--explain", path, 20, CORYMB_MPI="off")
    assert "MPI: CORYMB_MPI=off" in run.stderr
    assert not any(line.endswith("  corymb") for line in run.stderr.splitlines())


def test_a_call_that_is_refused_is_none(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    """A root's wrong call, which the others do not see, is not counted on the way to a team."""
    run = mpirun(mpi, 3, "--explain", program(mpi, "failures"), "refused")
    assert sorted(run.stdout.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(3)]
    assert re.search(r"MPI_Gather .*  corymb$", run.stderr, re.M), run.stderr


def test_errors_of_datatypes_are_of_their_communicator(
    mpi: Mpi, program: Program, mpirun: Mpirun
) -> None:
    run = mpirun(mpi, 2, program(mpi, "failures"), "uncommitted")
    assert sorted(run.stdout.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(2)]
    assert run.returncode == 0, run.stderr


def built_in_cpp(mpi: Mpi, name: str, folder: Path) -> Path:
    built = folder / name
    words = ["-x", "c++", str(HERE / f"{name}.cpp"), "-o", str(built), "-lstdc++"]
    subprocess.run([str(mpi.compiler), *words], check=True, timeout=LIMIT_S)
    return built


@pytest.mark.parametrize("always", ["always", "early"], ids=["always", "tried"])
def test_static_objects_may_end_mpi(mpi: Mpi, mpirun: Mpirun, tmp_path: Path, always: str) -> None:
    """And make collectives before, when static objects made later are gone."""
    built = built_in_cpp(mpi, "static_object", tmp_path)
    run = mpirun(mpi, 2, built, CORYMB_MPI=always)
    assert run.stdout.splitlines() == ["0 wrong"] * 2, run.stderr
    assert run.returncode == 0


def test_an_error_handler_may_throw(mpi: Mpi, mpirun: Mpirun, tmp_path: Path) -> None:
    """In a program in C++, through the MPI and the adapter."""
    built = built_in_cpp(mpi, "throwing", tmp_path)
    for always in ("always", "early"):
        run = mpirun(mpi, 2, built, CORYMB_MPI=always)
        assert sorted(run.stdout.splitlines()) == ["0 failures"] * 2, run.stderr
        assert run.returncode == 0


def test_a_call_that_others_have_made_before_is_refused(
    mpi: Mpi, program: Program, mpirun: Mpirun
) -> None:
    """The call that makes up for it is still the MPI's, as theirs was."""
    run = mpirun(mpi, 3, program(mpi, "failures"), "refused-late")
    assert sorted(run.stdout.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(3)]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each rank needs a CPU to be tried")
def test_a_call_that_is_refused_when_tried_is_none(
    mpi: Mpi, program: Program, mpirun: Mpirun
) -> None:
    """Nor does it count among those that show who is faster: ranks would take turns apart."""
    path = program(mpi, "failures")
    run = mpirun(mpi, 2, "--explain", path, "refused-often", CORYMB_MPI="early")
    assert "rank 1: 0 wrong, 0 refused\n" in run.stdout, run.stdout + run.stderr
    found = re.search(r"rank 0: 0 wrong, (\d+) refused\n", run.stdout)
    assert found, run.stdout + run.stderr
    assert re.search(r"MPI_Bcast .* MPI: tried, to see which", run.stderr), run.stderr
    # Some libraries take such types. Three calls come before any trial.
    assert int(found[1]) == 0 or int(found[1]) >= 4


@pytest.mark.parametrize("what", ["kill", "abort"])
def test_a_rank_ends_in_the_middle(mpi: Mpi, program: Program, mpirun: Mpirun, what: str) -> None:
    """The launcher does what it always does; no process stays."""
    path = program(mpi, "failures")
    run = mpirun(mpi, 3, path, what)
    assert run.returncode != 0
    assert run.returncode == mpirun(mpi, 3, path, what, CORYMB_MPI="off").returncode
    # Open MPI's daemon may end them after mpirun has ended.
    assert comes_true(lambda: not processes_of(path)), processes_of(path)


def processes_of(path: Path) -> list[int]:
    """Those that run the program at `path`."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):  # It has ended, or is another user's.
                if (folder / "exe").readlink() == path:
                    found.append(int(folder.name))
    return found


def test_calls_that_differ_are_named(mpi: Mpi, program: Program, mpirun: Mpirun) -> None:
    run = mpirun(mpi, 3, program(mpi, "failures"), "mismatch")
    assert run.returncode != 0
    assert "differ" in run.stderr
    assert "broadcast" in run.stderr


def test_errors_are_returned_where_wanted(program: Program, mpirun: Mpirun) -> None:
    mpi = MPIS["mpich"]
    run = mpirun(mpi, 2, program(mpi, "failures"), "returned")
    assert sorted(run.stdout.splitlines()) == ["rank 0 was told", "rank 1 was told"]


def test_the_adapter_of_another_abi_says_so(program: Program) -> None:
    adapter = ADAPTERS / "libcorymb-mpi-openmpi.so"
    run = subprocess.run(
        [str(program(MPIS["mpich"], "random_collectives")), "1"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=MPIS["mpich"].environment | {"LD_PRELOAD": str(adapter)},
    )
    assert run.returncode == 2
    assert "this process has no libmpi.so.40" in run.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["ls"], "not linked with a shared MPI library"),
        ([str(HERE.parents[1] / "tools/test.sh")], "is a script"),
        (["no-such-program"], "no such program"),
        ([], "no program is given"),
        ([sys.executable, "-c", ""], "cannot load mpi4py"),
    ],
)
def test_other_programs_are_refused(mpirun: Mpirun, words: list[str], text: str) -> None:
    run = mpirun(MPIS["mpich"], 2, *words)
    assert run.returncode == 2
    assert text in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_without_words_it_says_how_it_is_used() -> None:
    command = [sys.executable, "-m", "corymb", "mpirun"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert run.returncode == 2
    assert run.stderr.startswith("usage: corymb mpirun")
    assert run.stdout == ""


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (["-n", "4", "app", "-n"], 2),
        (["-x", "A=1", "--bind-to", "core", "app"], 4),
        (["-genv", "A", "1", "-l", "app"], 4),
        (["-n", "4", "--", "-app"], 3),
        (["-n", "4"], 2),
        (["-npernode", "2", "app"], 2),
        (["-pernode", "app", "input"], 1),
        (["--display", "map", "--output-filename", "here", "app"], 4),
        (["-unknown", "value", "-n", "2", "--", "app"], 5),
        (["-n", "2", "sh", "-c", "--", "true"], 2),
    ],
)
def test_the_program_is_found_among_options(words: list[str], at: int) -> None:
    assert place_of_program(words) == at


def test_the_program_is_found_in_the_folder_that_it_is_started_in(
    program: Program, mpirun: Mpirun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built = program(MPIS["mpich"], "again")
    monkeypatch.chdir(tmp_path)
    run = mpirun(MPIS["mpich"], 1, "-wdir", built.parent, f"./{built.name}", 1, 1)
    assert run.returncode == 0, run.stderr


def test_the_launcher_on_the_path_is_of_the_programs_mpi(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where several MPIs are installed, as Debian has it, none lies beside its library."""
    said = {"mpirun": "mpirun (Open MPI) 4.1.4", "mpiexec.hydra": "HYDRA build details:"}
    for name, text in said.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{text}'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    def launcher(name: str) -> str:
        return mpirun_command.launcher_for(None, name, tmp_path / "lib" / "libmpi.so")

    assert launcher("mpich") == str(tmp_path / "mpiexec.hydra")
    assert launcher("openmpi") == str(tmp_path / "mpirun")
    assert launcher("standard") == str(tmp_path / "mpirun")  # Of any.
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "mpiexec.hydra").unlink()
    with pytest.raises(corymb.Error, match="--mpirun"):
        launcher("mpich")
