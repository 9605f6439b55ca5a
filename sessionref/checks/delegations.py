"""Announcements of children: ASR-411, 412 and 424."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import Check, Expected, facet, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []


def _call(seq: int) -> dict[str, Any]:
    return {"type": "tool_call", "seq": seq, "id": f"r{seq}", "callId": f"c{seq}"}


def _announced(seq: int, call: str = "c1", **members: Any) -> dict[str, Any]:
    return {
        "type": "subagent",
        "seq": seq,
        "id": f"r{seq}",
        "childSession": "codex:k1",
        "callId": call,
        **members,
    }


_CHILD = lines(header("k1", lineage={"spawnedBy": facet("codex:s1", record="callId=c1")}))


def _told(number: str, code: str, path: str, seq: int) -> Expected:
    return Expected(
        rule=number,
        code=code,
        severity="error",
        session="codex:s1",
        seq=seq,
        id=f"r{seq}",
        path=path,
    )


@rule(
    "ASR-411",
    kind="checked",
    summary="An announcement names the child's session, or says that the source keeps none.",
    bound="An announcement without a child is a delegation, and makes no edge.",
    codes={
        "missing-child-session": Code(
            "error", "neither a child is named, nor is it said why there is none"
        ),
        "bad-member": Code("error", "childSession is no string"),
        "unexpected-ref": Code("error", "childSession has a # part"),
    },
    good=Check(
        about="The source ran the child and kept no transcript of it.",
        streams=(
            lines(
                header("s1"),
                _call(1),
                {
                    "type": "subagent",
                    "seq": 2,
                    "id": "r2",
                    "callId": "c1",
                    "capture": {"childSession": "unavailable"},
                },
            ),
        ),
    ),
    bad=Check(
        about="A delegation to nobody.",
        streams=(
            lines(
                header("s1"), _call(1), {"type": "subagent", "seq": 2, "id": "r2", "callId": "c1"}
            ),
        ),
        findings=(_told("ASR-411", "missing-child-session", "$.childSession", 2),),
    ),
)
def asr_411(view: View) -> Iterable[Finding]:
    """`childSession` names a whole session. Whether it is in scope is another question.

    Where the source keeps nothing of the child, `capture.childSession` says so in its place.
    """
    return view.of("ASR-411")


@rule(
    "ASR-412",
    kind="checked",
    summary="Parent and child agree on the delegating call, where both name one.",
    bound="The forest keeps both claims as edges of their own; neither replaces the other.",
    codes={
        "calls-differ": Code("warning", "the child names another call than its spawner announces"),
        "spawners-differ": Code(
            "warning", "the child names another spawner than a session that announces it"
        ),
        "no-announcement": Code(
            "notice", "a child names the session as its spawner, and no record announces the child"
        ),
    },
    good=Check(
        about="Both name call c1.",
        streams=(lines(header("s1"), _call(1), _announced(2)), _CHILD),
    ),
    bad=Check(
        about="The parent announces the child under call c2, the child names call c1.",
        streams=(lines(header("s1"), _call(1), _call(2), _announced(3, "c2")), _CHILD),
        findings=(
            Expected(
                rule="ASR-412",
                code="calls-differ",
                severity="warning",
                session="codex:k1",
                seq=0,
                id="h",
                path="$.lineage.spawnedBy.record",
            ),
        ),
    ),
)
def asr_412(view: View) -> Iterable[Finding]:
    """Two positive claims about one delegation should not contradict each other.

    A claim of one side alone is no contradiction. A parent that is in scope and does not announce
    its children gets one notice for all of them, unless its producer declares that lineage was
    lost. Announcements that are copies, or may be, are nobody's claim.
    """
    return view.of("ASR-412")


@rule(
    "ASR-424",
    kind="checked",
    summary="What becomes of a child is a revision of its announcement, not a second one.",
    bound="Delegations are counted by their latest revisions.",
    codes={
        "second-announcement": Code(
            "error", "the same child and call are announced again, and nothing is superseded"
        ),
    },
    good=Check(
        about="A child that ran, and was done: one delegation.",
        streams=(
            lines(
                header("s1"),
                _call(1),
                _announced(2, status="running"),
                _announced(3, status="completed", supersedes="r2"),
            ),
            _CHILD,
        ),
    ),
    bad=Check(
        about="The same, as if it had been delegated twice.",
        streams=(
            lines(
                header("s1"),
                _call(1),
                _announced(2, status="running"),
                _announced(3, status="completed"),
            ),
            _CHILD,
        ),
        findings=(_told("ASR-424", "second-announcement", "$.supersedes", 3),),
    ),
)
def asr_424(view: View) -> Iterable[Finding]:
    """A child in the background starts, finishes, fails, is stopped or resumed.

    Each of these changes the one announcement of that delegation. A second call of the same child
    is a delegation of its own. That status, model and agent are the source's, a stream does not
    show.
    """
    return view.of("ASR-424")
