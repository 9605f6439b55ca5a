"""`sessionref canonical` and `sessionref digest`: references in, one line out for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sessionref import reference
from sessionref.cli._common import json_option, references_argument, registry_option
from sessionref.cli._references import run_lines

if TYPE_CHECKING:
    from sessionref.registry import Registry

__all__ = ["command", "digest_command"]

_HELP = """Print the {what} of each REF, or of each line of stdin.

One line is printed for each reference. For an invalid one it is empty, and the fault is reported on
stderr. A line ends with LF or CRLF.
"""


def _command(name: str, what: str) -> click.Command:
    """The command that prints one property of a session key."""

    @click.command(short_help=f"Print the {what} of references.", help=_HELP.format(what=what))
    @references_argument
    @json_option
    @registry_option
    def made(references: tuple[str, ...], *, as_json: bool, registry: Registry | None) -> None:
        def good(text: str) -> str:
            if registry is None:
                built_in: str = getattr(reference, name)(text)
                return built_in
            own: str = getattr(reference.parse(text).key_under(registry), name)()
            return own

        run_lines(references, name, good, as_json=as_json)

    return made


command = _command("canonical", "canonical form")
digest_command = _command("digest", "SHA-256 of the canonical form")
