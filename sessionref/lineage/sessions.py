"""The sessions of a scope with their lineage: one account of each, or several in conflict."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sessionref.lineage.account import AccountLineage, RecordCounts
from sessionref.lineage.effective import Effective
from sessionref.scope.resolve import either

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.lineage.effective import Claim
    from sessionref.refs import EntityRef, RecordRef, TurnRef
    from sessionref.scope.session import Session
    from sessionref.streams.outcomes import Outcome

__all__ = ["SessionLineage"]


class SessionLineage:
    """One session of a scope: what its accounts claim, and the originality of their records.

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
        return self.accounts[0].index.header.agent if self.key is None else self.key.agent

    @cached_property
    def records(self) -> RecordCounts:
        """How many records are original, copied and unknown."""
        counts = [account.records for account in self.accounts]
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
        return either([account.index.resolve(ref) for account in self.accounts])

    def __repr__(self) -> str:
        return f"<SessionLineage {self.session}, {len(self.accounts)} account(s)>"
