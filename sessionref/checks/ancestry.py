"""Forks, continuations, inherited context, scope: ASR-407 to 410."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import Check, Convert, Expected, facet, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

#: A session with a record that comes from the item at a native position.
_PARENT = lines(header("p1"), {"type": "hook", "seq": 1, "id": "ordinal/7", "idSource": "derived"})


def _child(**lineage: Any) -> str:
    return lines(header("s1", lineage=lineage), {"type": "hook", "seq": 1, "id": "r1"})


def _told(number: str, code: str, path: str) -> Expected:
    return Expected(
        rule=number, code=code, severity="error", session="codex:s1", seq=0, id="h", path=path
    )


def _inherits(mode: str, **members: Any) -> dict[str, Any]:
    return {"mode": mode, "from": "codex:p1", "evidence": "native_field", **members}


@rule(
    "ASR-407",
    kind="checked",
    summary="A fork point is a record or a native ordinal, not both.",
    bound="Of two fork points readers take neither.",
    codes={
        "two-fork-points": Code("error", "forkedFrom has a record and an ordinal"),
        "bad-member": Code("error", "the ordinal is no integer"),
    },
    good=Check(
        about="Forked after the item at native position 7.",
        streams=(_child(forkedFrom=facet("codex:p1", ordinal=7)), _PARENT),
    ),
    bad=Check(
        about="A record and a position, even where they mean the same.",
        streams=(_child(forkedFrom=facet("codex:p1", record="ordinal/7", ordinal=7)), _PARENT),
        findings=(_told("ASR-407", "two-fork-points", "$.lineage.forkedFrom"),),
    ),
)
def asr_407(view: View) -> Iterable[Finding]:
    """The last item that both sessions share is named in one way.

    `ordinal` counts as the source counts, and the item at it is shared too. It is no `seq`.
    """
    return view.of("ASR-407")


@rule(
    "ASR-408",
    kind="checked",
    summary="The reason of a continuation is one of the ten values, or a vendor's.",
    bound="A reason that is neither is unknown; the continuation stands.",
    codes={
        "bad-reason": Code("error", "the reason is none of the values and no vendor's"),
    },
    good=Check(
        about="A vendor's own reason, under a name that nobody else uses.",
        streams=(_child(continues=facet("codex:p1", reason="com.example.shift-change")), _PARENT),
    ),
    bad=Check(
        about="A word of one's own without a vendor's name.",
        streams=(_child(continues=facet("codex:p1", reason="tired")), _PARENT),
        findings=(_told("ASR-408", "bad-reason", "$.lineage.continues.reason"),),
    ),
)
def asr_408(view: View) -> Iterable[Finding]:
    """Why a session was left and another went on: compaction, reset, resume, daily and so on.

    There is one value for what fits none, `other`. How a vendor's value is spelled, stands on a
    page that we do not have: we take what holds a dot, a colon or a slash.
    """
    return view.of("ASR-408")


@rule(
    "ASR-409",
    kind="checked",
    summary="Inherited context has a mode, an ancestor where one is meant, and one boundary.",
    bound="Of two boundaries readers take neither; a local one only with mode copied.",
    codes={
        "bad-mode": Code("error", "mode is missing, or none of the five values"),
        "bad-session-reference": Code("error", "the mode asks for an ancestor, and from is absent"),
        "bad-member": Code("error", "a member of inherits has the wrong type"),
        "unexpected-ref": Code("error", "the ancestor has a # part"),
        "two-boundaries": Code("error", "inherits has throughId and throughOrdinal"),
        "out-of-place": Code("error", "localThroughId stands beside a mode other than copied"),
        "entity-ref": Code("error", "a boundary is an entity ref and no record ID"),
    },
    good=Check(
        about="A stream that begins with copies, through its record r1.",
        streams=(
            _child(inherits=_inherits("copied", throughId="ordinal/7", localThroughId="r1")),
            _PARENT,
        ),
    ),
    bad=Check(
        about="Nothing was inherited, and yet copies end somewhere.",
        streams=(
            _child(inherits={"mode": "none", "evidence": "native_field", "localThroughId": "r1"}),
        ),
        findings=(_told("ASR-409", "out-of-place", "$.lineage.inherits.localThroughId"),),
    ),
)
def asr_409(view: View) -> Iterable[Finding]:
    """Modes `copied`, `referenced` and `rendered` name whose records are meant.

    Where they end, is said once, in the ancestor's record IDs or in its native ordinals. Where the
    copies in this stream end, is said by the ID of a record of this stream.
    """
    return view.of("ASR-409")


@rule(
    "ASR-410",
    kind="producer",
    summary="Whether a session is a subagent's is what the source says, not what facets suggest.",
    why="Every scope is possible beside every facet, so a stream cannot show that it was inferred.",
    bound="Readers set scope from the native members that the registry names for it.",
    good=Convert(
        about="A fork, and the source does not say whose it is: no scope.",
        log=lines(
            {
                "timestamp": "2026-03-04T09:00:00.000Z",
                "type": "session_meta",
                "payload": {"id": "thread-2", "forked_from_id": "thread-1"},
            }
        ),
        records=(
            {
                "type": "session",
                "scope": None,
                "lineage": {"forkedFrom": {"session": "codex:thread-1"}},
            },
        ),
        wrong=({"type": "session", "scope": "subagent"},),
    ),
    bad=Convert(
        about="A thread that the source calls a subagent's.",
        log=lines(
            {
                "timestamp": "2026-03-04T09:00:00.000Z",
                "type": "session_meta",
                "payload": {
                    "id": "thread-2",
                    "source": {"subagent": {"thread_spawn": {"parent_thread_id": "thread-1"}}},
                },
            }
        ),
        records=({"type": "session", "scope": "subagent"},),
        wrong=({"type": "session", "scope": None},),
    ),
)
def asr_410(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """`scope` is a fact of its own beside the facets.

    A session that another one created may be a top-level session, and a fork may be a subagent. So
    neither a parent, nor a role, nor any facet decides it.
    """
    return ()
