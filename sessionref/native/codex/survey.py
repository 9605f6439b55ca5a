"""The first pass over a Codex rollout, before any record of it is written.

Identity, as the registry entry states it: the session ID is `payload.id` of the first
`session_meta`. A later one is an ancestor's, copied with its history, and renames nothing; a file
without one holds no session. `session_id` names the root of the agent tree and the file's name may
name a page, so neither is identity (ASR-051 to 053).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from sessionref.native.codex.rows import Spawns, rows, same_call, totals
from sessionref.native.record import row_fault, warning
from sessionref.native.rows import NoRow, Rows, begins

if TYPE_CHECKING:
    from sessionref.native.codex.rows import Counts, Payload, Row, Totals
    from sessionref.native.reader import Lines
    from sessionref.native.record import Report, Segment
    from sessionref.native.rows import Fault

__all__ = ["Meta", "Survey", "survey_of"]

_PRIMARY_SOURCES = frozenset({b'"cli"', b'"vscode"', b'"exec"', b'"mcp"'})
_SUBAGENT_SOURCES = frozenset({"subagent", "guardian_review"})


class _Source(msgspec.Struct, gc=False):
    subagent: Raw = Raw()


class _ThreadSpawn(msgspec.Struct, gc=False):
    parent_thread_id: str | None = None
    agent_role: str | None = None


class _Subagent(msgspec.Struct, gc=False):
    thread_spawn: _ThreadSpawn | None = None
    other: str | None = None


_sources = Rows(_Source)
_subagents = Rows(_Subagent)
_text = msgspec.json.Decoder(str).decode


class Meta:
    """The thread, as the first `session_meta` of the file describes it.

    `parents` are the threads that it names as spawners; more than one is a contradiction. `base`
    is the rollout whose history comes before the file's, `base_end` the ordinal behind it.
    `start_ordinal` is the first own ordinal of a subagent that carries copies.
    """

    __slots__ = (
        "base",
        "base_end",
        "branch",
        "cwd",
        "fork_end",
        "forked_from",
        "parents",
        "role",
        "scope",
        "start_ordinal",
        "started",
        "thread_id",
        "version",
    )

    def __init__(self, thread_id: str, payload: Payload, timestamp: str | None) -> None:
        self.thread_id = thread_id
        self.version = payload.cli_version
        self.started = payload.timestamp or timestamp
        self.cwd = payload.cwd
        self.branch = None if payload.git is None else payload.git.branch
        source = _sources.decode_part(payload.source).subagent
        if bytes(source) == b"null":
            source = Raw()
        subagent = _subagents.decode_part(source)
        spawn = subagent.thread_spawn or _ThreadSpawn()
        named = (payload.parent_thread_id, spawn.parent_thread_id)
        self.parents = {parent for parent in named if parent}
        self.role = spawn.agent_role or payload.agent_role or subagent.other or _word(source)
        self.scope = _scope(payload, source)
        self.forked_from = payload.forked_from_id or None
        self.fork_end = payload.forked_from_ordinal_exclusive
        base = payload.history_base
        self.base = None if base is None else base.thread_id or None
        self.base_end = None if base is None else base.end_ordinal_exclusive
        self.start_ordinal = payload.subagent_history_start_ordinal


class Survey:
    """What the first pass learned of the file.

    `meta` is None if no session is named. `joined` are the totals after model calls that a
    `token_usage_record` stands for, `joined_lines` the lines of `token_count` rows that one follows
    with the same counts. `other_metas` says whether another thread's `session_meta` is in the file.
    `spawned` leads from the threads that this one spawned to the calls. `copied_lines` is the last
    line of a subagent's copied context, None if its end is unknown.

    `lineage`, `segment` and `total_before` (the thread's total where the file begins) are filled in
    when all files of the scope have been surveyed.
    """

    __slots__ = (
        "copied_lines",
        "first_ordinal",
        "joined",
        "joined_lines",
        "lineage",
        "meta",
        "other_metas",
        "rows",
        "segment",
        "spawned",
        "total_before",
    )

    def __init__(self) -> None:
        self.meta: Meta | None = None
        self.joined: set[Totals] = set()
        self.joined_lines: set[int] = set()
        self.other_metas = False
        self.rows = 0
        self.first_ordinal: int | None = None
        self.spawned: dict[str, str] = {}
        self.copied_lines: int | None = None
        self.lineage: dict[str, Any] = {}
        self.segment: Segment | None = None
        self.total_before: Counts | None = None


def survey_of(lines: Lines, file: str, report: Report) -> Survey:
    """The first pass. It reports faults of lines; those inside rows are left to the second."""
    survey = Survey()
    spawns: Spawns | None = None
    context = _CopiedContext()
    last: tuple[int, Counts] | None = None
    meta_seen = False
    for line, data in lines(report):
        faults: list[Fault] = []
        try:
            row = rows.decode(data, faults.append)
        except NoRow as error:
            report(warning(error.code, error.message, file, line))
            continue
        if not survey.rows:
            survey.first_ordinal = row.ordinal
        survey.rows += 1
        payload = row.payload
        if row.type == "session_meta":
            if meta_seen:
                # Codex writes the thread's own row again when it resumes the rollout.
                own = None if survey.meta is None else survey.meta.thread_id
                if payload is None or own is None or payload.id != own:
                    survey.other_metas = True
            elif payload is not None and payload.id:
                survey.meta = Meta(payload.id, payload, row.timestamp)
                spawns = Spawns(payload.id)
                context = _CopiedContext(survey.meta.start_ordinal)
            elif fault := next((f for f in faults if f.path == "$.payload.id"), None):
                report(row_fault(fault, file, line))
                return survey
            meta_seen = True
        context.see(line, row)
        if payload is None:
            continue
        if row.type == "token_usage_record":
            if payload.thread_token_usage is not None:
                survey.joined.add(totals(payload.thread_token_usage))
            if last is not None and payload.usage is not None and same_call(last[1], payload.usage):
                survey.joined_lines.add(last[0])
            last = None
        elif payload.info is not None and payload.info.last_token_usage is not None:
            last = (line, payload.info.last_token_usage)
        for spawned in () if spawns is None else spawns.see(row, payload):
            survey.spawned.setdefault(spawned.thread_id, spawned.call_id)
    survey.copied_lines = context.end
    if survey.meta is None:
        message = "no session_meta names the session"
        report(warning("no-session", message, file, rule="ASR-051"))
    elif context.is_open:
        message = "the ordinal at which the thread's own history starts does not map to one row"
        found = warning("unmapped-boundary", message, file, rule="ASR-409")
        report(msgspec.structs.replace(found, severity="notice"))
    return survey


class _CopiedContext:
    """Finds the end of the context that a subagent's file begins with, from ordinals.

    It is the last of the leading rows whose ordinal is below the first own one. Where a later row
    has such an ordinal too, or the rows have none, there is no one end.
    """

    __slots__ = ("_last", "_own", "_start", "_unmapped")

    def __init__(self, start: int | None = None) -> None:
        self._start = start
        self._last: int | None = None
        self._own = False
        self._unmapped = False

    def see(self, line: int, row: Row) -> None:
        """Take the next row."""
        start = self._start
        if start is None:
            return
        if row.ordinal is None:
            self._unmapped = True
        elif row.ordinal >= start:
            self._own = True
        elif self._own:
            self._unmapped = True
        else:
            self._last = line

    @property
    def end(self) -> int | None:
        """The line of the last copied row."""
        return None if self._unmapped else self._last

    @property
    def is_open(self) -> bool:
        """Whether there is a first own ordinal that gives no end."""
        return self._start is not None and self.end is None


def _scope(meta: Payload, subagent: Raw) -> str | None:
    """Whether the source says that the thread is a subagent or a user's (ASR-410)."""
    if meta.thread_source in _SUBAGENT_SOURCES or subagent:
        return "subagent"
    if meta.thread_source == "user" or bytes(meta.source) in _PRIMARY_SOURCES:
        return "primary"
    return None


def _word(source: Raw) -> str | None:
    """A kind of subagent that the source names by a word instead of an object."""
    try:
        return _text(source) or None if begins(source, b'"') else None
    except msgspec.DecodeError:  # a lone surrogate
        return None
