"""One line of a native log as typed values, whatever the line holds.

A row is decoded into a struct that names only the members that are needed; msgspec passes over
the others without building them. A row that does not fit the struct is decoded again, member by
member: what fits is kept, the rest costs a finding and not the row. A lone surrogate in a member
that is needed makes that member unusable and no other.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeGuard, TypeVar, get_args

import msgspec

from sessionref.streams.json import BadJson, convert, escaped, is_deeper, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Fault", "Head", "NoRow", "Rows", "begins", "head_of", "is_utf8"]

S = TypeVar("S", bound=msgspec.Struct)


class Fault(msgspec.Struct, frozen=True):
    """A member that could not be used: why, and where in the row (a JSON path)."""

    code: str
    path: str
    message: str


class NoRow(Exception):  # noqa: N818 - it says what the line is, and never leaves this package
    """The line is not a JSON object; `code` says what it is."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class Rows(Generic[S]):
    """Decodes rows into one struct type."""

    def __init__(self, kind: type[S]) -> None:
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    def decode(self, data: bytes | msgspec.Raw, fault: Callable[[Fault], None]) -> S:
        """The row in `data`. Calls `fault` for each member that does not fit.

        Raises `NoRow` if `data` is not a JSON object.
        """
        try:
            # A part of a row was looked at with the row.
            if isinstance(data, msgspec.Raw) or not is_deeper(data):
                return self._decode(data)
        except (msgspec.DecodeError, RecursionError):
            pass
        value = _load(bytes(data))
        if not _is_object(value):
            raise NoRow("not-object", "the line is JSON but not an object")
        return _fill(self._kind, value, "$", fault)

    def decode_all(self, lines: Sequence[bytes]) -> list[S]:
        """The rows in `lines`. Raises DecodeError or RecursionError if one has a fault."""
        if any(map(is_deeper, lines)):
            raise RecursionError
        return list(map(self._decode, lines))

    def decode_part(self, data: bytes | msgspec.Raw) -> S:
        """The JSON object in a part of a row; an empty one if it is something else.

        Members that do not fit are left out.
        """
        try:
            return self.decode(data, _ignore)
        except NoRow:
            return self._kind()

    def decode_text(self, data: msgspec.Raw) -> S:
        """As `decode_part`, for the object in the text of a JSON string."""
        try:
            return self.decode_part(_text(data).encode())
        except (msgspec.DecodeError, UnicodeError):
            return self._kind()

    def decode_items(self, data: bytes | msgspec.Raw, fault: Callable[[Fault], None]) -> list[S]:
        """The objects of a JSON array in `data`, at their places.

        An item that is not an object comes as an empty one, with a fault. Anything but an array
        has no items. `data` must be JSON, as a part of a decoded row is.
        """
        items: list[S] = []
        values = _load(bytes(data))
        for place, value in enumerate(values if _is_array(values) else ()):
            path = f"$[{place}]"
            if _is_object(value):
                items.append(_fill(self._kind, value, path, fault))
            else:
                fault(Fault("bad-member", path, "the item of the content is not an object"))
                items.append(self._kind())
        return items


_text = msgspec.json.Decoder(str).decode
_raw_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Head(NamedTuple):
    """A row of a log whose kind is not known yet: its `type` if it has one, and all its members."""

    type: str | None
    members: dict[str, msgspec.Raw]

    def begins(self, name: str, first: bytes) -> bool:
        """Whether the JSON of a member begins with the one byte `first`; absent JSON never does."""
        member = self.members.get(name)
        return member is not None and begins(member, first)


def head_of(data: bytes) -> Head | None:
    """The members of the row in `data`; None if it is not an object or its `type` is not a text."""
    try:
        members = _members_of(data)
        return Head(_text(members["type"]) if "type" in members else None, members)
    except (NoRow, msgspec.DecodeError):
        return None


def _members_of(data: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _raw_members(data)
    except (msgspec.DecodeError, RecursionError):
        value = _load(data)
        made: dict[str, msgspec.Raw] = {}
        for name, member in value.items() if _is_object(value) else ():
            _keep_raw(made, name, member, "", _ignore)
        return made


def _ignore(_fault: Fault) -> None:
    """Ignore: a part of a row that does not fit costs no finding."""


def begins(raw: msgspec.Raw, first: bytes) -> bool:
    """Whether the JSON in `raw` begins with the one byte `first`; absent JSON never does."""
    return bytes(memoryview(raw)[:1]) == first


def is_utf8(data: bytes) -> bool:
    """Whether all of `data` is UTF-8; the fast decoder looks only at what it decodes."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _load(data: bytes) -> Any:
    try:
        return load(data)
    except BadJson as error:
        raise NoRow(error.code, _MEANINGS[error.code]) from None


_MEANINGS = {
    "too-deep": "the line is nested deeper than 512 levels",
    "not-json": "the line is not JSON",
}


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


@cache
def _members(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, Any, Any], ...]:
    """Name in JSON, attribute, type, and the struct inside where the member is one."""
    return tuple(
        (field.encode_name, field.name, field.type, _struct_of(field.type))
        for field in msgspec.structs.fields(kind)
    )


def _struct_of(annotation: Any) -> type[msgspec.Struct] | None:
    for choice in (annotation, *get_args(annotation)):
        if isinstance(choice, type) and issubclass(choice, msgspec.Struct):
            return choice
    return None


def _fill(kind: type[S], value: dict[str, Any], path: str, fault: Callable[[Fault], None]) -> S:
    """A struct with the members of `value` that fit. The depth is that of the struct types."""
    made: dict[str, Any] = {}
    for name, attribute, annotation, inner in _members(kind):
        if name not in value:
            continue
        member, place = value[name], f"{path}.{name}"
        if inner is not None and _is_object(member):
            made[attribute] = _fill(inner, member, place, fault)
        elif annotation is msgspec.Raw:
            _keep_raw(made, attribute, member, place, fault)
        else:
            _keep(made, attribute, member, annotation, place, fault)
    return kind(**made)


def _keep_raw(
    made: dict[str, Any],
    attribute: str,
    member: Any,
    place: str,
    fault: Callable[[Fault], None],
) -> None:
    """Escapes are kept escaped, so a lone surrogate inside content stays as it was."""
    try:
        text = json.dumps(member, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        fault(Fault("bad-member", place, "the member holds a number beyond all bounds"))
    else:
        made[attribute] = msgspec.Raw(text.encode())


def _keep(
    made: dict[str, Any],
    attribute: str,
    member: Any,
    annotation: Any,
    place: str,
    fault: Callable[[Fault], None],
) -> None:
    try:
        kept = convert(member, annotation)
    except msgspec.ValidationError:
        fault(Fault("bad-member", place, "the member has another type or is out of bounds"))
        return
    if isinstance(kept, str) and not kept.isascii():
        shown = escaped(kept)
        if shown != kept:
            message = f"'{shown}' holds a lone surrogate, so it names nothing"
            fault(Fault("lone-surrogate", place, message))
            return
    made[attribute] = kept
