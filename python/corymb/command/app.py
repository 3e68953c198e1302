# SPDX-License-Identifier: Apache-2.0
"""The typer application and the one place where errors become a line and an exit status."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import corymb
from corymb.command import (
    bench,
    bench_peers,
    cache,
    cluster,
    compare,
    demo,
    doctor,
    map,
    partition,
    plan,
    report,
    sim,
    sim_noise,
    trace,
)
from corymb.command import mpirun as mpirun_command
from corymb.command import run as run_command
from corymb.command.console import room, say_error, say_kept
from corymb.troubleshooting import place

FAILED, USAGE, INTERRUPTED = 1, 2, 130
USAGE_CODES = {"invalid_argument", "unknown_name"}

app = typer.Typer(
    name="corymb",
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


MODULES = (
    map, plan, sim, cluster, compare, bench, bench_peers, trace, partition, report, cache, demo,
    doctor,
)  # fmt: skip

for module in MODULES:
    app.command(module.NAME, epilog=module.EXAMPLES)(module.command)
# A study with options of its own: `run` makes one word of the two.
app.command(sim_noise.NAME, epilog=sim_noise.EXAMPLES, hidden=True)(sim_noise.command)


@app.command(
    "run",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="Example: corymb run -n 4 --bind core -- ./program",
)
def _run(context: typer.Context) -> None:
    """Start processes that form one team."""
    run_command.become(context.args)


@app.command(
    "mpirun",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="Example: corymb mpirun -n 4 --explain ./mpi-program",
)
def _mpirun(context: typer.Context) -> None:
    """Start an MPI program with corymb's collectives."""
    mpirun_command.become(context.args)


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
        if arguments[:1] == ["run"]:  # Before typer, which would take `--` away.
            run_command.become(arguments[1:])
        if arguments[:1] == ["mpirun"]:
            mpirun_command.become(arguments[1:])
            return 0
        if arguments[:2] == sim_noise.NAME.split():
            arguments = [sim_noise.NAME, *arguments[2:]]
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
    except Exception as error:  # usage errors; their base class differs between typer versions
        if not hasattr(error, "format_message"):
            return _internal(error)
        say_error(error.format_message() or "see corymb --help")
        return int(getattr(error, "exit_code", USAGE))
    if result == INTERRUPTED:
        return _interrupted()
    return result if isinstance(result, int) else 0
