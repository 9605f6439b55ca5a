"""Derived identifiers: made of what may make them, and of nothing else (ASR-067 to 071).

    >>> from sessionref.scope.derived import Derivation, Index, NativeId, Tag
    >>> made = Derivation("1").id(NativeId("msg_01"), Tag("tool_call"), Index(2, rewritable=False))
    >>> made.value, made.members()
    ('1/id.msg_01/tag.tool_call/index.2', {'idSource': 'derived'})

Each part says what it is, so that two IDs are equal only where all their parts are. A path, a time,
a host name or a random value has no type here and is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import msgspec

from sessionref.agent import Agent  # noqa: TC001 - the struct below needs it
from sessionref.errors import SessionrefError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "REFUSALS",
    "Derivation",
    "Derived",
    "Documented",
    "Index",
    "Line",
    "NativeId",
    "NativeTime",
    "Observed",
    "Ordinal",
    "Part",
    "Refused",
    "Row",
    "Tag",
]

Scope: TypeAlias = Literal["session", "capture"]

#: Why no identifier is made of something. The slugs are API.
REFUSALS: dict[str, str] = {
    "forbidden-part": "only native IDs, native positions, tags and documented tuples may be parts",
    "empty-part": "a part is empty, and absent values are never equal",
    "bad-position": "a position is a whole number from 0",
    "no-basis": "a tag alone says nothing of which item it is",
    "time-alone": "a time alone is no identity",
    "not-documented": "the registry documents no such tuple of native values for the item",
    "bad-version": "a derivation version is a short text of letters, digits, dots and hyphens",
}


class Refused(SessionrefError, ValueError):  # noqa: N818 - says what happened
    """Something that no identifier may be made of (ASR-068); `code` is a key of `REFUSALS`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    def __str__(self) -> str:
        return REFUSALS[self.code]


class _Text(msgspec.Struct, frozen=True):
    value: str

    #: What tells this kind of part from others in an identifier.
    kind: ClassVar[str]
    scope: ClassVar[Scope] = "session"

    @property
    def written(self) -> str:
        """The part as it stands in an identifier."""
        return f"{self.kind}.{_escaped(self.value)}"

    def __post_init__(self) -> None:
        if type(self.value) is not str:
            raise Refused("forbidden-part")
        if not self.value:
            raise Refused("empty-part")


class _Position(msgspec.Struct, frozen=True):
    value: int

    kind: ClassVar[str]

    @property
    def written(self) -> str:
        """The part as it stands in an identifier."""
        return f"{self.kind}.{self.value}"

    def __post_init__(self) -> None:
        if type(self.value) is not int or self.value < 0:
            raise Refused("bad-position")


class _Rewritable(_Position, frozen=True):
    """A position. `rewritable` is False only where the source never rewrites such (ASR-070)."""

    rewritable: bool = True

    @property
    def scope(self) -> Scope:
        """Where an identifier with this part holds."""
        return "capture" if self.rewritable else "session"


class NativeId(_Text, frozen=True):
    """An identifier of the source's, as it stands there."""

    kind = "id"


class Tag(_Text, frozen=True):
    """A record type, or the name of a kind of item."""

    kind = "tag"


class Ordinal(_Rewritable, frozen=True):
    """The source's own number of an item."""

    kind = "ordinal"


class Line(_Rewritable, frozen=True):
    """The number of a line, from 1."""

    kind = "line"


class Row(_Rewritable, frozen=True):
    """The number of a row in a table of the source's."""

    kind = "row"


class Index(_Rewritable, frozen=True):
    """A place in an array, or of an item inside another, from 0."""

    kind = "index"


class Observed(_Position, frozen=True):
    """The position at which an observer met the item, which says nothing of any other capture."""

    kind = "observed"
    scope: ClassVar[Scope] = "capture"


class NativeTime(_Text, frozen=True):
    """A time as the source writes it. It may stand in a documented tuple, and never alone."""

    kind = "time"


class Documented(msgspec.Struct, frozen=True):
    """A tuple of native values that the registry entry of `agent` documents for `item`.

    `values` are in the order of the entry. Raises `Refused`: ``not-documented`` where the entry has
    no such tuple, ``time-alone`` where all of it is times.
    """

    agent: Agent
    item: str
    values: tuple[NativeId | NativeTime | Ordinal | Line | Row | Index, ...]

    def __post_init__(self) -> None:
        if not all(
            isinstance(value, _VALUES)  # pyright: ignore[reportUnnecessaryIsInstance]
            for value in self.values
        ):
            raise Refused("forbidden-part")
        if not any(
            known.item == self.item and len(known.values) == len(self.values)
            for known in self.agent.derived_ids or ()
        ):
            raise Refused("not-documented")
        if all(isinstance(value, NativeTime) for value in self.values):
            raise Refused("time-alone")

    @property
    def written(self) -> str:
        """The part as it stands in an identifier."""
        return f"tuple.{_escaped(self.item)}.{'.'.join(value.written for value in self.values)}"

    @property
    def scope(self) -> Scope:
        """Where an identifier with this part holds."""
        documented = {
            known.scope
            for known in self.agent.derived_ids or ()
            if known.item == self.item and len(known.values) == len(self.values)
        }
        if "capture" in documented or any(value.scope == "capture" for value in self.values):
            return "capture"
        return "session"


_VALUES = (NativeId, NativeTime, Ordinal, Line, Row, Index)

Part: TypeAlias = NativeId | Tag | Ordinal | Line | Row | Index | Observed | Documented


class Derived(msgspec.Struct, frozen=True):
    """A derived identifier, and whether it holds in every capture of the session.

    It is a record ID or the value of an entity key, and can stand in a reference as it is.
    """

    value: str
    scope: Scope = "session"

    def members(self) -> dict[str, str]:
        """The members that its record must carry (ASR-067, 070)."""
        members = {"idSource": "derived"}
        if self.scope == "capture":
            members["idScope"] = "capture"
        return members

    def __str__(self) -> str:
        return self.value


class Derivation(msgspec.Struct, frozen=True):
    """A way of deriving IDs; whoever changes the way changes the `version` (ASR-069)."""

    version: str

    def __post_init__(self) -> None:
        if type(self.version) is not str or _version(self.version) is None:
            raise Refused("bad-version")

    def id(self, *parts: Part) -> Derived:
        """The identifier that `parts` make: the same for the same parts, another for others.

        Raises `Refused` for what ASR-068 forbids.
        """
        for part in parts:
            if isinstance(part, NativeTime):
                raise Refused("time-alone")
            if not isinstance(part, _PARTS):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise Refused("forbidden-part")
        if all(isinstance(part, Tag) for part in parts):
            raise Refused("no-basis")
        scope: Scope = "capture" if any(p.scope == "capture" for p in parts) else "session"
        return Derived("/".join([self.version, *(part.written for part in parts)]), scope)

    def assign(self, items: Iterable[Sequence[Part]]) -> list[Derived | None]:
        """The identifier of each item, None for those that would share one.

        Items whose identifiers collide are neither merged nor told apart by their order (ASR-068).
        """
        made = [self.id(*parts) for parts in items]
        times = Counter(derived.value for derived in made)
        return [derived if times[derived.value] == 1 else None for derived in made]


_PARTS = (NativeId, Tag, Ordinal, Line, Row, Index, Observed, Documented)

_version = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,31}\Z").match
#: What may stand in a record ID within a reference (ASR-059, 062), less what parts are joined with.
_to_escape = re.compile(r"[^!-~\u00a1-\U0010ffff]|[%:#=/~.]|[\ud800-\udfff]").sub


def _escaped(text: str) -> str:
    return _to_escape(
        lambda match: "".join(f"~{octet:02X}" for octet in match[0].encode(errors="surrogatepass")),
        text,
    )
