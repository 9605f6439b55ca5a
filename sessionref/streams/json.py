"""JSON read with care: whatever the bytes are, a value or one error of ours.

msgspec decodes what is well formed. This module is for the rest: members that occur more than
once, text that is not UTF-8, lone surrogates, numbers out of bounds, nesting without end. Its cost
is linear in the length of the text, and nothing here recurses in Python.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Raw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "BOM",
    "MAX_DEPTH",
    "UNREADABLE",
    "BadJson",
    "Object",
    "canonical",
    "convert",
    "escaped",
    "is_deeper",
    "json_path",
    "load",
    "load_object",
    "raw_members",
    "text_of",
    "tokens",
    "value",
]

T = TypeVar("T")

#: The byte-order mark of UTF-8. RFC 8259 lets a reader ignore it before the first line.
BOM = b"\xef\xbb\xbf"

#: How many objects and arrays may be nested. It is our own bound: those of Python and msgspec
#: differ from version to version, and with the depth of the calls.
MAX_DEPTH = 512

#: Longer integers are out of every bound that a member can have. Every Python converts this many
#: digits, whatever `PYTHONINTMAXSTRDIGITS` says.
_MAX_DIGITS = 640

#: What `value` returns for a member that cannot be decoded.
UNREADABLE: Any = object()

_surrogate = re.compile("[\ud800-\udfff]")
_plain_name = re.compile(r"[A-Za-z_]\w*", re.ASCII).fullmatch
_brackets = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|([{[])|([]}])', re.DOTALL).finditer
_tokens = re.compile(
    rb'(?P<text>"(?:[^"\\]++|\\.)*+"?)|(?P<mark>[][{},:])|[^][{},:"\s]++', re.DOTALL
)
_decode = msgspec.json.Decoder().decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


class BadJson(Exception):  # noqa: N818 - named after the data; it never leaves the package
    """The text is not the JSON that was asked for.

    `code` is ``not-json``, ``not-object`` or ``too-deep``; `detail` may say more.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


class Object(dict[str, Any]):
    """A JSON object. Of members that occur more than once it holds the last.

    `repeated` has the names of those. `bad_utf8` is set on an outermost object whose text was not
    valid UTF-8: each such byte is then a surrogate from U+DC80 to U+DCFF.
    """

    repeated: frozenset[str] = frozenset()
    bad_utf8: bool = False


def is_deeper(data: bytes, levels: int = MAX_DEPTH) -> bool:
    """Whether objects and arrays are nested in the JSON text `data` deeper than `levels`."""
    # Most texts are short or have few brackets; counting is faster than scanning.
    if len(data) <= levels or data.count(b"{") + data.count(b"[") <= levels:
        return False
    depth = 0
    for match in _brackets(data):
        if match[1]:
            depth += 1
            if depth > levels:
                return True
        elif match[2]:
            depth -= 1
    return False


def load(data: bytes) -> Any:
    """The value of the JSON text `data`; every object in it is an `Object`.

    Bytes that are not UTF-8 become surrogates from U+DC80 to U+DCFF, and integers of more than 640
    digits become infinite. Raises `BadJson`: ``not-json`` or ``too-deep``.
    """
    if is_deeper(data):
        raise BadJson("too-deep")
    try:
        return _careful(data.decode(errors="surrogateescape"))
    except RecursionError:  # in a thread or a call that has little room left
        raise BadJson("too-deep") from None
    except ValueError as error:
        detail = str(error) if isinstance(error, json.JSONDecodeError) else ""
        raise BadJson("not-json", detail) from None


def load_object(data: bytes) -> Object:
    """As `load`, for a text that is one object. Raises `BadJson`, also ``not-object``."""
    loaded = load(data)
    if not isinstance(loaded, Object):
        raise BadJson("not-object")
    try:
        data.decode()
    except UnicodeDecodeError:
        loaded.bad_utf8 = True
    return loaded


def _object(pairs: list[tuple[str, Any]]) -> Object:
    made = Object(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        made.repeated = frozenset(name for name, count in counts.items() if count > 1)
    return made


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float("inf")


_careful = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse, parse_int=_integer
).decode


def value(raw: bytes | Raw) -> Any:
    """The value of a member that was kept as JSON text; `UNREADABLE` if it is nested too deep.

    Text that is not UTF-8, and lone surrogates, come out as surrogates; no reference holds those.
    """
    try:
        return _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return load(bytes(raw))
    except BadJson:
        return UNREADABLE


def raw_members(data: bytes) -> dict[str, Raw]:
    """The members of the JSON object `data`, each as JSON text. Raises `BadJson` as `load_object`.

    A text that msgspec refuses is written anew, with lone surrogates escaped.
    """
    try:
        return _decode_members(data)
    except (msgspec.DecodeError, RecursionError):
        return {name: Raw(json.dumps(one).encode()) for name, one in load_object(data).items()}


def canonical(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The JSON object `data` as `change` leaves it, written so that equal values are equal bytes.

    Order of members, white space and escapes do not count. What cannot be read is `data` itself.
    """
    if is_deeper(data):
        return data
    try:
        members = _decode(data)
        change(members)
        return _encode_sorted(members)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    try:  # not UTF-8, a lone surrogate, or a number out of bounds
        members = _exact(data.decode(errors="surrogateescape"))
        change(members)
        return json.dumps(members, sort_keys=True).encode()
    except (ValueError, RecursionError):
        return data


def _digits(digits: str) -> dict[str, str]:
    """An integer of any size; a number would be rounded, and a string is another value."""
    return {"": digits}


_exact = json.JSONDecoder(parse_int=_digits).decode


def convert(loaded: Any, kind: type[T]) -> T:
    """`loaded` as a value of the type `kind`. Raises `msgspec.ValidationError` if it does not fit.

    msgspec alone also raises `UnicodeEncodeError`, where a name or a text of the wrong type holds
    a lone surrogate. No type has a member of such a name, so those are left out.
    """
    try:
        return msgspec.convert(loaded, kind)
    except UnicodeEncodeError:
        pass
    named = json.loads(json.dumps(loaded), object_pairs_hook=_encodable)
    try:
        return msgspec.convert(named, kind)
    except UnicodeEncodeError:
        raise msgspec.ValidationError("Expected another type, got `str`") from None


def _encodable(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: one for name, one in pairs if not _surrogate.search(name)}


def escaped(text: str, *, bytes_too: bool = False) -> str:
    r"""`text` with each surrogate as ``\udXXX``; with `bytes_too`, as ``\xXX`` for a byte."""

    def escape(match: re.Match[str]) -> str:
        point = ord(match.group())
        if bytes_too and 0xDC80 <= point <= 0xDCFF:  # noqa: PLR2004 - how Python keeps bytes
            return f"\\x{point - 0xDC00:02x}"
        return f"\\u{point:04x}"

    return _surrogate.sub(escape, text)


def tokens(data: bytes, start: int = 0) -> Iterator[re.Match[bytes]]:
    """The tokens of the JSON text `data` from `start`.

    The group `text` is a string with its quotes, `mark` a bracket, comma or colon.
    """
    return _tokens.finditer(data, start)


def text_of(token: bytes) -> str | None:
    """What a JSON string with its quotes stands for; None if it is not one.

    Bytes that are not UTF-8 come out as surrogates, as in `load`.
    """
    try:
        text = json.loads(token.decode(errors="surrogateescape"), strict=False)
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def json_path(steps: Iterable[str | int]) -> str:
    """The JSON path that leads through members (names) and places in arrays (numbers)."""
    return "$" + "".join(map(_step, steps))


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _plain_name(step):
        return f".{step}"
    return "['" + step.replace("\\", "\\\\").replace("'", "\\'") + "']"
