"""Claude Code transcripts as streams.

A transcript is read twice: once for what only the whole file shows (`claude_survey`), once for its
records (`claude_records`). Between the two stands what the files of a scope show of each other
(`claude_lineage`).
"""

from __future__ import annotations

import tempfile
from functools import partial
from typing import IO, TYPE_CHECKING

from sessionref.native.base import NativeStream, header_record
from sessionref.native.claude_delegations import SIDE_AGENT
from sessionref.native.claude_records import Writer
from sessionref.native.claude_rows import AGENT, rows
from sessionref.native.claude_survey import rows_by_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.native.base import NativeRecord, Report
    from sessionref.native.claude_delegations import Slot
    from sessionref.native.claude_rows import Read
    from sessionref.native.claude_survey import Facts, Lines, Survey
    from sessionref.native.rows import Fault

__all__ = ["AGENT", "FORMAT", "ROW_TYPES", "only_header", "streams", "writer_of"]

#: The name of the format.
FORMAT = "claude-code-jsonl"

#: The `type` of rows that only Claude Code writes beside a `sessionId`.
ROW_TYPES = frozenset(
    {
        "user",
        "assistant",
        "system",
        "summary",
        "progress",
        "attachment",
        "queue-operation",
        "mode",
        "permission-mode",
        "ai-title",
        "custom-title",
        "agent-name",
        "last-prompt",
        "continued-in",
        "worktree-state",
        "file-history-snapshot",
    }
)

#: How many bytes of other sessions' rows are kept in memory before they go to a file.
_SPOOL = 16 << 20


def streams(
    survey: Survey, lines: Lines, file: str, report: Report, *, content: bool = True
) -> Iterator[NativeStream]:
    """The sessions of one transcript, in the order in which they first appear.

    `survey` is what the first pass over it learned, `lines` gives its lines with their numbers,
    from the start each time it is called, and `file` is what findings call it. Without `content`
    the records carry identity, model calls, usage and relations only. Faults inside rows are
    reported, and nothing is raised.
    """
    order = list(survey.slots)
    # Rows of all sessions but the first wait in a spool, so that the file is read twice however
    # many sessions it holds.
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
        waiting: dict[Slot, list[tuple[int, int, int]]] = {slot: [] for slot in order[1:]}
        for place, slot in enumerate(order):
            if place == 0:
                own = _rows_of_first(survey, lines, waiting, spool)
            else:
                own = _rows_that_waited(waiting[slot], spool)
            writer = writer_of(survey, slot, file, report, content=content)
            header = _header(slot, survey.slots[slot], content=content)
            yield NativeStream(header, writer.all(own), writer)
            for _ in own:  # the caller may have left rows unread
                pass


def only_header(survey: Survey) -> NativeRecord:
    """The header of a transcript that holds one session; its records carry no content."""
    ((slot, facts),) = survey.slots.items()
    return _header(slot, facts, content=False)


def writer_of(survey: Survey, slot: Slot, file: str, report: Report, *, content: bool) -> Writer:
    """What makes the records of one session of the file, once."""
    copied_head = partial(survey.copied_head_of, slot)
    return Writer(file, report, survey.slots[slot].repeated, copied_head, content=content)


def _rows_of_first(
    survey: Survey,
    lines: Lines,
    waiting: dict[Slot, list[tuple[int, int, int]]],
    spool: IO[bytes],
) -> Iterator[Read]:
    """The second pass: yields the rows of the first session, spools those of the others."""
    first = next(iter(survey.slots))
    end = 0
    for slot, line, data, row, faults in rows_by_session(survey, lines):
        if slot == first:
            yield line, data, row, faults
        else:
            spool.seek(end)
            spool.write(data)
            waiting[slot].append((line, end, len(data)))
            end += len(data)


def _rows_that_waited(places: list[tuple[int, int, int]], spool: IO[bytes]) -> Iterator[Read]:
    for line, start, length in places:
        spool.seek(start)
        data = spool.read(length)
        faults: list[Fault] = []
        yield line, data, rows.decode(data, faults.append), faults


def _header(slot: Slot, facts: Facts, *, content: bool) -> NativeRecord:
    namespace, session_id, subagent = slot
    scope = "subagent" if subagent else "primary"
    return header_record(
        agent=AGENT,
        agent_version=facts.version,
        namespace=namespace,
        session_id=session_id,
        source_format=FORMAT,
        started_at=facts.started,
        # A compaction side agent is neither delegated to nor a conversation of its own.
        scope=None if session_id.startswith(SIDE_AGENT) else scope,
        cwd=facts.cwd,
        branch=facts.branch,
        content=content,
        lineage=facts.lineage,
        segment=facts.segment,
    )
