"""Totals of a scope that count nothing twice, and say what they cannot know.

Copies never count (ASR-417). What may be a copy stands apart as unknown, counts in `counted_once`,
and makes `may_include_copies` true (ASR-416). A call that its provider identifies counts once in
a total over several sessions, however many of them hold it: as original where it is original
somewhere, else as unknown, since then only its credit is unknown.
"""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from sessionref.lineage.aggregates import items
from sessionref.lineage.calls import (
    CallIdentity,
    amounts,
    bucket_of,
    call_key,
    day_of,
    model_of,
    position,
    same,
    settle,
)
from sessionref.lineage.executed import Executions, Sides, larger
from sessionref.lineage.included import Included
from sessionref.lineage.notes import Note, bound_notes, notes_of
from sessionref.lineage.reports import Reports, once
from sessionref.usage import GROUPS, Sum, agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.aggregates import Item
    from sessionref.lineage.calls import (
        Bucket,
        CallKey,
        Disputed,
        Settled,
    )
    from sessionref.lineage.forest import Forest
    from sessionref.lineage.reports import Fate
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.reference import SessionRef
    from sessionref.registry import Registry
    from sessionref.usage import Group, Measure

__all__ = ["GROUPINGS", "GroupTotal", "Grouping", "SessionTotal", "Shared", "Total", "Totals"]

Grouping = Literal["session", "family", "agent", "day", "model"]
GROUPINGS: tuple[Grouping, ...] = ("session", "family", "agent", "day", "model")


class Total(msgspec.Struct, frozen=True, rename="camel"):
    """What counts once, and what that is made of; copies are beside it and count nowhere here."""

    counted_once: Measure
    original: Measure
    copied: Measure
    unknown: Measure


class SessionTotal(msgspec.Struct, frozen=True):
    """What the records of one session say; `session` is None where its header names none."""

    session: str | None
    original: Measure
    copied: Measure
    unknown: Measure
    files: tuple[str, ...] = ()


class GroupTotal(msgspec.Struct, frozen=True):
    """The total of one session, family, agent, day or model; `name` is None where it is unknown."""

    name: str | None
    total: Total


class Buckets:
    """Three sums."""

    __slots__ = ("copied", "original", "unknown")

    def __init__(self) -> None:
        self.original = Sum()
        self.copied = Sum()
        self.unknown = Sum()

    def of(self, bucket: Bucket) -> Sum:
        """The sum of that bucket."""
        found: Sum = getattr(self, bucket)
        return found

    def add(self, other: Buckets) -> None:
        """Add what another has."""
        self.original.add_sum(other.original)
        self.copied.add_sum(other.copied)
        self.unknown.add_sum(other.unknown)

    def own(self) -> Sum:
        """Original and unknown together."""
        total = Sum()
        total.add_sum(self.original)
        total.add_sum(self.unknown)
        return total

    def total(self) -> Total:
        """The three sums, and what counts once."""
        return Total(
            self.own().measure(),
            self.original.measure(),
            self.copied.measure(),
            self.unknown.measure(),
        )


class Entry(NamedTuple):
    """What one session says of a call that others may hold too.

    `positions` are those of its records among the calls of the account.
    """

    session: int
    account: AccountLineage
    positions: tuple[int, ...]
    bucket: Bucket
    sum: Sum
    model: str | None
    day: str | None


class Shared(msgspec.Struct):
    """A call that its provider identifies, and all sessions that hold it other than as a copy."""

    key: CallKey
    entries: list[Entry]


class Once(NamedTuple):
    """What counts of a shared call."""

    bucket: Bucket
    sum: Sum
    model: str | None
    day: str | None
    exact: bool


class _Cell(NamedTuple):
    """Where a contribution to totals belongs: the number of the session, model, UTC day."""

    session: int
    model: str | None
    day: str | None


class Totals:
    """The totals of the sessions of one scope.

    `sessions` are all of them, `forest` is theirs, `name_of` gives the canonical key that a
    reference means in the scope. The order of `sessions` changes nothing but the order of rows.
    """

    def __init__(
        self,
        sessions: Sequence[SessionLineage],
        forest: Forest,
        name_of: Callable[[SessionRef], str],
        registry: Registry,
    ) -> None:
        self._sessions = list(sessions)
        self._numbers = {id(one): number for number, one in enumerate(self._sessions)}
        self._forest = forest
        self._identities = [CallIdentity.of(one.agent, registry) for one in self._sessions]
        self._name_of = name_of
        self._registry = registry
        self._rows = [Buckets() for _ in self._sessions]
        self._cells: defaultdict[_Cell, Buckets] = defaultdict(Buckets)
        self._lower: list[tuple[str, str]] = []
        self._settled: dict[AccountLineage, Settled] = {}
        self._items: dict[AccountLineage, list[Item]] = {}
        self._candidates: dict[CallKey, list[Entry]] = {}
        self._reports = Reports(self._sessions, self._identities, self._settled, self._items)
        self._fill()

    # -- What comes out ---------------------------------------------------------------------

    @cached_property
    def sessions(self) -> tuple[SessionTotal, ...]:
        """What the records of each session say, one row each.

        A wrapper's report on turns that another session in scope reports itself stands in no
        column, or under unknown where it is not certain that it is of these turns. Shared calls
        stand in the row of each session that holds them.
        """
        return tuple(
            SessionTotal(
                session.session,
                rows.original.measure(),
                rows.copied.measure(),
                rows.unknown.measure(),
                session.files,
            )
            for session, rows in zip(self._sessions, self._rows, strict=True)
        )

    @cached_property
    def total(self) -> Total:
        """The total of the scope."""
        return self._sum(self._cells, self.shared)

    @property
    def may_include_copies(self) -> bool:
        """Whether anything that counts may be a copy (ASR-416)."""
        return bool(self.total.unknown)

    @cached_property
    def shared(self) -> tuple[Shared, ...]:
        """The calls that their provider identifies and that several records in scope tell of."""
        return tuple(
            Shared(key, self._candidates[key]) for key in sorted(self._candidates, key=str)
        )

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What limits the totals, as sentences, session by session."""
        found = [
            *bound_notes(self._lower, self._doubtful()),
            *notes_of(self._sessions, self._settled, self._items, self._registry),
            *self._shared_notes(),
        ]
        found.sort(key=lambda note: (note.session is None, note.session or "", note.code))
        return tuple(found)

    def by(self, grouping: Grouping) -> tuple[GroupTotal, ...]:
        """Totals by session, family, agent, UTC day or model, in the order of names, None last.

        Within a group nothing counts twice. A call that several groups hold counts in each, so
        the groups of sessions and families can add up to more than the total.
        """
        if grouping not in GROUPINGS:
            raise ValueError(f"unknown grouping {grouping!r}: expected {', '.join(GROUPINGS)}")
        if grouping == "session":
            return tuple(
                GroupTotal(session.session, rows.total())
                for session, rows in zip(self._sessions, self._rows, strict=True)
            )
        cells: defaultdict[str | None, dict[_Cell, Buckets]] = defaultdict(dict)
        for cell, buckets in self._cells.items():
            cells[self._label(grouping, cell)][cell] = buckets
        shared: defaultdict[str | None, list[Shared]] = defaultdict(list)
        for call in self.shared:
            if grouping == "family":
                apart: defaultdict[str | None, list[Entry]] = defaultdict(list)
                for entry in call.entries:
                    apart[self._family(entry.session)].append(entry)
                for name, entries in apart.items():
                    shared[name].append(Shared(call.key, entries))
            else:
                once = self._once(call.entries)
                cell = _Cell(call.entries[0].session, once.model, once.day)
                shared[self._label(grouping, cell)].append(call)
        names = sorted({*cells, *shared}, key=lambda name: (name is None, name or ""))
        return tuple(
            GroupTotal(name, self._sum(cells.get(name, {}), shared.get(name, ()))) for name in names
        )

    def of(self, sessions: Iterable[str]) -> Total:
        """The total of some sessions of the scope, by canonical key, with nothing counted twice."""
        wanted = set(sessions)
        several = [one for one in self._sessions if one.session in wanted]
        return Totals(several, self._forest, self._name_of, self._registry).total

    # -- What `explain` asks ----------------------------------------------------------------

    def settled(self, account: AccountLineage) -> Settled:
        """The calls of an account."""
        return self._settled[account]

    def items(self, account: AccountLineage) -> list[Item]:
        """What the aggregates of an account say."""
        return self._items[account]

    def fates(self, account: AccountLineage, at: int) -> set[Fate]:
        """What becomes of the call at position `at` beside what other sessions report."""
        return {report.fate for report in self._reports.of_call(account, at)}

    def shared_call(
        self, session: SessionLineage, account: AccountLineage, at: int
    ) -> tuple[Shared, Entry] | None:
        """The shared call that the record at position `at` tells of, and what its session says.

        None where the call is of another kind.
        """
        identity = self._identities[self._numbers[id(session)]]
        key = call_key(account, at, session.agent, identity)
        entries = self._candidates.get(key, []) if key is not None else []
        for entry in entries:
            if entry.account is account and at in entry.positions and key is not None:
                return Shared(key, entries), entry
        return None

    def once(self, call: Shared) -> Once:
        """What counts of a shared call in the total of the scope."""
        return self._once(call.entries)

    # -- How it is made ---------------------------------------------------------------------

    def _fill(self) -> None:
        repeated = self._settle()
        self._decide()
        for number, session in enumerate(self._sessions):
            for account in session.accounts:
                at: Sequence[int] = self._settled[account].plain
                if repeated:
                    at = self._set_apart(number, account, at, repeated)
                if number in self._reports.made:
                    for one in at:
                        bucket = bucket_of(account, one)
                        self._add_call(number, account, (one,), bucket, _amounts(account, one))
                else:
                    self._add_calls(number, account, at)
                for call in self._settled[account].disputed:
                    key = call.key
                    if key is None or not self._share(number, account, call.positions, key, call):
                        self._add_call(number, account, call.positions, call.bucket, call.sum)
        self._add_shared_rows()
        self._add_items()

    def _decide(self) -> None:
        """Decide what counts where several sessions, or calls and aggregates, report one thing."""
        keyed = {one.session: one for one in self._sessions if one.session is not None}
        numbers = self._numbers_by_name()
        executions = Executions(keyed, self._name_of)
        wrappers = set(executions.wrappers)
        gatherers = [
            name
            for name, session in keyed.items()
            if any(
                item.counts and (item.with_children or name in wrappers)
                for account in session.accounts
                for item in self._items[account]
            )
        ]
        for group in GROUPS:
            sides = Sides(executions, numbers, self._reports, group)
            self._lower += sides.lower
            included = Included(executions, self._forest, numbers, self._reports, group)
            if gatherers:
                included.take(gatherers)
            self._compare(included, numbers, group)
            for place, own in sides.covered:
                # The children of who ran the turn may make up for it.
                if not any(
                    one.item is not None and one.item.with_children for one in own
                ) or larger(once(own), included.below(place.session, place.turn)):
                    self._lower.append((place.session, "aggregate-larger"))
            self._lower += included.lower
        for number in self._reports.made:
            for group in GROUPS:
                for report in self._reports.of(number, group):
                    item = report.item
                    if item is not None:
                        item.bucket, item.rest = report.bucket, report.rest
                        item.doubtful = report.fate == "doubtful"
                        item.left_out = "covered" if report.fate == "covered" else None

    def _compare(self, included: Included, numbers: dict[str, int], group: Group) -> None:
        """Note the aggregates that state more than what counts in their place."""
        for name, number in numbers.items():
            for item in self._reports.items(number):
                if item.group != group or item.left_out not in {"calls-recorded", "turns-reported"}:
                    continue
                counting = [
                    report
                    for report in self._reports.of(number, group)
                    if item.covers == "session" or report.turn in {None, item.turn}
                ]
                counting = [report for report in counting if report.fate == "counts"]
                place = once(counting)
                if counting and item.with_children and larger(item.sum, place):
                    place.add_sum(included.below(name, item.turn))
                if counting and larger(item.sum, place):
                    self._lower.append((name, "aggregate-larger"))

    def _settle(self) -> frozenset[int]:
        """Settle all accounts; the hashes of call keys that come more than once."""
        hashes = array("q")
        for session, identity in zip(self._sessions, self._identities, strict=True):
            for account in session.accounts:
                calls = self._settled[account] = settle(account, session.agent, identity)
                self._items[account] = items(account)
                if identity.everywhere:
                    hashes.extend(_hashes(account, calls.plain, identity))
                    hashes.extend(
                        hash(one.key[1:]) for one in calls.disputed if one.key is not None
                    )
        ordered = sorted(hashes)
        return frozenset(one for one, following in itertools.pairwise(ordered) if one == following)

    def _set_apart(
        self,
        number: int,
        account: AccountLineage,
        positions: Sequence[int],
        repeated: frozenset[int],
    ) -> Sequence[int]:
        """Take out the calls that other records may tell of too; what is left."""
        session, identity = self._sessions[number], self._identities[number]
        if not identity.everywhere:
            return positions
        left: list[int] = []
        hashes = _hashes(account, positions, identity, keep_order=True)
        for at, hashed in zip(positions, hashes, strict=True):
            key = call_key(account, at, session.agent, identity) if hashed in repeated else None
            if key is None or not self._share(number, account, (at,), key):
                left.append(at)
        return left

    def _share(
        self,
        number: int,
        account: AccountLineage,
        positions: tuple[int, ...],
        key: CallKey,
        disputed: Disputed | None = None,
    ) -> bool:
        """Note a call that others may hold; False where it is a copy here, or counts elsewhere."""
        bucket = bucket_of(account, positions[0]) if disputed is None else disputed.bucket
        total = _amounts(account, positions[0]) if disputed is None else disputed.sum
        if bucket == "copied" or self.fates(account, positions[0]) - {"counts"}:
            return False
        bucket = self._doubt(account, positions[0], bucket)
        model = same(model_of(account, one) for one in positions)
        day = same(day_of(account, one) for one in positions)
        entry = Entry(number, account, positions, bucket, total, model, day)
        self._candidates.setdefault(key, []).append(entry)
        return True

    def _add_shared_rows(self) -> None:
        """Add each shared call to the rows of the sessions that hold it, once to each."""
        for entries in self._candidates.values():
            by_session: defaultdict[int, list[Entry]] = defaultdict(list)
            for entry in entries:
                by_session[entry.session].append(entry)
            for number, own in by_session.items():
                once = self._once(own)
                self._rows[number].of(once.bucket).add_sum(once.sum)

    def _doubt(self, account: AccountLineage, at: int, bucket: Bucket) -> Bucket:
        """The bucket of a call, unknown where it is not known what includes it."""
        doubted = any(one.bucket == "unknown" for one in self._reports.of_call(account, at))
        return "unknown" if doubted else bucket

    def _add_call(
        self,
        number: int,
        account: AccountLineage,
        positions: tuple[int, ...],
        bucket: Bucket,
        total: Sum,
    ) -> None:
        """Add one call, as far as nothing else counts in its place."""
        cell = _Cell(
            number,
            same(model_of(account, one) for one in positions),
            same(day_of(account, one) for one in positions),
        )
        reports = self._reports.of_call(account, positions[0])
        if not reports:
            self._add(cell, bucket, total)
        for report in reports:
            part = report.sum.only(report.group)
            part.calls = int(report.group == "tokens")
            if report.fate == "counts":
                self._add(cell, report.bucket, part)
            elif report.fate == "doubtful":
                self._rows[number].unknown.add_sum(part)

    def _add_calls(self, number: int, account: AccountLineage, at: Sequence[int]) -> None:
        """Add records that each count as one call."""
        gathered = account.gathered
        calls = gathered.calls
        groups: defaultdict[tuple[int, int, Bucket], list[int]] = defaultdict(list)
        models, days = calls.models, calls.days
        originality = account.originality
        if originality.is_uniform:
            rest: Bucket = "original" if originality.rest.value == "original" else "unknown"
            for one in at:
                groups[models[one], days[one], rest].append(one)
        else:
            for one in at:
                groups[models[one], days[one], bucket_of(account, one)].append(one)
        tokens = calls.tokens
        for (model, day, bucket), members in groups.items():
            total = Sum()
            total.tokens = [sum([tokens[5 * one + n] for one in members]) for n in range(5)]
            total.calls = len(members)
            if calls.costs:
                for one in members:
                    total.add(_NOTHING, calls.costs.get(one))
            cell = _Cell(
                number,
                None if model < 0 else gathered.model_names[model],
                None if day < 0 else gathered.day_names[day],
            )
            self._add(cell, bucket, total)

    def _add(self, cell: _Cell, bucket: Bucket, total: Sum) -> None:
        self._rows[cell.session].of(bucket).add_sum(total)
        self._cells[cell].of(bucket).add_sum(total)

    def _add_items(self) -> None:
        """Add the aggregates that count."""
        for number, session in enumerate(self._sessions):
            for item in (item for account in session.accounts for item in self._items[account]):
                if item.left_out is not None:
                    continue
                row = self._rows[number].of("unknown" if item.doubtful else item.bucket)
                row.add_sum(item.sum)
                if not item.doubtful:
                    rest = item.sum if item.rest is None else item.rest
                    self._cells[_Cell(number, None, item.day)].of(item.bucket).add_sum(rest)

    # -- Sums -------------------------------------------------------------------------------

    def _sum(self, cells: dict[_Cell, Buckets], shared: Iterable[Shared]) -> Total:
        buckets = Buckets()
        for one in cells.values():
            buckets.add(one)
        for call in shared:
            once = self._once(call.entries)
            buckets.of(once.bucket).add_sum(once.sum)
        return buckets.total()

    def _once(self, entries: Sequence[Entry]) -> Once:
        """What counts of one call: its original where there is one, else what is unknown."""
        own = [entry for entry in entries if entry.bucket == "original"] or list(entries)
        total, exact = agreed([entry.sum for entry in own])
        if not exact:
            latest = [entry for entry in own if not self._is_earlier(entry, own)]
            if latest:
                own = latest
                total, exact = agreed([entry.sum for entry in own])
        total.calls = 1
        return Once(
            own[0].bucket,
            total,
            same(entry.model for entry in own),
            same(entry.day for entry in own),
            exact,
        )

    def _is_earlier(self, entry: Entry, others: Iterable[Entry]) -> bool:
        """Whether an entry says what another session's revision, superseded there, said."""
        for other in others:
            if other is not entry and any(
                earlier.tokens == entry.sum.tokens and earlier.cost == entry.sum.cost
                for earlier in self._superseded(other)
            ):
                return True
        return False

    def _superseded(self, entry: Entry) -> Iterator[Sum]:
        """What the earlier revisions of a call said."""
        calls, index = entry.account.gathered.calls, entry.account.index
        for at in entry.positions:
            for row in index.chain(calls.rows[at]):
                earlier = position(calls.rows, row)
                if earlier is not None and row in index.superseded:
                    yield amounts(calls, earlier)

    # -- Labels -----------------------------------------------------------------------------

    def _label(self, grouping: Grouping, cell: _Cell) -> str | None:
        if grouping == "family":
            return self._family(cell.session)
        if grouping == "agent":
            return self._sessions[cell.session].agent
        return cell.day if grouping == "day" else cell.model

    def _family(self, number: int) -> str | None:
        session = self._sessions[number].session
        return None if session is None else self._forest.family_of[session].name

    def _doubtful(self) -> dict[str, int]:
        """The tokens that stand in the row of a wrapper only."""
        found: defaultdict[str, int] = defaultdict(int)
        for session, number in self._numbers_by_name().items():
            if number in self._reports.made:
                for report in self._reports.of(number, "tokens"):
                    if report.fate == "doubtful":
                        found[session] += sum(report.sum.tokens[:4])
        return found

    def _numbers_by_name(self) -> dict[str, int]:
        several = enumerate(self._sessions)
        return {one.session: number for number, one in several if one.session is not None}

    def _shared_notes(self) -> Iterator[Note]:
        several = [call for call in self.shared if len(call.entries) > 1]
        unknown = sum(self._once(call.entries).bucket == "unknown" for call in several)
        if unknown:
            yield Note(
                "shared-calls",
                None,
                f"{unknown} model call(s) stand in several sessions and count once: that they were "
                "made is certain, which session made them is not",
            )
        unequal = sum(not self._once(call.entries).exact for call in several)
        if unequal:
            yield Note(
                "shared-calls-differ",
                None,
                f"of {unequal} model call(s) that stand in several sessions these say different "
                "numbers; only what they agree on counts",
            )


_NOTHING: Any = (0, 0, 0, 0, 0)


def _hashes(
    account: AccountLineage,
    positions: Iterable[int],
    identity: CallIdentity,
    *,
    keep_order: bool = False,
) -> Iterator[int]:
    """A hash for each call that its provider identifies; with `keep_order` 0 for the others."""
    calls, values = account.gathered.calls, account.index.values
    rows, derived = calls.rows, calls.derived
    request_of = calls.requests.get
    for at in positions:
        request = request_of(at) if identity.with_request else None
        call = values[rows[at]]
        if at in derived or call is None or (identity.with_request and request is None):
            if keep_order:
                yield 0
        else:
            yield hash((call, request))


def _amounts(account: AccountLineage, at: int) -> Sum:
    return amounts(account.gathered.calls, at)
