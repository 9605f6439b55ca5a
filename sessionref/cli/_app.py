"""The group of commands, each imported when it is called."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING

import click

from sessionref import __version__
from sessionref.cli._lines import complain
from sessionref.cli._text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "program", "run"]

#: The commands, in the order in which help shows them; each is `command` in the module so named.
COMMANDS = (
    "parse",
    "build",
    "canonical",
    "digest",
    "agents",
    "grammar",
    "resolve",
    "check",
    "tree",
    "usage",
    "convert",
)


class _Program(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        if cmd_name == "digest":  # differs from `canonical` by one word
            from sessionref.cli.canonical import digest_command  # noqa: PLC0415 - as the others

            return digest_command
        found: click.Command = import_module(f"sessionref.cli.{cmd_name}").command
        return found


@click.command(
    cls=_Program,
    name="sessionref",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="sessionref")
def program() -> None:
    """Name agent sessions and their contents, and show how sessions are related.

    Exit codes: 0 success; 1 an invalid reference, a ref that does not resolve, or a finding of
    severity error; 2 wrong usage; 3 part of the input could not be read (the rest was processed).
    """


def run(arguments: Sequence[str]) -> int:
    """Run the command with `arguments`; returns its exit code."""
    # Hardly anything that commands make is part of a cycle, and nearly all lasts to the end:
    # looking for cycles as often as Python does takes as long as all the rest of `tree`.
    gc.set_threshold(200_000, 50, 1_000)
    if "_SESSIONREF_COMPLETE" in os.environ:  # a shell asks for completions
        program.main([*arguments], prog_name="sessionref")
    try:
        with program.make_context("sessionref", [*arguments]) as context:
            program.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        said = StringIO()
        error.show(said)
        complain("\n".join(map(shown, said.getvalue().rstrip("\n").split("\n"))))
        return error.exit_code
    return 0
