"""Where in a line the value stands that a JSON path leads to."""

from __future__ import annotations

import re
from typing import NamedTuple

from sessionref.streams.json import text_of, tokens

__all__ = ["locate"]

_step = re.compile(
    r"\.(?P<name>\w+)|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]|\[(?P<at>[0-9]+)\]", re.DOTALL
)
_escape = re.compile(r"\\(.)", re.DOTALL)


def locate(content: bytes, path: str) -> tuple[int, int] | None:
    """Start and end, in bytes of the JSON in `content`, of what the JSON path leads to.

    A member is its name and its value; of members that stand twice it is the last. Where there is
    no such place it is the nearest above it; None where that is the whole.
    """
    found: tuple[int, int] | None = None
    inside = 0
    for step in _steps(path):
        child = _child(content, inside, step)
        if child is None:
            break
        found = child.start, child.end
        inside = child.value
    return found


class _Child(NamedTuple):
    start: int
    value: int
    end: int


def _child(content: bytes, inside: int, step: str | int) -> _Child | None:
    """The last member or element named `step` of the container that begins at `inside`."""
    found: _Child | None = None
    depth = 0
    count = 0
    name: str | None = None
    start: int | None = None  # of the member or element that is being read
    value: int | None = None  # of its value
    end = inside
    in_object = False
    for token in tokens(content, inside):
        mark, text = token["mark"], token["text"]
        if depth == 0:
            if mark not in {b"{", b"["}:
                break
            in_object = mark == b"{"
            depth = 1
        elif depth == 1 and mark in {b",", b"}", b"]"}:
            if start is not None and value is not None and step == (name if in_object else count):
                found = _Child(start, value, end)
            if mark != b",":
                break
            count += 1
            start = value = None
        elif depth == 1 and mark == b":":
            pass
        elif depth == 1 and in_object and start is None and text is not None:
            start = token.start()
            name = text_of(text)
        else:
            if value is None:
                value = token.start()
                start = value if start is None else start
            if mark in {b"{", b"["}:
                depth += 1
            elif mark in {b"}", b"]"}:
                depth -= 1
            end = token.end()
    return found


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    place = 1
    while match := _step.match(path, place):
        place = match.end()
        if match["name"] is not None:
            steps.append(match["name"])
        elif match["at"] is not None:
            steps.append(int(match["at"]))
        else:
            steps.append(_escape.sub(r"\1", match["quoted"]))
    return steps
