"""Cases of the rules of lineage beyond the two examples that each rule has in the package.

Each code of a rule has one at least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import (
    Check,
    Expected,
    Judge,
    Relate,
    Total,
    facet,
    header,
    lines,
)

if TYPE_CHECKING:
    from sessionref.checks.examples import Example

_ME = "codex:s1"
_FRESH = {"mode": "none", "evidence": "native_field"}
#: A session that others may name as their parent without announcing them.
_PARENT = lines(
    header("p1", producer={"lossy": ["lineage"]}),
    {"type": "hook", "seq": 1, "id": "ordinal/7", "idSource": "derived"},
)


def _told(rule: str, code: str, path: str, **members: Any) -> Expected:
    """A finding about the header of codex:s1, unless `members` say otherwise."""
    place = {"severity": "error", "session": _ME, "seq": 0, "id": "h", **members}
    return Expected(rule=rule, code=code, path=path, **place)


def _facets(about: str, lineage: Any, rule: str, code: str, path: str, **members: Any) -> Check:
    """A lineage with one fault; `path` leads from it, `members` belong to the finding."""
    return Check(
        about=about,
        streams=(lines(header("s1", lineage=lineage), _hook(1)), _PARENT),
        findings=(_told(rule, code, f"$.lineage{path}", **members),),
    )


def _kept(about: str, lineage: Any, agent: str = "codex", *further: str) -> Check:
    """A lineage that keeps all rules."""
    return Check(
        about=about,
        streams=(lines(header("s1", agent, lineage=lineage), _hook(1)), _PARENT, *further),
    )


def _hook(seq: int, **members: Any) -> dict[str, Any]:
    return {"type": "hook", "seq": seq, "id": f"r{seq}", **members}


def _copy(about: str, mark: Any, code: str, path: str = "") -> Check:
    """A record with one fault in its mark as a copy."""
    return Check(
        about=about,
        streams=(lines(header("s1"), _hook(1, copiedFrom=mark), _hook(2)), _PARENT),
        findings=(_told("ASR-413", code, f"$.copiedFrom{path}", seq=1, id="r1"),),
    )


def _inherits(**members: Any) -> dict[str, Any]:
    return {"inherits": {"mode": "referenced", "from": "codex:p1", **_EVIDENCE, **members}}


_EVIDENCE = {"evidence": "native_field"}
_ANCESTORS: tuple[tuple[str, Any], ...] = (
    ("spawnedBy", facet("codex:p1")),
    ("continues", facet("codex:p1", reason="resume")),
    ("relatedUnknown", facet("codex:p1")),
    *(
        ("inherits", {"mode": mode, "from": "codex:p1", **_EVIDENCE})
        for mode in ("copied", "referenced", "rendered")
    ),
)


def _root(about: str, name: str, value: Any) -> Check:
    """A root of T3 Code beside another facet."""
    return Check(
        about=about,
        streams=(
            lines(
                header("t1", "t3-code", namespace="n", lineage={"root": True, name: value}),
            ),
            _PARENT,
        ),
        findings=(_told("ASR-402", "root-with-parent", "$.lineage.root", session="t3-code:n:t1"),),
    )


def _subagent(seq: int, **members: Any) -> dict[str, Any]:
    return {"type": "subagent", "seq": seq, "id": f"r{seq}", **members}


def _announcing(about: str, members: dict[str, Any], code: str) -> Check:
    return Check(
        about=about,
        streams=(lines(header("s1"), _subagent(1, **members)), _PARENT),
        findings=(_told("ASR-411", code, "$.childSession", seq=1, id="r1"),),
    )


def _message(seq: int, **members: Any) -> dict[str, Any]:
    return {"type": "message", "seq": seq, "id": f"r{seq}", "messageId": f"m{seq}", **members}


def _call(seq: int, out: int, **members: Any) -> dict[str, Any]:
    return {
        "type": "inference",
        "seq": seq,
        "id": f"r{seq}",
        "inferenceId": f"i{seq}",
        "usage": {"outputTokens": out},
        **members,
    }


def _judged(
    about: str, lineage: Any, right: str | None, wrong: str | None, at: str = "r1", **members: Any
) -> Judge:
    """The originality of a record under a lineage."""
    return Judge(
        about=about,
        streams=(lines(header("s1", lineage=lineage, **members), _message(1), _message(2)),),
        ref=f"{_ME}#{at}",
        answer={"originality": right},
        wrong={"originality": wrong},
    )


_SPAWNER = lines(header("q1", lineage={"inherits": _FRESH}), _subagent(1, childSession="codex:k1"))
_SILENT = lines(header("s1"))
_CHILD = lines(header("k1", lineage={"spawnedBy": facet(_ME)}))
_SECOND_CHILD = lines(header("k2", lineage={"spawnedBy": facet(_ME)}))

#: By the number of the rule.
LINEAGE_CASES: dict[str, tuple[Example, ...]] = {
    "ASR-400": (
        _facets("A lineage that is no object.", [], "ASR-400", "wrong-shape", ""),
        _facets(
            "A session in place of a facet.",
            {"spawnedBy": "codex:p1"},
            "ASR-400",
            "wrong-shape",
            ".spawnedBy",
        ),
        _facets(
            "A mode in place of a facet.",
            {"inherits": "none"},
            "ASR-400",
            "wrong-shape",
            ".inherits",
        ),
        _facets(
            "A session in place of an entry.",
            {"executedBy": ["codex:p1"]},
            "ASR-400",
            "wrong-shape",
            ".executedBy[0]",
        ),
        _facets(
            "Null is no facet: what is unknown is left out.",
            {"forkedFrom": None},
            "ASR-400",
            "bad-facet",
            ".forkedFrom",
        ),
        _facets("A role that is no text.", {"role": 7}, "ASR-400", "bad-facet", ".role"),
        _facets(
            "An entry without evidence.",
            {"executedBy": [{"session": "codex:p1"}]},
            "ASR-400",
            "missing-evidence",
            ".executedBy[0]",
        ),
        _facets(
            "A context of which nothing shows where it came from.",
            {"inherits": {"mode": "none"}},
            "ASR-400",
            "missing-evidence",
            ".inherits",
        ),
        _facets(
            "An entry without a session.",
            {"executedBy": [_EVIDENCE]},
            "ASR-400",
            "bad-session-reference",
            ".executedBy[0].session",
        ),
        _facets(
            "A continuation of nothing.",
            {"continues": {"reason": "idle", **_EVIDENCE}},
            "ASR-400",
            "bad-session-reference",
            ".continues.session",
        ),
        _facets(
            "A session as an object.",
            {"relatedUnknown": facet({"agent": "codex", "sessionId": "p1"})},  # type: ignore[arg-type]
            "ASR-400",
            "bad-member",
            ".relatedUnknown.session",
        ),
        _facets(
            "A record in the reference to the session.",
            {"forkedFrom": facet("codex:p1#ordinal/7")},
            "ASR-400",
            "unexpected-ref",
            ".forkedFrom.session",
        ),
        _facets(
            "A facet of a session that is no reference: its rule is another.",
            {"spawnedBy": facet("p1")},
            "ASR-061",
            "missing-session-id",
            ".spawnedBy.session",
        ),
        Check(
            about="A declaration has facets too.",
            streams=(
                lines(
                    header("s1"),
                    {
                        "type": "declaration",
                        "seq": 1,
                        "id": "r1",
                        "lineage": {"spawnedBy": {"session": "codex:p1"}},
                    },
                ),
                _PARENT,
            ),
            findings=(_told("ASR-400", "missing-evidence", "$.lineage.spawnedBy", seq=1, id="r1"),),
        ),
        _kept("No lineage, and null.", None),
        _kept("A lineage without a facet.", {}),
    ),
    "ASR-401": (
        Relate(
            about="A fork that claims to be a root: neither is believed of the other.",
            streams=(
                lines(header("s1", lineage={"root": True, "forkedFrom": facet("codex:p1")})),
                _PARENT,
            ),
            answer={
                "sessions": [
                    {"session": _ME, "root": None},
                    {"session": "codex:p1", "root": None},
                ],
                "edges": [{"from": _ME, "to": "codex:p1", "facet": "forkedFrom"}],
            },
            wrong={
                "sessions": [
                    {"session": _ME, "root": True},
                    {"session": "codex:p1", "root": None},
                ],
                "edges": [{"from": _ME, "to": "codex:p1", "facet": "forkedFrom"}],
            },
        ),
    ),
    "ASR-402": (
        *(
            _root(f"A root with {name}{mode}.", name, value)
            for name, value in _ANCESTORS
            for mode in (f" of mode {value['mode']}" if "mode" in value else "",)
        ),
        Check(
            about="A declaration that names a parent, after the header claimed a root.",
            streams=(
                lines(
                    header("t1", "t3-code", namespace="n", lineage={"root": True}),
                    {
                        "type": "declaration",
                        "seq": 1,
                        "id": "r1",
                        "lineage": {"spawnedBy": facet("codex:p1")},
                    },
                ),
                _PARENT,
            ),
            findings=(
                _told(
                    "ASR-402",
                    "root-with-parent",
                    "$.lineage.root",
                    session="t3-code:n:t1",
                    seq=1,
                    id="r1",
                ),
            ),
        ),
        Check(
            about="A root that started from a fresh context.",
            streams=(
                lines(
                    header(
                        "t1", "t3-code", namespace="n", lineage={"root": True, "inherits": _FRESH}
                    )
                ),
            ),
        ),
        _facets(
            "That a session is no root is said by naming its parent.",
            {"root": False},
            "ASR-402",
            "bad-root",
            ".root",
        ),
        _facets(
            "An agent of which it is not known by what its logs tell roots.",
            {"root": True},
            "ASR-402",
            "undocumented-root",
            ".root",
            severity="warning",
        ),
        Check(
            about="An agent without an entry here may have one in a newer registry.",
            streams=(lines(header("s1", "com.example.night-agent", lineage={"root": True})),),
        ),
    ),
    "ASR-404": (
        _facets(
            "A null is no evidence.",
            {"spawnedBy": facet("codex:p1", evidence=None)},
            "ASR-404",
            "bad-evidence",
            ".spawnedBy.evidence",
        ),
        _facets(
            "An inference that no rule of the agent's entry makes.",
            {"spawnedBy": facet("codex:p1", evidence="converter_inference")},
            "ASR-404",
            "unpublished-rule",
            ".spawnedBy.evidence",
            severity="warning",
        ),
        _kept(
            "One that a rule makes.",
            {"spawnedBy": facet("codex:p1", evidence="converter_inference")},
            "openclaw",
        ),
        _kept(
            "An agent without an entry here may have one in a newer registry.",
            {"spawnedBy": facet("codex:p1", evidence="converter_inference")},
            "com.example.night-agent",
        ),
    ),
    "ASR-406": (
        Check(
            about="A child without its parent is a valid stream, and gets a notice.",
            streams=(lines(header("s1", lineage={"spawnedBy": facet("codex:gone")})),),
            findings=(
                _told(
                    "ASR-079",
                    "no-such-session",
                    "$.lineage.spawnedBy.session",
                    severity="notice",
                ),
            ),
        ),
    ),
    "ASR-407": (
        _facets(
            "A position as a text.",
            {"forkedFrom": facet("codex:p1", ordinal="7")},
            "ASR-407",
            "bad-member",
            ".forkedFrom.ordinal",
        ),
        _kept("A record.", {"forkedFrom": facet("codex:p1", record="ordinal/7")}),
        _kept("Neither: where they parted is not known.", {"forkedFrom": facet("codex:p1")}),
    ),
    "ASR-408": (
        *(
            _kept(f"The reason {reason}.", {"continues": facet("codex:p1", reason=reason)})
            for reason in (
                "compaction",
                "reset",
                "resume",
                "daily",
                "idle",
                "rollover",
                "rewind",
                "switch",
                "recovery",
                "other",
            )
        ),
        _facets(
            "No reason at all.",
            {"continues": facet("codex:p1")},
            "ASR-408",
            "bad-reason",
            ".continues.reason",
        ),
    ),
    "ASR-409": (
        _facets("No mode.", {"inherits": _EVIDENCE}, "ASR-409", "bad-mode", ".inherits.mode"),
        _facets(
            "A mode of one's own, and a boundary beside it: one fault.",
            _inherits(mode="partial", localThroughId="r1"),
            "ASR-409",
            "bad-mode",
            ".inherits.mode",
        ),
        *(
            _facets(
                f"Mode {mode}, and of whom is not said.",
                {"inherits": {"mode": mode, **_EVIDENCE}},
                "ASR-409",
                "bad-session-reference",
                ".inherits.from",
            )
            for mode in ("copied", "referenced", "rendered")
        ),
        _kept("Nothing was inherited.", {"inherits": _FRESH}),
        _kept("Nobody knows.", {"inherits": {"mode": "unknown", **_EVIDENCE}}),
        _facets(
            "An ancestor as a number.",
            _inherits(**{"from": 7}),
            "ASR-409",
            "bad-member",
            ".inherits.from",
        ),
        _facets(
            "A record of the ancestor in the reference to it.",
            _inherits(**{"from": "codex:p1#ordinal/7"}),
            "ASR-409",
            "unexpected-ref",
            ".inherits.from",
        ),
        _facets(
            "Two boundaries, even of the same item.",
            _inherits(throughId="ordinal/7", throughOrdinal=7),
            "ASR-409",
            "two-boundaries",
            ".inherits",
        ),
        _facets(
            "The last copy as an entity.",
            _inherits(mode="copied", localThroughId="messageId=m1"),
            "ASR-409",
            "entity-ref",
            ".inherits.localThroughId",
        ),
        _facets(
            "The last copy is no record of the stream.",
            _inherits(mode="copied", localThroughId="r9"),
            "ASR-063",
            "no-such-record",
            ".inherits.localThroughId",
        ),
    ),
    "ASR-411": (
        _announcing("A child as a number.", {"childSession": 7}, "bad-member"),
        _announcing(
            "A record of the child.", {"childSession": "codex:p1#ordinal/7"}, "unexpected-ref"
        ),
        _announcing(
            "A capture that says nothing of the child.",
            {"capture": {"content": "partial"}},
            "missing-child-session",
        ),
    ),
    "ASR-412": (
        Check(
            about="Two sessions announce the child, and it names one of them.",
            streams=(
                lines(header("s1"), _subagent(1, childSession="codex:k1")),
                _SPAWNER,
                _CHILD,
            ),
            findings=(
                _told(
                    "ASR-412",
                    "spawners-differ",
                    "$.lineage.spawnedBy.session",
                    severity="warning",
                    session="codex:k1",
                ),
            ),
        ),
        Check(
            about="Two children of a parent that is silent about them: one notice.",
            streams=(_SILENT, _CHILD, _SECOND_CHILD),
            findings=(_told("ASR-412", "no-announcement", "$", severity="notice"),),
        ),
        Check(
            about="A parent whose producer says that lineage was lost.",
            streams=(
                lines(header("s1", producer={"lossy": ["lineage.subagents"]})),
                _CHILD,
            ),
        ),
        Check(
            about="A parent that announces, and a child that names none: one side is enough.",
            streams=(
                lines(header("s1"), _subagent(1, childSession="codex:k1")),
                lines(header("k1")),
            ),
        ),
        Check(
            about="The child names the record of the call.",
            streams=(
                lines(
                    header("s1"),
                    {"type": "tool_call", "seq": 1, "id": "r1", "callId": "c1"},
                    _subagent(2, childSession="codex:k1", callId="c1"),
                ),
                lines(header("k1", lineage={"spawnedBy": facet(_ME, record="r1")})),
            ),
        ),
        Check(
            about="An announcement that is a copy says nothing.",
            streams=(
                lines(header("s1"), _subagent(1, childSession="codex:k1")),
                lines(
                    header("f1", lineage={"inherits": _FRESH}),
                    _subagent(
                        1,
                        childSession="codex:k1",
                        copiedFrom={"session": _ME, "proof": "native_field"},
                    ),
                ),
                _CHILD,
            ),
        ),
    ),
    "ASR-413": (
        _copy("A session in place of the mark.", "codex:p1", "wrong-shape"),
        _copy("A session without a proof.", {"session": "codex:p1"}, "bad-proof", ".proof"),
        _copy("A proof of nothing.", {"proof": "native_id"}, "copied-from-nowhere"),
        _copy(
            "A session as a number.", {"session": 7, "proof": "native_id"}, "bad-member", ".session"
        ),
        _copy(
            "A record in the reference to the session.",
            {"session": "codex:p1#ordinal/7", "proof": "native_id"},
            "unexpected-ref",
            ".session",
        ),
        _copy(
            "A copy of what comes later.",
            {"record": "r2", "proof": "native_field"},
            "not-lower-seq",
            ".record",
        ),
        *(
            Check(
                about=f"The proof {proof}.",
                streams=(
                    lines(
                        header("s1"),
                        _hook(1, copiedFrom={"session": "codex:p1", "proof": proof}),
                    ),
                    _PARENT,
                ),
            )
            for proof in ("native_id", "native_field", "prefix_contract")
        ),
    ),
    "ASR-415": (
        Judge(
            about="A declaration inside the prefix is no work, copied or not.",
            streams=(
                lines(
                    header("s1", lineage=_inherits(mode="copied", localThroughId="r2")),
                    {"type": "declaration", "seq": 1, "id": "r1"},
                    _message(2),
                ),
            ),
            ref=f"{_ME}#r1",
            answer={"originality": None},
            wrong={"originality": "copy"},
        ),
        Judge(
            about="What counts is seq, not the order of lines.",
            streams=(
                lines(
                    header("s1", lineage=_inherits(mode="copied", localThroughId="r2")),
                    _message(2),
                    _message(1),
                ),
            ),
            ref=f"{_ME}#r1",
            answer={"originality": "copy"},
            wrong={"originality": "original"},
        ),
    ),
    "ASR-416": (
        _judged("Referenced history is not in the stream.", _inherits(), "original", "unknown"),
        _judged("Copies without an end.", _inherits(mode="copied"), "unknown", "original"),
        _judged(
            "Nobody knows what was inherited.",
            {"inherits": {"mode": "unknown", **_EVIDENCE}},
            "unknown",
            "original",
        ),
        _judged(
            "A root says nothing of what is in the stream.", {"root": True}, "unknown", "original"
        ),
        _judged(
            "A last copy that is not there ends nothing.",
            _inherits(mode="copied", localThroughId="r9"),
            "unknown",
            "original",
        ),
        Total(
            about="Calls of which nobody knows whose they are: counted, and said so.",
            streams=(lines(header("s1"), _call(1, 9)),),
            answer={
                "countedOnce": {"calls": 1, "outputTokens": 9},
                "original": {"calls": 0, "outputTokens": 0},
                "mayIncludeCopies": True,
            },
            wrong={"original": {"calls": 1, "outputTokens": 9}, "mayIncludeCopies": False},
        ),
    ),
    "ASR-419": (
        Total(
            about="An aggregate that does not say whether children are in it may have them.",
            streams=(
                lines(
                    header("s1", lineage={"inherits": _FRESH}),
                    _subagent(1, childSession="codex:k1"),
                    {
                        "type": "usage",
                        "seq": 2,
                        "id": "r2",
                        "covers": "session",
                        "usage": {"outputTokens": 100},
                    },
                ),
                lines(
                    header("k1", lineage={"inherits": _FRESH, "spawnedBy": facet(_ME)}),
                    _call(1, 30),
                ),
            ),
            answer={"countedOnce": {"outputTokens": 100}},
            wrong={"countedOnce": {"outputTokens": 130}},
        ),
    ),
    "ASR-420": (
        _facets("Null is no array.", {"executedBy": None}, "ASR-420", "bad-facet", ".executedBy"),
        Relate(
            about="Declarations add, and what names a session twice names it once.",
            streams=(
                lines(
                    header("s1", lineage={"executedBy": [facet("codex:b1")]}),
                    {
                        "type": "declaration",
                        "seq": 1,
                        "id": "r1",
                        "lineage": {
                            "executedBy": [
                                facet("com.openai.codex:b1"),
                                facet("codex:b2"),
                            ]
                        },
                    },
                ),
            ),
            answer={
                "sessions": [{"session": _ME}],
                "edges": [
                    {"from": _ME, "to": "codex:b1", "facet": "executedBy"},
                    {"from": _ME, "to": "codex:b2", "facet": "executedBy"},
                ],
            },
            wrong={
                "sessions": [{"session": _ME}],
                "edges": [{"from": _ME, "to": "codex:b2", "facet": "executedBy"}],
            },
        ),
    ),
    "ASR-422": (
        Check(
            about="A mirror of nothing.",
            streams=(lines(header("w1", "openclaw", authority="mirror")),),
            findings=(_told("ASR-422", "mirror-of-many", "$.authority", session="openclaw:w1"),),
        ),
        Check(
            about="Two names of one session are one session.",
            streams=(
                lines(
                    header(
                        "w1",
                        "openclaw",
                        authority="mirror",
                        lineage={"executedBy": [facet("codex:p1"), facet("com.openai.codex:p1")]},
                    )
                ),
                _PARENT,
            ),
        ),
        Check(
            about="An agent that is not known to keep mirrors.",
            streams=(
                lines(
                    header("s1", authority="mirror", lineage={"executedBy": [facet("codex:p1")]})
                ),
                _PARENT,
            ),
            findings=(_told("ASR-422", "undocumented-mirror", "$.authority", severity="warning"),),
        ),
        Check(
            about="An agent without an entry here may have one in a newer registry.",
            streams=(
                lines(
                    header(
                        "s1",
                        "com.example.night-agent",
                        authority="mirror",
                        lineage={"executedBy": [facet("codex:p1")]},
                    )
                ),
                _PARENT,
            ),
        ),
    ),
    "ASR-423": (
        Judge(
            about="In a mirror even a declared prefix leaves its records unknown.",
            streams=(
                lines(
                    header(
                        "w1",
                        "openclaw",
                        authority="mirror",
                        lineage={
                            "executedBy": [facet("codex:p1")],
                            **_inherits(mode="copied", localThroughId="r1"),
                        },
                    ),
                    _message(1),
                ),
                _PARENT,
            ),
            ref="openclaw:w1#r1",
            answer={"originality": "unknown"},
            wrong={"originality": "copy"},
        ),
    ),
    "ASR-424": (
        Check(
            about="The child was called a second time: two delegations.",
            streams=(
                lines(
                    header("s1"),
                    {"type": "tool_call", "seq": 1, "id": "r1", "callId": "c1"},
                    {"type": "tool_call", "seq": 2, "id": "r2", "callId": "c2"},
                    _subagent(3, childSession="codex:k1", callId="c1"),
                    _subagent(4, childSession="codex:k1", callId="c2"),
                ),
                lines(header("k1")),
            ),
        ),
    ),
}
