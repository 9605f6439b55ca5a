"""`sessionref grammar`: the grammar in one of its notations."""

from __future__ import annotations

import click

from sessionref import grammar
from sessionref.cli._common import json_option, to_json

__all__ = ["command"]


@click.command(short_help="Print the grammar, in one of several notations.")
@click.option(
    "--as",
    "form",
    type=click.Choice(grammar.FORMS),
    default=grammar.FORMS[0],
    show_default=True,
    help="The notation. railroad is an SVG drawing and needs the package railroad-diagrams.",
)
@json_option
def command(form: grammar.Form, *, as_json: bool) -> None:
    """Print the grammar of session references.

    The patterns for regex engines match exactly the valid references, with one exception: they do
    not check that decoded octets are valid UTF-8 (ASR-060). Check that when you decode.
    """
    try:
        text = grammar.export(form)
    except ModuleNotFoundError as error:
        raise click.UsageError(str(error)) from error
    text = text.rstrip("\n")
    click.echo(to_json({"form": form, "grammar": text}) if as_json else text)
