"""What becomes of a ref: resolved, unresolved with a reason, or ambiguous (ASR-063, 064, 075, 080).

The three are values: immutable, hashable, comparable, picklable, and made for `match`. None is
ever chosen by position.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import msgspec

__all__ = ["REASONS", "Ambiguous", "Hit", "Outcome", "Reason", "Resolved", "Unresolved"]

Reason = Literal[
    "no-such-record",
    "no-such-entity",
    "no-such-turn",
    "no-such-session",
    "no-such-ordinal",
    "not-declared",
    "no-session-named",
    "capture-scoped",
    "external",
    "invalid",
]

#: Every reason of an `Unresolved`, with what it means. The slugs are API.
REASONS: dict[Reason, str] = {
    "no-such-record": "no record of the stream has this record ID (ASR-063)",
    "no-such-entity": "no record of a type that the key refers to carries this value (ASR-064)",
    "no-such-turn": "no record of the stream carries this turn ID (ASR-075)",
    "no-such-session": "the reference names another session than the stream's header (ASR-050)",
    "no-such-ordinal": "no record of the session comes from this native position (ASR-079)",
    "not-declared": "neither the header nor an earlier declaration declares it (ASR-077, 079)",
    "no-session-named": "the member that should name the session names none (ASR-400, 409)",
    "capture-scoped": "the ID holds for one capture, and another one refers to it (ASR-071)",
    "external": "it names bytes outside of all streams (ASR-079)",
    "invalid": "the value is no reference of a kind that may stand here (ASR-062, 079)",
}


class Hit(msgspec.Struct, frozen=True):
    """One record, and where it stands.

    `session` is the stream's canonical session key, None where its header gives none. `file` is
    the file that was read, None for bytes from elsewhere. `line` counts from 1; `offset` and
    `length` are in bytes of the decompressed input and cover the record itself, without line
    ending. `id` is escaped where the record's ID has no UTF-8 form; then nothing refers to it.
    """

    id: str
    seq: int
    type: str
    session: str | None
    file: str | None
    line: int
    offset: int
    length: int


class Resolved(msgspec.Struct, frozen=True):
    """The ref means `records`: one record, or all records of a turn in the order of `seq`."""

    records: tuple[Hit, ...]
    session: str | None = None

    state: ClassVar[Literal["resolved"]] = "resolved"
    exact: ClassVar[Literal[True]] = True

    @property
    def first(self) -> Hit:
        """The record with the lowest `seq`: what stands for a turn where one is asked (ASR-075)."""
        return self.records[0]


class Unresolved(msgspec.Struct, frozen=True):
    """The ref means nothing here; `reason` is a key of `REASONS`."""

    reason: Reason
    session: str | None = None

    state: ClassVar[Literal["unresolved"]] = "unresolved"
    exact: ClassVar[Literal[False]] = False


class Ambiguous(msgspec.Struct, frozen=True):
    """The ref could mean any of `candidates`; readers treat it as unresolved (ASR-064)."""

    candidates: tuple[Hit, ...]
    session: str | None = None

    state: ClassVar[Literal["ambiguous"]] = "ambiguous"
    exact: ClassVar[Literal[False]] = False


Outcome: TypeAlias = Resolved | Unresolved | Ambiguous
