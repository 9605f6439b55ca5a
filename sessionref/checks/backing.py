"""Sessions that run the turns of others, and mirrors: ASR-420 to 423."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import Check, Convert, Expected, Judge, facet, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

_BACKING = lines(header("b1"))
_OTHER = lines(header("b2"))
_MESSAGE = {"type": "message", "seq": 1, "id": "r1", "messageId": "m1"}


def _app(lineage: Any, **members: Any) -> dict[str, Any]:
    return header("t1", "t3-code", namespace="env-1", lineage=lineage, **members)


def _mirror(lineage: Any) -> dict[str, Any]:
    return header("w1", "openclaw", authority="mirror", lineage=lineage)


@rule(
    "ASR-420",
    kind="checked",
    summary="executedBy is an array; a declaration adds to it and takes nothing away.",
    bound="The effective facet is a union by session key; the first entry of a session stays.",
    codes={
        "wrong-shape": Code("error", "executedBy is no array"),
        "bad-facet": Code("error", "executedBy is null"),
    },
    good=Check(
        about="A thread that was handed from one session to another.",
        streams=(
            lines(
                _app({"executedBy": [facet("codex:b1")]}),
                {
                    "type": "declaration",
                    "seq": 1,
                    "id": "r1",
                    "lineage": {"executedBy": [facet("codex:b2")]},
                },
            ),
            _BACKING,
            _OTHER,
        ),
    ),
    bad=Check(
        about="One entry, without the array.",
        streams=(lines(_app({"executedBy": facet("codex:b1")})), _BACKING),
        findings=(
            Expected(
                rule="ASR-420",
                code="wrong-shape",
                severity="error",
                session="t3-code:env-1:t1",
                seq=0,
                id="h",
                path="$.lineage.executedBy",
            ),
        ),
    ),
)
def asr_420(view: View) -> Iterable[Finding]:
    """A session may have been run by several others, one after the other.

    So a later declaration names those that came in addition, while every other facet replaces the
    earlier one.
    """
    return view.of("ASR-420")


@rule(
    "ASR-421",
    kind="producer",
    summary="Who ran a turn is what the source stores, not what texts or times suggest.",
    why="A stream shows which session is named, not whether the source stored its ID.",
    bound="Readers make executedBy of stored native IDs only; those of today's formats of none.",
    good=Convert(
        about="An app is named as the client of a thread: that says nothing of whose turns it ran.",
        log=lines(
            {
                "timestamp": "2026-03-04T09:00:00.000Z",
                "type": "session_meta",
                "payload": {"id": "thread-2", "originator": "t3_code"},
            }
        ),
        records=({"type": "session", "lineage": {"executedBy": None}},),
        wrong=({"type": "session", "lineage": {"executedBy": [{"session": "t3-code:env-1:t1"}]}},),
    ),
    bad=Convert(
        about="A prompt that quotes another session.",
        log=lines(
            {
                "type": "user",
                "uuid": "u1",
                "parentUuid": None,
                "sessionId": "7d3f0a52-1c64-4e0b-9a51-3b8f6c2d9e10",
                "timestamp": "2026-03-04T09:00:00.000Z",
                "message": {"role": "user", "content": "Thread codex:b1 says: fix the parser."},
            }
        ),
        records=({"type": "session", "lineage": None}, {"type": "message"}),
        wrong=({"type": "session", "lineage": {"executedBy": [{"session": "codex:b1"}]}},),
    ),
)
def asr_421(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """`executedBy` and `state.executedBy` rest on a native session ID or turn ID that was stored.

    That two sessions hold the same texts at the same times is no evidence that one ran the other.
    """
    return ()


@rule(
    "ASR-422",
    kind="checked",
    summary="A mirror names the one session that it copies, and its agent is known to keep some.",
    bound="Records of a mirror are nobody's own work, whatever else it claims.",
    codes={
        "mirror-of-many": Code("error", "a mirror does not name exactly one session"),
        "undocumented-mirror": Code(
            "warning", "the agent's entry does not say that it keeps mirrors"
        ),
    },
    good=Check(
        about="A transcript that OpenClaw keeps of a thread of Codex.",
        streams=(lines(_mirror({"executedBy": [facet("codex:b1")]})), _BACKING),
    ),
    bad=Check(
        about="A mirror of two sessions: no stream is a copy of both.",
        streams=(
            lines(_mirror({"executedBy": [facet("codex:b1"), facet("codex:b2")]})),
            _BACKING,
            _OTHER,
        ),
        findings=(
            Expected(
                rule="ASR-422",
                code="mirror-of-many",
                severity="error",
                session="openclaw:w1",
                seq=0,
                id="h",
                path="$.authority",
            ),
        ),
    ),
)
def asr_422(view: View) -> Iterator[Finding]:
    """`authority: "mirror"` says that the whole stream copies the session in `executedBy`.

    That its turns were run by that session does not say so. The agent's entry in the registry says
    by what a source shows it.
    """
    found = list(view.of("ASR-422"))
    yield from found
    agent = view.agent
    if (
        not found
        and agent is not None
        and view.claimed.is_mirror
        and (agent.mirror is None or agent.mirror.possible.value != "yes")
    ):
        yield view.finding(
            "ASR-422",
            "undocumented-mirror",
            "warning",
            f"the registry does not say that {agent.short} keeps mirrors",
            path="$.authority",
        )


@rule(
    "ASR-423",
    kind="reader",
    summary="In a mirror nothing is known to be original; a wrapper's stream makes no copies.",
    why="It says what readers make of records without a mark, which any stream may have.",
    bound="StreamOriginality asks for a mirror before it asks what the stream inherits.",
    good=Judge(
        about="A mirror that began from a fresh context: its records may all be copies.",
        streams=(
            lines(
                _mirror(
                    {
                        "executedBy": [facet("codex:b1")],
                        "inherits": {"mode": "none", "evidence": "native_field"},
                    }
                ),
                _MESSAGE,
            ),
            _BACKING,
        ),
        ref="openclaw:w1#r1",
        answer={"originality": "unknown"},
        wrong={"originality": "original"},
    ),
    bad=Judge(
        about="A wrapper that is no mirror: what it records is its own.",
        streams=(
            lines(
                _app(
                    {
                        "executedBy": [facet("codex:b1")],
                        "inherits": {"mode": "none", "evidence": "native_field"},
                    }
                ),
                _MESSAGE,
            ),
            _BACKING,
        ),
        ref="t3-code:env-1:t1#r1",
        answer={"originality": "original"},
        wrong={"originality": "copy"},
    ),
)
def asr_423(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A mirror copies a whole session, and marks what it copied or does not.

    So there the absence of a mark says nothing. In any other stream a record is a copy when it is
    marked or lies in a declared prefix, and not because another session ran the turn.
    """
    return ()
