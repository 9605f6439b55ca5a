"""All that a scope has of one session: one account of it, or several that contradict each other."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from sessionref.refs import EntityRef, RecordRef, TurnRef
from sessionref.streams.outcomes import Ambiguous, Resolved, Unresolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.findings import Finding
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
        ambiguous ref.
        """
        found = [
            Place(segment, row)
            for segment, capture in enumerate(self.captures)
            for row in capture.index.rows_of(key, value)
        ]
        if len(found) > 1 and key is not None and key != _TURN:
            superseded = self._superseded_elsewhere
            found = [place for place in found if place not in superseded]
        return found

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
            found, reason = self.find(_TURN, ref.turn_id), "no-such-turn"
        if not found:
            return Unresolved(reason, self.session)
        hits = tuple(self.hit(place) for place in sorted(found, key=self.order))
        if len(hits) == 1 or isinstance(ref, TurnRef):
            return Resolved(hits, self.session)
        return Ambiguous(hits, self.session)

    @cached_property
    def links(self) -> dict[Place, Place]:
        """What supersedes what across segments: the valid links, by the record that has them."""
        links: dict[Place, Place] = {}
        if len(self.captures) == 1:
            return links
        for segment, capture in enumerate(self.captures):
            for row, named in capture.index.supersedes():
                place = Place(segment, row)
                found = self.find(None, named)
                if len(found) != 1 or found[0].segment >= segment:
                    continue
                kind, _, value = capture.index.place(row)
                other, _, other_value = self.captures[found[0].segment].index.place(found[0].row)
                if (kind, value) == (other, other_value):
                    links[place] = found[0]
        return links

    @cached_property
    def _superseded_elsewhere(self) -> frozenset[Place]:
        return frozenset(self.links.values())

    @property
    def findings(self) -> Iterator[Finding]:
        """What is wrong with the streams of the account, as far as reading them goes.

        A link that leads into an earlier segment is no fault.
        """
        for segment, capture in enumerate(self.captures):
            linked = {self.hit(place).line for place in self.links if place.segment == segment}
            for finding in capture.index.findings:
                if finding.code != "supersedes-unknown" or finding.line not in linked:
                    yield finding


_TURN = "turnId"


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
