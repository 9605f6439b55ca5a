"""Claude Code: one JSONL file for each session, and one for each of its subagents.

A transcript is read twice: once for what only the whole file shows (`survey`), once for its
records (`records`). In between, the files of a scope are compared (`relations`). `rows` says which
members of a row are needed. What the members mean, and where that is known from, is in the
registry entry, ``sessionref/data/agents/claude-code.toml``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.native.claude_code.records import streams, survey_with_columns
from sessionref.native.claude_code.relations import relate
from sessionref.native.claude_code.rows import AGENT, recognises
from sessionref.native.claude_code.survey import survey_of
from sessionref.native.reader import Folders, Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.native.claude_code.survey import Survey
    from sessionref.native.columns import Records
    from sessionref.native.logs import Log
    from sessionref.native.reader import Head, Lines, LogFile
    from sessionref.native.record import NativeStream, Report

__all__ = ["READER"]


class _ClaudeCode(Reader["Survey"]):
    agent = AGENT
    # `CLAUDE_CONFIG_DIR` moves the folder; `.config/claude` is its place since version 1.0.30.
    folders = (Folders("CLAUDE_CONFIG_DIR", (".claude", ".config/claude"), ("projects",)),)

    def recognises(self, row: Head) -> bool | None:
        return recognises(row)

    def survey(self, lines: Lines, file: str, report: Report) -> Survey:
        return survey_of(lines, file, report)

    def survey_with_columns(self, log: Log, report: Report) -> tuple[Survey, Records | None]:
        return survey_with_columns(log, report)

    def keeps_columns(self, survey: Survey) -> bool:
        return not any(facts.shared or facts.children for facts in survey.slots.values())

    def relate(self, logs: Sequence[LogFile[Survey]]) -> None:
        relate(logs)

    def streams(
        self, survey: Survey, lines: Lines, file: str, report: Report, *, content: bool
    ) -> Iterator[NativeStream]:
        return streams(survey, lines, file, report, content=content)


READER = _ClaudeCode()
