"""Comparing the rows of two logs, or two rows of one."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sessionref.errors import StreamError
from sessionref.streams.json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sessionref.native.record import NativeRecord, NativeStream

__all__ = ["comparable", "is_beginning", "last_record", "none_if_unreadable"]

P = ParamSpec("P")
T = TypeVar("T")


def none_if_unreadable(ask: Callable[P, T]) -> Callable[P, T | None]:
    """Makes a question about other files answer None if one of them cannot be read."""

    @wraps(ask)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return ask(*args, **kwargs)
        except StreamError:
            return None

    return asked


def comparable(row: bytes, left_out: Iterable[str]) -> bytes:
    """Equal for two rows that are equal in all members but some, in any order of their members.

    `row` is a JSON object. If it is nested too deeply, it is equal to the same bytes only.
    """

    def change(members: dict[str, Any]) -> None:
        for name in left_out:
            members.pop(name, None)

    return canonical(row, change)


def is_beginning(longer: Iterable[bytes], shorter: Iterable[bytes]) -> bool:
    """Whether the lines of one log are the first lines of another one."""
    more = iter(longer)
    return all(next(more, None) == line for line in shorter)


def last_record(stream: NativeStream, line: int) -> str:
    """The ID of the last record of a stream that the rows up to a line of the log give."""
    last = ""
    records: Iterator[NativeRecord] = stream.records
    for record in records:
        if stream.line > line:
            break
        last = record.id
    return last
