"""Who else looks at the records of a stream, in the one pass that makes its index."""

from __future__ import annotations

import re
from functools import lru_cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from sessionref.streams.envelope import Envelope

__all__ = ["Observe", "Observer", "attribute", "held", "nobody"]


class Observer(Protocol):
    """Sees each record of one stream once, in order, while the stream is read.

    `members` names the members, as they stand in JSON, that it wants to look at beyond those of
    `Envelope`. In the records that it sees each of them is an attribute (`attribute` says which)
    that holds the member's bytes as `msgspec.Raw`, or `msgspec.UNSET` where the record has none;
    `sessionref.streams.json.value` decodes one. `held` tells which members no record of a batch
    has, at the cost of a look at their types.
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


_capitals = re.compile("[A-Z]").sub
_is_camel = re.compile("[a-z][A-Za-z]*").fullmatch


def attribute(name: str) -> str:
    """The attribute of a record that holds the member `name`: ``turnId`` is in `turn_id`."""
    if _is_camel(name) and not iskeyword(name):
        return _capitals(lambda match: f"_{match[0].lower()}", name)
    return f"member_{name.encode(errors='surrogatepass').hex()}"


def held(records: Iterable[Envelope]) -> frozenset[str]:
    """The members that an observer asked for and that some of `records` may have."""
    return frozenset[str]().union(*map(_fields, set(map(type, records))))


@lru_cache(maxsize=64)
def _fields(kind: type[Envelope]) -> frozenset[str]:
    return frozenset(kind.__struct_encode_fields__)
