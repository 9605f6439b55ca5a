"""The lineage of a whole scope: its sessions, their forest, their totals, what is wrong."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sessionref.lineage.forest import Forest
from sessionref.lineage.sessions import SessionLineage
from sessionref.lineage.totals import Totals
from sessionref.streams.outcomes import Resolved, Unresolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sessionref.lineage.copies import CopiedFrom
    from sessionref.lineage.originality import Verdict
    from sessionref.lineage.stream import StreamLineage
    from sessionref.reference import SessionKey, SessionRef
    from sessionref.scope.scope import Scope
    from sessionref.streams.outcomes import Hit, Outcome

__all__ = ["Lineage"]


class Lineage:
    """How the sessions of a scope hang together.

    The scope must have been read with `Gathered` among its observers, else TypeError. Everything
    is made when it is first asked for, and the order in which streams were read changes nothing.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.sessions = tuple(SessionLineage(session) for session in scope)

    @cached_property
    def by_key(self) -> Mapping[str, SessionLineage]:
        """The sessions by canonical key; those without a key are not in it."""
        return {one.session: one for one in self.sessions if one.session is not None}

    @cached_property
    def forest(self) -> Forest:
        """The sessions, those that they name, and the edges between them."""
        return Forest(self.by_key, self.name_of)

    @cached_property
    def totals(self) -> Totals:
        """What was used, counted once."""
        return Totals(self.sessions, self.forest, self.name_of, self.scope.registry)

    def name_of(self, ref: SessionRef) -> str:
        """The canonical key of the session that a reference names, in scope or not."""
        key: SessionKey | None = None
        session = self.scope.named(ref)
        if session is not None:
            key = session.key
        return (ref.key_under(self.scope.registry) if key is None else key).canonical()

    def find(self, hit: Hit) -> tuple[SessionLineage, int, int, int]:
        """The session of a hit; the numbers of its account and its segment; its row.

        Raises LookupError where the hit is not of this scope.
        """
        for session in self.sessions if hit.session is None else self._of_key(hit.session):
            for number, account in enumerate(session.accounts):
                for segment, stream in enumerate(account.streams):
                    row = _row(stream, hit)
                    if row is not None:
                        return session, number, segment, row
        raise LookupError("the hit is not of this scope")

    def verdict(self, hit: Hit) -> Verdict | None:
        """The originality of a record; None for header and declarations (ASR-416)."""
        session, account, segment, row = self.find(hit)
        return session.accounts[account].streams[segment].verdict(row)

    def copy_chain(self, hit: Hit) -> tuple[tuple[CopiedFrom, Outcome], ...]:
        """What a record was copied from, what that was copied from, and so on (ASR-413).

        Each step has the mark and what became of it; the last is one that does not resolve, or
        whose target carries no mark. A chain that comes back to itself ends there.
        """
        chain: list[tuple[CopiedFrom, Outcome]] = []
        seen: set[Hit] = set()
        while hit not in seen:
            seen.add(hit)
            session, account, segment, row = self.find(hit)
            mark = session.accounts[account].streams[segment].copied_from(row)
            if mark is None:
                break
            outcome = self._source(session, mark)
            chain.append((mark, outcome))
            if not isinstance(outcome, Resolved) or not outcome.records:
                break
            hit = outcome.first
        return tuple(chain)

    def _source(self, session: SessionLineage, mark: CopiedFrom) -> Outcome:
        """What a mark names: a record, or a session of which it does not know the record."""
        if mark.session is not None:
            name = self.name_of(mark.session)
            other = self.by_key.get(name)
            if other is None:
                return Unresolved("no-such-session", name)
            session = other
        if mark.record is None:
            return Unresolved("no-such-record", session.session)
        return session.resolve(mark.record)

    def _of_key(self, name: str) -> Iterator[SessionLineage]:
        session = self.by_key.get(name)
        if session is not None:
            yield session
        else:  # a registry of the scope's own can give a session another name
            yield from self.sessions


def _row(stream: StreamLineage, hit: Hit) -> int | None:
    index = stream.index
    if index.file != hit.file or index.session != hit.session:
        return None
    for row in index.rows_of(None, hit.id):
        if index.hit(row) == hit:
            return row
    return None
