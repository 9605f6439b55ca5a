"""What limits a total, in plain sentences, session by session."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from sessionref.lineage.aggregates import LEFT_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.aggregates import Item
    from sessionref.lineage.calls import Settled
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.registry import Registry

__all__ = ["Note", "bound_notes", "notes_of"]

#: Why a total is a lower bound, by code.
_BOUNDS = {
    "aggregate-larger": "an aggregate states more than what counts in its place",
    "backing-larger": (
        "a wrapper's aggregate counts, because not all sessions that ran the turn are in scope, "
        "and those that are report more than it does"
    ),
    "rest-dropped": (
        "a wrapper's aggregate counts in place of what this session reports of no certain turn"
    ),
    "rivals": "several wrappers report one turn with different numbers, and the largest count",
    "mutual": "sessions name each other as having run their turns, and the larger sum counts",
    "may-not-include": (
        "an aggregate does not say whether it includes the work of children, and what these used "
        "is taken away from it"
    ),
    "included-elsewhere": (
        "nothing says in which turn a child was spawned, and what it used is taken away from an "
        "aggregate that may not include it"
    ),
    "turns-not-apart": (
        "a session that ran turns of this one does not say how much it used in them"
    ),
    "children-larger": "children used more than the aggregate that includes them states",
    "no-named-turns": (
        "a session ran turns of a child, and nothing says which, so all that it used is taken away "
        "from an aggregate"
    ),
    "wrapper-or-backing": (
        "it reports turns that other sessions in scope ran, and does not say which; what it "
        "reports{amount} stands under unknown here, and counts in no total that has these sessions"
    ),
}


class Note(msgspec.Struct, frozen=True):
    """A limit of the totals: a stable slug, the session (None for the scope), a sentence."""

    code: str
    session: str | None
    message: str

    def __str__(self) -> str:
        return self.message if self.session is None else f"{self.session}: {self.message}"


def bound_notes(lower: Iterable[tuple[str, str]], doubtful: Mapping[str, int]) -> Iterator[Note]:
    """A note for each session and reason for which its total is a lower bound.

    `doubtful` has the tokens that stand under unknown in a wrapper's row only.
    """
    for session, code in dict.fromkeys(lower):
        tokens = doubtful.get(session)
        amount = f" ({tokens} token(s))" if tokens else ""
        reason = _BOUNDS[code].format(amount=amount)
        yield Note(code, session, f"{reason}, so the total is a lower bound")


def notes_of(
    sessions: Sequence[SessionLineage],
    settled: Mapping[AccountLineage, Settled],
    items: Mapping[AccountLineage, Sequence[Item]],
    registry: Registry,
) -> Iterator[Note]:
    """The notes on sessions: why they may hold copies, what is missing, what was left out."""
    for session in sessions:
        name = session.session or ", ".join(session.files) or None
        calls = [settled[account] for account in session.accounts]
        aggregates = [item for account in session.accounts for item in items[account]]
        for code, message in _notes(session, calls, aggregates):
            yield Note(code, name, message)
        agent = None if session.agent is None else registry.agent(session.agent)
        for kind in () if agent is None else agent.uncounted:
            number = sum(_count(account, kind) for account in session.accounts)
            if number:
                message = (
                    f"{number} record(s) of type {kind} tell of model calls that no record counts, "
                    "so the total is a lower bound"
                )
                yield Note("uncounted-calls", name, message)


def _count(account: AccountLineage, kind: str) -> int:
    types = account.index.types
    return sum(one == kind for one in types) if kind in types else 0


def _notes(
    session: SessionLineage, settled: Sequence[Settled], items: Sequence[Item]
) -> Iterator[tuple[str, str]]:
    if session.conflict:
        files = ", ".join(session.files) or "several inputs"
        yield (
            "identity-conflict",
            f"logs of this session contradict each other, so all they report is unknown: {files}",
        )
    unknown: Counter[tuple[str, str]] = Counter()
    for account in () if session.conflict else session.accounts:
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
    if any(item.counts and not item.doubtful for item in counting):
        yield (
            "aggregates-only",
            "counted from aggregates, because the calls themselves are not recorded",
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
