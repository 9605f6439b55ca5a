"""Cases of rules beyond the two examples that each rule has in the package.

Each code of a rule has one at least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import Check, Expected, Resolve, header, lines

if TYPE_CHECKING:
    from sessionref.checks.examples import Example

_ME = "codex:s1"


def _told(rule: str | None, code: str, path: str | None, **members: Any) -> Expected:
    """A finding about the record r1 of the session codex:s1, unless `members` say otherwise."""
    place = {"severity": "error", "session": _ME, "seq": 1, "id": "r1", **members}
    return Expected(rule=rule, code=code, path=path, **place)


def _of_header(rule: str, code: str, path: str, **members: Any) -> Expected:
    return _told(rule, code, path, **{"session": None, "seq": 0, "id": "h", **members})


def _case(
    about: str, *records: dict[str, Any], told: Expected | tuple[Expected, ...] = ()
) -> Check:
    """Records under the header of codex:s1, and what is found about them."""
    findings = told if isinstance(told, tuple) else (told,)
    return Check(about=about, streams=(lines(header("s1"), *records),), findings=findings)


def _headed(about: str, top: dict[str, Any], told: Expected | None = None) -> Check:
    """A stream of nothing but its header."""
    return Check(about=about, streams=(lines(top),), findings=() if told is None else (told,))


def _record(kind: str, **members: Any) -> dict[str, Any]:
    return {"type": kind, "seq": 1, "id": "r1", **members}


def _later(seq: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"type": kind, "seq": seq, "id": f"r{seq}", **members}


def _without(name: str) -> dict[str, Any]:
    top = header("s1")
    del top[name]
    return top


def _delegation(child: str, **members: Any) -> dict[str, Any]:
    return _record("subagent", childSession=child, **members)


def _child(about: str, child: str, rule: str, code: str) -> Check:
    return _case(about, _delegation(child), told=_told(rule, code, "$.childSession"))


_CALL = _record("tool_call", callId="c1")
_COMPACTION = {"type": "compaction", "seq": 2, "id": "r2", "compactionId": "k1"}
_SECOND = {"seq": 2, "id": "r2"}

#: By the number of the rule.
CASES: dict[str, tuple[Example, ...]] = {
    "ASR-050": (
        Check(
            about="Records without a header: of what session they are, nothing says.",
            streams=(lines(_record("message", messageId="m1")),),
            findings=(_told("ASR-050", "no-header", None, session=None, seq=None, id=None),),
        ),
        _headed("An absent namespace and null are the same.", header("s1", namespace=None)),
        Check(
            about="Two names of one agent, and a stream that goes on from the other.",
            streams=(
                lines(header("s1"), _CALL),
                lines(header("s1"), _CALL, _later(2, "tool_call", callId="c2")),
            ),
        ),
    ),
    "ASR-051": (
        _headed(
            "No session ID.",
            _without("sessionId"),
            _of_header("ASR-051", "missing-member", "$.sessionId"),
        ),
        _headed(
            "A number is no identifier, whatever it looks like.",
            header(7),  # type: ignore[arg-type]
            _of_header("ASR-051", "bad-member", "$.sessionId"),
        ),
    ),
    "ASR-054": (
        _headed(
            "An empty namespace.",
            header("s1", namespace=""),
            _of_header("ASR-054", "empty-component", "$.namespace"),
        ),
        _headed(
            "A namespace that is no text.",
            header("s1", namespace=["n"]),
            _of_header("ASR-054", "bad-member", "$.namespace"),
        ),
        _headed(
            "A short agent ID, which is known to repeat, without its container.",
            header("c0ffee1", "claude-code"),
            _of_header(
                "ASR-054", "missing-namespace", "$.namespace", session="claude-code:c0ffee1"
            ),
        ),
        _headed("A longer one does not repeat.", header("b41f09c2d35e8a76", "claude-code")),
    ),
    "ASR-056": (
        _headed(
            "No agent.", _without("agent"), _of_header("ASR-056", "missing-member", "$.agent.name")
        ),
        _headed(
            "An agent that is a text and no object.",
            {**header("s1"), "agent": "codex"},
            _of_header("ASR-056", "bad-member", "$.agent.name"),
        ),
        _case(
            "The agent of a subagent record is an agent name too.",
            _record("subagent", capture={"childSession": "absent"}, agent="Codex"),
            told=_told("ASR-056", "bad-agent-name", "$.agent"),
        ),
    ),
    "ASR-057": (
        _case(
            "So is its registration.",
            _record("subagent", capture={"childSession": "absent"}, agent="night-agent"),
            told=_told("ASR-057", "unregistered-agent-name", "$.agent"),
        ),
    ),
    "ASR-059": (
        _child("A raw space.", "codex:s 2", "ASR-059", "forbidden-character"),
        _child("A raw space in a record ID.", "codex:s2#a b", "ASR-059", "forbidden-character"),
    ),
    "ASR-060": (
        _headed(
            "A session ID with no UTF-8 form: it is the source's, and nothing can refer to it.",
            header("s\ud800"),
            _of_header("ASR-060", "surrogate", "$.sessionId"),
        ),
        _child(
            "A stream with a reference that no reader accepts.",
            "codex:s%E2%82",
            "ASR-060",
            "invalid-utf8",
        ),
        _child(
            "A surrogate, encoded as if it were a character.",
            "codex:s%ED%A0%80",
            "ASR-060",
            "invalid-utf8",
        ),
        Resolve(
            about="Decoding happens once.",
            streams=(lines(header("a%3Ab")),),
            ref="codex:a%253Ab",
            answer={"state": "resolved", "exact": True, "records": ["h"]},
            wrong={"state": "unresolved", "exact": False, "records": []},
        ),
    ),
    "ASR-061": (
        _child("An empty text.", "", "ASR-061", "empty"),
        _child("A session ID alone.", "s2", "ASR-061", "missing-session-id"),
        _child("A raw colon in the session ID.", "t3-code:n:a:b", "ASR-061", "too-many-components"),
        _child("A lone percent sign.", "codex:100%", "ASR-061", "bad-percent-encoding"),
        _child("Nothing after the number sign.", "codex:s2#", "ASR-061", "empty-ref"),
        _child("An unknown key after it.", "codex:s2#callid=c1", "ASR-061", "unknown-entity-key"),
        _child("A key without a value.", "codex:s2#callId=", "ASR-061", "empty-value"),
    ),
    "ASR-062": (
        _case(
            "An empty ref.",
            _record("tombstone", targets=[""]),
            told=_told("ASR-062", "empty-ref", "$.targets[0]"),
        ),
        _case(
            "A key without a value.",
            _record("tombstone", targets=["callId="]),
            told=_told("ASR-062", "empty-value", "$.targets[0]"),
        ),
        _case(
            "Nothing is decoded: the value is the four characters %3A4.",
            _record("tool_call", callId="%3A4"),
            _later(2, "tombstone", targets=["callId=%3A4"]),
        ),
    ),
    "ASR-063": (
        _case(
            "A revision of a record that is not there.",
            _record("hook", supersedes="r9"),
            told=_told("ASR-063", "supersedes-unknown", "$.supersedes"),
        ),
        _case(
            "A field that may point at nothing: a notice.",
            _CALL,
            {**_COMPACTION, "retains": ["r9"]},
            told=_told("ASR-063", "no-such-record", "$.retains[0]", severity="notice", **_SECOND),
        ),
    ),
    "ASR-064": (
        _case(
            "A tombstone for one of two calls with one ID: nobody can say which.",
            _CALL,
            _later(2, "tool_call", callId="c1"),
            _later(3, "tombstone", targets=["callId=c1"]),
            told=_told("ASR-064", "ambiguous", "$.targets[0]", seq=3, id="r3"),
        ),
        _case(
            "Two revisions of one record: both would be the latest.",
            _CALL,
            _later(2, "tool_call", callId="c1", supersedes="r1"),
            _later(3, "tool_call", callId="c1", supersedes="r1"),
            told=_told("ASR-064", "supersedes-fork", "$.supersedes"),
        ),
        Resolve(
            about="A record-ID ref still means exactly that revision.",
            streams=(
                lines(header("s1"), _CALL, _later(2, "tool_call", callId="c1", supersedes="r1")),
            ),
            ref="r1",
            session=_ME,
            answer={"state": "resolved", "exact": True, "records": ["r1"]},
            wrong={"state": "resolved", "exact": True, "records": ["r2"]},
        ),
    ),
    "ASR-065": (
        _case(
            "A tool call without its ID.",
            _record("tool_call"),
            told=_told("ASR-065", "missing-entity-key", "$.callId"),
        ),
        _case(
            "An empty key is no identity.",
            _record("tool_call", callId=""),
            told=_told("ASR-065", "missing-entity-key", "$.callId"),
        ),
    ),
    "ASR-067": (
        _case(
            "The mark of a tool call's ID.",
            _record("tool_call", callId="x", callIdSource="made"),
            told=_told("ASR-067", "bad-id-source", "$.callIdSource", severity="warning"),
        ),
    ),
    "ASR-071": (
        Check(
            about="A copy of a row that holds for one capture only: what it names is not known.",
            streams=(
                lines(
                    header("s1"),
                    _record(
                        "message",
                        messageId="m1",
                        copiedFrom={
                            "session": "codex:s2",
                            "record": "line/3",
                            "proof": "native_field",
                        },
                    ),
                ),
                lines(
                    header("s2"),
                    {
                        **_record("message", messageId="m2"),
                        "id": "line/3",
                        "idSource": "derived",
                        "idScope": "capture",
                    },
                ),
            ),
            findings=(
                _told("ASR-071", "capture-scoped", "$.copiedFrom.record", severity="notice"),
            ),
        ),
    ),
    "ASR-074": (
        _case(
            "A message and a call of different IDs.",
            _record("message", messageId="m1"),
            _later(2, "inference", inferenceId="i1"),
        ),
    ),
    "ASR-075": (
        _case(
            "A turn cannot be rewound to: a record can.",
            {**_CALL, "turnId": "t1"},
            _later(2, "rewind", to="turnId=t1"),
            told=_told("ASR-075", "turn-ref", "$.to", **_SECOND),
        ),
        _case(
            "A state that goes on from a turn of which nothing is left.",
            _record("state", continuationOf="turnId=t9"),
            told=_told("ASR-075", "no-such-turn", "$.continuationOf", severity="notice"),
        ),
        Resolve(
            about="By seq, whatever the order of lines.",
            streams=(
                lines(
                    header("s1"),
                    _later(2, "message", messageId="m2", turnId="t1"),
                    _record("message", messageId="m1", turnId="t1"),
                ),
            ),
            ref="turnId=t1",
            session=_ME,
            answer={"state": "resolved", "exact": True, "records": ["r1", "r2"]},
            wrong={"state": "resolved", "exact": True, "records": ["r2", "r1"]},
        ),
    ),
    "ASR-076": (
        _case(
            "A name in place of an actor.",
            _record("permission", requestId="q1", resolvedBy="ada"),
            told=_told("ASR-076", "bad-actor", "$.resolvedBy"),
        ),
        _case(
            "A session that is no text.",
            _record("permission", requestId="q1", resolvedBy={"session": {"id": "s2"}}),
            told=_told("ASR-076", "bad-member", "$.resolvedBy.session"),
        ),
        Check(
            about="A session with a # part.",
            streams=(
                lines(
                    header("s1"),
                    _record("permission", requestId="q1", resolvedBy={"session": "codex:s2#r1"}),
                ),
                lines(header("s2")),
            ),
            findings=(_told("ASR-076", "unexpected-ref", "$.resolvedBy.session"),),
        ),
    ),
    "ASR-077": (
        _case(
            "A participant that is no text.",
            _record("permission", requestId="q1", resolvedBy={"participant": 7}),
            told=_told("ASR-077", "bad-member", "$.resolvedBy.participant"),
        ),
    ),
    "ASR-079": (
        _case(
            "A head that nothing has: absent.",
            _record("session_info", heads=["callId=c9"]),
            told=_told("ASR-079", "no-such-entity", "$.heads[0]"),
        ),
        _case(
            "A head that two records have: ambiguous, which is something else.",
            _record("session_info", heads=["r2"]),
            _later(2, "hook"),
            {**_later(3, "hook"), "id": "r2"},
            told=(
                _told("ASR-079", "ambiguous", "$.heads[0]"),
                _told("ASR-017", "duplicate-id", "$.id", severity="warning", seq=3, id="r2"),
            ),
        ),
        _case(
            "A revision of an ID that two records have.",
            _record("hook"),
            {**_later(2, "hook"), "id": "r1"},
            _later(3, "hook", supersedes="r1"),
            told=(
                _told("ASR-017", "duplicate-id", "$.id", severity="warning", seq=2),
                _told("ASR-079", "supersedes-ambiguous", "$.supersedes", seq=3, id="r3"),
            ),
        ),
        _case(
            "A child that is not in scope: valid, and a notice.",
            _delegation("codex:s9"),
            told=_told("ASR-079", "no-such-session", "$.childSession", severity="notice"),
        ),
        _case(
            "A root of the workspace that nothing has declared.",
            _record("hook", root="lib"),
            told=_told("ASR-079", "not-declared", "$.root"),
        ),
        _case("Null: outside of the declared roots.", _record("hook", root=None)),
        _case("Null: rewound to the start.", _record("rewind", to=None)),
        _case("Null in the first slot: no primary head.", _record("session_info", heads=[None])),
        _case(
            "Null in the second slot means nothing.",
            _CALL,
            _later(2, "session_info", heads=["r1", None]),
            told=_told("ASR-079", "null-reference", "$.heads[1]", **_SECOND),
        ),
        _case(
            "An insertion point is a record, not an entity.",
            _CALL,
            {**_COMPACTION, "insertAt": {"afterId": "callId=c1"}},
            told=_told("ASR-079", "entity-ref", "$.insertAt.afterId", **_SECOND),
        ),
        _case(
            "A tombstone for a record that comes later.",
            _record("tombstone", targets=["r2"]),
            _later(2, "hook"),
            told=_told("ASR-079", "not-lower-seq", "$.targets[0]"),
        ),
        _case(
            "A number where a ref stands.",
            _record("tombstone", targets=[7]),
            told=_told("ASR-079", "bad-member", "$.targets[0]"),
        ),
        _case(
            "A ref alone where a list of refs stands.",
            _CALL,
            _later(2, "tombstone", targets="r1"),
            told=_told("ASR-079", "wrong-shape", "$.targets", **_SECOND),
        ),
        _case(
            "What a compaction replaced, with one part missing and nothing said of it.",
            {**_COMPACTION, "kind": "branch_summary", "replaces": {"ids": ["r9"]}},
            told=_told("ASR-079", "claims-complete", "$.replaces.ids[0]", **_SECOND),
        ),
        _case(
            "The same, and the compaction says that it does not know all.",
            {**_COMPACTION, "replaces": {"ids": ["r9"], "state": "unknown"}},
            told=_told(
                "ASR-063", "no-such-record", "$.replaces.ids[0]", severity="notice", **_SECOND
            ),
        ),
        Check(
            about="A turn of another session may run this one; a record cannot.",
            streams=(
                lines(header("s1"), _record("state", executedBy=["codex:s2#r1"])),
                lines(header("s2"), _CALL),
            ),
            findings=(_told("ASR-079", "unexpected-ref", "$.executedBy[0]"),),
        ),
        Check(
            about="A native position that no record comes from: a notice, and no boundary.",
            streams=(
                lines(
                    header(
                        "s1",
                        lineage={
                            "forkedFrom": {
                                "session": "codex:s2",
                                "ordinal": 9,
                                "evidence": "native_field",
                            }
                        },
                    )
                ),
                lines(header("s2"), _CALL),
            ),
            findings=(
                _of_header(
                    "ASR-079",
                    "no-such-ordinal",
                    "$.lineage.forkedFrom.ordinal",
                    severity="notice",
                    session=_ME,
                ),
            ),
        ),
        _headed(
            "A record of an ancestor, and no ancestor named.",
            header(
                "s1",
                lineage={
                    "inherits": {"mode": "none", "throughId": "r1", "evidence": "native_field"}
                },
            ),
            _of_header(
                "ASR-079",
                "no-session-named",
                "$.lineage.inherits.throughId",
                severity="notice",
                session=_ME,
            ),
        ),
    ),
}
