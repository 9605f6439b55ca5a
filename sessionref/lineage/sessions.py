"""The sessions of a scope with their lineage: one account of each, or several in conflict."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sessionref.lineage.effective import Effective, effective_lineage
from sessionref.lineage.gather import Gathered
from sessionref.lineage.stream import RecordCounts, StreamLineage
from sessionref.streams.outcomes import Ambiguous, Resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.lineage.effective import Claim
    from sessionref.refs import EntityRef, RecordRef, TurnRef
    from sessionref.scope.capture import Capture
    from sessionref.scope.session import Account, Place, Session
    from sessionref.streams.outcomes import Hit, Outcome

__all__ = ["OBSERVER", "AccountLineage", "SessionLineage"]

#: The name under which a scope keeps what `Gathered` saw of a stream.
OBSERVER = Gathered.__name__

#: Bounds beyond every `seq`.
_BEFORE_ALL = -(2**63) - 1
_AFTER_ALL = 2**63


class AccountLineage:
    """The lineage of one consistent account of a session: of one stream, or of joined segments.

    Segments share one lineage: what one of them declares holds for the records of all, and a
    declared prefix ends in one record of one of them.
    """

    def __init__(self, account: Account, *, conflict: bool = False) -> None:
        self.account = account
        self.streams = tuple(
            StreamLineage(capture.index, _gathered(capture), conflict=conflict)
            for capture in account.captures
        )
        if len(self.streams) > 1:
            self._join()

    def _join(self) -> None:
        effective = effective_lineage(
            declared for stream in self.streams for declared in stream.declared()
        )
        inherits = effective.inherits
        found: list[Place] = []
        if inherits is not None and inherits.local_through_id is not None:
            found = self.account.find(None, inherits.local_through_id)
        for number, stream in enumerate(self.streams):
            boundary = None
            if len(found) == 1:
                last, row = found[0]
                if number == last:
                    boundary = stream.index.seqs[row]
                else:
                    boundary = _AFTER_ALL if number < last else _BEFORE_ALL
            stream.join(effective, boundary, self.account.superseded(number))

    @property
    def effective(self) -> Effective:
        """The effective lineage at the end of the account."""
        return self.streams[0].effective


class SessionLineage:
    """One session of a scope: what its streams claim, and the originality of their records.

    Of accounts that contradict each other none is preferred: they are kept apart, and what only
    one of them says is unknown.
    """

    def __init__(self, session: Session) -> None:
        self.key = session.key
        self.session = session.canonical
        self.conflict = session.conflict
        self.files = session.files
        self.accounts = tuple(
            AccountLineage(account, conflict=session.conflict) for account in session.accounts
        )

    @property
    def streams(self) -> tuple[StreamLineage, ...]:
        """All streams that are read."""
        return tuple(stream for account in self.accounts for stream in account.streams)

    @property
    def lineages(self) -> tuple[Effective, ...]:
        """The effective lineage of each account."""
        return tuple(account.effective for account in self.accounts)

    @property
    def lineage(self) -> Effective:
        """The effective lineage; in a conflict nothing is known."""
        return Effective() if self.conflict else self.accounts[0].effective

    @property
    def agent(self) -> str | None:
        """The name of the agent, the short one where it is registered."""
        return self.streams[0].index.header.agent if self.key is None else self.key.agent

    @cached_property
    def records(self) -> RecordCounts:
        """How many records are original, copied and unknown."""
        counts = [stream.records for stream in self.streams]
        return RecordCounts(
            sum(one.original for one in counts),
            sum(one.copied for one in counts),
            sum(one.unknown for one in counts),
        )

    def claims(self) -> Iterator[Claim]:
        """The facets that are claimed, in all accounts."""
        for lineage in self.lineages:
            yield from lineage.claims

    def resolve(self, ref: RecordRef | EntityRef | TurnRef) -> Outcome:
        """What `ref` means in this session; in a conflict what any account has is a candidate."""
        outcomes = [account.account.resolve(ref) for account in self.accounts]
        if not self.conflict:
            return outcomes[0]
        hits: list[Hit] = []
        for outcome in outcomes:
            if isinstance(outcome, Resolved):
                hits += outcome.records
            elif isinstance(outcome, Ambiguous):
                hits += outcome.candidates
        return Ambiguous(tuple(hits), self.session) if hits else outcomes[0]

    def __repr__(self) -> str:
        return f"<SessionLineage {self.session}, {len(self.accounts)} account(s)>"


def _gathered(capture: Capture) -> Gathered:
    gathered = capture.observed.get(OBSERVER)
    if not isinstance(gathered, Gathered):
        raise TypeError(f"the scope was read without the observer {OBSERVER!r}")
    return gathered
