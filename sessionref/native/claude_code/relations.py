"""How the sessions of Claude Code transcripts are related, and on what evidence.

Every claim rests on a native field, on where the source stores a file, or on a rule that the
registry entry publishes (ASR-403, 404); nothing else is claimed (ASR-401). No claim depends on the
order of the files. If a file is missing, less is known, but nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from sessionref.native.claude_code.records import content_digest, streams
from sessionref.native.claude_code.rows import (
    AGENT,
    SIDE_AGENT,
    agent_slot,
    ignore,
    is_short,
    reference,
)
from sessionref.native.claude_code.survey import checksum, rows_by_session
from sessionref.native.compare import is_beginning, last_record, none_if_unreadable
from sessionref.native.record import (
    FIELD,
    INFERENCE,
    STRUCTURE,
    Segment,
    native_id,
)
from sessionref.native.rows import Rows
from sessionref.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sessionref.native.claude_code.rows import Row, Slot
    from sessionref.native.claude_code.survey import Facts, Named, Survey
    from sessionref.native.reader import Lines, LogFile

__all__ = ["relate"]

#: What two writings of one record share: the type, the message ID and the request ID.
_CallKey: TypeAlias = tuple[str | None, str | None, str | None]

#: A subagent's companion file is a few hundred bytes; one beyond this is something else.
_MAX_COMPANION = 1 << 20


class _Companion(msgspec.Struct, rename="camel", gc=False):
    """The members of a subagent's companion file `agent-<id>.meta.json` that are needed."""

    agent_type: str | None = None
    spawn_depth: int | None = None
    parent_agent_id: str | None = None
    tool_use_id: str | None = None
    is_fork: bool | None = None
    task_kind: str | None = None
    name: str | None = None
    team_name: str | None = None


class _Place(NamedTuple):
    """The root session and the run of a workflow, from the folders of a subagent's file."""

    root: str | None = None
    run: str | None = None


class _Capture(NamedTuple):
    """One session in one file."""

    slot: Slot
    transcript: LogFile[Survey]
    facts: Facts

    @property
    def is_home(self) -> bool:
        """Whether the file is the session's own, rather than one to which others appended."""
        return self.slot[2] or next(iter(self.transcript.survey.slots)) == self.slot


class _Said(msgspec.Struct, gc=False):
    """The members that must be equal in a record and its copy."""

    type: str | None = None
    message: msgspec.Raw = msgspec.Raw()


_companions = Rows(_Companion)
_said = Rows(_Said)


def relate(transcripts: Sequence[LogFile[Survey]]) -> None:
    """Fill in `lineage` and `segment` of every session of the transcripts."""
    _Scope(transcripts).fill()


class _Scope:
    """The sessions of all transcripts, and the relations between them."""

    def __init__(self, transcripts: Iterable[LogFile[Survey]]) -> None:
        self.captures: dict[Slot, list[_Capture]] = defaultdict(list)
        for transcript in transcripts:
            for slot, facts in transcript.survey.slots.items():
                self.captures[slot].append(_Capture(slot, transcript, facts))
        #: By the session ID that the delegating row carries and the agent ID: who delegated, how.
        self.delegations: dict[tuple[str, str], list[tuple[Slot, Named]]] = defaultdict(list)
        #: By a session, those that say that they go on in it.
        self.continued: dict[str, list[_Capture]] = defaultdict(list)
        for captures in self.captures.values():
            # The fullest capture first: one that was cut off says less, never other things.
            captures.sort(key=lambda c: (not c.is_home, -c.facts.rows, c.transcript.path or ""))
            fullest = captures[0]
            for capture in captures:
                for child, named in capture.facts.delegations.items():
                    self.delegations[child].append((capture.slot, named))
            if fullest.facts.continued_in is not None:
                self.continued[fullest.facts.continued_in].append(fullest)
        #: By the slot of a teammate: who spawned it, how.
        self.spawners: dict[Slot, tuple[Slot, Named]] = {}
        self._checksums: dict[Slot, set[int]] = {}
        self._keys: dict[Slot, dict[str, _CallKey] | None] = {}
        self._find_teammates()

    def _find_teammates(self) -> None:
        """Match what sessions say that they spawned with the companion files of subagents.

        A match counts only where one session says so, and one subagent has the names.
        """
        spawners: dict[tuple[str, str, str], list[tuple[Slot, Named | None]]] = defaultdict(list)
        for slot, captures in self.captures.items():
            for key, named in captures[0].facts.teammates.items():
                spawners[key].append((slot, named))
        if not spawners:
            return
        mates: dict[tuple[str, str, str], list[Slot]] = defaultdict(list)
        for slot, captures in self.captures.items():
            names = _Subagent(self, captures[0]).teammate if slot[2] else None
            if names is not None:
                mates[names].append(slot)
        for key, found in spawners.items():
            (slot, named), children = found[0], mates.get(key, ())
            if len(found) == 1 and named is not None and len(children) == 1:
                self.spawners[children[0]] = (slot, named)
                for capture in self.captures[slot]:
                    child = children[0]
                    capture.facts.children[key] = (child[1], reference(child))

    def may_share(self, capture: _Capture, spawner: Slot) -> set[int]:
        """The checksums of record IDs that a subagent may share with its spawner."""
        known = self._checksums.get(spawner)
        if known is None:
            own = (one.facts.checksums for one in self.captures[spawner])
            known = self._checksums[spawner] = set[int]().union(*own)
        return known.intersection(capture.facts.checksums)

    def call_keys(self, spawner: Slot) -> dict[str, _CallKey] | None:
        """What a spawner's rows are compared by; None where a file of it cannot be read."""
        if spawner not in self._keys:
            whole: dict[str, _CallKey] = {}
            found = [_call_keys(capture) for capture in self.captures[spawner]]
            for keys in reversed(found):
                whole.update(keys or {})
            self._keys[spawner] = None if None in found else whole
        return self._keys[spawner]

    def fill(self) -> None:
        for captures in self.captures.values():
            for capture in captures:
                capture.facts.lineage = self._lineage(capture)
            fullest = captures[0]
            for other in captures[1:]:
                if other.facts.lineage != fullest.facts.lineage and _begins_with(fullest, other):
                    other.facts.lineage = fullest.facts.lineage
            appended = [capture for capture in captures if not capture.is_home]
            homes = len(captures) - len(appended)
            if len(appended) == 1 and homes and _goes_on(fullest, appended[0]):
                for capture in captures[:homes]:
                    capture.facts.segment = Segment("own")
                appended[0].facts.segment = Segment("appended", "own")
                appended[0].facts.lineage = fullest.facts.lineage

    def _lineage(self, capture: _Capture) -> dict[str, Any]:
        facets: dict[str, Any] = {}
        _claim_branch(capture, facets)
        if capture.slot[2]:
            _Subagent(self, capture).claim(facets)
        else:
            self._claim_main(capture, facets)
        return facets

    # -- Sessions that are no subagents --------------------------------------------------------

    def _claim_main(self, capture: _Capture, facets: dict[str, Any]) -> None:
        """Add the facets of a main session; never `inherits: none`.

        Three ways of copying leave no mark (the entry's `inherits_none`), so that a session without
        a mark may still hold copies.
        """
        survey = capture.transcript.survey
        if survey.head is not None and survey.heir == capture.slot:
            facets["relatedUnknown"] = {"session": reference(survey.head), "evidence": FIELD}
        earlier = self.continued.get(capture.slot[1], ())
        # Of two sessions that both say that they go on here, none is chosen.
        if len(earlier) == 1 and earlier[0].slot != capture.slot:
            self._claim_continuation(capture, earlier[0], facets)
        _claim_process(capture, facets)

    @staticmethod
    def _claim_continuation(capture: _Capture, earlier: _Capture, facets: dict[str, Any]) -> None:
        """The session goes on from another one (rule `continued-in-replayed-chain`)."""
        session = reference(earlier.slot)
        facets["continues"] = {"session": session, "reason": "other", "evidence": FIELD}
        if "inherits" in facets:
            return
        if capture.facts.from_summary:
            facets["inherits"] = {"mode": "rendered", "from": session, "evidence": INFERENCE}
            return
        replayed = _replayed(capture, earlier)
        if replayed is not None:
            through, local = replayed
            facets["inherits"] = {
                "mode": "copied",
                "from": session,
                "throughId": through,
                "localThroughId": local,
                "evidence": INFERENCE,
            }


def _claim_branch(capture: _Capture, facets: dict[str, Any]) -> None:
    """A branch or an SDK fork: each copied record is marked (rule `marked-branch-head`)."""
    facts = capture.facts
    if facts.marked is not None:
        source, original, is_message, local = facts.marked
    elif facts.marked_later is not None:
        source, original, is_message, local = facts.marked_later, None, False, None
    else:
        return
    origin: Slot = (None, source, False)
    if origin == capture.slot:
        return
    session = reference(origin)
    fork = facets["forkedFrom"] = {"session": session, "evidence": FIELD}
    inherits = facets["inherits"] = {"mode": "copied", "from": session, "evidence": FIELD}
    if native_id(original) is not None:
        fork["record"] = f"messageId={original}" if is_message else str(original)
        inherits["throughId"] = str(original)
    if local is not None:
        inherits["localThroughId"] = local


def _claim_process(capture: _Capture, facets: dict[str, Any]) -> None:
    """A session that a process began after another one, as after `/clear`.

    The rule `first-session-of-the-process`: it stands only where the session's rows carry first the
    first session of the process, and later at most their own, from a process that resumed it.
    """
    processes, own = capture.facts.processes, capture.slot[1]
    if not processes or processes[0] == own or processes[1:] not in ([], [own]):
        return
    session = reference((None, processes[0], False))
    named = [facets.get(facet, {}).get("session") for facet in ("forkedFrom", "continues")]
    if "relatedUnknown" not in facets and session not in named:
        facets["relatedUnknown"] = {"session": session, "evidence": FIELD}


class _Subagent:
    """A subagent: what its rows, its companion file, its folder and its spawner say."""

    def __init__(self, scope: _Scope, capture: _Capture) -> None:
        self._scope = scope
        self._capture = capture
        self._facts = capture.facts
        self._agent_id = capture.slot[1]
        self._slot = capture.slot
        self._place = _place_of(capture.transcript.path, self._agent_id)
        self._companion = _companion_of(capture.transcript.path, self._agent_id)
        self._owns_file = next(iter(capture.transcript.survey.slots)) == capture.slot
        self._root = self._only_root()
        name = Path(capture.transcript.path or "").name
        self._is_side_agent = self._agent_id.startswith(SIDE_AGENT) or name.startswith(
            f"agent-{SIDE_AGENT}"
        )

    @property
    def teammate(self) -> tuple[str, str, str] | None:
        """The root session and the names of a teammate that runs in its process."""
        said = self._companion
        if said.task_kind != "in_process_teammate" or self._root is None:
            return None
        return (self._root, said.name, said.team_name) if said.name and said.team_name else None

    def _only_root(self) -> str | None:
        """The root session, if all sources name the same one.

        A record that carries the agent's own ID for a session ID names no root.
        """
        own = {self._agent_id, f"agent-{self._agent_id}"}
        named = {session_id for session_id in self._facts.carried if session_id not in own}
        if self._place.root is not None:
            named.add(self._place.root)
        return next(iter(named)) if len(named) == 1 else None

    def claim(self, facets: dict[str, Any]) -> None:
        """Add the facets of the subagent."""
        if self._is_side_agent:
            self._claim_related(facets)
            return
        delegations = [
            found
            for container in sorted(self._facts.carried)
            for found in self._scope.delegations.get((container, self._agent_id), ())
            if found[0] != self._slot
        ]
        self._claim_spawner(delegations, facets)
        names = [named for _, named in delegations]
        if self._slot in self._scope.spawners:
            names.append(self._scope.spawners[self._slot][1])
        role = self._companion.agent_type or next(
            (named.role for named in names if named.role), None
        )
        shares = self._shares({slot for slot, _ in delegations})
        if role is not None:
            facets["role"] = role
        if "inherits" in facets:
            return
        context = self._facts.context
        if context is not None:
            facets["inherits"] = inherits = {
                "mode": "referenced",
                "from": reference((None, context[0], False)),
                "evidence": FIELD,
            }
            through = native_id(context[1])
            if through is not None:
                inherits["throughId"] = through
        elif (
            delegations
            and self._owns_file
            and Registry.default()[AGENT].may_inherit_none
            and not (shares or self._facts.hangs or role == "fork" or self._companion.is_fork)
        ):
            # The rule `delegated-fresh-subagent`.
            facets["inherits"] = {"mode": "none", "evidence": STRUCTURE}

    def _shares(self, spawners: set[Slot]) -> bool:
        """Whether the file has records of a session that delegated; notes which are copies.

        The rule `repeated-spawner-record`.
        """
        shares = False
        for spawner in spawners:
            sums = self._scope.may_share(self._capture, spawner)
            if not sums:
                continue
            own, keys = _call_keys(self._capture, sums), self._scope.call_keys(spawner)
            if own is None or keys is None:
                return True
            shared = own.keys() & keys.keys()
            shares = shares or bool(shared)
            if len(spawners) == 1:
                copies = (uuid for uuid in shared if own[uuid] == keys[uuid])
                self._facts.shared = dict.fromkeys(copies, reference(spawner))
        return shares

    def _claim_spawner(self, delegations: list[tuple[Slot, Named]], facets: dict[str, Any]) -> None:
        companion, context = self._companion, self._facts.context
        spawners = {slot for slot, _ in delegations}
        parent = companion.parent_agent_id
        if parent and (self._root or not is_short(parent)):
            spawner = agent_slot(self._root or "", parent)
            _spawned_by(facets, spawner, companion.tool_use_id, FIELD)
        elif len(spawners) == 1:
            spawner, named = delegations[0]
            _spawned_by(facets, spawner, named.call_id, FIELD)
        elif not spawners and self._slot in self._scope.spawners:
            spawner, named = self._scope.spawners[self._slot]
            _spawned_by(facets, spawner, named.call_id, STRUCTURE)
        elif spawners or self._is_nested:
            self._claim_related(facets)
        elif context is not None:
            _spawned_by(facets, (None, context[0], False), companion.tool_use_id, FIELD)
        elif self._root is not None:
            call = companion.tool_use_id or self._launching_call()
            _spawned_by(facets, (None, self._root, False), call, STRUCTURE)

    @property
    def _is_nested(self) -> bool:
        """Whether the depth says that another than the root session is the spawner."""
        depth = self._companion.spawn_depth
        return depth is not None and depth != 1

    def _launching_call(self) -> str | None:
        """The call that launched the workflow in whose folder the file lies."""
        captures = self._scope.captures.get((None, self._root or "", False))
        if not captures or self._place.run is None:
            return None
        return captures[0].facts.launches.get(self._place.run)

    def _claim_related(self, facets: dict[str, Any]) -> None:
        if self._root is not None:
            root = reference((None, self._root, False))
            facets["relatedUnknown"] = {"session": root, "evidence": STRUCTURE}


def _spawned_by(facets: dict[str, Any], spawner: Slot, call: str | None, evidence: str) -> None:
    facets["spawnedBy"] = claim = {"session": reference(spawner), "evidence": evidence}
    if call:
        claim["record"] = f"callId={call}"


# -- Companions and folders of subagents ----------------------------------------------------------


def _place_of(path: str | None, agent_id: str) -> _Place:
    """What the folders of a file `agent-<id>.jsonl` say, in the layouts of the source."""
    if path is None:
        return _Place()
    file = Path(path).absolute()
    if not file.name.startswith(f"agent-{agent_id}."):
        return _Place()
    folder = file.parent
    if folder.name == "subagents" and folder.parent.name:
        return _Place(folder.parent.name)
    run, workflows = folder.name, folder.parent
    if workflows.name == "workflows" and workflows.parent.name == "subagents":
        return _Place(workflows.parent.parent.name or None, run)
    return _Place()


def _companion_of(path: str | None, agent_id: str) -> _Companion:
    """The companion file; an empty one if there is none that can be read."""
    if path is None or "/" in agent_id or "\0" in agent_id:
        return _Companion()
    companion = Path(path).parent / f"agent-{agent_id}.meta.json"
    try:
        if not companion.is_file() or companion.stat().st_size > _MAX_COMPANION:
            return _Companion()
        return _companions.decode_part(companion.read_bytes())
    except (OSError, ValueError):
        return _Companion()


# -- Comparing files ------------------------------------------------------------------------------


@none_if_unreadable
def _begins_with(longer: _Capture, shorter: _Capture) -> bool:
    """Whether one capture of a session is the beginning of another one."""
    with longer.transcript.open() as ours, shorter.transcript.open() as theirs:
        return is_beginning(
            (data for _, data, _ in _rows(longer, ours)),
            (data for _, data, _ in _rows(shorter, theirs)),
        )


@none_if_unreadable
def _goes_on(own: _Capture, appended: _Capture) -> bool:
    """Whether records in another session's file go on from those in the session's own.

    They hang on one of them, and no ID that both files have differs in content.
    """
    digests: dict[str, bytes] = {}
    parent: str | None = None
    with appended.transcript.open() as lines:
        for found in rows_by_session(appended.transcript.survey, lines):
            if found.slot == appended.slot and found.row.uuid:
                parent = parent or found.row.parent_uuid or ""
                digests.setdefault(found.row.uuid, content_digest(found.data))
    hangs = False
    with own.transcript.open() as lines:
        for _, data, uuid in _rows(own, lines):
            hangs = hangs or (uuid is not None and uuid == parent)
            if uuid in digests and digests[uuid] != content_digest(data):
                return False
    return hangs


@none_if_unreadable
def _call_keys(capture: _Capture, checksums: set[int] | None = None) -> dict[str, _CallKey]:
    """What the rows of a session are compared by, by record ID; the first of several rows speaks.

    With `checksums`, those whose ID has one of them.
    """
    keys: dict[str, _CallKey] = {}
    with capture.transcript.open() as lines:
        for found in rows_by_session(capture.transcript.survey, lines):
            uuid = found.row.uuid
            if found.slot != capture.slot or not uuid:
                continue
            if checksums is None or checksum(uuid) in checksums:
                keys.setdefault(uuid, _call_key(found.row))
    return keys


def _call_key(row: Row) -> _CallKey:
    message_id = None if row.message is None else row.message.id
    return row.type, message_id or None, row.request_id or None


def _rows(capture: _Capture, lines: Lines) -> Iterator[tuple[int, bytes, str | None]]:
    """The lines of one session in its file, with the record IDs that they have."""
    for found in rows_by_session(capture.transcript.survey, lines):
        if found.slot == capture.slot:
            yield found.line, found.data, found.row.uuid or None


@none_if_unreadable
def _replayed(capture: _Capture, earlier: _Capture) -> tuple[str, str] | None:
    """The last record of a replayed head: in the earlier session, and in this one.

    The head is the run of leading records that are there as well, by ID and message, in that
    order. None if a later record is one of the earlier session's, too: then the run shows no end.
    """
    last: tuple[int, str] | None = None
    replayed: set[str] = set()
    before: set[str] = set()  # the earlier session's records that have been passed
    with capture.transcript.open() as ours, earlier.transcript.open() as theirs:
        rest = _rows(earlier, theirs)
        later: Iterator[tuple[int, bytes, str | None]] = _rows(capture, ours)
        for line, data, uuid in later:
            if uuid is None:
                continue
            if not _advance(rest, uuid, data, before) or native_id(uuid) is None:
                break
            last = (line, uuid)
            replayed.add(uuid)
        else:
            uuid = None
        before.update(other for _, _, other in rest if other is not None)
        unmatched = before - replayed
        if last is None or uuid in unmatched:
            return None
        if any(other in unmatched for _, _, other in later):
            return None
    return last[1], _last_record(capture, last[0])


def _advance(
    rest: Iterator[tuple[int, bytes, str | None]], uuid: str, data: bytes, passed: set[str]
) -> bool:
    """Go on to the record `uuid`; whether there is one, and it says the same."""
    for _, other, other_uuid in rest:
        if other_uuid is None:
            continue
        passed.add(other_uuid)
        if other_uuid == uuid:
            return _same(data, other)
    return False


def _same(data: bytes, other: bytes) -> bool:
    """Whether two rows have the same type and message; all else may be written anew."""
    one, two = _said.decode_part(data), _said.decode_part(other)
    return one.type == two.type and (
        bytes(one.message) == bytes(two.message) or _plain(one.message) == _plain(two.message)
    )


def _plain(message: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(message)
    except (msgspec.DecodeError, RecursionError):
        return object()  # equal to nothing


def _last_record(capture: _Capture, line: int) -> str:
    survey = capture.transcript.survey
    with capture.transcript.open() as lines:
        found = streams(survey, lines, "", ignore, content=False)
        place = list(survey.slots).index(capture.slot)
        return last_record(next(islice(found, place, None)), line)
