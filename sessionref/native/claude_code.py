"""Claude Code transcripts as streams.

A transcript is read twice: once for what only the whole file shows (which sessions it holds, which
of them begins with a copied head, which rows the source wrote again), once for its records. Each
pass decodes only the members it needs.

Identity, as the registry entry states it. A row with an `agentId` belongs to that subagent, any
other to its `sessionId`; the file's name says nothing (ASR-051 to 053). Short agent IDs repeat
under different parents, so their namespace is the `sessionId` their rows carry (ASR-054). Rows
with neither ID belong to the session of the row before. Inline sidechains of old versions have no
ID of their own and stay in their parent's session. Messages that a `progress` row embeds are
another session's: they make no records here.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING

from sessionref.findings import Finding
from sessionref.native.base import NativeStream, Report, header_record, row_fault
from sessionref.native.claude_records import AGENT, Writer, rows
from sessionref.native.rows import NoRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.native.base import NativeRecord
    from sessionref.native.claude_records import Read, Row
    from sessionref.native.rows import Fault

__all__ = ["AGENT", "FORMAT", "ROW_TYPES", "read"]

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

#: Agent IDs that are known to repeat under different parents (ASR-054): short ones, and those of
#: compaction side agents. The registry's rule `short-agent-id-container`, version 1.
_SHORT_AGENT_ID = re.compile(r"[0-9A-Fa-f]{6,8}|acompact-.*", re.DOTALL).fullmatch
_SIDE_AGENT = "acompact-"

_IDENTITY = frozenset({"$.sessionId", "$.agentId"})

#: How many bytes of other sessions' rows are kept in memory before they go to a file.
_SPOOL = 16 << 20

_Slot = tuple[str | None, str, bool]  # namespace, session ID, whether it is a subagent
_Lines = Callable[[Report], Iterable[tuple[int, bytes]]]


def read(
    lines: _Lines,
    file: str,
    report: Report,
    *,
    content: bool = True,
) -> Iterator[NativeStream]:
    """The sessions of one transcript, in the order in which they first appear.

    `lines` gives the transcript's lines with their numbers, from the start each time it is called;
    `file` is what findings call it. Without `content` the records carry identity, model calls and
    usage only. Every fault is reported and nothing is raised; a transcript that names no session
    gives no stream and one finding (code `no-session`).
    """
    survey = _survey(lines, file, report)
    order = list(survey.slots)
    # Rows of all sessions but the first wait in a spool, so that the file is read twice however
    # many sessions it holds.
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
        waiting: dict[_Slot, list[tuple[int, int, int]]] = {slot: [] for slot in order[1:]}
        for place, slot in enumerate(order):
            if place == 0:
                own = _rows_of_first(survey, lines, waiting, spool)
            else:
                own = _rows_that_waited(waiting[slot], spool)
            writer = Writer(file, report, survey.slots[slot].repeated, content=content)
            header = _header(slot, survey.slots[slot], content=content)
            yield NativeStream(header, writer.all(own), writer)
            for _ in own:  # the caller may have left rows unread
                pass


class _Facts:
    """What the first pass learns of one session in the file."""

    __slots__ = ("branch", "cwd", "repeated", "seen", "started", "version")

    def __init__(self) -> None:
        self.version: str | None = None
        self.started: str | None = None
        self.cwd: str | None = None
        self.branch: str | None = None
        self.seen: set[str] = set()
        self.repeated: set[str] = set()

    def note(self, row: Row) -> None:
        self.version = self.version or row.version
        self.started = self.started or row.timestamp
        self.cwd = self.cwd or row.cwd
        self.branch = self.branch or row.git_branch
        if row.uuid:
            (self.repeated if row.uuid in self.seen else self.seen).add(row.uuid)

    def absorb(self, other: _Facts) -> None:
        """Take over the record IDs of rows that turn out to be this session's."""
        self.repeated |= other.repeated | (self.seen & other.seen)
        self.seen |= other.seen


class _Survey:
    """What the first pass learns of the file.

    `slots` are its sessions in order. `head` is the session whose rows before line `head_end` are
    the copied head of session `heir`. `containers` holds for each short agent ID the session IDs
    that its rows carry, for the rows that carry none.
    """

    __slots__ = ("containers", "head", "head_end", "heir", "slots")

    def __init__(self) -> None:
        self.slots: dict[_Slot, _Facts] = {}
        self.containers: dict[str, set[str]] = {}
        self.head: _Slot | None = None
        self.heir: _Slot | None = None
        self.head_end = 0

    def slot_of(self, row: Row, line: int, before: _Slot | None) -> _Slot | None:
        """The session that a row belongs to, where `before` is that of the row before it."""
        agent = row.agent_id
        if agent and _SHORT_AGENT_ID(agent):
            if row.session_id:
                return (row.session_id, agent, True)
            known = self.containers.get(agent, ())
            return (next(iter(known)), agent, True) if len(known) == 1 else None
        if agent:
            return (None, agent, True)
        if not row.session_id:
            return before
        slot = (None, row.session_id, False)
        return self.heir if slot == self.head and line < self.head_end else slot


def _survey(lines: _Lines, file: str, report: Report) -> _Survey:
    """The first pass. It reports faults of lines; those inside rows are left to the second."""
    survey = _Survey()
    leading = _Facts()
    first: _Slot | None = None  # the first two sessions that are no subagents
    second: _Slot | None = None
    second_line = 0
    open_question = True  # whether the first of them is the copied head of the second
    adrift: dict[str, tuple[int, _Facts]] = {}  # short agent IDs of rows without a session ID
    refused: set[str] = set()
    before: _Slot | None = None
    for line, data in lines(report):
        faults: list[Fault] = []
        try:
            row = rows.decode(data, faults.append)
        except NoRow as error:
            report(_no_row(error, file, line))
            continue
        unusable = _identity_fault(faults) if faults else None
        if unusable is not None:
            if unusable.message not in refused:
                refused.add(unusable.message)
                report(row_fault(unusable, file, line))
            continue
        if row.agent_id and _SHORT_AGENT_ID(row.agent_id):
            if not row.session_id:
                adrift.setdefault(row.agent_id, (line, _Facts()))[1].note(row)
                continue
            survey.containers.setdefault(row.agent_id, set()).add(row.session_id)
        slot = survey.slot_of(row, line, before)
        if slot is None:
            leading.note(row)
            continue
        before = slot
        facts = survey.slots.get(slot)
        if facts is None:
            facts = survey.slots[slot] = _Facts()
        if open_question and not slot[2]:
            if first is None:
                first = slot
            elif slot != first and second is None:
                second, second_line = slot, line
            if second is not None and (slot != second or row.uuid):
                # The second session's first record tells; a later row of the first, or of a
                # third, means that each stands for itself.
                open_question = False
                if slot == second and row.parent_uuid in survey.slots[first].seen:
                    survey.head, survey.head_end, survey.heir = first, second_line, second
                    facts.absorb(survey.slots.pop(first))
        facts.note(row)
    _close(survey, leading, adrift, file, report, silent=bool(refused))
    return survey


def _close(
    survey: _Survey,
    leading: _Facts,
    adrift: dict[str, tuple[int, _Facts]],
    file: str,
    report: Report,
    *,
    silent: bool,
) -> None:
    """What can be said once the whole file was seen."""
    for agent_id, (line, facts) in adrift.items():
        known = survey.containers.get(agent_id, ())
        if len(known) == 1:
            (session_id,) = known
            survey.slots[session_id, agent_id, True].absorb(facts)
        else:
            silent = True
            report(
                Finding(
                    code="no-namespace",
                    severity="warning",
                    message=f"no row says in which session the short agent ID {agent_id} stands",
                    rule="ASR-054",
                    file=file,
                    line=line,
                )
            )
    if not survey.slots and not silent:
        report(
            Finding(
                code="no-session",
                severity="warning",
                message="no row names a session, so the transcript is no session",
                rule="ASR-051",
                file=file,
            )
        )
    for facts in survey.slots.values():
        facts.absorb(leading)
        leading = _Facts()  # rows before any session go to the first one only
        facts.seen = set()


def _rows_of_first(
    survey: _Survey,
    lines: _Lines,
    waiting: dict[_Slot, list[tuple[int, int, int]]],
    spool: IO[bytes],
) -> Iterator[Read]:
    """The second pass: yields the rows of the first session, spools those of the others.

    Rows of sessions that the first pass did not see are passed over: the file has changed.
    """
    first = next(iter(survey.slots))
    before: _Slot | None = first
    end = 0
    for line, data in lines(_ignore):
        faults: list[Fault] = []
        try:
            row = rows.decode(data, faults.append)
        except NoRow:
            continue
        if faults and _identity_fault(faults) is not None:
            continue
        slot = survey.slot_of(row, line, before)
        if row.session_id or not row.agent_id:  # as in the first pass
            before = slot
        if slot == first:
            yield line, data, row, faults
        elif slot in waiting:
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


def _header(slot: _Slot, facts: _Facts, *, content: bool) -> NativeRecord:
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
        scope=None if session_id.startswith(_SIDE_AGENT) else scope,
        cwd=facts.cwd,
        branch=facts.branch,
        content=content,
    )


def _identity_fault(faults: list[Fault]) -> Fault | None:
    """The fault that leaves open to which session a row belongs."""
    return next((fault for fault in faults if fault.path in _IDENTITY), None)


def _no_row(error: NoRow, file: str, line: int) -> Finding:
    return Finding(code=error.code, severity="warning", message=error.message, file=file, line=line)


def _ignore(_finding: Finding) -> None:
    """Faults of lines were reported by the first pass."""
