"""Native logs that are read together, so that each can be related to the others."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sessionref.findings import Finding
from sessionref.native.detect import STREAM, kind_of_lines
from sessionref.native.logs import Log
from sessionref.native.reader import LogFile
from sessionref.native.readers import reader_of, readers
from sessionref.streams.lines import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import TracebackType
    from typing import Self

    from sessionref.findings import Severity
    from sessionref.native.columns import Records
    from sessionref.native.reader import AnyReader, Lines
    from sessionref.native.record import NativeRecord, NativeStream, Report
    from sessionref.streams.source import Input

__all__ = ["LogSet", "Surveyed", "survey_of"]


class LogSet:
    """Some native logs. A context manager; what it gives can be used until it ends.

    First every log is added, in any order; then their streams can be read, each log as often as
    wanted. A log is read once when it is added, and only its survey is kept: some hundred bytes for
    a session, never its rows. Later reads end where the file ended when it was added, even if it
    has grown since.

    With `columns` the records of a log are kept as columns if one pass is enough to know them.

    The headers of the streams carry the lineage that all logs together show. With fewer logs, less
    is known of each session. The records of a stream, their order and their IDs do not depend on
    the other logs.
    """

    def __init__(self, *, max_line: int = MAX_LINE, columns: bool = False) -> None:
        self._max_line = max_line
        self._columns = columns
        self._entries: dict[str | int, _Entry] = {}
        self._related = True
        self._said = 0
        self._kept = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self._kept.close()

    def __contains__(self, source: Input | Log) -> bool:
        """Whether an input was added."""
        return _key(source) in self._entries

    def add(self, source: Input | Log, report: Report) -> str | None:
        """Add an input: a path, `-`, a file object, chunks of bytes, or a log that stays open.

        Returns its kind: an agent's name, ``stream``, or None if it is unknown. `report` gets what
        is wrong with the lines of a log, and `no-session` for a log without a session. Raises
        `StreamError` if the input cannot be read. An input is added once only.
        """
        key = _key(source)
        known = self._entries.get(key)
        if known is not None:
            return known.kind
        with ExitStack() as opened:
            if isinstance(source, Log):
                log = source
            else:
                log = opened.enter_context(Log(source, max_line=self._max_line))
            entry = _Entry(source, survey_of(log, report, columns=self._columns))
            if log is source:
                entry.log = log
            elif log.size is None:  # it cannot be opened again
                entry.log = log
                self._kept.push(opened.pop_all())
        self._entries[key] = entry
        self._related = False
        self.say(report)
        return entry.kind

    def say(self, report: Report) -> None:
        """Report what is wrong with registered readers, each finding once."""
        findings = readers().findings
        for finding in findings[self._said :]:
            report(finding)
        self._said = len(findings)

    def name_of(self, source: Input | Log) -> str:
        """The name of an input in findings."""
        return self._entries[_key(source)].name

    def add_surveyed(self, source: Input, surveyed: Surveyed) -> str | None:
        """As `add`, for a file whose survey was made elsewhere."""
        entry = self._entries.setdefault(_key(source), _Entry(source, surveyed))
        self._related = False
        return entry.kind

    def records(self, source: Input | Log) -> tuple[NativeRecord, Records] | None:
        """The header and the records of a log that was kept as columns; it has one stream.

        None for any other log. They are given once, to save memory.
        """
        entry = self._entries[_key(source)]
        records, entry.records = entry.records, None
        reader = reader_of(entry.kind)
        if reader is None or records is None:
            return None
        self._relate()
        if not reader.keeps_columns(entry.survey):
            return None
        # A header needs no line of the log.
        streams = reader.streams(entry.survey, lambda _: (), entry.name, _silent, content=False)
        return next(streams).header, records

    def streams(
        self, source: Input | Log, report: Report, *, content: bool = True
    ) -> Iterator[NativeStream]:
        """The sessions in a log that was added, as streams, one after the other.

        `report` gets what is wrong inside rows, and one finding (`unknown-format`, `not-native`)
        for an input that is not a native log. Without `content` the records carry identity, model
        calls, usage and relations only. Raises `StreamError` if the log can no longer be read, and
        `KeyError` if it was not added.
        """
        entry = self._entries[_key(source)]
        self._relate()
        self.say(report)
        reader = reader_of(entry.kind)
        if reader is not None:
            with self._lines(entry) as lines:
                yield from reader.streams(entry.survey, lines, entry.name, report, content=content)
        elif entry.kind == STREAM:
            report(_finding("not-native", "notice", "a stream already", entry.name))
        else:
            report(_finding("unknown-format", "warning", "no known kind of log", entry.name))

    def _relate(self) -> None:
        """Find out what the logs show of each other, once all are added."""
        if self._related:
            return
        self._related = True
        logs: dict[str, tuple[AnyReader, list[LogFile[Any]]]] = {}
        for entry in self._entries.values():
            reader = reader_of(entry.kind)
            if reader is not None:
                _, files = logs.setdefault(reader.agent, (reader, []))
                files.append(LogFile(entry.survey, entry.path, partial(self._lines, entry)))
        for reader, files in logs.values():
            reader.relate(files)

    @contextmanager
    def _lines(self, entry: _Entry) -> Generator[Lines]:
        """The lines of a log, which is opened again unless it is still open."""
        if entry.log is not None:
            yield entry.log.lines
            return
        with Log(entry.path or "", max_line=self._max_line, size=entry.size) as log:
            yield log.lines


class Surveyed(NamedTuple):
    """A log that was looked at: its kind, and its reader's survey of it."""

    name: str
    kind: str | None
    size: int | None
    survey: Any = None
    records: Records | None = None


def survey_of(log: Log, report: Report, *, columns: bool) -> Surveyed:
    """Look at a log: tell its kind, and make its survey.

    With `columns` also its records, if one pass is enough to know them.
    """
    kind = kind_of_lines(data for _, data in log.lines(_silent))
    surveyed = Surveyed(log.name, kind, log.size)
    reader = reader_of(kind)
    if reader is None:
        return surveyed
    if columns:
        survey, found = reader.survey_with_columns(log, report)
        return surveyed._replace(survey=survey, records=found)
    return surveyed._replace(survey=reader.survey(log.lines, log.name, report))


class _Entry:
    """One input: what it is, what its survey learned, and how to read it again."""

    __slots__ = ("kind", "log", "name", "records", "size", "source", "survey")

    def __init__(self, source: Input | Log, surveyed: Surveyed) -> None:
        self.source = source  # kept, so that its identity stays its own
        self.name = surveyed.name
        self.kind = surveyed.kind
        self.size = surveyed.size
        self.log: Log | None = None
        self.survey = surveyed.survey
        self.records = surveyed.records

    @property
    def path(self) -> str | None:
        """The path of the input, if it is a file."""
        return None if self.size is None else self.name


def _key(source: Input | Log) -> str | int:
    return os.fsdecode(source) if isinstance(source, str | os.PathLike) else id(source)


def _finding(code: str, severity: Severity, message: str, file: str) -> Finding:
    return Finding(code=code, severity=severity, message=message, file=file)


def _silent(_finding: Finding) -> None:
    """Ignore: faults of lines are reported by the survey."""
