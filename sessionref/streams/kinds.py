"""The types that records are decoded into: they hold the members that a stream has, and no others.

Decoding a member costs most where it is looked for in the wrong place, and what a record never has
costs as well. So a type has the members that were met, in the order in which they stand in records;
of any other that somebody looks at, the attribute of the class says that it is absent. What one
stream had the next is likely to have too, so its reading begins with the names of the last one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from msgspec import UNSET, Raw

from sessionref.streams.envelope import MEMBERS, Envelope
from sessionref.streams.observe import attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["REQUIRED", "Names", "begin", "careful_kind", "extended", "hand_on", "typed_decoder"]

#: Names of members, in the order in which records are thought to have them.
Names: TypeAlias = tuple[str, ...]

#: The members without which a line is no record.
REQUIRED: Names = ("type", "seq", "id")

#: What many records have, in the order of the pages' examples; others are learned as they come.
_COMMON: Names = (*REQUIRED, "ts", "turnId", "messageId", "role", "content")

#: How many names are handed on to the next stream, and for how many kinds of readers, at most.
_MAX_HANDED_ON = 64

_handed_on: dict[frozenset[str], Names] = {}


def begin(wanted: frozenset[str]) -> Names:
    """The names to begin a stream with, for readers who look for the members `wanted`."""
    return _handed_on.get(wanted, _COMMON)


def hand_on(wanted: frozenset[str], names: Names) -> None:
    """Let the next stream begin with the names that this one had, unless they are too many."""
    if len(names) > _MAX_HANDED_ON:
        _handed_on.pop(wanted, None)
    elif wanted in _handed_on or len(_handed_on) < _MAX_HANDED_ON:
        _handed_on[wanted] = names


def extended(names: Names, records: Iterable[Iterable[str]], new: frozenset[str]) -> Names:
    """`names` and the `new` ones, each behind the one that it follows in the first of `records`."""
    order = list(names)
    waiting = set(new)
    for record in records:
        if waiting.isdisjoint(record):
            continue
        before = len(order)
        for name in record:
            if name in waiting:
                waiting.remove(name)
                order.insert(before, name)
            elif name not in order:
                continue
            before = order.index(name) + 1
    return tuple(order)


@lru_cache(maxsize=64)
def typed_decoder(names: Names, wanted: frozenset[str]) -> Callable[[bytes], Envelope]:
    """A decoder of records into what is an `Envelope` to whoever reads its attributes.

    The members `names` are its fields, those that are none of an envelope's as raw JSON. Those of
    `wanted`, and of an envelope, that are not among them are absent from every record.
    """
    fields: list[tuple[str, Any, Any] | tuple[str, Any]] = []
    for name in names:
        kind = _TYPES.get(name, Raw)
        required = name in REQUIRED
        fields.append((attribute(name), kind) if required else (attribute(name), kind, UNSET))
    absent = wanted.union(MEMBERS).difference(names)
    made = msgspec.defstruct(
        "Held",
        fields,
        namespace={attribute(name): UNSET for name in absent},
        rename={attribute(name): name for name in names},
        kw_only=True,
        gc=False,
    )
    return cast("Callable[[bytes], Envelope]", msgspec.json.Decoder(made).decode)


_TYPES = {field.encode_name: field.type for field in msgspec.structs.fields(Envelope)}


@lru_cache(maxsize=64)
def careful_kind(wanted: frozenset[str], base: type[Envelope]) -> type[Envelope]:
    """The subtype of `base` that has the members `wanted` as raw JSON."""
    rename = {attribute(name): name for name in wanted.union(MEMBERS)}
    fields: list[tuple[str, Any, Any]] = [(attribute(name), Raw, UNSET) for name in sorted(wanted)]
    kind = msgspec.defstruct("EnvelopeAndOthers", fields, bases=(base,), rename=rename, gc=False)
    return cast("type[Envelope]", kind)
