"""What becomes of a ref: resolved, unresolved with a reason, or ambiguous (ASR-063, 064, 075, 080).

The three are values: immutable, hashable, comparable, picklable, and made for `match`. None is
ever chosen by position.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import msgspec

from sessionref.findings import Place
from sessionref.reference import SessionRef, try_parse
from sessionref.refs import EntityRef, RecordRef, Ref, TurnRef

__all__ = ["Ambiguous", "Hit", "Outcome", "Reason", "Resolved", "Unresolved", "as_ref"]

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

    @property
    def place(self) -> Place:
        """Where the record stands, as far as people care."""
        return Place(self.session, self.seq, self.id, self.file, self.line)


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
    """The ref means nothing here; `reason` is a code of `data/codes.toml`."""

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


def as_ref(
    given: SessionRef | RecordRef | EntityRef | TurnRef | str,
) -> SessionRef | RecordRef | EntityRef | TurnRef:
    """A reference or ref as it is; text as a session reference if it is one, else as a raw ref.

    Raises `InvalidReference` for text that is neither, and TypeError for anything else.
    """
    if isinstance(given, str):
        return try_parse(given) or Ref.from_raw(given)
    if not isinstance(given, SessionRef | RecordRef | EntityRef | TurnRef):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a reference, a ref or text was expected, not {type(given).__name__}")
    return given
