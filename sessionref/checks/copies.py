"""Copies, inherited prefixes and originality: ASR-413 to 416, 426 and 427."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import Check, Convert, Expected, Judge, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

_ME = "7d3f0a52-1c64-4e0b-9a51-3b8f6c2d9e10"
_OTHER = "91b7c3de-5a20-4f86-8e14-2d7c60f1ab35"


def _message(seq: int, **members: Any) -> dict[str, Any]:
    return {"type": "message", "seq": seq, "id": f"r{seq}", "messageId": f"m{seq}", **members}


def _inherits(mode: str, **members: Any) -> dict[str, Any]:
    return {"inherits": {"mode": mode, "evidence": "native_field", **members}}


_PARENT = lines(header("p1"), _message(1))
_PREFIX = lines(
    header("s1", lineage=_inherits("copied", **{"from": "codex:p1", "localThroughId": "r2"})),
    _message(1),
    _message(2),
    _message(3),
)


def _item(at: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-03-04T09:00:0{at}.000Z", "type": kind, "payload": payload}


def _row(uuid: str, text: str, **members: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": _ME,
        "timestamp": "2026-03-04T09:00:00.000Z",
        "message": {"role": "user", "content": text},
        **members,
    }


@rule(
    "ASR-413",
    kind="checked",
    summary="A mark of a copy has one of three proofs, and names a session, a record or both.",
    bound="A record with a mark that cannot be read is a copy all the same.",
    codes={
        "wrong-shape": Code("error", "copiedFrom is no object"),
        "bad-proof": Code("error", "the proof is missing, or none of the three values"),
        "copied-from-nowhere": Code("error", "copiedFrom names neither a session nor a record"),
        "bad-member": Code("error", "the session or the record is no string"),
        "unexpected-ref": Code("error", "the session has a # part"),
        "not-lower-seq": Code("error", "the original is in this stream and has no lower seq"),
    },
    good=Check(
        about="A copy from another session, and one of a record of this stream.",
        streams=(
            lines(
                header("s1"),
                _message(
                    1,
                    copiedFrom={
                        "session": "codex:p1",
                        "record": "messageId=m1",
                        "proof": "native_field",
                    },
                ),
                _message(2, copiedFrom={"record": "r1", "proof": "native_id"}),
            ),
            _PARENT,
        ),
    ),
    bad=Check(
        about="A copy because it reads the same: that proves nothing.",
        streams=(
            lines(
                header("s1"),
                _message(1, copiedFrom={"session": "codex:p1", "proof": "equal_text"}),
            ),
            _PARENT,
        ),
        findings=(
            Expected(
                rule="ASR-413",
                code="bad-proof",
                severity="error",
                session="codex:s1",
                seq=1,
                id="r1",
                path="$.copiedFrom.proof",
            ),
        ),
    ),
)
def asr_413(view: View) -> Iterable[Finding]:
    """`copiedFrom` says where a record came from, and by what that is known.

    A record without a session stands in the same stream, earlier. A session without a record is
    enough where the source does not name the record.
    """
    return view.of("ASR-413")


@rule(
    "ASR-414",
    kind="producer",
    summary="A record is marked as a copy by a proof, never for what it says or when.",
    why="A stream shows the proof that is named, not whether the source gives it.",
    bound="Readers mark what a native field marks, or what a published rule says.",
    good=Convert(
        about="A row that the source marks as taken over, and one that it does not.",
        log=lines(
            _row("u1", "Fix it.", forkedFrom={"sessionId": _OTHER, "messageUuid": "x1"}),
            _row("u2", "Fix it.", parentUuid="u1"),
        ),
        records=(
            {
                "type": "message",
                "messageId": "u1",
                "copiedFrom": {"session": f"claude-code:{_OTHER}", "proof": "native_field"},
            },
            {"type": "message", "messageId": "u2", "copiedFrom": None},
        ),
        wrong=({"messageId": "u2", "copiedFrom": {"session": f"claude-code:{_OTHER}"}},),
    ),
    bad=Convert(
        about="The same words twice, at the same time: two messages.",
        log=lines(_row("u1", "Go on."), _row("u2", "Go on.", parentUuid="u1")),
        records=(
            {"type": "message", "messageId": "u1", "copiedFrom": None},
            {"type": "message", "messageId": "u2", "copiedFrom": None},
        ),
        wrong=({"messageId": "u2", "copiedFrom": {"record": "messageId=u1"}},),
    ),
)
def asr_414(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Three things prove a copy.

    They are the same native ID where the source says that it means the same item, a native mark,
    and a prefix that the source's published contract defines. No text, time, role, tool name or
    payload does.
    """
    return ()


@rule(
    "ASR-415",
    kind="reader",
    summary="Through localThroughId every record is a copy, marked or not, but for declarations.",
    why="It says what a declared prefix means; each record in it may be marked or not.",
    bound="StreamOriginality compares seq with that of the named record, itself included.",
    good=Judge(
        about="The last record of the prefix, which carries no mark.",
        streams=(_PREFIX, _PARENT),
        ref="codex:s1#r2",
        answer={"originality": "copy"},
        wrong={"originality": "original"},
    ),
    bad=Judge(
        about="The first record after it.",
        streams=(_PREFIX, _PARENT),
        ref="codex:s1#r3",
        answer={"originality": "original"},
        wrong={"originality": "unknown"},
    ),
)
def asr_415(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A stream that begins with copied history says once where that ends.

    All records at or below the `seq` of the named record are copies. The header and declarations
    are not: they are no work of anybody.
    """
    return ()


@rule(
    "ASR-416",
    kind="reader",
    summary="Original is only what four conditions show; otherwise originality is unknown.",
    why="It says what readers conclude; a stream that shows nothing is not wrong.",
    bound="Verdict has three values; totals keep unknown apart and say that copies may be in it.",
    good=Judge(
        about="No mark and no lineage: that a mark is missing shows nothing.",
        streams=(lines(header("s1"), _message(1)),),
        ref="codex:s1#r1",
        answer={"originality": "unknown"},
        wrong={"originality": "original"},
    ),
    bad=Judge(
        about="A session that started from a fresh context.",
        streams=(lines(header("s1", lineage=_inherits("none")), _message(1)),),
        ref="codex:s1#r1",
        answer={"originality": "original"},
        wrong={"originality": "unknown"},
    ),
)
def asr_416(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A record is its session's own work only where a stream shows that.

    Nothing marks it as a copy, it lies in no declared prefix, the stream says what it inherits and
    where copies end, and the stream is no mirror.

    In every other case nobody knows. Such records are credited to no session, and a total with them
    in it says that it may include copies.
    """
    return ()


_SUMMARY = lines(
    header("s1", lineage=_inherits("rendered", **{"from": "codex:p1"})),
    _message(1, derivedFrom=["codex:p1#messageId=m1"]),
)


@rule(
    "ASR-426",
    kind="reader",
    summary="A message that renders inherited context is new; its sources stay what they are.",
    why="It says what readers count; derivedFrom may stand on any message.",
    bound="derivedFrom marks no copy; mode rendered leaves the stream's records original.",
    good=Judge(
        about="A summary of what another session had.",
        streams=(_SUMMARY, _PARENT),
        ref="codex:s1#r1",
        answer={"originality": "original"},
        wrong={"originality": "copy"},
    ),
    bad=Judge(
        about="A message that was summarized is as original as it was before.",
        streams=(_SUMMARY, _PARENT),
        ref="codex:p1#r1",
        answer={"originality": "unknown"},
        wrong={"originality": "original"},
    ),
)
def asr_426(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A summary was written by somebody, and cost something, in the session that holds it.

    It is no copy of what it sums up, and makes nothing there a copy or an original.
    """
    return ()


@rule(
    "ASR-427",
    kind="producer",
    summary="A copied run or turn ID does not say whose a fact in another store is.",
    why="A stream shows where a fact was put, not by what ID it was found.",
    bound="Readers join nothing to a session by a turn ID; readers of copies give no boundary.",
    good=Convert(
        about="A fork with its parent's turn in it: whose the use is, is left open.",
        log=lines(
            _item(0, "session_meta", id="thread-2", forked_from_id="thread-1"),
            _item(1, "session_meta", id="thread-1"),
            _item(2, "event_msg", type="task_started", turn_id="turn-1"),
            _item(
                3,
                "event_msg",
                type="token_count",
                info={
                    "total_token_usage": {"input_tokens": 9, "output_tokens": 4},
                    "last_token_usage": {"input_tokens": 9, "output_tokens": 4},
                },
            ),
        ),
        records=(
            {"type": "session", "sessionId": "thread-2", "lineage": {"inherits": None}},
            {"type": "inference", "turnId": "turn-1", "copiedFrom": None},
        ),
        wrong=({"type": "session", "lineage": {"inherits": {"mode": "none"}}},),
    ),
    bad=Convert(
        about="A run ID in a copied row is kept as it stands, and makes no mark.",
        log=lines(_row("u1", "Fix it.", promptId="run-1"), _row("u2", "Again.", promptId="run-1")),
        records=(
            {"type": "message", "messageId": "u1", "turnId": None},
            {"type": "message", "messageId": "u2", "turnId": None, "copiedFrom": None},
        ),
        wrong=({"messageId": "u2", "copiedFrom": {"record": "messageId=u1"}},),
    ),
)
def asr_427(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Copies carry the IDs of what they were copied from, so several sessions share them.

    A fact that is stored elsewhere under such an ID belongs to a session only where the source says
    so by something else. Until then it is kept, and belongs to none.
    """
    return ()
