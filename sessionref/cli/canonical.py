"""`sessionref canonical`: references in, canonical forms out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sessionref import reference
from sessionref.cli._common import json_option, references_argument, registry_option
from sessionref.cli._references import run_lines

if TYPE_CHECKING:
    from sessionref.registry import Registry

__all__ = ["command"]


@click.command(short_help="The canonical form of each reference.")
@references_argument
@json_option
@registry_option
def command(references: tuple[str, ...], *, as_json: bool, registry: Registry | None) -> None:
    """Print the canonical form of each REF, or of each line of stdin.

    One line of output for each of input: an empty one, and a report on stderr, for what is no
    reference. A line ends with LF or CRLF, which is no part of the reference.
    """

    def canonical(text: str) -> str:
        if registry is None:
            return reference.canonical(text)
        return reference.parse(text).key_under(registry).canonical()

    run_lines(references, "canonical", canonical, as_json=as_json)
