"""What every reference field may name, and what becomes of it: ASR-079 and 080."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.checks.examples import Resolve, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

_TWO = lines(
    header("s1"),
    {"type": "permission", "seq": 1, "id": "r1", "requestId": "q1"},
    {"type": "question", "seq": 2, "id": "r2", "requestId": "q1"},
)


@rule(
    "ASR-079",
    kind="reader",
    summary="Each reference field resolves by the table; ambiguous and absent are told apart.",
    why="It says how readers resolve; what a stream lacks by the table is reported under it.",
    bound="data/reference_fields.toml is the table; Scope.resolutions reads nothing else.",
    codes={
        "no-such-entity": Code(
            "error", "no record has this key and value; a notice where the table allows that"
        ),
        "no-such-session": Code("notice", "the session is not in scope"),
        "no-such-ordinal": Code("notice", "no record comes from this native position"),
        "no-session-named": Code("notice", "the member that should name the session names none"),
        "ambiguous": Code(
            "error",
            "several records could be meant; a notice where the table allows an absent target",
        ),
        "not-declared": Code("error", "a root or conversation that nothing declares earlier"),
        "supersedes-ambiguous": Code("error", "supersedes names an ID that several records have"),
        "claims-complete": Code("error", "targets are missing and nothing says that they are"),
        "null-reference": Code("error", "null stands where it means nothing"),
        "entity-ref": Code("error", "an entity ref stands where a record ID is required"),
        "not-lower-seq": Code("error", "the target has no lower seq"),
        "bad-member": Code("error", "the value has the wrong type for a reference"),
        "wrong-shape": Code("error", "an object or array is missing where a reference stands"),
        "unexpected-ref": Code("error", "a # part stands where only a session may be named"),
    },
    good=Resolve(
        about="A permission and a question with one request ID: ambiguous, with both.",
        streams=(_TWO,),
        ref="requestId=q1",
        session="codex:s1",
        answer={"state": "ambiguous", "exact": False, "records": ["r1", "r2"]},
        wrong={"state": "resolved", "exact": True, "records": ["r1"]},
    ),
    bad=Resolve(
        about="A request ID that nothing has: absent, which is something else.",
        streams=(_TWO,),
        ref="requestId=q9",
        session="codex:s1",
        answer={"state": "unresolved", "exact": False, "records": []},
        wrong={"state": "ambiguous", "exact": False, "records": []},
    ),
)
def asr_079(view: View) -> Iterable[Finding]:
    """The table says for each field what it may name and whether that must be there.

    A reader resolves after it has read everything in scope. Of several possible targets it takes
    none. A producer makes no target up and throws no evidence away: it keeps the native reference
    and uses the field's own way of saying that the target is unknown.
    """
    return view.of("ASR-079")


@rule(
    "ASR-080",
    kind="reader",
    summary="What builds on an unresolved required reference says so: exact is false.",
    why="It binds what readers show; a stream shows nothing.",
    bound="Every outcome has exact; Scope.is_exact says it of records and sessions.",
    good=Resolve(
        about="A record that was lost: the ref into the gap is marked, nothing stands in for it.",
        streams=(
            lines(header("s1"), {"type": "message", "seq": 2, "id": "r2", "messageId": "m2"}),
        ),
        ref="codex:s1#r1",
        answer={"state": "unresolved", "exact": False, "records": []},
        wrong={"state": "resolved", "exact": True, "records": ["r2"]},
    ),
    bad=Resolve(
        about="A session that is not in scope is not an empty one.",
        streams=(lines(header("s1")),),
        ref="codex:s2",
        answer={"state": "unresolved", "exact": False, "records": []},
        wrong={"state": "resolved", "exact": True, "records": []},
    ),
)
def asr_080(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A gap is shown as a gap.

    Where a required reference does not resolve, a reader marks it and does not present what is left
    as the whole and exact context.
    """
    return ()
