"""The table of reference fields: which members refer to what, as data (ASR-079).

A row is a `ReferenceField`; the standard ones come from ``data/reference_fields.toml``, and users
add rows for the fields of vendors. `Table` holds rows and what they have in common.
"""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from sessionref.refs import ENTITY_KEYS
from sessionref.streams.json import json_path as path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "ANY_TYPE",
    "Condition",
    "DeclaredIn",
    "FieldTable",
    "NullMeaning",
    "ReferenceField",
    "Requirement",
    "Target",
    "json_path",
]

#: Stands for every record type.
ANY_TYPE = "*"
#: Goes through the elements of an array.
EACH = "*"

#: What a reference may name:
#: ``record`` a record ID; ``structural`` a record-ID or entity ref (ASR-351: no turn ref);
#: ``turn-or-record`` any ref; ``entity`` the bare value of the row's key; ``session`` a session
#: reference without ``#`` part; ``session-or-turn`` one that may name a turn; ``session-or-ref`` a
#: session reference with any ``#`` part, or a ref; ``ordinal`` a native position; ``actor`` an
#: actor reference; ``participant``, ``root``, ``conversation`` what header or declarations declare;
#: ``external`` bytes that are no part of any stream.
Target: TypeAlias = Literal[
    "record",
    "structural",
    "turn-or-record",
    "entity",
    "session",
    "session-or-turn",
    "session-or-ref",
    "ordinal",
    "actor",
    "participant",
    "root",
    "conversation",
    "external",
]
Requirement: TypeAlias = Literal["must", "may", "must-local"]
NullMeaning: TypeAlias = Literal["start", "no-primary-head", "outside-the-roots"]
Source: TypeAlias = Literal["stated", "implied", "assumed", "vendor"]
Declared: TypeAlias = Literal["participant", "root", "conversation"]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """That the member at `path` of the same record is the text `value`."""

    path: str
    value: str

    @property
    def steps(self) -> tuple[str, ...]:
        """The path as steps."""
        return tuple(self.path.split("."))


class ReferenceField(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One row of the table.

    `path`, `on`, `not_on`, `target`, `requirement` and `source` are explained at the head of the
    standard table. `steps` gives the path inside the record where its names hold dots. `key` is the
    entity key of a bare value. `session` is the path of the member beside it that names the session
    in which the target is; where that is absent the target is in the stream itself, if the
    requirement is ``must-local``, and nowhere if not. `null` is what null means; where it means
    nothing, a null member is an absent one and a null element of an array a fault.

    Of a target in the same stream, `lower_seq`, `same_type` and `same_key` say what must hold.
    `may_if` and `incomplete_if` turn ``must`` into ``may``; a row with `incomplete_if` claims
    completeness where that does not hold. With `only_if` the member may stand only where it holds.
    `objects` set to ``skip`` passes over values that are objects. `rule` is named in findings.
    Raises ValueError for a row that makes no sense.
    """

    path: str
    on: tuple[str, ...] = (ANY_TYPE,)
    not_on: tuple[str, ...] = ()
    target: Target
    requirement: Requirement = "may"
    steps: tuple[str, ...] = ()
    key: str | None = None
    session: str | None = None
    null: NullMeaning | None = None
    lower_seq: bool = False
    same_type: bool = False
    same_key: bool = False
    may_if: Condition | None = None
    incomplete_if: Condition | None = None
    only_if: Condition | None = None
    objects: Literal["skip"] | None = None
    rule: str = "ASR-079"
    source: Source = "vendor"
    note: str | None = None

    def __post_init__(self) -> None:
        if not all(self.member_steps) or self.member_steps[0] == EACH:
            raise ValueError(f"{self.path!r} is no path of a member")
        if not self.on:
            raise ValueError(f"{self.path} stands on no type")
        if (self.target == "entity") != (self.key in ENTITY_KEYS):
            raise ValueError(f"{self.path} needs an entity key, and only the target entity has one")
        if self.session is not None and EACH in self.session.split("."):
            raise ValueError(f"{self.path} cannot have its session in an array")

    @property
    def member_steps(self) -> tuple[str, ...]:
        """The way from a record to the value: names of members, and ``*`` for each element."""
        if self.steps:
            return self.steps
        for kind in self.on:
            if self.path.startswith(f"{kind}."):
                return tuple(self.path[len(kind) + 1 :].split("."))
        return tuple(self.path.split("."))

    def stands_on(self, kind: str) -> bool:
        """Whether records of the type `kind` have this field."""
        return kind not in self.not_on and (kind in self.on or ANY_TYPE in self.on)

    def with_parts(self) -> Iterator[ReferenceField]:
        """The row itself, and of an actor also the rows of its members (ASR-076, 077)."""
        yield self
        if self.target != "actor":
            return
        for name, requirement, rule in (
            ("session", "may", "ASR-076"),
            ("participant", "must", "ASR-077"),
        ):
            yield msgspec.structs.replace(
                self,
                path=f"{self.path}.{name}",
                steps=(*self.member_steps, name),
                target=name,
                requirement=requirement,
                rule=rule,
                only_if=None,
            )


class DeclaredIn(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Where, in the header and in declarations, the IDs of something are declared.

    What is declared can be referred to by later records, with `same_position` also by the record
    that declares it; what the header declares by any (ASR-077, 079).
    """

    what: Declared
    path: str
    source: Source
    same_position: bool = False

    @property
    def steps(self) -> tuple[str, ...]:
        """The path as steps."""
        return tuple(self.path.split("."))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    fields: tuple[ReferenceField, ...]
    declared: tuple[DeclaredIn, ...]


class FieldTable(msgspec.Struct, frozen=True):
    """Rows, with those of the members of actors, and where things are declared."""

    rows: tuple[ReferenceField, ...]
    declared: tuple[DeclaredIn, ...]

    @staticmethod
    def standard() -> FieldTable:
        """The table of the standard fields."""
        return _standard()

    def with_rows(self, rows: Iterable[ReferenceField]) -> FieldTable:
        """A table with these rows as well."""
        more = tuple(part for row in rows for part in row.with_parts())
        return msgspec.structs.replace(self, rows=self.rows + more)

    def at(self, path: str) -> ReferenceField:
        """The row of that path, which the table must have."""
        return _by_path(self)[path]

    def of_type(self, kind: str) -> Iterator[tuple[int, ReferenceField]]:
        """The rows that records of the type `kind` have, with their numbers."""
        return ((number, row) for number, row in enumerate(self.rows) if row.stands_on(kind))


@lru_cache(maxsize=16)
def _by_path(table: FieldTable) -> dict[str, ReferenceField]:
    return {row.path: row for row in table.rows}


@cache
def _standard() -> FieldTable:
    text = (resources.files("sessionref") / "data" / "reference_fields.toml").read_text("utf-8")
    read = msgspec.convert(tomllib.loads(text), _File)
    return FieldTable((), read.declared).with_rows(read.fields)


def json_path(steps: Iterable[str], indexes: Iterable[int] = ()) -> str:
    """The JSON path of `steps`, as far as there is one of `indexes` for each ``*`` in them."""
    at = iter(indexes)
    parts: list[str | int] = []
    for step in steps:
        if step == EACH:
            index = next(at, None)
            if index is None:
                break
            parts.append(index)
        else:
            parts.append(step)
    return path_of(parts)
