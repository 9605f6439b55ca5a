"""Native logs of agents as streams: one file per agent, told apart by content."""

from __future__ import annotations

from sessionref.native.convert import UNREAD, convert, read
from sessionref.native.detect import detect
from sessionref.native.logset import LogSet
from sessionref.native.record import Native, NativeRecord, NativeStream, Usage

__all__ = [
    "UNREAD",
    "LogSet",
    "Native",
    "NativeRecord",
    "NativeStream",
    "Usage",
    "convert",
    "detect",
    "read",
]
