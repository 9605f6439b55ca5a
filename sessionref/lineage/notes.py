"""What limits a total, in plain sentences, session by session."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from sessionref.lineage.aggregates import LEFT_OUT
from sessionref.usage import Sum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.aggregates import Item
    from sessionref.lineage.calls import Settled
    from sessionref.lineage.sessions import SessionLineage

__all__ = ["Note", "notes_of"]


class Note(msgspec.Struct, frozen=True):
    """A limit of the totals: a stable slug, the session (None for the scope), a sentence."""

    code: str
    session: str | None
    message: str

    def __str__(self) -> str:
        return self.message if self.session is None else f"{self.session}: {self.message}"


def notes_of(
    sessions: Sequence[SessionLineage],
    settled: Mapping[AccountLineage, Settled],
    items: Mapping[AccountLineage, Sequence[Item]],
) -> Iterator[Note]:
    """The notes on sessions: why they may hold copies, what is missing, what was left out."""
    for session in sessions:
        name = session.session or ", ".join(session.files) or None
        calls = [settled[account] for account in session.accounts]
        aggregates = [item for account in session.accounts for item in items[account]]
        for code, message in _notes(session, calls, aggregates):
            yield Note(code, name, message)


def _notes(
    session: SessionLineage, settled: Sequence[Settled], items: Sequence[Item]
) -> Iterator[tuple[str, str]]:
    unknown: Counter[tuple[str, str]] = Counter()
    for account in session.accounts:
        rest = account.originality.rest
        if rest.value == "unknown" and account.records.unknown:
            unknown[rest.reason, rest.message] += account.records.unknown
    for (reason, message), records in sorted(unknown.items()):
        yield reason, f"{records} record(s) may be copies: {message}"

    gathered = [account.gathered for account in session.accounts]
    unmeasured = sum(
        at in one.calls.unmeasured
        for one, calls in zip(gathered, settled, strict=True)
        if one.calls.unmeasured
        for at in calls.plain
    )
    if unmeasured:
        yield (
            "calls-without-usage",
            f"{unmeasured} model call(s) carry no token counts, so the total is a lower bound",
        )
    faulty = sum(len(one.calls.faulty) for one in gathered)
    faulty += sum(bool(aggregate.faulty) for one in gathered for aggregate in one.aggregates)
    if faulty:
        yield "unreadable-usage", f"usage or cost of {faulty} record(s) cannot be read"
    lost = sum(len(calls.lost) for calls in settled)
    if lost:
        yield (
            "call-of-several",
            (
                f"{lost} record(s) without a request ID belong to one of several calls and count "
                "nowhere"
            ),
        )
    differ = sum(not one.exact for calls in settled for one in calls.disputed)
    if differ:
        yield (
            "call-records-differ",
            (
                f"{differ} model call(s) have several records that differ, and none supersedes the "
                "others; only what these agree on counts"
            ),
        )
    yield from _about_items(items)


def _about_items(items: Sequence[Item]) -> Iterator[tuple[str, str]]:
    left_out: Counter[str] = Counter()
    for item in items:
        if item.left_out is not None:
            left_out[item.left_out] += 1
    for code, number in sorted(left_out.items()):
        yield (
            f"aggregate-{code}",
            f"{number} aggregate(s): each counts nowhere, because {LEFT_OUT[code][1]}",
        )
    counting = [item for item in items if item.left_out is None]
    if any(item.side == "own" and item.counts for item in counting):
        yield (
            "aggregates-only",
            "counted from aggregates, because the calls themselves are not recorded",
        )
    doubtful = Sum()
    for item in counting:
        if item.side == "doubtful":
            doubtful.add_sum(item.sum)
    if any(doubtful.tokens) or doubtful.cost:
        yield (
            "wrapper-or-backing",
            (
                "reports turns that other sessions ran, and does not say which: its aggregates of "
                f"{sum(doubtful.tokens[:4])} token(s) stand under unknown, and count in no total "
                "that has the records of these sessions"
            ),
        )
    with_children = [item for item in counting if item.with_children and item.counts]
    if with_children:
        known = all(item.includes_children for item in with_children)
        verb = "includes" if known else "may include"
        yield (
            "includes-children",
            f"the aggregate {verb} the work of children; only what is not counted there counts",
        )
    if any(not item.exact for item in counting):
        yield (
            "aggregates-differ",
            "several aggregates cover the same and differ; only what these agree on counts",
        )
