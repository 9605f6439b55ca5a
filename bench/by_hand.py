"""What somebody writes who needs the parts of a reference and has no library: split and unquote.

It validates nothing. It takes any agent name, any key, empty parts, raw spaces and controls; it
splits two colons but falls over three; `unquote` leaves a broken escape as it is and turns octets
that are not UTF-8 into U+FFFD, so that two sessions become one.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

__all__ = ["HandMade", "by_hand", "by_hand_into_value"]

_Ref = tuple[str, str] | str | None


def by_hand(text: str) -> tuple[str, str | None, str, _Ref]:
    """Agent, namespace or None, session ID, and key and value, record ID or None."""
    base, _, fragment = text.partition("#")
    agent, first, *second = base.split(":")
    ref: _Ref = None
    if fragment:
        key, equals, value = fragment.partition("=")
        ref = (key, unquote(value)) if equals else key
    if second:
        return agent, unquote(first), unquote(second[0]), ref
    return agent, None, unquote(first), ref


@dataclass(frozen=True, slots=True)
class HandMade:
    """The four parts as an immutable value, as a dataclass makes it."""

    agent: str
    namespace: str | None
    session_id: str
    ref: _Ref


def by_hand_into_value(text: str) -> HandMade:
    """The same, into a value."""
    return HandMade(*by_hand(text))
