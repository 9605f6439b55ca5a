"""`sessionref tree`: how sessions hang together, and on what evidence."""

from __future__ import annotations

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
from sessionref.cli._lines import complain, undecodable
from sessionref.cli._output import write_data, write_text
from sessionref.cli._scope import read_scope, report_findings
from sessionref.cli._text import shown
from sessionref.cli.render import lines as text
from sessionref.cli.render.forest_json import forest_object
from sessionref.cli.render.forest_text import forest_lines
from sessionref.cli.render.graphs import dot_lines, graphml_lines, mermaid_lines
from sessionref.cli.render.page import page_lines
from sessionref.cli.render.picture import Filters, Picture
from sessionref.errors import InvalidReference
from sessionref.lineage.forest import EDGE_FACETS
from sessionref.reference import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.api import Scope
    from sessionref.registry import Registry

__all__ = ["command"]

_GRAPHS = {"dot": dot_lines, "mermaid": mermaid_lines, "graphml": graphml_lines}


@click.command(short_help="Show how sessions are related, and the evidence.")
@paths_argument
@click.option(
    "--agent", "agents", metavar="NAME", multiple=True, help="Only sessions of this agent."
)
@click.option(
    "--session",
    "sessions",
    metavar="REF",
    multiple=True,
    help="Only this session, its ancestors and its descendants.",
)
@click.option(
    "--family",
    "families",
    metavar="REF",
    multiple=True,
    help="Only sessions that are connected with this one by any edges.",
)
@click.option(
    "--facet",
    "facets",
    type=click.Choice(EDGE_FACETS),
    multiple=True,
    help="Only edges of this kind, and the sessions that they connect.",
)
@click.option("--why", is_flag=True, help="Show the evidence, record, file and line of each edge.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", *_GRAPHS, "html")),
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
    agents: tuple[str, ...],
    sessions: tuple[str, ...],
    families: tuple[str, ...],
    facets: tuple[str, ...],
    why: bool,
    form: str,
    jobs: int | None,
    as_json: bool,
    registry: Registry | None,
) -> None:
    """Show how the sessions in PATH are related: streams, native logs, folders, or `-` for stdin.

    Each edge is a claim that a log makes, with its evidence. A session that is referenced but was
    not loaded is marked. A session without a known parent is not assumed to be a root. Each filter
    may be given several times.
    """
    form = "json" if as_json else form
    outcome = Outcome()
    scope = read_scope(paths, registry, references=True, jobs=jobs)
    findings = report_findings(scope, outcome, lineage=form != "json")
    filters = Filters(
        agents=frozenset(map(scope.registry.canonical_name, agents)),
        sessions=tuple(_known(scope, sessions, outcome)) if sessions else None,
        families=tuple(_known(scope, families, outcome)) if families else None,
        facets=frozenset(facets),
    )
    picture = Picture(scope, filters)
    if form == "text":
        paint = text.paint()
        unicode = text.takes_unicode()
        lines = forest_lines(picture, width=text.width(), unicode=unicode, why=why)
        write_text(map(paint, lines))
    elif form == "json":
        write_data([to_json(forest_object(picture, findings, why=why))])
    elif form == "html":
        write_data(page_lines(forest_lines(picture, why=why)))
    else:
        write_data(_GRAPHS[form](picture))
    outcome.end()


def _known(scope: Scope, references: Iterable[str], outcome: Outcome) -> Iterator[str]:
    """The canonical keys of those sessions that are in scope or named there."""
    for reference in references:
        try:
            error = undecodable(reference)
            if error is not None:
                raise error
            name = scope.lineage.name_of(parse(reference))
        except InvalidReference as error:
            complain(str(error))
            outcome.invalid()
            continue
        if name in scope.forest().nodes:
            yield name
        else:
            complain(f"session neither in the input nor referenced there: {shown(reference)}")
            outcome.invalid()
