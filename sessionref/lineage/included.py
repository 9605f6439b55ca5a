"""Aggregates that include the work of others: what of them counts beside that work (ASR-419).

What children used is taken away once from the aggregates that include them, taken together, each
call by its identity. Children are the spawned sessions, theirs, and the turns that other sessions
ran for them. An aggregate below another is entered as a whole, so every record is visited once for
each aggregate that is next above it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from sessionref.lineage import graph
from sessionref.lineage.executed import larger
from sessionref.lineage.reports import once
from sessionref.lineage.subagents import delegations
from sessionref.usage import Sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sessionref.lineage.executed import Executions
    from sessionref.lineage.forest import Forest
    from sessionref.lineage.reports import Report, Reports
    from sessionref.usage import Group

__all__ = ["Included"]

_DELEGATION = ("spawnedBy", "announces")

#: A session with a turn, or the whole of it; and whether its children belong to it.
_Unit = tuple[str, "str | None", bool]


class _Pool(msgspec.Struct, eq=False):
    """Aggregates of one session that may include the same, and what they include."""

    session: str
    turns: tuple[str | None, ...]
    aggregates: list[Report]
    reports: dict[Report, None] = msgspec.field(default_factory=dict["Report", None])
    pools: dict[_Pool, None] = msgspec.field(default_factory=dict["_Pool", None])
    #: Backing sessions of which no turn is named.
    unclear: set[str] = msgspec.field(default_factory=set[str])
    #: Whether it holds what a session reports of no turn, in place of one turn.
    loose: bool = False
    #: Whether it may hold what a child used that was spawned in another turn.
    guessed: bool = False

    @property
    def with_children(self) -> bool:
        """Whether the work of children is in it, or may be."""
        return any(one.item is not None and one.item.with_children for one in self.aggregates)


class Included:
    """What is left of the aggregates of one group of use that include the work of others.

    It is set as `rest` of the reports. Their buckets change to unknown where it is not known what
    belongs to what; `lower` is as in `Sides`.
    """

    def __init__(
        self,
        executions: Executions,
        forest: Forest,
        numbers: Mapping[str, int],
        reports: Reports,
        group: Group,
    ) -> None:
        self._executions = executions
        self._forest = forest
        self._numbers = numbers
        self._reports = reports
        self._group: Group = group
        self._turns_of: dict[str, dict[str, set[str | None]]] = {}
        self._by_turn: dict[str, dict[str | None, list[Report]]] = {}
        self._pools: dict[tuple[str, str | None], _Pool] = {}
        self.lower: list[tuple[str, str]] = []

    def take(self, sessions: Iterable[str]) -> None:
        """Decide what is left of the aggregates of some sessions that include others' work."""
        for name in sessions:
            self._lay_out(name)
        pools = list(dict.fromkeys(self._pools.values()))
        for pool in pools:
            self._fill(pool)
        self._share_out(pools)

    def below(self, name: str, turn: str | None) -> Sum:
        """What counts of what ran a turn of a session, or any of its turns, and of its children."""
        pool = _Pool(name, (turn,), [])
        self._fill(pool, with_children=True)
        total = once(pool.reports)
        for one in pool.pools:
            for aggregate in one.aggregates:
                total.add_sum(aggregate.sum)
        return total

    # -- What there is ----------------------------------------------------------------------

    def _counting(self, name: str) -> dict[str | None, list[Report]]:
        """The reports of a session that count, by turn."""
        found = self._by_turn.get(name)
        if found is None:
            found = self._by_turn[name] = defaultdict(list)
            number = self._numbers.get(name)
            for report in () if number is None else self._reports.of(number, self._group):
                if report.fate == "counts":
                    found[report.turn].append(report)
        return found

    def _children(self, name: str) -> dict[str, set[str | None]]:
        """The children of a session, and the turns that they belong to; None for any turn."""
        found = self._turns_of.get(name)
        if found is None:
            found = self._turns_of[name] = {}
            for child in self._forest.children(name, _DELEGATION):
                found[child] = set()
            session = self._executions.sessions.get(name) if found else None
            for account in () if session is None else session.accounts:
                order = account.index.order
                for one in delegations(account):
                    if one.child is None or one.originality.value == "copy":
                        continue
                    child = self._executions.name_of(one.child)
                    first = min(account.index.chain(one.row), key=order.__getitem__)
                    if child in found:
                        found[child].add(account.index.turns[first])
            for child, turns in found.items():
                if not turns or None in turns:
                    found[child] = {None}
        return found

    def _lay_out(self, name: str) -> None:
        """Make the pools of a session."""
        states = self._executions.states(name)
        aggregates = [
            report
            for several in self._counting(name).values()
            for report in several
            if report.item is not None
            and (report.item.with_children or (report.turn is None and states))
        ]
        by_turn: defaultdict[str | None, list[Report]] = defaultdict(list)
        for one in aggregates:
            by_turn[one.turn].append(one)
        shared = any(None in turns for turns in self._children(name).values())
        together = [turn for turn in by_turn if turn is not None] if shared else []
        if together:
            pool = _Pool(name, tuple(together), [one for turn in together for one in by_turn[turn]])
            for turn in together:
                self._pools[name, turn] = pool
        for at, several in by_turn.items():
            if at not in together:
                self._pools[name, at] = _Pool(name, (at,), several)

    # -- What is included -------------------------------------------------------------------

    def _fill(self, pool: _Pool, *, with_children: bool = False) -> None:
        """Find what counts of the children of a pool, and of the turns that ran its own."""
        with_children = with_children or pool.with_children
        open_: list[_Unit] = []
        seen: set[_Unit] = set()
        for turn in pool.turns:
            self._onward(pool, (pool.session, turn, with_children), open_)
        while open_:
            unit = open_.pop()
            if unit in seen:
                continue
            seen.add(unit)
            self._enter(pool, unit, open_)

    def _enter(self, pool: _Pool, unit: _Unit, open_: list[_Unit]) -> None:
        name, turn, _ = unit
        counting = self._counting(name)
        found = counting.get(turn, [])
        if turn is None:
            found = [report for several in counting.values() for report in several]
        above = self._pools.get((name, turn))
        if turn is not None and self._reports_nothing(name, turn):
            # What it used in the turn is in what it reports of no turn.
            found = [one for one in counting.get(None, ()) if one.measured]
            above = self._pools.get((name, None)) or above
            pool.loose = pool.loose or bool(found)
        if name == pool.session:
            self._onward(pool, unit, open_)
            return
        for report in found:
            holder = self._pools.get((name, report.turn)) if report.item is not None else None
            if holder is not None and report in holder.aggregates:
                pool.pools[holder] = None
            else:
                pool.reports[report] = None
        if above is None:
            self._onward(pool, unit, open_)
        elif not above.with_children:  # only what ran the session's turns is in that
            self._children_of(pool, unit, open_)

    def _reports_nothing(self, name: str, turn: str) -> bool:
        """Whether neither a session nor what ran it reports anything of a turn."""
        if self._executions.states(name).get(turn) or name not in self._numbers:
            return False
        reports = self._reports.of(self._numbers[name], self._group)
        return not any(one.turn == turn for one in reports)

    def _onward(self, pool: _Pool, unit: _Unit, open_: list[_Unit]) -> None:
        """Go on from a unit to its children, and to the turns that ran it."""
        self._children_of(pool, unit, open_)
        name, turn, with_children = unit
        own = name == pool.session
        states = self._executions.states(name)
        for at, refs in states.items() if turn is None else [(turn, states.get(turn, ()))]:
            if turn is None and not own and (name, at) in self._pools:
                continue
            for other, ran in refs:
                if ran is None:
                    pool.unclear.add(other)
                open_.append((other, ran, with_children))
        if turn is None and not own:
            clear = {other for refs in states.values() for other, _ in refs}
            for other in self._executions.named_by_facet(name) - clear - {name}:
                pool.unclear.add(other)
                open_.append((other, None, with_children))

    def _children_of(self, pool: _Pool, unit: _Unit, open_: list[_Unit]) -> None:
        name, turn, with_children = unit
        for child, turns in self._children(name).items() if with_children else ():
            if turn is None:
                if name != pool.session and self._is_covered(name, turns):
                    continue
            elif not turns & {None, turn}:
                continue
            elif None in turns and self._counting(child):
                pool.guessed = True
            open_.append((child, None, True))

    def _is_covered(self, name: str, turns: set[str | None]) -> bool:
        """Whether aggregates of a session's turns include a child of these turns."""
        if None in turns:
            return any(one is not None for one in self._pooled_turns(name))
        return any((name, turn) in self._pools for turn in turns)

    def _pooled_turns(self, name: str) -> Sequence[str | None]:
        return [
            turn
            for turn in self._counting(name)
            if turn is not None and (name, turn) in self._pools
        ]

    # -- What is left -----------------------------------------------------------------------

    def _share_out(self, pools: list[_Pool]) -> None:
        """Take what is included away, from below, from pools that share it together."""
        holder: dict[Report | _Pool, _Pool] = {}
        near: defaultdict[_Pool, dict[_Pool, None]] = defaultdict(dict)
        for pool in pools:
            several: list[Report | _Pool] = [*pool.reports, *pool.pools]
            for one in several:
                first = holder.setdefault(one, pool)
                if first is not pool and first not in pool.pools and pool not in first.pools:
                    near[pool][first] = near[first][pool] = None
        joined = graph.components(pools, lambda pool: near[pool])
        group_of = {pool: number for number, group in enumerate(joined) for pool in group}

        def onward(number: int) -> Iterable[int]:
            below = (one for pool in joined[number] for one in pool.pools)
            return dict.fromkeys(group_of[one] for one in below if group_of[one] != number)

        #: For each group what its aggregates cover, and what of it is left for themselves.
        done: list[tuple[Sum, Sum]] = []
        number_of: dict[int, int] = {}
        for numbers in graph.strong_components(range(len(joined)), onward):
            group = [pool for number in numbers for pool in joined[number]]
            below: dict[int, bool] = {}
            for pool in group:
                for one in pool.pools:
                    if group_of[one] in number_of:
                        number = number_of[group_of[one]]
                        below[number] = below.get(number, False) or pool.with_children
            number_of.update(dict.fromkeys(numbers, len(done)))
            # Without children only an aggregate's own share is in the one above it.
            used = [done[number][0 if whole else 1] for number, whole in below.items()]
            done.append(self._take_away(group, used))

    def _take_away(self, group: list[_Pool], below: list[Sum]) -> tuple[Sum, Sum]:
        inner = {one for pool in group for one in pool.pools}
        tops = [pool for pool in group if pool not in inner]
        if not tops:  # they include each other
            tops = [max(group, key=lambda pool: sum(once(pool.aggregates).tokens[:4]))]
        included = dict.fromkeys(report for pool in group for report in pool.reports)
        used = once(included)
        for one in below:
            used.add_sum(one)
        aggregates = [one for pool in tops for one in pool.aggregates]
        total = once(aggregates)
        self._say(group, total, used, included)
        for pool in group:
            for report in pool.aggregates:
                report.rest = Sum()
        left = used
        for report in sorted(aggregates, key=_order):
            if _is_any(used) or (report.item is not None and report.item.with_children):
                report.bucket = "unknown"
            report.rest = report.sum.less(left)
            left = left.less(report.sum)
        rest = total.less(used)
        used.add_sum(rest)
        return used, rest

    def _say(
        self, group: list[_Pool], total: Sum, used: Sum, included: Mapping[Report, None]
    ) -> None:
        """Note where it is not known what belongs to what."""
        if not _is_any(used):
            return
        name = group[0].session
        items = [one.item for pool in group for one in pool.aggregates if one.item is not None]
        if any(item.includes_children is None for item in items):
            self.lower.append((name, "may-not-include"))
        if any(pool.guessed for pool in group):
            self.lower.append((name, "included-elsewhere"))
        if any(pool.loose for pool in group):
            self.lower.append((name, "turns-not-apart"))
        elif _exceeds(used, total):
            self.lower.append((name, "children-larger"))
            self._doubt(group)
        unclear = {one for pool in group for one in pool.unclear}
        for report in included:
            session = self._reports.name(report.session)
            if session in unclear:
                self.lower.append((name, "no-named-turns"))
                report.bucket = "unknown"

    def _doubt(self, group: list[_Pool]) -> None:
        """Let nothing be original that a group includes."""
        found = dict.fromkeys(group)
        open_ = list(group)
        while open_:
            below = [one for one in open_.pop().pools if one not in found]
            found.update(dict.fromkeys(below))
            open_ += below
        for pool in found:
            for report in pool.reports:
                report.bucket = "unknown"


def _order(report: Report) -> tuple[int, str]:
    return report.session, report.turn or ""


def _is_any(total: Sum) -> bool:
    return any(total.tokens) or any(total.cost.values())


def _exceeds(used: Sum, total: Sum) -> bool:
    """Whether more was used than an aggregate states, of anything that it states."""
    stated = Sum()
    stated.tokens = [a if b else 0 for a, b in zip(used.tokens, total.tokens, strict=True)]
    stated.cost = {name: amount for name, amount in used.cost.items() if name in total.cost}
    return larger(stated, total)
