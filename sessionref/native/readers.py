"""The readers of native logs: those of this package, and those that other packages register."""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sessionref.agent import is_agent_name
from sessionref.errors import StreamError
from sessionref.findings import Finding
from sessionref.native import claude_code, codex
from sessionref.native.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.native.columns import Records
    from sessionref.native.logs import Log
    from sessionref.native.reader import AnyReader, Head, Lines, LogFile
    from sessionref.native.record import NativeRecord, NativeStream, Report

__all__ = [
    "GROUP",
    "READERS",
    "Readers",
    "default_places",
    "known_places",
    "reader_of",
    "readers",
]

#: The readers of this package. A further agent is a further line.
READERS: tuple[AnyReader, ...] = (
    claude_code.READER,
    codex.READER,
)

#: The group of entry points by which another package registers a reader.
GROUP = "sessionref.readers"


class Readers(NamedTuple):
    """All readers by the names of their agents, and what is wrong with registered ones."""

    by_agent: dict[str, AnyReader]
    findings: list[Finding]


@cache
def readers() -> Readers:
    """All readers. Registered ones are loaded when logs are looked at for the first time."""
    known = Readers({reader.agent: reader for reader in READERS}, [])
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        name = f"the registered reader {entry.name} ({entry.value})"
        try:
            reader: Any = entry.load()
            wrong = _what_is_wrong(reader, known.by_agent)
            if wrong is None:
                known.by_agent[reader.agent] = _Guarded(reader, name, known.findings)
                continue
        except Exception as error:  # noqa: BLE001 - another package's code may raise anything
            wrong = _shown(error)
        known.findings.append(_broken(f"{name} is not used: {wrong}"))
    return known


def reader_of(kind: str | None) -> AnyReader | None:
    """The reader of logs of a kind; None for streams, and for an unknown kind of log."""
    return None if kind is None else readers().by_agent.get(kind)


def default_places() -> list[str]:
    """The folders in which the agents that have a reader keep their logs by default."""
    return [
        str(home / name)
        for reader in readers().by_agent.values()
        for variable, folders, below in reader.folders
        for home in _homes(os.environ.get(variable), folders)
        for name in below
    ]


def known_places() -> list[str]:
    """Those of the `default_places` that exist on this machine."""
    return [place for place in default_places() if Path(place).is_dir()]


def _homes(named: str | None, folders: Sequence[str]) -> list[Path]:
    return [Path(named)] if named else [Path.home() / folder for folder in folders]


def _what_is_wrong(reader: Any, known: dict[str, AnyReader]) -> str | None:
    agent: Any = getattr(reader, "agent", None)
    if not isinstance(reader, Reader):
        return "it does not offer what sessionref.native.Reader asks for"
    if not isinstance(agent, str) or not is_agent_name(agent):
        return f"{agent!r} is not an agent name"
    return f"there is a reader of {agent} already" if agent in known else None


class _Guarded(Reader[Any]):
    """A registered reader. An error in its code costs the log that it was reading, no more."""

    def __init__(self, reader: AnyReader, name: str, findings: list[Finding]) -> None:
        self.agent = reader.agent
        self.folders = reader.folders
        self._reader = reader
        self._name = name
        self._findings = findings
        self._recognises = True

    def recognises(self, row: Head) -> bool | None:
        try:
            return self._reader.recognises(row) if self._recognises else None
        except Exception as error:  # noqa: BLE001 - another package's code may raise anything
            self._recognises = False
            self._findings.append(_broken(f"{self._name} recognises no log: {_shown(error)}"))
            return None

    def survey(self, lines: Lines, file: str, report: Report) -> Any:
        try:
            return self._reader.survey(lines, file, report)
        except Exception as error:
            raise self._failed(error, file) from error

    def survey_with_columns(self, log: Log, report: Report) -> tuple[Any, Records | None]:
        try:
            return self._reader.survey_with_columns(log, report)
        except Exception as error:
            raise self._failed(error, log.name) from error

    def relate(self, logs: Sequence[LogFile[Any]]) -> None:
        try:
            self._reader.relate(logs)
        except Exception as error:  # noqa: BLE001 - another package's code may raise anything
            self._findings.append(_broken(f"{self._name} relates no logs: {_shown(error)}"))

    def keeps_columns(self, survey: Any) -> bool:
        return self._reader.keeps_columns(survey)

    def streams(
        self, survey: Any, lines: Lines, file: str, report: Report, *, content: bool
    ) -> Iterator[NativeStream]:
        try:
            for stream in self._reader.streams(survey, lines, file, report, content=content):
                stream.records = self._records(stream.records, file)
                yield stream
        except Exception as error:
            raise self._failed(error, file) from error

    def _records(self, records: Iterator[NativeRecord], file: str) -> Iterator[NativeRecord]:
        try:
            yield from records
        except Exception as error:
            raise self._failed(error, file) from error

    def _failed(self, error: Exception, file: str) -> StreamError:
        if isinstance(error, StreamError):
            return error
        return StreamError("broken-reader", f"{self._name} failed: {_shown(error)}", file)


def _broken(message: str) -> Finding:
    return Finding(code="broken-reader", severity="warning", message=message)


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
