"""The first pass over a Claude Code transcript, before any record of it is written.

It finds which sessions the file holds, which of them begins with a copied head, which rows the
source wrote again, and what the rows say of other sessions. No row is kept.

Identity, as the registry entry states it. A row with an `agentId` belongs to that subagent, any
other to its `sessionId`; the file's name says nothing (ASR-051 to 053). Short agent IDs repeat
under different parents, so their namespace is the `sessionId` their rows carry (ASR-054). Rows
with neither ID belong to the session of the row before. Inline sidechains of old versions have no
ID of their own and stay in their parent's session. Messages that a `progress` row embeds are
another session's: they make no records here.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from sessionref.native.claude_code.rows import (
    MESSAGES,
    Delegation,
    Launch,
    agent_slot,
    delegation,
    ignore,
    is_short,
    rows,
)
from sessionref.native.record import native_id, row_fault, warning
from sessionref.native.rows import NoRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.native.claude_code.rows import Row, Slot, Teammate
    from sessionref.native.reader import Lines
    from sessionref.native.record import Report, Segment
    from sessionref.native.rows import Fault

__all__ = [
    "Facts",
    "Named",
    "SlotRow",
    "Survey",
    "Surveyor",
    "checksum",
    "rows_by_session",
    "survey_of",
]

_IDENTITY = frozenset({"$.sessionId", "$.agentId"})
_TELLING = frozenset({"user", "progress"})
#: How many changes of the process that writes a session are kept; further ones say nothing new.
_PROCESSES = 4


class Named(NamedTuple):
    """How a delegation is named: its call and the subagent's role, as far as the source says."""

    call_id: str | None
    role: str | None


class Facts:
    """What the survey learned of one session in the file.

    `carried` are the session IDs that its rows have. `delegations` holds for each subagent, by the
    session ID that the delegating row carries and its own, how it was first named; rows marked as
    copies delegate nothing. `launches` leads from the run of a workflow to its call.
    `continued_in` is the session that the last row of its kind names, unless a message follows.
    `marked` is the last mark of a copy among the leading records, with that record's own ID;
    `marked_later` a mark without that. `context` is the session and record whose context the
    session refers to. `from_summary` says that the first record is the summary of a compaction.
    `hangs` says that the first record has a parent. `processes` are the first sessions of the
    processes that wrote the session's own rows, one after the other. `teammates` holds for each
    teammate, by the session ID that the spawning row carries and its names, how it was spawned;
    None where several rows say so. `checksums` are those of the record IDs, of a session that
    delegates or is a subagent.

    `lineage` and `segment` are filled in when all files of the scope have been surveyed; so are
    `shared` (the records that were copied from the spawner, with its reference) and `children` (the
    agent ID and the reference of each teammate that is in scope).
    """

    __slots__ = (
        "_described",
        "_leading",
        "branch",
        "carried",
        "checksums",
        "children",
        "context",
        "continued_in",
        "cwd",
        "delegations",
        "from_summary",
        "hangs",
        "launches",
        "lineage",
        "marked",
        "marked_later",
        "processes",
        "repeated",
        "rows",
        "seen",
        "segment",
        "shared",
        "started",
        "teammates",
        "version",
    )

    def __init__(self) -> None:
        self._described = False
        self.version: str | None = None
        self.started: str | None = None
        self.cwd: str | None = None
        self.branch: str | None = None
        self.seen: set[str] = set()
        self.repeated: set[str] = set()
        self.rows = 0
        self.carried: set[str] = set()
        self.delegations: dict[tuple[str, str], Named] = {}
        self.launches: dict[str, str] = {}
        self.teammates: dict[tuple[str, str, str], Named | None] = {}
        self.hangs = False
        self.processes: list[str] = []
        self.checksums = array("I")
        self.shared: dict[str, str] = {}
        self.children: dict[tuple[str, str, str], tuple[str, str]] = {}
        self.continued_in: str | None = None
        self._leading = True
        self.from_summary = False
        self.marked: tuple[str, str | None, bool, str] | None = None
        self.marked_later: str | None = None
        self.context: tuple[str, str | None] | None = None
        self.lineage: dict[str, Any] = {}
        self.segment: Segment | None = None

    def note(self, row: Row) -> None:
        """Learn from the next row of the session."""
        if not self._described:
            self._describe(row)
        session_id, kind, uuid = row.session_id, row.type, row.uuid
        if session_id is not None and session_id not in self.carried and session_id:
            self.carried.add(session_id)
        if row.process and row.copied_from is None:
            self.note_process(row.process)
        if uuid:
            if not self.seen:
                self.hangs = bool(row.parent_uuid)
            if self._leading or row.forked_from is not None:
                self._chain(row)
            if uuid in self.seen:
                self.repeated.add(uuid)
            else:
                self.seen.add(uuid)
            if kind in MESSAGES:
                self.continued_in = None
        elif kind == "continued-in":
            self.continued_in = row.continued_in_session_id or None
        elif kind == "fork-context-ref" and not self.rows and row.parent_session_id:
            self.context = (row.parent_session_id, row.parent_last_uuid or None)
        self.rows += 1
        if kind in _TELLING and session_id and row.copied_from is None:
            found = delegation(row)
            if isinstance(found, Delegation):
                named = Named(found.call_id, found.role)
                self.delegations.setdefault((session_id, found.agent_id), named)
            elif isinstance(found, Launch):
                self.launches.setdefault(found.run_id, found.call_id)
            elif found is not None:
                self._spawn(session_id, found)

    def _spawn(self, session_id: str, mate: Teammate) -> None:
        key, named = (session_id, mate.name, mate.team), Named(mate.call_id, mate.role)
        known = self.teammates.setdefault(key, named)
        if known != named:
            self.teammates[key] = None

    def note_process(self, process: str) -> None:
        """Learn which session was the first of the process that wrote a row of this one."""
        known = self.processes
        if (not known or known[-1] != process) and len(known) < _PROCESSES:
            known.append(process)

    @property
    def is_settled(self) -> bool:
        """Whether the header is known, and the run of leading copies is over."""
        return self._described and not self._leading

    def note_many(self, record_ids: list[str], *, messages: bool) -> None:
        """As `note` for several rows with these IDs that say nothing of other sessions.

        `messages` tells whether there are messages among them.
        """
        if messages:
            self.continued_in = None
        self.rows += len(record_ids)
        before = len(self.seen)
        if self.seen.isdisjoint(record_ids):
            self.seen.update(record_ids)
            if len(self.seen) - before < len(record_ids):
                again = Counter(record_ids)
                self.repeated.update(one for one, times in again.items() if times > 1)
            return
        for record_id in record_ids:
            (self.repeated if record_id in self.seen else self.seen).add(record_id)

    def _describe(self, row: Row) -> None:
        """Take what the header says from the first rows that have it."""
        self.version = self.version or row.version
        self.started = self.started or row.timestamp
        self.cwd = self.cwd or row.cwd
        self.branch = self.branch or row.git_branch
        self._described = bool(self.version and self.started and self.cwd and self.branch)

    def _chain(self, row: Row) -> None:
        """Learn from a record that has an ID of its own whether it is one of the leading copies."""
        uuid, mark = row.uuid or "", row.copied_from
        if self._leading:
            if mark is None or native_id(uuid) is None or uuid in self.seen:
                self._leading = False
                self.from_summary = not self.seen and row.is_compact_summary is True
            else:
                is_message = row.message is not None and row.type in MESSAGES
                self.marked = (mark.session_id or "", mark.message_uuid, is_message, uuid)
        if mark is not None and not self._leading:
            self.marked_later = mark.session_id

    def absorb(self, other: Facts) -> None:
        """Take over the record IDs of rows that turn out to be this session's, and come first.

        Their claims about other sessions are dropped, except the context reference.
        """
        if other.seen:
            self.hangs = other.hangs
        self.repeated |= other.repeated | (self.seen & other.seen)
        self.seen |= other.seen
        self.rows += other.rows
        self.context = self.context or other.context
        if other.seen:
            self._leading = self.from_summary = False
            self.marked_later = self.marked_later or (self.marked or (None,))[0]
            self.marked = None


class Survey:
    """What the first pass learned of the file.

    `slots` are its sessions in order. `head` is the session whose rows before line `head_end` are
    the copied head of session `heir`. `containers` holds for each short agent ID the session IDs
    that its rows carry, for the rows that carry none.
    """

    __slots__ = ("containers", "head", "head_end", "heir", "slots")

    def __init__(self) -> None:
        self.slots: dict[Slot, Facts] = {}
        self.containers: dict[str, set[str]] = {}
        self.head: Slot | None = None
        self.heir: Slot | None = None
        self.head_end = 0

    def slot_of(self, row: Row, line: int, before: Slot | None) -> Slot | None:
        """The session that a row belongs to; `before` is that of the previous row."""
        agent = row.agent_id
        if agent and is_short(agent):
            if row.session_id:
                return agent_slot(row.session_id, agent)
            known = self.containers.get(agent, ())
            return agent_slot(next(iter(known)), agent) if len(known) == 1 else None
        if agent:
            return (None, agent, True)
        if not row.session_id:
            return before
        slot = (None, row.session_id, False)
        return self.heir if slot == self.head and line < self.head_end else slot

    def copied_head_of(self, slot: Slot, row: Row, line: int) -> str | None:
        """The session from which the head of session `slot` was copied, if a row is part of it."""
        head = self.head
        if head is None or slot != self.heir or line >= self.head_end:
            return None
        return head[1] if row.session_id == head[1] else None


class SlotRow(NamedTuple):
    """A row with the session that it belongs to."""

    slot: Slot
    line: int
    data: bytes
    row: Row
    faults: list[Fault]


def rows_by_session(survey: Survey, lines: Lines) -> Iterator[SlotRow]:
    """The rows of the file with their sessions, in a later pass.

    Rows of sessions that the first pass did not see are skipped: the file has changed.
    """
    slots = survey.slots
    before = next(iter(slots), None)
    for line, data in lines(ignore):
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
        if slot in slots:
            yield SlotRow(slot, line, data, row, faults)


def survey_of(lines: Lines, file: str, report: Report) -> Survey:
    """The first pass. It reports faults of lines; those inside rows are left to the second."""
    surveyor = Surveyor(file, report)
    for line, data in lines(report):
        surveyor.line(line, data)
    return surveyor.end()


class Surveyor:
    """Makes the survey of one file from its lines, in order; `is_plain` says what it met so far.

    A plain file holds one session, every line of which is a row without a fault.
    """

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report
        self._survey = Survey()
        self._leading = Facts()
        self._first: Slot | None = None  # the first two sessions that are no subagents
        self._second: Slot | None = None
        self._second_line = 0
        self._open_question = True  # whether the first of them is the copied head of the second
        # Short agent IDs of rows without a session ID.
        self._adrift: dict[str, tuple[int, Facts]] = {}
        self._refused: set[str] = set()
        self._before: Slot | None = None
        self._facts: Facts | None = None
        self._agent_id: str | None = None  # of the row before
        self._session_id: str | None = None
        self._faulty = False

    @property
    def is_plain(self) -> bool:
        """Whether the file is a plain one as far as it was read."""
        return not self._faulty and not self._adrift and self._is_one

    @property
    def _is_one(self) -> bool:
        return len(self._survey.slots) <= 1 and self._survey.head is None

    def line(self, line: int, data: bytes) -> Row | None:
        """Learn from the next line; returns its row, if that has no fault."""
        faults: list[Fault] = []
        try:
            row = rows.decode(data, faults.append)
        except NoRow as error:
            self._faulty = True
            self._report(warning(error.code, error.message, self._file, line))
            return None
        if faults:
            self._faulty = True
            unusable = _identity_fault(faults)
            if unusable is not None:
                if unusable.message not in self._refused:
                    self._refused.add(unusable.message)
                    self._report(row_fault(unusable, self._file, line))
                return None
        self._row(line, row)
        return None if faults else row

    @property
    def going_on(self) -> tuple[Facts, str | None, str | None] | None:
        """The session of the row before, with the session ID and the agent ID of its rows.

        None if such rows can still say more than `Facts.note_many` takes.
        """
        facts = self._going_on
        settled = facts is not None and facts.is_settled
        return (facts, self._session_id, self._agent_id) if facts and settled else None

    @property
    def _going_on(self) -> Facts | None:
        """The session of the previous row, if further rows with its IDs surely belong to it."""
        return self._facts if self._second is None or not self._open_question else None

    def _row(self, line: int, row: Row) -> None:
        survey = self._survey
        facts = self._going_on
        if (
            facts is not None
            and row.session_id == self._session_id
            and row.agent_id == self._agent_id
        ):
            facts.note(row)  # as most rows: of the session of the row before
            return
        if row.agent_id and is_short(row.agent_id):
            if not row.session_id:
                self._adrift.setdefault(row.agent_id, (line, Facts()))[1].note(row)
                return
            survey.containers.setdefault(row.agent_id, set()).add(row.session_id)
        slot = survey.slot_of(row, line, self._before)
        if slot is None:
            self._leading.note(row)
            return
        self._before = slot
        self._agent_id, self._session_id = row.agent_id, row.session_id
        facts = survey.slots.get(slot)
        if facts is None:
            facts = survey.slots[slot] = Facts()
        if self._open_question and not slot[2]:
            self._ask(slot, facts, row, line)
        self._facts = facts
        facts.note(row)

    def _ask(self, slot: Slot, facts: Facts, row: Row, line: int) -> None:
        """Ask whether the rows of the first session are the copied head of the second."""
        survey, first = self._survey, self._first
        if first is None:
            self._first = slot
            return
        if slot != first and self._second is None:
            self._second, self._second_line = slot, line
        if self._second is None or (slot == self._second and not row.uuid):
            return
        # The second session's first record tells; a later row of the first, or of a third, means
        # that they are two sessions.
        self._open_question = False
        if slot == self._second and row.parent_uuid in survey.slots[first].seen:
            survey.head, survey.head_end, survey.heir = first, self._second_line, self._second
            facts.absorb(survey.slots.pop(first))

    def end(self) -> Survey:
        """The survey, once all lines were read."""
        _close(
            self._survey,
            self._leading,
            self._adrift,
            self._file,
            self._report,
            silent=bool(self._refused),
        )
        return self._survey


def _close(
    survey: Survey,
    leading: Facts,
    adrift: dict[str, tuple[int, Facts]],
    file: str,
    report: Report,
    *,
    silent: bool,
) -> None:
    """Settle what only the end of the file shows."""
    for agent_id, (line, facts) in adrift.items():
        known = survey.containers.get(agent_id, ())
        if len(known) == 1:
            (session_id,) = known
            survey.slots[session_id, agent_id, True].absorb(facts)
        else:
            silent = True
            message = f"no row says which session the short agent ID {agent_id} belongs to"
            report(warning("no-namespace", message, file, line, "ASR-054"))
    if not survey.slots and not silent:
        message = "no row names a session"
        report(warning("no-session", message, file, rule="ASR-051"))
    for slot, facts in survey.slots.items():
        facts.absorb(leading)
        leading = Facts()  # rows before any session go to the first one only
        if slot[2] or facts.delegations:
            facts.checksums = array("I", map(checksum, facts.seen))
        facts.seen = set()


def checksum(record_id: str) -> int:
    """A short checksum of a record ID: other IDs may have the same one."""
    return crc32(record_id.encode())


def _identity_fault(faults: list[Fault]) -> Fault | None:
    """The fault that leaves open to which session a row belongs."""
    return next((fault for fault in faults if fault.path in _IDENTITY), None)
