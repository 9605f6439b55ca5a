"""Claude Code transcripts in one pass: the survey, and of a plain one the records as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from sessionref.native.claude_code.records import Writer, block_record, call_of, kind_of_row
from sessionref.native.claude_code.rows import AGENT_PROGRESS, Result, glances_at
from sessionref.native.claude_code.survey import Surveyor
from sessionref.native.columns import Columns, Told
from sessionref.native.record import native_id
from sessionref.streams.ids import of_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessionref.native.claude_code.rows import Glance, GlanceMessage
    from sessionref.native.claude_code.survey import Facts, Survey
    from sessionref.native.columns import Records
    from sessionref.native.logs import Log
    from sessionref.native.record import Report

__all__ = ["survey_with_columns"]

#: The types of rows of which more is needed than their ID.
_SPEAKING = frozenset({"user", "assistant", "system"})
_NO_TOKENS: tuple[int | None, int | None, int | None, int | None] = (None, None, None, None)


def survey_with_columns(log: Log, report: Report) -> tuple[Survey, Records | None]:
    """The survey of a transcript, and its records, where it is plain.

    A plain one holds one session, none of its rows has a fault, and none is written twice: then
    the first pass can say already what the records are. Of others the columns are None. `report`
    gets the faults of lines.

    Only what lineage and usage need is looked at, so a member that nobody needs here can be wrong.
    """
    reader = _Reader(log.name, report)
    for number, lines, complete in log.batches(report):
        # What the decoder takes whole is neither blank nor has it NUL bytes.
        if not (complete and reader.read(number, lines)):
            for line, data in log.held(number, lines, report, complete=complete):
                reader.read_whole(line, data)
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

    def read(self, number: int, lines: Sequence[bytes]) -> bool:
        """Read consecutive lines, the first of which is `number`.

        False where not all of them are rows without a fault; then none was read.
        """
        if not self._is_plain:
            return False
        try:
            glances = glances_at(lines)
        except (msgspec.DecodeError, RecursionError):
            return False
        at = 0
        while at < len(lines):
            going_on = self._surveyor.going_on
            if going_on is not None:
                at = self._glance(number, glances, at, going_on)
            if at < len(lines):
                self.read_whole(number + at, lines[at].rstrip(b"\r\n"))
                at += 1
        return True

    def read_whole(self, line: int, data: bytes) -> None:
        """Read a row as a whole."""
        row = self._surveyor.line(line, data)
        if row is None or not self._surveyor.is_plain:
            self._is_plain = False
        if row is not None and self._is_plain:
            self._told.add(self._writer.row(line, b"", row), line)

    def _glance(
        self,
        number: int,
        glances: Sequence[Glance],
        start: int,
        going_on: tuple[Facts, str | None, str | None],
    ) -> int:
        """Go on as long as rows need a glance only; the place of the first that needs more."""
        facts, session_id, agent_id = going_on
        columns, kinds = self._columns, self._kinds
        add_id, add_type = columns.ids.append, columns.types.append
        add_value, add_line = columns.values.append, columns.lines.append
        before = len(columns.ids)
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
                add_id(uuid)
                add_type(kinds.get(kind) or self._kind(kind))
                add_value(None)
                add_line(number + at)
            else:
                message, result = row.message, row.tool_use_result
                if (
                    message is None
                    or kind == "system"
                    or row.origin
                    or row.cost
                    or (isinstance(result, Result) and (result.agent_id or result.run_id))
                ):
                    break
                messages = True
                self._message(uuid, row, message, number + at)
            ids.append(uuid)
        else:
            at += 1
        if ids:
            self._writer.pass_over(len(columns.ids) - before)
            facts.note_many(ids, messages=messages)
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
        columns.ids.append(uuid)
        columns.types.append("message")
        columns.values.append(uuid)
        call = call_of(row, message, uuid)
        if call is not None:
            self._inference(uuid, row, message, call)
        content = message.content
        if isinstance(content, list):
            for place, block in enumerate(content):
                kind = block_record(block.type)
                if kind is not None:
                    record = of_part(uuid, kind, place)
                    columns.ids.append(record)
                    columns.types.append(kind)
                    columns.values.append((block.id or record) if kind == "tool_call" else None)
        columns.lines += [line] * (len(columns.ids) - len(columns.lines))

    def _inference(
        self, uuid: str, row: Glance, message: GlanceMessage, call: tuple[str, bool]
    ) -> None:
        """Add a snapshot of a model call."""
        columns = self._columns
        key, native = call
        record = of_part(uuid, "inference", 0)
        supersedes, request = self._writer.revised(message.id, row.request_id, record)
        columns.ids.append(record)
        columns.types.append("inference")
        columns.values.append(key)
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

    def end(self) -> tuple[Survey, Records | None]:
        """The survey and the columns, once all lines were read."""
        survey = self._surveyor.end()
        if not self._is_plain or len(survey.slots) != 1:
            return survey, None
        (facts,) = survey.slots.values()
        self._told.flush()
        return survey, None if facts.repeated else self._columns.closed()
