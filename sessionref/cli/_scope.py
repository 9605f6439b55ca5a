"""Everything under some paths as one scope, with a bar for whoever waits, and what is wrong."""

from __future__ import annotations

import gc
from contextlib import closing
from typing import TYPE_CHECKING

import click

from sessionref.api import scope_of
from sessionref.cli._kept import renamed
from sessionref.cli._lines import complain
from sessionref.cli._places import paths_or_places
from sessionref.cli._progress import watched
from sessionref.cli._text import plural
from sessionref.lineage import faults
from sessionref.native.convert import UNREAD
from sessionref.streams.inputs import inputs_of
from sessionref.streams.processes import processors
from sessionref.streams.walk import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessionref.api import Scope
    from sessionref.cli._common import Outcome
    from sessionref.findings import Finding
    from sessionref.reference import SessionRef
    from sessionref.registry import Registry

__all__ = ["lineage_findings", "read_scope", "report_findings", "report_unread"]


#: How many findings about lineage are shown.
_SHOWN = 20


def read_scope(
    paths: tuple[str, ...],
    registry: Registry | None,
    *,
    references: bool,
    checks: bool = False,
    session: SessionRef | None = None,
    jobs: int | None = None,
) -> Scope:
    """The scope of `paths`, or of the known places where none are given.

    With `session` the native logs of others are passed over. By default there are as many processes
    as processors.
    """
    given = paths_or_places(paths)
    if not checks:
        _keep_everything()
    inputs = inputs_of(given)
    files = [entry for entry in inputs if isinstance(entry, Found)]
    bar = watched(files, len(files), shares_terminal=False)
    with closing(bar):
        next(bar, None)  # it is there from now on
        return scope_of(
            inputs,
            references=references,
            checks=checks,
            session=session,
            registry=registry,
            jobs=jobs or processors(),
            step=lambda: next(bar, None),
        )


def _keep_everything() -> None:
    """Do not look for garbage until the command ends: what is read stays, and there is much."""
    context = click.get_current_context(silent=True)
    if context is not None and gc.isenabled():
        gc.disable()
        context.call_on_close(gc.enable)


def lineage_findings(scope: Scope) -> Iterator[Finding]:
    """What is wrong with how the sessions hang together, cycles included."""
    sources: tuple[Callable[..., Iterator[Finding]], ...] = (
        faults.facets,
        faults.copies,
        faults.subagents,
        faults.usage,
        faults.cycles,
    )
    for source in sources:
        yield from source(scope.lineage)


def report_findings(scope: Scope, outcome: Outcome, *, lineage: bool) -> list[Finding]:
    """All findings of reading and of lineage; what could not be read is written to stderr.

    So are, with `lineage`, the first errors and warnings about lineage. Of other errors and
    warnings only the number is. An error makes the exit code 1.
    """
    reading, about = list(scope.findings), list(lineage_findings(scope))
    untold: list[Finding] = []
    for finding in reading:
        (outcome.report if finding.code in UNREAD else untold.append)(finding)
    told = 0
    for finding in about:
        if lineage and finding.severity != "notice" and told < _SHOWN:
            outcome.report(finding)
            told += 1
        else:
            untold.append(finding)
    errors = sum(finding.severity == "error" for finding in untold)
    warnings = sum(finding.severity == "warning" for finding in untold)
    if errors:
        outcome.invalid()
    if errors or warnings:
        hidden = [plural(errors, "error")] if errors else []
        hidden += [plural(warnings, "warning")] if warnings else []
        complain(f"{' and '.join(hidden)} not shown; run `sessionref check`")
    outcome.note_passed_over(scope.passed_over)
    outcome.tell_passed_over()
    return [*reading, *about]


def report_unread(scope: Scope, outcome: Outcome, names: dict[str, str]) -> None:
    """What could not be read is written to stderr, under the names that `kept` gives."""
    for finding in scope.findings:
        if finding.code in UNREAD:
            outcome.report(renamed(finding, names))
    outcome.note_passed_over(scope.passed_over)
