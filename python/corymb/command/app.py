# SPDX-License-Identifier: Apache-2.0
"""The typer application and the one place where errors become a line and an exit status."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

import corymb
from corymb.command.console import room, say_error, say_kept
from corymb.command.extras import remedy
from corymb.command.lazy import Command, Group, group_class
from corymb.troubleshooting import place

FAILED, USAGE, INTERRUPTED = 1, 2, 130
USAGE_CODES = {"invalid_argument", "unknown_name"}

COMMANDS: tuple[Command | Group, ...] = (
    Command("map", "map",
            "Show how long each core takes to hand a message to each other core."),
    Command("machines", "machines", "List the machines of the gallery, or draw one."),
    Command("plan", "plan",
            "Plan an operation on a machine model; every plan is proven before it is shown."),
    Group("sim", "Simulate plans, messages, multicast or noise on a machine model.", (
        Command("plan", "sim_plan",
                "Check a plan, then replay it on a machine model. A wrong plan is refused."),
        Command("messages", "sim_messages",
                "Simulate mailboxes, by each protocol, between rank 0 and the others."),
        Command("multicast", "sim_multicast",
                "Simulate acknowledged multicast by each topology, over the size of the group."),
        Command("noise", "sim_noise",
                "Simulate phases of computing and an operation under noise, in each form of call."),
    )),
    Group("cluster", "Simulated studies of plans for several nodes.", (
        Command("regret", "cluster",
                "Simulate the choice of schemes on random clusters beside the best scheme of each.",
                "regret"),
        Command("scale", "cluster",
                "Time planning, and weigh plans, for up to a million ranks.", "scale"),
    )),
    Command("compare", "compare",
            "Compare the choice with one algorithm for everything. All times are simulated."),
    Group("bench", "Measure corymb beside other ways, alternating in one run.", (
        Command("collectives", "bench_collectives",
                "Time corymb, the raw floor and other libraries, alternating in one run."),
        Command("messages", "bench_messages",
                "Time mailboxes and broadcast rings beside other queues."),
        Command("multicast", "bench_multicast",
                "Time acknowledged multicast beside plain ways, over the size of the group."),
        Command("calls", "bench_calls",
                "Time a call of another thread beside other ways, and how small work for one may "
                "be."),
        Command("waiting", "bench_waiting",
                "Measure where waiting costs more than in the simplest code that a user would "
                "write."),
        Command("prediction", "bench_prediction",
                "Compare simulated times of good and bad plans with measured ones."),
        Command("peers", "bench_peers",
                "Time corymb beside MPI libraries, which `make bench-peers` in the sources "
                "installs."),
    )),
    Command("trace", "trace",
            "Show the groups of running processes: members, states, sequence numbers, who is "
            "behind."),
    Command("partition", "partition",
            "Divide the vertices of a graph into parts of equal weight with few edges between "
            "them."),
    Command("report", "report",
            "Write heat maps, plans, timeline, bench curves and stragglers into one HTML file."),
    Command("cache", "cache",
            "Show what is kept for later programs: the measured model and plans that were searched "
            "for."),
    Command("demo", "demo",
            "Measure this machine, plan on it, prove and run the plans, compare, write a report."),
    Command("doctor", "doctor",
            "Say what this machine or container permits, and what to do about the rest."),
    Command("run", "run", "Start processes that form one team."),
    Command("mpirun", "mpirun", "Start an MPI program with corymb's collectives."),
)  # fmt: skip

app = typer.Typer(
    name="corymb",
    cls=group_class(COMMANDS),
    help="Measure how the cores of this machine talk, plan group communication, run the plan.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: corymb demo. Exit status: 0 done, 1 failed, 2 usage, 130 Ctrl-C.",
)


if "width" in room():
    from typer import rich_utils

    rich_utils.MAX_WIDTH = room()["width"]  # For the texts of --help.


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"corymb {corymb.__version__}")
        raise typer.Exit(0)


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say it and leave."),
    ] = False,
) -> None:
    del version


def _status_of(error: corymb.Error) -> int:
    if error.code == "interrupted":
        return INTERRUPTED
    return USAGE if error.code in USAGE_CODES else FAILED


def _interrupted() -> int:
    """Leaves at once: a planning thread that is still running has nothing to clean up."""
    say_error("interrupted")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


def _internal(error: Exception) -> int:
    """A mistake of ours: still one line; $CORYMB_DEBUG shows where."""
    if os.environ.get("CORYMB_DEBUG"):
        raise error
    text = f"{type(error).__name__}: {error}"
    say_error(f"internal error, please report it: {text} (CORYMB_DEBUG=1 shows where)")
    return FAILED


def run(arguments: list[str]) -> int:
    """Runs the command and returns its exit status; prints one line for every error."""
    try:
        if arguments[:1] in (["run"], ["mpirun"]):  # Before typer, which would take `--` away.
            import_module(f"corymb.command.{arguments[0]}").become(arguments[1:])
            return 0
        result = typer.main.get_command(app).main(
            arguments, prog_name="corymb", standalone_mode=False
        )
        sys.stdout.flush()
        say_kept()
    except corymb.Error as error:
        say_error(str(error) + (f" ({place(error.heading)})" if error.heading else ""))
        return _status_of(error)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:
        # The reader of stdout has left (`corymb map | head`); nothing to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except MemoryError as error:
        detail = str(error).replace("std::bad_alloc", "")
        say_error(f"not enough memory{': ' if detail else ''}{detail}; see ulimit -v and free")
        return FAILED
    except OSError as error:
        say_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return FAILED
    except ModuleNotFoundError as error:
        text = remedy(error)
        if text is None:
            return _internal(error)
        say_error(text)
        return FAILED
    except Exception as error:  # usage errors; their base class differs between typer versions
        if not hasattr(error, "format_message"):
            return _internal(error)
        say_error(error.format_message() or "see corymb --help")
        return int(getattr(error, "exit_code", USAGE))
    if result == INTERRUPTED:
        return _interrupted()
    return result if isinstance(result, int) else 0
