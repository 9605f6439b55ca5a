"""Turn refs: ASR-075."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.checks.examples import Resolve, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

_TURN = lines(
    header("s1"),
    {"type": "message", "seq": 1, "id": "r1", "messageId": "m1", "turnId": "t1"},
    {"type": "tool_call", "seq": 2, "id": "r2", "callId": "c1", "turnId": "t1"},
    {"type": "message", "seq": 3, "id": "r3", "messageId": "m2", "turnId": "t2"},
)


@rule(
    "ASR-075",
    kind="reader",
    summary="A turn ref means all records of the turn; it is no structural ref.",
    why="What a turn ref means, readers work out; one that stands where none may is reported.",
    bound="StreamIndex.resolve gives all records by seq; Resolved.first is the lowest.",
    codes={
        "turn-ref": Code("error", "a turn ref stands where a record or an entity is required"),
        "no-such-turn": Code("notice", "no record of the stream carries this turn ID"),
    },
    good=Resolve(
        about="Both records of the turn.",
        streams=(_TURN,),
        ref="codex:s1#turnId=t1",
        answer={"state": "resolved", "exact": True, "records": ["r1", "r2"]},
        wrong={"state": "ambiguous", "exact": False, "records": ["r1", "r2"]},
    ),
    bad=Resolve(
        about="A turn of which no record is there.",
        streams=(_TURN,),
        ref="codex:s1#turnId=t9",
        answer={"state": "unresolved", "exact": False, "records": []},
        wrong={"state": "resolved", "exact": True, "records": []},
    ),
)
def asr_075(view: View) -> Iterable[Finding]:
    """A turn is no record: it is those records that carry its `turnId`.

    Where one record must stand for it, that is the one with the lowest `seq`. Without any record it
    does not resolve. A field that asks for a record or an entity takes no turn.
    """
    return view.of("ASR-075")
