"""Which side of a turn counts: the wrapper that reports it, or the session that ran it (ASR-425).

Never both. The backing session's records win where they are in scope; else the wrapper's report
counts. Where a wrapper names who ran its turns and not which turns, both are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sessionref.lineage.sessions import SessionLineage
    from sessionref.reference import SessionRef

__all__ = ["Executed", "Side"]

#: ``own``: no other session in scope reports it. ``covered``: the backing session's records count
#: instead. ``doubtful``: some of it may be covered.
Side = Literal["own", "covered", "doubtful"]


class Executed:
    """Who ran whose turns, in a scope of sessions by canonical key."""

    def __init__(
        self, sessions: Mapping[str, SessionLineage], name_of: Callable[[SessionRef], str]
    ) -> None:
        self._sessions = sessions
        self._name_of = name_of
        self._reports: dict[str, frozenset[str | None]] = {}
        self._turns: dict[str | None, dict[str, list[SessionRef]]] = {}
        self._covered: dict[tuple[str | None, str], bool] = {}

    def is_wrapper(self, session: SessionLineage) -> bool:
        """Whether anything says that other sessions ran turns of this one."""
        return any(
            account.effective.claim("executedBy") or account.gathered.executed
            for account in session.accounts
        )

    def call_side(self, session: SessionLineage, turn: str | None) -> Side:
        """Which side counts for a model call that the session records in `turn`.

        A wrapper's own record of a call is no copy for being in its stream (ASR-423), so it is
        covered only in a turn that a named session ran, or in a mirror.
        """
        if session.session is None or not self.is_wrapper(session):
            return "own"
        if self._is_mirrored(session) or self._is_covered(session, turn):
            return "covered"
        return "own"

    def aggregate_side(self, session: SessionLineage, turn: str | None) -> Side:
        """Which side counts for an aggregate over `turn`, or over the session where it is None."""
        if session.session is None or not self.is_wrapper(session):
            return "own"
        if self._is_mirrored(session) or self._is_covered(session, turn):
            return "covered"
        turns = self._turns_of(session)
        if turn in turns:
            return "own"  # who ran it has nothing of it in scope
        if not any(self._reports_of(name) for name in self._backing(session)):
            return "own"
        if turn is None and any(self._is_covered(session, one) for one in turns):
            return "covered"
        return "doubtful"

    def doubted(self, wrappers: Iterable[SessionLineage]) -> dict[str, frozenset[str]]:
        """The sessions of which `wrappers` may report something too, by what is certain there.

        `wrappers` have aggregates on the doubtful side. Certain are the turn refs that some wrapper
        names: there the wrapper's side is left out.
        """
        doubted: dict[str, set[str]] = {}
        for session in wrappers:
            for name in self._backing(session):
                certain = doubted.setdefault(name, set())
                for refs in self._turns_of(session).values():
                    for ref in refs:
                        if ref.ref is not None and self._name_of(ref) == name:
                            certain.add(ref.ref.raw())
        return {name: frozenset(turns) for name, turns in doubted.items()}

    def _backing(self, session: SessionLineage) -> list[str]:
        """The sessions in scope that ran turns of this one."""
        names = {
            self._name_of(entry.session)
            for lineage in session.lineages
            for entry in lineage.executed_by
            if entry.session is not None
        }
        for refs in self._turns_of(session).values():
            names.update(map(self._name_of, refs))
        return sorted(name for name in names if name in self._sessions and name != session.session)

    def _is_mirrored(self, session: SessionLineage) -> bool:
        """Whether the session is a mirror of one in scope that reports anything."""
        return any(lineage.is_mirror for lineage in session.lineages) and any(
            self._reports_of(name) for name in self._backing(session)
        )

    def _is_covered(self, session: SessionLineage, turn: str | None) -> bool:
        if turn is None:
            return False
        key = (session.session, turn)
        covered = self._covered.get(key)
        if covered is None:
            refs = self._turns_of(session).get(turn, ())
            covered = self._covered[key] = any(self._reports_turn(session, ref) for ref in refs)
        return covered

    def _reports_turn(self, wrapper: SessionLineage, ref: SessionRef) -> bool:
        name = self._name_of(ref)
        if name not in self._sessions or name == wrapper.session:
            return False
        reports = self._reports_of(name)
        if ref.ref is None:
            return bool(reports)
        # A record without a turn ID may be of any turn.
        return None in reports or ref.ref.raw().removeprefix("turnId=") in reports

    def _turns_of(self, session: SessionLineage) -> dict[str, list[SessionRef]]:
        """By turn of the session, who ran it, as the latest `state` records say."""
        turns = self._turns.get(session.session)
        if turns is None:
            turns = self._turns[session.session] = {}
            for account in session.accounts:
                superseded = account.superseded if account.gathered.executed else ()
                for row, refs in account.gathered.executed.items():
                    turn = account.index.turns[row]
                    if turn is not None and row not in superseded:
                        turns.setdefault(turn, []).extend(refs)
        return turns

    def _reports_of(self, name: str) -> frozenset[str | None]:
        """The turns of which a session in scope reports use; None stands for no certain turn."""
        reports = self._reports.get(name)
        if reports is None:
            session = self._sessions.get(name)
            found: set[str | None] = set()
            for account in () if session is None else session.accounts:
                turns, gathered = account.index.turns, account.gathered
                found.update(turns[row] for row in gathered.calls.rows)
                found.update(turns[aggregate.row] for aggregate in gathered.aggregates)
            reports = self._reports[name] = frozenset(found)
        return reports
