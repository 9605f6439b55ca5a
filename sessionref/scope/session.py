"""All that a scope has of one session: one account of it, or several that contradict each other."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from sessionref._codes import codes
from sessionref._compiled import TURN_KEY
from sessionref.findings import Finding
from sessionref.refs import EntityRef, RecordRef, TurnRef
from sessionref.streams.chains import join
from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE
from sessionref.streams.outcomes import Ambiguous, Resolved, Unresolved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sessionref.reference import SessionKey
    from sessionref.scope.capture import Capture
    from sessionref.streams.outcomes import Hit, Outcome, Reason

__all__ = ["Account", "Place", "Session"]


class Place(NamedTuple):
    """Where a record is in an account: the number of the segment, and the row in its index."""

    segment: int
    row: int


class Account:
    """One consistent account of a session: what one capture tells, or several joined segments.

    `captures` are the captures that are read, one for each segment, in order. `repeats` are those
    that say the same, or the beginning of it; they are not read.
    """

    def __init__(self, captures: Sequence[Capture], repeats: Sequence[Capture] = ()) -> None:
        self.captures = tuple(captures)
        self.repeats = tuple(repeats)

    @property
    def session(self) -> str | None:
        """The canonical form of the session's key."""
        return self.captures[0].index.session

    @property
    def header(self) -> Hit | None:
        """The header of the first segment, None where there is none."""
        index = self.captures[0].index
        return index.hit(0) if index.header.content else None

    def __len__(self) -> int:
        return sum(len(capture.index) for capture in self.captures)

    def __iter__(self) -> Iterator[tuple[Place, Hit]]:
        for segment, capture in enumerate(self.captures):
            for row, hit in enumerate(capture.index):
                yield Place(segment, row), hit

    def hit(self, place: Place) -> Hit:
        """The record at `place`."""
        return self.captures[place.segment].index.hit(place.row)

    def find(self, key: str | None, value: str) -> list[Place]:
        """The records that `value` names: of a record ID, or with `key` of an entity or a turn.

        Of an entity the latest revisions of its chains. Several, unless it is a turn, make an
        ambiguous ref. The header of a later segment is the session's header once more.
        """
        if len(self.captures) > 1 and key is not None and key != TURN_KEY:
            return list(self._joined.latest.get((key, value), ()))
        found = [
            Place(segment, row)
            for segment, capture in enumerate(self.captures)
            for row in capture.index.rows_of(key, value)
        ]
        only_headers = key is None and not any(place.row for place in found)
        return found[:1] if only_headers else found

    def order(self, place: Place) -> tuple[int, int]:
        """What says which of two records is earlier: the segment, then `seq`."""
        return place.segment, self.captures[place.segment].index.place(place.row)[1]

    def resolve(self, ref: RecordRef | EntityRef | TurnRef) -> Outcome:
        """What `ref` means in this account (ASR-063, 064, 075)."""
        if len(self.captures) == 1:
            return self.captures[0].index.resolve(ref)
        reason: Reason
        if isinstance(ref, RecordRef):
            found, reason = self.find(None, ref.record_id), "no-such-record"
        elif isinstance(ref, EntityRef):
            found, reason = self.find(ref.key, ref.value), "no-such-entity"
        else:
            found, reason = self.find(TURN_KEY, ref.turn_id), "no-such-turn"
        if not found:
            return Unresolved(reason, self.session)
        hits = tuple(self.hit(place) for place in sorted(found, key=self.order))
        if len(hits) == 1 or isinstance(ref, TurnRef):
            return Resolved(hits, self.session)
        return Ambiguous(hits, self.session)

    def superseded(self, segment: int) -> Collection[int]:
        """The rows of a segment whose records others of the account supersede."""
        if len(self.captures) == 1:
            return self.captures[0].index.superseded
        return self._joined.superseded[segment]

    @property
    def findings(self) -> Iterator[Finding]:
        """What is wrong with the streams of the account, as far as reading them goes.

        Of several segments the links between revisions are those of all together.
        """
        joined = len(self.captures) > 1
        for capture in self.captures:
            for finding in capture.index.findings:
                if not joined or not finding.code.startswith("supersedes-"):
                    yield finding
        if joined:
            for code, place in self._joined.faults:
                row = codes()[code]
                hit = self.hit(place)
                yield Finding(
                    code=code,
                    severity=row.severity,
                    message=row.meaning,
                    rule=row.rule,
                    session=self.session,
                    seq=hit.seq,
                    id=hit.id,
                    path="$.supersedes",
                    file=hit.file,
                    line=hit.line,
                )

    @cached_property
    def _joined(self) -> _Joined:
        """The chains of several segments, which go on from one into the next (ASR-065)."""
        places = [place for place, _ in self]
        rows = {place: row for row, place in enumerate(places)}
        about = [self.captures[segment].index.place(row) for segment, row in places]
        links = join(
            {
                rows[Place(segment, row)]: named
                for segment, capture in enumerate(self.captures)
                for row, named in capture.index.supersedes()
            },
            lambda record_id: [rows[place] for place in self.find(None, record_id)],
            [kind for kind, _, _ in about],
            # A record of an earlier segment is earlier, whatever its seq.
            [
                (place.segment << _BITS) + seq
                for place, (_, seq, _) in zip(places, about, strict=True)
            ],
            [value for _, _, value in about],
        )
        latest: dict[tuple[str, str], list[Place]] = {}
        for row, (kind, _, value) in enumerate(about):
            if value is not None and row not in links.revisions:
                latest.setdefault((ENTITY_KEY_OF_TYPE[kind], value), []).append(places[row])
        superseded: list[set[int]] = [set() for _ in self.captures]
        for row in links.revisions:
            superseded[places[row].segment].add(places[row].row)
        return _Joined(latest, superseded, [(code, places[row]) for code, row in links.faults])


class _Joined(NamedTuple):
    """By entity key and value the latest revisions, by segment the rows that have later ones, and
    the links that join nothing.
    """  # noqa: D205

    latest: dict[tuple[str, str], list[Place]]
    superseded: list[set[int]]
    faults: list[tuple[str, Place]]


#: More than any `seq` has.
_BITS = 66


class Session:
    """One session of the scope: its key, and one account of it, or several (a conflict).

    `key` is None for a stream whose header gives none; each such stream is a session of its own.
    """

    def __init__(self, key: SessionKey | None, accounts: Sequence[Account]) -> None:
        self.key = key
        self.accounts = tuple(accounts)

    @property
    def conflict(self) -> bool:
        """Whether captures of this key contradict each other (ASR-050); none is preferred then."""
        return len(self.accounts) > 1

    @property
    def canonical(self) -> str | None:
        """The canonical form of the key, None where there is no key."""
        return None if self.key is None else self.key.canonical()

    @property
    def captures(self) -> tuple[Capture, ...]:
        """All captures of the session, read or not."""
        return tuple(
            capture
            for account in self.accounts
            for capture in (*account.captures, *account.repeats)
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the inputs that hold something of the session, in the order of names."""
        names = {capture.file for capture in self.captures}
        return tuple(sorted(name for name in names if name is not None))

    def __len__(self) -> int:
        return sum(map(len, self.accounts))

    def __repr__(self) -> str:
        return f"<Session {self.canonical}, {len(self.accounts)} account(s)>"
