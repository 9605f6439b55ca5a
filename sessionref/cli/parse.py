"""`sessionref parse`: references taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sessionref import reference
from sessionref.cli._common import json_option, references_argument, registry_option
from sessionref.cli._lines import translate
from sessionref.cli._references import (
    JsonLines,
    PartsLines,
    parts_object,
    parts_text,
    tree_object,
    tree_text,
)

if TYPE_CHECKING:
    from sessionref.cli._lines import Lines
    from sessionref.registry import Registry

__all__ = ["command"]


@click.command(short_help="Show the parts, canonical form and digest of references.")
@references_argument
@click.option("--tree", "as_tree", is_flag=True, help="Show the parse tree instead.")
@json_option
@registry_option
def command(
    references: tuple[str, ...], *, as_tree: bool, as_json: bool, registry: Registry | None
) -> None:
    """Show the decoded parts, canonical form and digest of each REF, or of each line of stdin.

    An invalid reference is reported with the place of each fault, and the rest is processed. With
    --json, one object is printed for each REF. A line ends with LF or CRLF.
    """

    def parts(text: str) -> str:
        return parts_text(text, reference.parse(text), registry)

    def members(text: str) -> dict[str, Any]:
        return parts_object(text, reference.parse(text), registry)

    lines: Lines
    if as_json:
        lines = JsonLines(tree_object if as_tree else members)
    else:
        lines = PartsLines(tree_text if as_tree else parts)
    raise click.exceptions.Exit(translate(references, lines))
