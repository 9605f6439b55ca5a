"""Which side of a turn counts: the wrapper that reports it, or the session that ran it (ASR-425).

Of what a wrapper reports for a turn and what the sessions hold that ran it exactly one side counts.
What decides is a graph of turns: a turn of a wrapper leads to the turns that its `state` names, and
what a session reports of no such turn is one more place, which leads to what is left of the
sessions that it names without a turn. All walks are iterative, and linear in the records.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from sessionref.lineage import graph
from sessionref.lineage.reports import once
from sessionref.refs import TurnRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.reports import Report, Reports
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.reference import SessionRef
    from sessionref.usage import Group, Sum

__all__ = ["Executions", "Place", "Sides", "larger"]


Part = Literal["turn", "rest", "free", "all"]


class Place(NamedTuple):
    """A part of a session: a turn that a `state` speaks of, or several of its parts.

    ``rest`` is all that stands in no such turn, ``free`` all that no other session's state names,
    ``all`` the whole session.
    """

    session: str
    part: Part
    turn: str = ""


class Executions:
    """Who ran whose turns, in a scope of sessions by canonical key."""

    def __init__(
        self,
        sessions: Mapping[str, SessionLineage],
        name_of: Callable[[SessionRef], str],
    ) -> None:
        self.sessions = sessions
        #: The canonical key of the session that a reference names.
        self.name_of = name_of
        self._states: dict[str, dict[str, list[tuple[str, str | None]]]] = {}
        self._sources: dict[str, dict[str | None, dict[str, None]]] = {}

    @cached_property
    def wrappers(self) -> tuple[str, ...]:
        """The sessions of which something says that others ran their turns."""
        return tuple(
            name
            for name, session in self.sessions.items()
            if any(lineage.claim("executedBy") for lineage in session.lineages)
            or any(account.gathered.executed for account in session.accounts)
        )

    def states(self, name: str) -> dict[str, list[tuple[str, str | None]]]:
        """By turn of a session, the sessions that ran it and their turns.

        The latest `state` records say so, other than copies. A session that names itself, or an
        empty list, says that nobody else ran the turn.
        """
        found = self._states.get(name)
        if found is None:
            found = self._states[name] = {}
            session = self.sessions.get(name)
            for account in () if session is None or self.is_mirror(name) else session.accounts:
                for row, refs in account.gathered.executed.items():
                    turn = account.index.turns[row]
                    if turn is None or row in account.superseded or _is_copy(account, row):
                        continue
                    several = found.setdefault(turn, [])
                    for ref in refs:
                        ran = ref.ref.turn_id if isinstance(ref.ref, TurnRef) else None
                        named = (self.name_of(ref), ran)
                        if named[0] != name and named not in several:
                            several.append(named)
        return found

    def backing(self, name: str) -> list[str]:
        """The sessions in scope that ran turns of one."""
        names = {other for refs in self.states(name).values() for other, _ in refs}
        names |= self.named_by_facet(name)
        return sorted(other for other in names if other in self.sessions and other != name)

    def named_by_facet(self, name: str) -> set[str]:
        """The sessions that the facet `executedBy` of a session names, in scope or not."""
        session = self.sessions.get(name)
        return {
            self.name_of(entry.session)
            for lineage in (() if session is None else session.lineages)
            for entry in lineage.executed_by
            if entry.session is not None and entry.evidence is not None
        }

    def is_mirror(self, name: str) -> bool:
        """Whether a session is a mirror."""
        return any(lineage.is_mirror for lineage in self.sessions[name].lineages)

    def names_all(self, name: str) -> bool:
        """Whether a state says of every turn of a session which turns ran it."""
        states = self.states(name)
        if not states or any(ran is None for refs in states.values() for _, ran in refs):
            return False
        return all(
            turn is None or turn in states or _is_copy(account, row)
            for account in self.sessions[name].accounts
            for row, turn in enumerate(account.index.turns)
        )

    def sources(self, name: str, turn: str | None) -> Iterable[str]:
        """The sessions of which a turn holds copies; of which any does where it is None."""
        found = self._sources.get(name)
        if found is None:
            found = self._sources[name] = defaultdict(dict)
            session = self.sessions.get(name)
            for account in () if session is None else session.accounts:
                for at, source in self._copied(account):
                    found[at][source] = found[None][source] = None
        return found.get(turn, ())

    def _copied(self, account: AccountLineage) -> Iterable[tuple[str | None, str]]:
        """Turn and source of each copied record of which the source is known."""
        originality, index = account.originality, account.index
        if originality.is_uniform:
            return
        inherits = account.effective.inherits
        ancestor = None if inherits is None else inherits.session
        for row, turn in enumerate(index.turns):
            if originality.is_unmarked(row) or account.judge(row).value != "copy":
                continue
            mark = account.copied_from(row)
            source = ancestor if mark is None else mark.session
            if source is not None:
                yield turn, self.name_of(source)


class Sides:
    """What counts of one group of use: what wrappers report, or what the others hold.

    The fate of each report is set; `lower` are the sessions of which a note has to say that the
    total is a lower bound, each with the reason.
    """

    def __init__(
        self, executions: Executions, numbers: Mapping[str, int], reports: Reports, group: Group
    ) -> None:
        self._executions = executions
        self._numbers = numbers
        self._reports = reports
        self._group: Group = group
        self.lower: list[tuple[str, str]] = []
        #: What wrappers report for turns that count from who ran them, where that reports less.
        self.covered: list[tuple[Place, list[Report]]] = []
        #: The turns of which a state says that they ran another session's.
        self._taken: set[Place] = set()
        self._own: dict[Place, list[Report]] = {}
        self._turns: dict[str, list[Place]] = {}
        #: What stands in for a place, if anything has numbers for it.
        self._providers: dict[Place, list[Place]] = {}
        self._users: defaultdict[Place, list[Place]] = defaultdict(list)
        self._has: set[Place] = set()
        self._keyed: set[Place] = set()
        self._tied: set[Place] = set()
        self._dropped: set[Place] = set()
        starts = self._lay_out()
        order = graph.strong_components(starts, self._onward)
        for several in order:
            self._settle(several)
        self._decide([place for several in order for place in several])

    # -- Places -----------------------------------------------------------------------------

    def _lay_out(self) -> list[Place]:
        """The places from which wrappers lead on; all turns that states name get one."""
        executions = self._executions
        named: dict[str, dict[str, None]] = {}
        for wrapper in executions.wrappers:
            for turn, refs in executions.states(wrapper).items():
                named.setdefault(wrapper, {})[turn] = None
                open_ = [(name, ran) for name, ran in refs if ran is not None]
                while open_:
                    name, ran = open_.pop()
                    place = Place(name, "turn", ran)
                    if place not in self._taken:
                        self._taken.add(place)
                        named.setdefault(name, {})[ran] = None
                        open_ += [(one, ran) for one in executions.sources(name, ran)]
        for name, turns in named.items():
            self._turns[name] = [Place(name, "turn", turn) for turn in turns]
        return [
            place
            for wrapper in executions.wrappers
            for place in (*self._turns.get(wrapper, ()), Place(wrapper, "rest"))
        ]

    def own(self, place: Place) -> list[Report]:
        """What is reported at a turn or the rest of a session, with numbers."""
        found = self._own.get(place)
        if found is None:
            name = place.session
            turns = self._turns.get(name, ())
            for one in (*turns, Place(name, "rest")):
                self._own[one] = []
            number = self._numbers.get(name)
            for report in () if number is None else self._reports.of(number, self._group):
                where = Place(name, "turn", report.turn or "")
                if report.turn is None or where not in self._own:
                    where = Place(name, "rest")
                self._own[where].append(report)
            found = self._own.setdefault(place, [])
        return found

    def _measured(self, place: Place) -> bool:
        return any(report.measured for report in self.own(place))

    def _onward(self, place: Place) -> list[Place]:
        """Where the numbers for a place may be, other than in its own reports."""
        executions, name = self._executions, place.session
        if place.part == "rest":
            if name not in executions.sessions:
                return []
            part: Part = "all" if executions.is_mirror(name) else "free"
            return [Place(other, part) for other in executions.backing(name)]
        if place.part == "turn":
            return [*self._ran(place), *self._instead(place)]
        turns = self._turns.get(name, ())
        inner = [Place(name, "rest")]
        inner += [one for one in turns if place.part == "all" or one not in self._taken]
        if place.part == "free" and any(map(self._measured, inner)):
            return inner
        return [*inner, *(Place(one, place.part) for one in executions.sources(name, None))]

    def _ran(self, place: Place) -> list[Place]:
        """The places that a state names for a turn."""
        if place.part != "turn":
            return []
        refs = self._executions.states(place.session).get(place.turn, ())
        return [
            Place(name, "free") if ran is None else Place(name, "turn", ran) for name, ran in refs
        ]

    def _instead(self, place: Place) -> list[Place]:
        """Where the numbers of a turn are that reports none: in no turn, or where it is from."""
        if self._measured(place):
            return []
        rest = Place(place.session, "rest")
        found = [rest] if any(one.turn is None and one.measured for one in self.own(rest)) else []
        return found + [
            Place(name, "turn", place.turn)
            for name in self._executions.sources(place.session, place.turn)
        ]

    # -- What has numbers -------------------------------------------------------------------

    def _settle(self, several: list[Place]) -> None:
        """Find what stands in for places that lead to each other; what they lead to is known."""
        inside = set(several)
        if len(several) > 1:
            self._settle_mutual(several)
        for place in sorted(several, key=lambda one: (one.part in {"free", "all"}, one)):
            own = self._measured(place) and place.part == "turn"
            found: list[Place] = self._ran(place)
            if not found or not all(one in self._has and one not in inside for one in found):
                found = [] if own else self._others(place, inside)
            self._providers[place] = found
            for one in found:
                self._users[one].append(place)
            if found or self._measured(place):
                self._has.add(place)
            if all(one.key is not None for one in self.own(place)) and self._keyed.issuperset(
                found
            ):
                self._keyed.add(place)

    def _others(self, place: Place, inside: set[Place]) -> list[Place]:
        """What stands in for a place of which no state says wholly who ran it."""
        if place in self._tied:
            return []
        if place.part != "turn":
            through = place.part != "rest"
            return [
                one
                for one in self._onward(place)
                if one in self._has and (through or one not in inside)
            ]
        found = [one for one in self._instead(place) if one in self._has and one not in inside]
        # What it reports of no turn is nearer than what it was copied from.
        return found[:1] if found[:1] == [Place(place.session, "rest")] else found

    def _settle_mutual(self, several: list[Place]) -> None:
        """Of sides that name each other one counts: that with calls, else the larger."""
        sides: dict[str, list[Report]] = {}
        for place in several:
            if self._measured(place):
                sides.setdefault(place.session, []).extend(self.own(place))
        if len(sides) <= 1:
            return
        self._tied.update(several)
        called = [name for name, own in sides.items() if any(one.is_call for one in own)]
        if len(called) == 1:
            (winner,) = called
        else:
            winner = max(sorted(sides), key=lambda name: _size(once(sides[name])))
            for report in sides[winner]:
                report.bucket = "unknown"
            self.lower.append((winner, "mutual"))
        for name, own in sides.items():
            if name != winner:
                for report in own:
                    report.fate = "covered"

    # -- What counts ------------------------------------------------------------------------

    def _decide(self, places: list[Place]) -> None:
        wins = [
            place
            for place in places
            if place not in self._tied
            and self._ran(place)
            and self._providers[place] != self._ran(place)
            and self._measured(place)
        ]
        self._prefer(self._rivals(wins))
        for place in places:
            if place in self._tied or place in self._dropped:
                continue
            if self._ran(place) and self._providers[place] == self._ran(place):
                self._cover(place)
            elif place.part == "rest":
                self._leave(place)

    def _rivals(self, wins: list[Place]) -> list[Place]:
        """Those that count where several wrappers count for one backing turn: the larger."""
        by_turn: defaultdict[Place, dict[str, list[Report]]] = defaultdict(dict)
        for place in wins:
            for one in self._ran(place):
                if one.part == "turn":
                    by_turn[one].setdefault(place.session, []).extend(self.own(place))
        lost: set[Report] = set()
        for sides in by_turn.values():
            if len(sides) <= 1:
                continue
            sums = {name: _size(once(own)) for name, own in sides.items()}
            winner = max(
                sorted(sides),
                key=lambda name: (
                    sums[name],
                    all(one.bucket == "original" for one in sides[name]),
                ),
            )
            if len(set(sums.values())) > 1:
                self.lower.append((winner, "rivals"))
                for report in sides[winner]:
                    report.bucket = "unknown"
            for name, own in sides.items():
                if name != winner:
                    lost.update(own)
        for report in lost:
            report.fate = "covered"
        return [place for place in wins if lost.isdisjoint(self.own(place))]

    def _prefer(self, wins: list[Place]) -> None:
        """Let wrappers count, and not what they name; who names that too counts itself."""
        open_ = list(wins)
        seen = set(wins)
        while open_:
            place = open_.pop()
            theirs: list[Report] = []
            for one in self._ran(place):
                if one in self._has:
                    theirs += self._drop(one, open_, seen)
            if larger(once(theirs), once(self.own(place))):
                self.lower.append((place.session, "backing-larger"))

    def _drop(self, start: Place, wins: list[Place], seen: set[Place]) -> list[Report]:
        """Count nothing at a place, nor what stands in for it; the reports that are left out."""
        lost: list[Report] = []
        open_ = [start]
        while open_:
            place = open_.pop()
            if place in self._dropped:
                continue
            self._dropped.add(place)
            for report in self.own(place):
                report.fate = "covered"
                lost.append(report)
            if place.part == "rest" and self.own(place):
                self.lower.append((place.session, "rest-dropped"))
            open_ += self._providers.get(place, ())
            for user in self._users[place]:
                if user.part == "rest" or user in self._dropped or user in seen:
                    continue
                if self._measured(user):
                    seen.add(user)
                    wins.append(user)
                    self._providers[user] = []
                else:
                    open_.append(user)
        return lost

    def _cover(self, place: Place) -> None:
        """Leave out what a wrapper reports for a turn, but for calls that are its own."""
        own = self._but_own_calls(place)
        for report in own:
            report.fate = "covered"
        theirs = [one for other in self._providers[place] for one in self.under(other)]
        if larger(once(own), once(theirs)):
            self.covered.append((place, own))

    def _leave(self, place: Place) -> None:
        """Leave out what a wrapper reports for no named turn, where others may hold it."""
        own = self.own(place)
        if not own or not self._providers[place]:
            return
        if self._executions.names_all(place.session) and not any(
            one.is_call or one.turn is not None for one in own
        ):
            return
        for report in self._but_own_calls(place):
            report.fate = "doubtful"
            self.lower.append((place.session, "wrapper-or-backing"))

    def _but_own_calls(self, place: Place) -> list[Report]:
        """The reports of a place, other than calls that are provably no backing session's.

        The registry has to call the call IDs of both sides unique, and no backing session may hold
        the ID; one that reports anything without such an ID may hold any call (ASR-423).
        """
        own = self.own(place)
        if not all(one in self._keyed for one in self._providers[place]):
            return own
        held = {
            one.key[1] for other in self._providers[place] for one in self.under(other) if one.key
        }
        known = held | self._copied_ids(self._providers[place])
        return [one for one in own if one.key is None or one.key[1] in known]

    def _copied_ids(self, places: Iterable[Place]) -> set[str | None]:
        """The call IDs of all records of the sessions of some places."""
        found: set[str | None] = set()
        for name in {place.session for place in places}:
            session = self._executions.sessions[name]
            for account in session.accounts:
                values = account.index.values
                found.update(values[row] for row in account.gathered.calls.rows)
        return found

    def under(self, place: Place) -> list[Report]:
        """What a place reports, or what stands in for it."""

        def onward(one: Place) -> Iterable[Place]:
            return () if self.own(one) else self._providers.get(one, ())

        return [report for one in (place, *graph.reach(place, onward)) for report in self.own(one)]


def larger(one: Sum, other: Sum) -> bool:
    """Whether a sum has more of anything than another has, calls aside."""
    return any(a > b for a, b in zip(one.tokens, other.tokens, strict=True)) or any(
        amount > other.cost.get(currency, 0) for currency, amount in one.cost.items()
    )


def _size(total: Sum) -> tuple[int, int]:
    return sum(total.tokens[:4]), sum(total.cost.values())


def _is_copy(account: AccountLineage, row: int) -> bool:
    verdict = account.verdict(row)
    return verdict is not None and verdict.value == "copy"
