# SPDX-License-Identifier: Apache-2.0
"""The tree of sub-commands. A module is imported when its command is called: `--help` and
completion need names and texts alone, and every command starts without the others' libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True)
class Command:
    """A sub-command: `function` of `module`, which has EXAMPLES, too. `help` is the first paragraph
    of the function's docstring."""

    name: str
    module: str
    help: str
    function: str = "command"

    def load(self) -> Any:
        """The command that typer makes of the function."""
        module: ModuleType = importlib.import_module(f"corymb.command.{self.module}")
        function: Callable[..., Any] = getattr(module, self.function)
        app = typer.Typer(add_completion=False)
        app.command(self.name, epilog=examples_of(module, self.function))(function)
        return typer.main.get_command(app)

    def listed(self) -> Any:
        """What stands for the command in lists."""
        return TyperCommand(self.name, help=self.help)


@dataclass(frozen=True)
class Group:
    """A word with sub-commands of its own."""

    name: str
    help: str
    commands: tuple[Command, ...]

    def load(self) -> Any:
        app = typer.Typer(
            name=self.name, cls=group_class(self.commands), help=self.help, no_args_is_help=True,
            add_completion=False,
        )  # fmt: skip
        app.callback()(_nothing)
        return typer.main.get_command(app)

    def listed(self) -> Any:
        return TyperCommand(self.name, help=self.help)


def _nothing() -> None:
    """A group does nothing itself."""


def examples_of(module: ModuleType, function: str) -> str:
    """The line of examples: EXAMPLES, or its entry for this function if the module has several."""
    examples = module.EXAMPLES
    return str(examples if isinstance(examples, str) else examples[function])


def group_class(entries: Sequence[Command | Group]) -> type[TyperGroup]:
    """A class of groups that have these sub-commands."""
    by_name = {entry.name: entry for entry in entries}

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = {entry.name: entry.listed() for entry in entries}

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, command, rest = super().resolve_command(ctx, args)
            return name, by_name[name].load() if name in by_name else command, rest

    return LazyGroup
