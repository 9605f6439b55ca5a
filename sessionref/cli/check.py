"""`sessionref check`: what is wrong with streams, by the rules of the pages."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

import click

from sessionref.api import strictly
from sessionref.checks.book import book
from sessionref.checks.run import check
from sessionref.cli._common import (
    UNREADABLE,
    Outcome,
    jobs_option,
    json_option,
    paths_argument,
    registry_option,
    to_json,
)
from sessionref.cli._findings import FORMATS, Statistics, writer
from sessionref.cli._kept import kept, renamed
from sessionref.cli._places import paths_or_places
from sessionref.cli._rules import explained, rule_object, rules_table
from sessionref.cli._scope import read_scope
from sessionref.cli._selection import Selection
from sessionref.cli._text import shown
from sessionref.findings import SEVERITIES
from sessionref.native.convert import UNREAD
from sessionref.streams.processes import processors, worth_while

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sessionref.api import Scope
    from sessionref.checks.book import Rule
    from sessionref.checks.run import Strict
    from sessionref.findings import Severity
    from sessionref.registry import Registry

__all__ = ["command"]


def _rule(context: click.Context, parameter: click.Parameter, text: str | None) -> Rule | None:
    """The rule that `text` names: its number, with or without ``ASR-``."""
    if text is None:
        return None
    number = text.upper().removeprefix("ASR-")
    found = book().rules.get(f"ASR-{number.zfill(3)}")
    if found is None:
        raise click.BadParameter(
            f"unknown rule: {shown(text)}; --rules lists all rules", context, parameter
        )
    return found


@click.command(short_help="Report what is wrong with streams, by rule.")
@paths_argument
@click.option("--rules", "as_rules", is_flag=True, help="List the rules and exit.")
@click.option("--explain", metavar="RULE", callback=_rule, help="Explain a rule and exit.")
@click.option(
    "--select",
    metavar="RULES",
    multiple=True,
    help="Show only findings of these rules: numbers (ASR-061), number prefixes (ASR-06) or codes, "
    "separated by commas.",
)
@click.option("--ignore", metavar="RULES", multiple=True, help="Leave out findings of these rules.")
@click.option(
    "--severity",
    type=click.Choice(SEVERITIES),
    default="notice",
    show_default=True,
    help="Show only findings of this severity or higher.",
)
@click.option("--statistics", is_flag=True, help="Count the findings by rule and code.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--fast",
    is_flag=True,
    help="Skip the strict pass, which reads all bytes again to find repeated members, invalid text "
    "and wrong types.",
)
@jobs_option
@json_option
@registry_option
def command(
    paths: tuple[str, ...],
    *,
    as_rules: bool,
    explain: Rule | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    severity: Severity,
    statistics: bool,
    form: str,
    fast: bool,
    jobs: int | None,
    as_json: bool,
    registry: Registry | None,
) -> None:
    """Check the streams and native logs PATH: files, folders, or `-` for stdin.

    All inputs are read together, so references from one to another resolve. No file is changed. The
    exit code is 1 if a finding of severity error is shown, and 3 if an input could not be read.
    """
    form = "json" if as_json else form
    known = book().rules
    if as_rules:
        _print_rules([*known.values()], as_json=form == "json")
        return
    if explain is not None:
        click.echo(to_json(rule_object(explain)) if form == "json" else explained(explain))
        return
    selection = Selection.of(select, ignore, known)
    outcome = Outcome()
    with ExitStack() as done:
        named = done.enter_context(kept(paths_or_places(paths)))
        out = (
            Statistics(as_json=form == "json")
            if statistics
            else writer(form, [*known.values()], {name: path for path, name in named.items()})
        )
        scope = read_scope(tuple(named), registry, references=True, checks=True, jobs=jobs)
        strict = None if fast else done.enter_context(_strict(scope, jobs or processors()))
        for finding in check(scope, strict=strict):
            if finding.code in UNREAD:
                outcome.code = UNREADABLE
            if selection.takes(finding) and SEVERITIES.index(finding.severity) <= SEVERITIES.index(
                severity
            ):
                if finding.severity == "error":
                    outcome.invalid()
                out.write(renamed(finding, named))
        out.end()
    outcome.note_passed_over(scope.passed_over)
    outcome.end()


def _print_rules(known: list[Rule], *, as_json: bool) -> None:
    if as_json:
        for rule in known:
            click.echo(to_json(rule_object(rule)))
    else:
        click.echo(rules_table(known), nl=False)


def _strict(scope: Scope, jobs: int) -> AbstractContextManager[Strict]:
    """The strict pass over the files of streams, in other processes if that saves time."""
    files = {
        capture.source: None
        for capture in scope.captures
        if isinstance(capture.source, str) and not capture.index.is_converted
    }
    jobs = worth_while(files, jobs)
    if jobs == 1:
        return nullcontext(strictly)
    from sessionref.cli._workers import strict_workers  # noqa: PLC0415 - costs its import

    return strict_workers(files, jobs)
