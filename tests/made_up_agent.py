"""A reader of the logs of an agent that does not exist: the example of docs/adding-an-agent.md.

Such an agent writes one JSON row for each thing that happens:

    {"robo": "start", "session": "s1", "at": "2026-03-04T09:00:00Z"}
    {"robo": "say", "id": "m1", "text": "Hello."}
    {"robo": "call", "id": "c1", "in": 12, "out": 3}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sessionref.native import (
    Folders,
    NativeRecord,
    NativeStream,
    NoRow,
    Reader,
    Rows,
    Usage,
    header_record,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.native import Head, LogFile
    from sessionref.native.reader import Lines
    from sessionref.native.record import Report

AGENT = "org.example.robo"


class Row(msgspec.Struct):
    """The members of a row that are needed."""

    robo: str | None = None
    id: str | None = None
    session: str | None = None
    parent: str | None = None
    at: str | None = None
    input: int | None = msgspec.field(default=None, name="in")
    output: int | None = msgspec.field(default=None, name="out")


class Survey:
    """What only the whole log shows."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.started: str | None = None
        self.parent: str | None = None
        self.lineage: dict[str, Any] = {}


def rows_of(lines: Lines) -> Iterator[tuple[int, Row]]:
    for line, data in lines(lambda _: None):
        try:
            yield line, _rows.decode(data, lambda _: None)
        except NoRow:
            continue


_rows = Rows(Row)


class Records:
    """The second pass; `line` is the line that it is at."""

    line = 0

    def all(self, lines: Lines) -> Iterator[NativeRecord]:
        for seq, (self.line, row) in enumerate(rows_of(lines), 1):
            record = NativeRecord(type="org.example.robo.row", seq=seq, id=row.id or f"line/{seq}")
            if row.robo == "say":
                record.type, record.message_id = "message", row.id
            elif row.robo == "call":
                record.type, record.inference_id = "inference", row.id
                record.usage = Usage(input_tokens=row.input, output_tokens=row.output)
            yield record


class Robo(Reader[Survey]):
    """Reads the logs of the agent."""

    agent = AGENT
    folders = (Folders("ROBO_HOME", (".robo",), ("logs",)),)

    def recognises(self, row: Head) -> bool | None:
        return True if row.begins("robo", b'"') else None

    def survey(self, lines: Lines, file: str, report: Report) -> Survey:  # noqa: ARG002
        survey = Survey()
        for _, row in rows_of(lines):
            survey.session = survey.session or row.session
            survey.started = survey.started or row.at
            survey.parent = survey.parent or row.parent
        return survey

    def relate(self, logs: Sequence[LogFile[Survey]]) -> None:
        there = {log.survey.session for log in logs}
        for log in logs:
            if log.survey.parent in there:
                parent = f"{AGENT}:{log.survey.parent}"
                log.survey.lineage["spawnedBy"] = {"session": parent, "evidence": "native_field"}

    def streams(
        self,
        survey: Survey,
        lines: Lines,
        file: str,  # noqa: ARG002
        report: Report,  # noqa: ARG002
        *,
        content: bool,
    ) -> Iterator[NativeStream]:
        if survey.session is None:
            return
        header = header_record(
            agent=AGENT,
            session_id=survey.session,
            source_format="robo-jsonl",
            started_at=survey.started,
            content=content,
            lineage=survey.lineage,
        )
        records = Records()
        yield NativeStream(header, records.all(lines), records)


READER = Robo()
