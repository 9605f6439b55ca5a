"""Claude Code transcripts in one pass: the survey, and of a plain one the records as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from sessionref.native.base import native_id
from sessionref.native.claude_records import Writer, block_record, call_of, kind_of_row
from sessionref.native.claude_rows import AGENT_PROGRESS, Result, glances_at
from sessionref.native.claude_survey import Surveyor
from sessionref.native.columns import Columns, Told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessionref.native.base import Report
    from sessionref.native.claude_rows import Glance, GlanceMessage
    from sessionref.native.claude_survey import Survey
    from sessionref.native.logs import Log

__all__ = ["survey_with_columns"]

#: The types of rows of which more is needed than their ID.
_SPEAKING = frozenset({"user", "assistant", "system"})
_NO_TOKENS: tuple[int | None, int | None, int | None, int | None] = (None, None, None, None)


def survey_with_columns(log: Log, report: Report) -> tuple[Survey, Columns | None]:
    """The survey of a transcript, and its records, where it is plain.

    A plain one holds one session, none of its rows has a fault, and none is written twice: then
    the first pass can say already what the records are. Of others the columns are None. `report`
    gets the faults of lines.

    Only what lineage and usage need is looked at, so a member that nobody needs here can be wrong.
    """
    reader = _Reader(log.name, report)
    for number, lines in log.several_lines(report):
        reader.read(number, lines)
    return reader.end()


class _Reader:
    """Reads one transcript. Most rows need a glance only; the others are read as a whole."""

    def __init__(self, file: str, report: Report) -> None:
        self._surveyor = Surveyor(file, report)
        self._columns = Columns()
        self._told = Told(self._columns)
        self._writer = Writer(
            file, self._columns.findings.append, set(), lambda _row, _line: None, content=False
        )
        self._kinds: dict[str | None, str] = {}
        self._is_plain = True

    def read(self, number: int, lines: Sequence[bytes]) -> None:
        """Read consecutive lines, the first of which is `number`."""
        at = 0
        try:
            glances = glances_at(lines) if self._is_plain else []
        except (msgspec.DecodeError, RecursionError):
            glances = []
        while at < len(lines):
            going_on = self._surveyor.going_on if glances else None
            if going_on is not None:
                facts, session_id, agent_id = going_on
                at = self._glance(number, glances, at, session_id, agent_id, facts.note_many)
            if at < len(lines):
                self._whole(number + at, lines[at])
                at += 1

    def _whole(self, line: int, data: bytes) -> None:
        """Read a row as a whole."""
        row = self._surveyor.line(line, data.rstrip(b"\r\n"))
        if row is None or not self._surveyor.is_plain:
            self._is_plain = False
        if row is not None and self._is_plain:
            self._told.add(self._writer.row(line, b"", row), line)

    def _glance(
        self,
        number: int,
        glances: Sequence[Glance],
        start: int,
        session_id: str | None,
        agent_id: str | None,
        note_many: Callable[..., None],
    ) -> int:
        """Go on as long as rows need a glance only; the place of the first that needs more."""
        columns = self._columns
        before = len(columns)
        ids: list[str] = []
        messages = False
        at = start
        for at, row in enumerate(glances[start:] if start else glances, start):
            uuid, kind = row.uuid, row.type
            if (
                not uuid
                or row.session_id != session_id
                or row.agent_id != agent_id
                or row.forked_from
            ):
                break
            if kind not in _SPEAKING:
                data = row.data
                if data is not None and data.type == AGENT_PROGRESS:
                    break
                columns.add(uuid, self._kinds.get(kind) or self._kind(kind), None, number + at)
            else:
                message = row.message
                if message is None or kind == "system" or row.origin or row.cost:
                    break
                result = row.tool_use_result
                if isinstance(result, Result) and (result.agent_id or result.run_id):
                    break
                messages = True
                self._message(uuid, row, message, number + at)
            ids.append(uuid)
        else:
            at += 1
        if ids:
            self._writer.pass_over(len(columns) - before)
            note_many(ids, messages=messages)
            together = "\n".join(ids)
            if "=" in together or "/" in together or len(min(ids, key=len)) == 1:
                # Such records get derived IDs.
                self._is_plain = self._is_plain and None not in map(native_id, ids)
        return at

    def _kind(self, row_type: str | None) -> str:
        kind = self._kinds[row_type] = kind_of_row(row_type)
        return kind

    def _message(self, uuid: str, row: Glance, message: GlanceMessage, line: int) -> None:
        """Add the records of a message that says nothing of other sessions."""
        columns = self._columns
        columns.add(uuid, "message", uuid, line)
        call = call_of(row, message, uuid)
        if call is not None:
            self._inference(uuid, row, message, call, line)
        content = message.content
        if isinstance(content, list):
            for place, block in enumerate(content):
                kind = block_record(block.type)
                if kind is not None:
                    record = f"{uuid}/{kind}/{place}"
                    value = (block.id or record) if kind == "tool_call" else None
                    columns.add(record, kind, value, line)

    def _inference(
        self, uuid: str, row: Glance, message: GlanceMessage, call: tuple[str, bool], line: int
    ) -> None:
        """Add a snapshot of a model call."""
        columns = self._columns
        key, native = call
        record = f"{uuid}/inference/0"
        supersedes, request = self._writer.revised(message.id, row.request_id, record)
        columns.add(record, "inference", key, line)
        at = len(columns)
        if supersedes is not None:
            columns.supersedes[at] = supersedes
        if self._told.waits:
            self._told.flush()  # calls stand in the order of their rows
        usage = message.usage
        tokens = _NO_TOKENS
        if usage is not None:
            tokens = (
                usage.input_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens,
                usage.output_tokens,
            )
        columns.gathered.add_call(
            at, tokens, message.model, row.timestamp, request, derived=not native
        )

    def end(self) -> tuple[Survey, Columns | None]:
        """The survey and the columns, once all lines were read."""
        survey = self._surveyor.end()
        if not self._is_plain or len(survey.slots) != 1:
            return survey, None
        (facts,) = survey.slots.values()
        self._told.flush()
        return survey, None if facts.repeated else self._columns
