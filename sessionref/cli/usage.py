"""`sessionref usage`: what was used, counted once, and how much of that is certain."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from sessionref.cli._common import (
    Outcome,
    jobs_option,
    json_option,
    paths_argument,
    registry_option,
    to_json,
)
from sessionref.cli._output import write_data, write_text
from sessionref.cli._scope import read_scope, report_findings
from sessionref.cli._text import shown
from sessionref.cli.render import lines as text
from sessionref.cli.render.usage_json import usage_csv_lines, usage_object
from sessionref.cli.render.usage_text import usage_lines
from sessionref.lineage.totals import GROUPINGS

if TYPE_CHECKING:
    from sessionref.lineage.totals import Grouping
    from sessionref.registry import Registry

__all__ = ["command"]


@click.command(short_help="Add up model calls, tokens and costs.")
@paths_argument
@click.option(
    "--by",
    type=click.Choice(GROUPINGS),
    default="session",
    show_default=True,
    help="What each row stands for. Days are in UTC.",
)
@click.option("--details", is_flag=True, help="Show all counts of every row.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "csv")),
    default="text",
    show_default=True,
    help="Output format.",
)
@jobs_option
@json_option
@registry_option
def command(
    paths: tuple[str, ...],
    *,
    by: Grouping,
    details: bool,
    form: str,
    jobs: int | None,
    as_json: bool,
    registry: Registry | None,
) -> None:
    """Add up the model calls, tokens and costs in PATH: streams, logs, folders, or `-` for stdin.

    Nothing is counted twice. Records that are proven copies of others do not count. Records that
    may be copies are counted separately, as unknown.
    """
    form = "json" if as_json else form
    outcome = Outcome()
    scope = read_scope(paths, registry, references=False, jobs=jobs)
    report_findings(scope, outcome, lineage=False)
    if form == "json":
        write_data([to_json(usage_object(scope, by))])
    elif form == "csv":
        lines = usage_csv_lines(scope.totals(), by)
        write_data(map(shown, lines) if sys.stdout.isatty() else lines)
    else:
        paint = text.paint()
        write_text(map(paint, usage_lines(scope, by, width=text.width(), details=details)))
    outcome.end()
