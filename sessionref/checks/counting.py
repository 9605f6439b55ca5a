"""What totals count, and what they count once: ASR-417 to 419 and 425."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import Total, facet, header, lines
from sessionref.checks.rules import rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

_FRESH = {"inherits": {"mode": "none", "evidence": "native_field"}}


def _call(seq: int, out: int, **members: Any) -> dict[str, Any]:
    return {
        "type": "inference",
        "seq": seq,
        "id": f"r{seq}",
        "inferenceId": f"i{seq}",
        "usage": {"outputTokens": out},
        **members,
    }


def _aggregate(seq: int, out: int, **members: Any) -> dict[str, Any]:
    return {
        "type": "usage",
        "seq": seq,
        "id": f"r{seq}",
        "usage": {"outputTokens": out},
        **members,
    }


_PARENT = lines(header("p1", lineage=_FRESH), _call(1, 50))
_FORK_LINEAGE = {
    "inherits": {
        "mode": "copied",
        "from": "codex:p1",
        "localThroughId": "r1",
        "evidence": "native_field",
    }
}


@rule(
    "ASR-417",
    kind="reader",
    summary="What copies report is never counted as the work of the session that holds them.",
    why="Copies may stand in any stream; what is counted, and labelled, is the reader's doing.",
    bound="Totals put copies in a column that counts nowhere; label() names them in displays.",
    good=Total(
        about="A fork that begins with a copy of its parent's call: the call counts once.",
        streams=(_PARENT, lines(header("s1", lineage=_FORK_LINEAGE), _call(1, 50), _call(2, 7))),
        answer={
            "countedOnce": {"calls": 2, "outputTokens": 57},
            "copied": {"calls": 1, "outputTokens": 50},
            "mayIncludeCopies": False,
        },
        wrong={"countedOnce": {"calls": 3, "outputTokens": 107}},
    ),
    bad=Total(
        about="The same without the parent: the copy is not counted for want of the original.",
        streams=(lines(header("s1", lineage=_FORK_LINEAGE), _call(1, 50), _call(2, 7)),),
        answer={"countedOnce": {"calls": 1, "outputTokens": 7}},
        wrong={"countedOnce": {"calls": 2, "outputTokens": 57}},
    ),
)
def asr_417(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Otherwise a child would be credited with the tokens, edits and commits of its parent.

    Copies can be searched and shown. There they are labelled, or folded into their originals.
    """
    return ()


@rule(
    "ASR-418",
    kind="reader",
    summary="Calls that process inherited context are the work of the session that makes them.",
    why="It says whose a call is; a stream reports its calls and cannot do so wrongly.",
    bound="A call counts by its own originality, whatever context it had.",
    good=Total(
        about="A session that works on another's history by reference: its call is its own.",
        streams=(
            _PARENT,
            lines(
                header(
                    "s1",
                    lineage={
                        "inherits": {
                            "mode": "referenced",
                            "from": "codex:p1",
                            "throughId": "r1",
                            "evidence": "native_field",
                        }
                    },
                ),
                _call(2, 7, usage={"cacheReadTokens": 900, "outputTokens": 7}),
            ),
        ),
        answer={"original": {"calls": 2, "cacheReadTokens": 900, "outputTokens": 57}},
        wrong={"original": {"calls": 1, "cacheReadTokens": 0, "outputTokens": 50}},
    ),
    bad=Total(
        about="The first call after a copied prefix reads all of it, and counts whole.",
        streams=(
            lines(
                header("s1", lineage=_FORK_LINEAGE),
                _call(1, 50),
                _call(2, 7, usage={"inputTokens": 900, "outputTokens": 7}),
            ),
        ),
        answer={"original": {"calls": 1, "inputTokens": 900, "outputTokens": 7}},
        wrong={"original": {"calls": 0, "inputTokens": 0, "outputTokens": 0}},
    ),
)
def asr_418(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Inherited records are not the inheriting session's, and what it does with them is.

    A model that reads a copied history reads it anew, and that is paid for again.
    """
    return ()


_CHILD = lines(header("k1", lineage={**_FRESH, "spawnedBy": facet("codex:s1")}), _call(1, 30))


def _reporting(**members: Any) -> str:
    return lines(
        header("s1", lineage=_FRESH),
        {"type": "subagent", "seq": 1, "id": "r1", "childSession": "codex:k1"},
        _aggregate(2, 100, covers="session", **members),
    )


@rule(
    "ASR-419",
    kind="reader",
    summary="A child is not added to an aggregate of its parent that has it already.",
    why="Both report truly; only adding them is wrong, and that is done by readers.",
    bound="An aggregate that includes children counts less what is counted of them.",
    good=Total(
        about="The parent's 100 have the child's 30 in them.",
        streams=(_reporting(includesChildren=True), _CHILD),
        answer={
            "countedOnce": {"outputTokens": 100},
            "original": {"outputTokens": 30},
            "unknown": {"outputTokens": 70},
        },
        wrong={"countedOnce": {"outputTokens": 130}},
    ),
    bad=Total(
        about="The source says that children are not in it: both count.",
        streams=(_reporting(includesChildren=False), _CHILD),
        answer={"countedOnce": {"outputTokens": 130}, "original": {"outputTokens": 130}},
        wrong={"countedOnce": {"outputTokens": 100}},
    ),
)
def asr_419(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """What a subagent does is its own work, wherever it is reported as well.

    Where an aggregate does not say whether children are in it, they may be, and it is taken as one
    that has them.
    """
    return ()


_BACKING = lines(header("b1", lineage=_FRESH), _call(1, 40, turnId="n1"))


def _wrapper(*records: dict[str, Any]) -> str:
    return lines(
        header(
            "t1",
            "t3-code",
            namespace="env-1",
            lineage={**_FRESH, "executedBy": [facet("codex:b1")]},
        ),
        *records,
    )


_REPORT = _aggregate(2, 40, covers="turn", turnId="t1")
_STATE = {
    "type": "state",
    "seq": 1,
    "id": "r1",
    "turnId": "t1",
    "executedBy": ["codex:b1#turnId=n1"],
}


@rule(
    "ASR-425",
    kind="reader",
    summary="Of a wrapper and the session that ran its turns, one side counts and never both.",
    why="Each side reports what it saw, and neither stream is wrong in that.",
    bound="The backing session's records win where they are in scope, turn by turn.",
    good=Total(
        about="Both report the 40 tokens of one turn.",
        streams=(_wrapper(_STATE, _REPORT), _BACKING),
        answer={"countedOnce": {"calls": 1, "outputTokens": 40}, "mayIncludeCopies": False},
        wrong={"countedOnce": {"calls": 1, "outputTokens": 80}},
    ),
    bad=Total(
        about="The session that ran the turn was never exported: the wrapper's report is left.",
        streams=(_wrapper(_STATE, _REPORT),),
        answer={"countedOnce": {"calls": 0, "outputTokens": 40}},
        wrong={"countedOnce": {"calls": 0, "outputTokens": 0}},
    ),
)
def asr_425(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """An app that drives another agent reports the same model calls as that agent does.

    A total of both takes one side for each turn. Where nothing says which turns the other session
    ran, what both may report stands under unknown.
    """
    return ()
