"""The lineage of a whole scope: its sessions, their forest, their totals, what is wrong."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sessionref.lineage.forest import Forest
from sessionref.lineage.sessions import SessionLineage
from sessionref.lineage.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.forest import Member
    from sessionref.lineage.originality import Verdict
    from sessionref.reference import SessionKey, SessionRef
    from sessionref.scope.scope import StreamScope
    from sessionref.streams.outcomes import Hit

__all__ = ["Lineage"]


class Lineage:
    """How the sessions of a scope hang together.

    The scope must have been read with `Gathered` among its observers, else TypeError. Everything
    is made when it is first asked for, and the order in which streams were read changes nothing.
    """

    def __init__(self, scope: StreamScope) -> None:
        self.scope = scope
        self.sessions = tuple(SessionLineage(session) for session in scope)

    def __repr__(self) -> str:
        return f"<Lineage sessions={len(self.sessions)}>"

    @cached_property
    def by_key(self) -> Mapping[str, SessionLineage]:
        """The sessions by canonical key; those without a key are not in it."""
        return {one.session: one for one in self.sessions if one.session is not None}

    @cached_property
    def forest(self) -> Forest:
        """The sessions, those that they name, and the edges between them."""
        return Forest(self.by_key, self.name_of, self._inexact_members)

    @cached_property
    def totals(self) -> Totals:
        """What was used, counted once."""
        return Totals(self.sessions, self.forest, self.name_of, self.scope.registry)

    def name_of(self, ref: SessionRef) -> str:
        """The canonical key of the session that a reference names, in scope or not."""
        key: SessionKey | None = None
        session = self.scope.session(ref)
        if session is not None:
            key = session.key
        return (ref.key_under(self.scope.registry) if key is None else key).canonical()

    def _inexact_members(self, session: SessionLineage) -> set[Member]:
        """The members of headers and declarations whose references are not exact.

        In a scope that was read without references there are none.
        """
        found: set[Member] = set()
        for one in session.accounts:
            if not all(capture.has_references for capture in one.account.captures):
                continue
            rows = frozenset(declared.row for declared in one.gathered.declared)
            for problem in self.scope.problems_in(one.account, rows):
                place = problem.at.place
                found.add((place.file, place.line, problem.path))
        return found

    def find(self, hit: Hit) -> tuple[SessionLineage, AccountLineage, int]:
        """The session and the account that have the record `hit`, and its row.

        Raises LookupError where the hit is not of this scope.
        """
        for session in self.sessions if hit.session is None else self._of_key(hit.session):
            for account in session.accounts:
                row = account.index.find(hit)
                if row is not None:
                    return session, account, row
        raise LookupError("the hit is not of this scope")

    def verdict(self, hit: Hit) -> Verdict | None:
        """The originality of a record; None for header and declarations (ASR-416)."""
        _, account, row = self.find(hit)
        return account.verdict(row)

    def _of_key(self, name: str) -> Iterator[SessionLineage]:
        session = self.by_key.get(name)
        if session is not None:
            yield session
        else:  # a registry of the scope's own can give a session another name
            yield from self.sessions
