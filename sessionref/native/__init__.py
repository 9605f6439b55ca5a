"""Native logs of agents as streams: one file per agent, told apart by content."""

from __future__ import annotations

from sessionref.native.base import Native, NativeRecord, NativeStream, Usage
from sessionref.native.convert import UNREAD, convert, read
from sessionref.native.detect import Kind, detect
from sessionref.native.together import LogSet

__all__ = [
    "UNREAD",
    "Kind",
    "LogSet",
    "Native",
    "NativeRecord",
    "NativeStream",
    "Usage",
    "convert",
    "detect",
    "read",
]
