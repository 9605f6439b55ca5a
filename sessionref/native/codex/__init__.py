"""Codex: one JSONL rollout for each thread, or several that continue each other.

A rollout is read twice: once for its session and for what its model calls are known by (`survey`),
once for its records (`records`). In between, the files of a scope are compared (`relations`).
`rows` says which members of a row are needed. What the members mean, and where that is known from,
is in the registry entry, ``sessionref/data/agents/codex.toml``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.native.codex.records import streams
from sessionref.native.codex.relations import relate
from sessionref.native.codex.rows import AGENT, recognises
from sessionref.native.codex.survey import survey_of
from sessionref.native.reader import Folders, Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.native.codex.survey import Survey
    from sessionref.native.reader import Head, Lines, LogFile
    from sessionref.native.record import NativeStream, Report

__all__ = ["READER"]


class _Codex(Reader["Survey"]):
    agent = AGENT
    folders = (Folders("CODEX_HOME", (".codex",), ("sessions", "archived_sessions")),)

    def recognises(self, row: Head) -> bool | None:
        return recognises(row)

    def survey(self, lines: Lines, file: str, report: Report) -> Survey:
        return survey_of(lines, file, report)

    def relate(self, logs: Sequence[LogFile[Survey]]) -> None:
        relate(logs)

    def streams(
        self, survey: Survey, lines: Lines, file: str, report: Report, *, content: bool
    ) -> Iterator[NativeStream]:
        return streams(survey, lines, file, report, content=content)


READER = _Codex()
