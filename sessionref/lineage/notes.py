"""What limits a total, in plain sentences, session by session."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from sessionref.usage import Sum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.lineage.aggregates import Item
    from sessionref.lineage.calls import Settled
    from sessionref.lineage.sessions import AccountLineage, SessionLineage

__all__ = ["Note", "notes_of"]

_LEFT_OUT = {
    "no-coverage": "does not say whether it covers a turn or a session, and counts nowhere",
    "calls-recorded": "counts nowhere, because the calls that it sums up are recorded one by one",
    "turns-reported": "counts nowhere, because the session's turns are reported one by one",
    "covered": "counts nowhere, because the session that ran the turn reports it itself",
}


class Note(msgspec.Struct, frozen=True):
    """A limit of the totals: a stable slug, the session (None for the scope), a sentence."""

    code: str
    session: str | None
    message: str

    def __str__(self) -> str:
        return self.message if self.session is None else f"{self.session}: {self.message}"


def notes_of(
    sessions: Sequence[SessionLineage],
    settled: Sequence[Sequence[Settled]],
    items: Sequence[Sequence[Sequence[Item]]],
) -> Iterator[Note]:
    """The notes on sessions: why they may hold copies, what is missing, what was left out."""
    for session, calls, aggregates in zip(sessions, settled, items, strict=True):
        name = session.session or ", ".join(session.files) or None
        for code, message in _notes(session, calls, [i for several in aggregates for i in several]):
            yield Note(code, name, message)


def _notes(
    session: SessionLineage, settled: Sequence[Settled], items: Sequence[Item]
) -> Iterator[tuple[str, str]]:
    unknown: Counter[tuple[str, str]] = Counter()
    for stream in session.streams:
        rest = stream.originality.rest
        if rest.value == "unknown" and stream.records.unknown:
            unknown[rest.reason, rest.message] += stream.records.unknown
    for (reason, message), records in sorted(unknown.items()):
        yield reason, f"{records} record(s) may be copies: {message}"

    unmeasured = sum(map(_unmeasured, session.accounts, settled))
    if unmeasured:
        yield (
            "calls-without-usage",
            f"{unmeasured} model call(s) carry no token counts, so the total is a lower bound",
        )
    faulty = sum(len(stream.gathered.calls.faulty) for stream in session.streams)
    faulty += sum(
        bool(one.faulty) for stream in session.streams for one in stream.gathered.aggregates
    )
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
        yield f"aggregate-{code}", f"{number} aggregate(s): each {_LEFT_OUT[code]}"
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


def _unmeasured(account: AccountLineage, settled: Settled) -> int:
    """How many of the calls that count have no token counts."""
    found = 0
    for stream, positions in zip(account.streams, settled.plain, strict=True):
        without = stream.gathered.calls.unmeasured
        if without:
            found += sum(at in without for at in positions)
    return found
