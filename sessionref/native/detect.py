"""Which kind of log an input is, told by what its rows hold and never by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Raw

from sessionref.native import claude_code, codex
from sessionref.native.rows import NoRow, Rows, begins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.native.rows import Fault

__all__ = ["DECIDING_LINES", "Kind", "detect", "kind_of_lines"]

#: `stream` is a stream of ours, the others are native logs.
Kind = Literal["stream", "claude-code", "codex"]

#: How many lines are looked at before an input counts as unknown.
DECIDING_LINES = 100


class _Peek(msgspec.Struct, gc=False):
    """The members that tell formats apart, of any type."""

    type: Raw = Raw()
    seq: Raw = Raw()
    id: Raw = Raw()
    timestamp: Raw = Raw()
    session: Raw = msgspec.field(default=Raw(), name="sessionId")
    agent: Raw = msgspec.field(default=Raw(), name="agentId")
    parent: Raw = msgspec.field(default=Raw(), name="parentSessionId")
    leaf: Raw = msgspec.field(default=Raw(), name="leafUuid")
    snapshot: Raw = Raw()
    instructions: Raw = Raw()
    payload: Raw = Raw()


class _Origin(msgspec.Struct, gc=False):
    originator: str | None = None


_peeks = Rows(_Peek)
_origins = Rows(_Origin)
_text = msgspec.json.Decoder(str).decode

#: Products that write rollouts of Codex's shape and are not Codex, as their originators begin.
#: Any other originator is an app that drives Codex itself.
_OTHER_PRODUCTS = ("trae",)


def detect(head: bytes) -> Kind | None:
    """The kind of log that begins with `head`, or None for an unknown one.

    Only whole lines decide, so `head` should hold some; a compressed head is unknown.
    """
    return kind_of_lines(head.split(b"\n"))


def kind_of_lines(lines: Iterable[bytes]) -> Kind | None:
    """As `detect`, for lines without their endings; the first `DECIDING_LINES` may decide."""
    for number, line in enumerate(lines):
        if number == DECIDING_LINES:
            break
        try:
            row = _peeks.decode(line.removeprefix(b"\xef\xbb\xbf"), _pass_over)
            name = _text(row.type) if row.type else None
        except (NoRow, msgspec.DecodeError):  # no object, or a type that is no text
            continue
        kind = _kind_of_row(name, row)
        if kind == "other":
            return None
        if kind is not None:
            return kind
    return None


def _kind_of_row(name: str | None, row: _Peek) -> Kind | Literal["other"] | None:
    if name is None:
        # What Codex wrote first before its rows had types.
        old = begins(row.id, b'"') and begins(row.timestamp, b'"') and bool(row.instructions)
        return "codex" if old else None
    if name == "session":
        return "stream" if begins(row.session, b'"') and row.seq else "other"
    if name in codex.ROW_TYPES and begins(row.payload, b"{"):
        if name == "session_meta" and _is_other_product(row.payload):
            return "other"
        return "codex"
    if name in claude_code.ROW_TYPES and begins(row.session, b'"'):
        return "claude-code"
    if name == "fork-context-ref" and begins(row.agent, b'"') and begins(row.parent, b'"'):
        return "claude-code"
    if name == "summary" and begins(row.leaf, b'"'):
        return "claude-code"
    if name == "file-history-snapshot" and begins(row.snapshot, b"{"):
        return "claude-code"
    return None


def _is_other_product(meta: Raw) -> bool:
    originator = _origins.decode(meta, _pass_over).originator
    return originator is not None and originator.lower().startswith(_OTHER_PRODUCTS)


def _pass_over(_fault: Fault) -> None:
    """What is wrong with a row is said when it is read."""
