"""Native logs of agents as streams: one file per agent, told apart by content."""

from __future__ import annotations

from sessionref.native.base import Native, NativeRecord, NativeStream, Usage
from sessionref.native.convert import UNREAD, convert, read
from sessionref.native.detect import Kind, detect

__all__ = [
    "UNREAD",
    "Kind",
    "Native",
    "NativeRecord",
    "NativeStream",
    "Usage",
    "convert",
    "detect",
    "read",
]
