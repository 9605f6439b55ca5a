"""Who else looks at the records of a stream, in the one pass that makes its index."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from sessionref.streams.envelope import MEMBERS
from sessionref.streams.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from msgspec import Raw

    from sessionref.streams.envelope import Envelope

__all__ = ["UNREADABLE", "Observe", "Observer", "attribute", "held", "nobody", "value"]


class Observer(Protocol):
    """Sees each record of one stream once, in order, while the stream is read.

    `members` names the members, as they stand in JSON, that it wants to look at beyond those of
    `Envelope`. In the records that it sees each of them is an attribute (`attribute` says which)
    that holds the member's bytes as `msgspec.Raw`, or `msgspec.UNSET` where the record has none;
    `value` decodes one. `held` tells which members no record of a batch has, at the cost of a look
    at their types.
    """

    @property
    def members(self) -> frozenset[str]:
        """The names of the members that are looked at."""
        ...

    def see(
        self,
        row: int,
        types: Sequence[str],
        records: Sequence[Envelope],
        contents: Sequence[bytes],
    ) -> None:
        """Some consecutive records: types, what was decoded, and the bytes of each.

        `row` is the place of the first in the index; the header is in row 0. The bytes may end with
        the line ending.
        """
        ...


#: Makes a fresh set of observers for one stream.
Observe: TypeAlias = "Callable[[], Sequence[Observer]]"


def nobody() -> Sequence[Observer]:
    """No observers."""
    return ()


_named = {
    **dict(zip(Record.__struct_encode_fields__, Record.__struct_fields__, strict=True)),
    **MEMBERS,
}


def attribute(name: str) -> str:
    """The attribute of a record that holds the member `name`; that of `Record` if it has one."""
    return _named.get(name) or f"member_{name.encode(errors='surrogatepass').hex()}"


def held(records: Iterable[Envelope]) -> frozenset[str]:
    """The members, as they stand in JSON, that some of `records` may have; no others are in any.

    Of the members that nobody looks at there may be any.
    """
    return frozenset[str]().union(*map(_fields, set(map(type, records))))


@lru_cache(maxsize=64)
def _fields(kind: type[Envelope]) -> frozenset[str]:
    return frozenset(kind.__struct_encode_fields__)


#: What `value` gives for a member that cannot be decoded.
UNREADABLE: Any = object()

_decode = msgspec.json.Decoder().decode


def value(raw: Raw) -> Any:
    """The JSON value of a member.

    Text that is no UTF-8, and lone surrogates, come out as surrogates, which nothing can refer to.
    `UNREADABLE` for what is nested too deep to be decoded.
    """
    try:
        return _decode(raw)
    except RecursionError:
        return UNREADABLE
    except msgspec.DecodeError:
        pass
    try:
        return json.loads(bytes(raw).decode(errors="surrogateescape"), parse_int=float)
    except (ValueError, RecursionError):
        return UNREADABLE
