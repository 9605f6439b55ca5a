"""Native logs of agents as streams: one folder for each agent, told apart by content."""

from __future__ import annotations

from sessionref.native.convert import UNREAD, convert, read
from sessionref.native.detect import detect
from sessionref.native.logset import LogSet
from sessionref.native.reader import Folders, LogFile, Reader
from sessionref.native.readers import readers
from sessionref.native.record import Native, NativeRecord, NativeStream, header_record, native_id
from sessionref.native.rows import Fault, Head, NoRow, Rows
from sessionref.usage import Usage

__all__ = [
    "UNREAD",
    "Fault",
    "Folders",
    "Head",
    "LogFile",
    "LogSet",
    "Native",
    "NativeRecord",
    "NativeStream",
    "NoRow",
    "Reader",
    "Rows",
    "Usage",
    "convert",
    "detect",
    "header_record",
    "native_id",
    "read",
    "readers",
]
