"""The text of references: ASR-059 to 062."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from sessionref.checks.examples import Check, Expected, Resolve, header, lines
from sessionref.checks.rules import Code, rule
from sessionref.reference import try_parse
from sessionref.scope.fields import FieldTable, json_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

#: A percent-encoding with a lower-case digit.
_lower_case = re.compile("%(?:[a-f][0-9a-fA-F]|[0-9a-fA-F][a-f])").search
#: The kinds of targets that a session reference names.
_NAMED_BY_REFERENCE = frozenset({"session", "session-or-turn", "session-or-ref"})


def _subagent(child: str) -> dict[str, object]:
    return {"type": "subagent", "seq": 1, "id": "r1", "childSession": child}


@rule(
    "ASR-059",
    kind="checked",
    summary="A reference encodes exactly what it must, with upper-case digits.",
    bound="str() of a reference encodes what it must and nothing else.",
    codes={
        "forbidden-character": Code("error", "a character stands raw that must be encoded"),
        "lower-case-digits": Code("warning", "a percent-encoding has lower-case digits"),
    },
    good=Check(
        about="A colon inside the session ID, encoded.",
        streams=(
            lines(header("s1"), _subagent("t3-code:env-1:run%3A7")),
            lines(header("run:7", "t3-code", namespace="env-1")),
        ),
    ),
    bad=Check(
        about="The same reference with lower-case digits: it still names the session.",
        streams=(
            lines(header("s1"), _subagent("t3-code:env-1:run%3a7")),
            lines(header("run:7", "t3-code", namespace="env-1")),
        ),
        findings=(
            Expected(
                rule="ASR-059",
                code="lower-case-digits",
                severity="warning",
                session="codex:s1",
                seq=1,
                id="r1",
                path="$.childSession",
            ),
        ),
    ),
)
def asr_059(view: View) -> Iterator[Finding]:
    """Namespace, session ID and the value of an entity ref are percent-encoded where they must be.

    That is `%`, `:`, `#`, the space and control characters. More may be encoded. The digits should
    be upper case. A raw colon or number sign is a matter of the grammar, and so of ASR-061.
    """
    yield from view.of("ASR-059")
    rows = FieldTable.standard().rows
    references = view.capture.references
    if references.fields.isdisjoint(_by_reference()):
        return
    for number, row, _code, text in references.coded():
        if isinstance(text, str) and "%" in text and (found := _lower_case(text)):
            field = references[number].field
            if field in _by_reference() and try_parse(text) is not None:
                yield view.finding(
                    "ASR-059",
                    "lower-case-digits",
                    "warning",
                    "the digits of a percent-encoding should be upper case",
                    row=row,
                    path=json_path(rows[field].member_steps, references[number].indexes),
                    span=found.span(),
                )


@lru_cache(maxsize=1)
def _by_reference() -> frozenset[int]:
    """The numbers of the standard fields that hold session references."""
    return frozenset(
        number
        for number, row in enumerate(FieldTable.standard().rows)
        if row.target in _NAMED_BY_REFERENCE
    )


@rule(
    "ASR-060",
    kind="reader",
    summary="Components are decoded before they are compared; octets must be UTF-8.",
    why="Decoding and comparing is done by readers; a text that none accepts is reported, though.",
    bound="parse() decodes once, refuses octets that are no UTF-8, and compares decoded parts.",
    codes={
        "invalid-utf8": Code("error", "percent-encoded octets are not valid UTF-8"),
        "surrogate": Code("error", "a surrogate code point, which no UTF-8 text can hold"),
    },
    good=Resolve(
        about="An encoded letter means the letter, and hexadecimal digits have no case.",
        streams=(lines(header("run:7", "t3-code", namespace="env-1")),),
        ref="t3-code:%65nv-1:run%3a7",
        answer={"state": "resolved", "exact": True, "records": ["h"]},
        wrong={"state": "unresolved", "exact": False, "records": []},
    ),
    bad=Resolve(
        about="Two octets that begin a character and do not end it.",
        streams=(lines(header("s1")),),
        ref="codex:s%E2%82",
        answer={"error": "invalid-utf8"},
        wrong={"state": "unresolved", "exact": False, "records": []},
    ),
)
def asr_060(view: View) -> Iterable[Finding]:
    """Two spellings of one reference mean the same: each component is decoded, once, and compared.

    Octets that are not valid UTF-8 stand for no text, so there is nothing to compare and the
    reference is refused. It is not repaired.
    """
    return view.of("ASR-060")


_BAD_TEXT = {
    "empty": Code("error", "the text is empty"),
    "missing-session-id": Code("error", "there is no ':' and so no session ID"),
    "too-many-components": Code("error", "there are more than two ':' before the '#'"),
    "empty-component": Code("error", "a namespace or session ID is empty"),
    "bad-percent-encoding": Code("error", "a '%' is not followed by two digits"),
    "empty-ref": Code("error", "nothing follows the '#'"),
    "unknown-entity-key": Code("error", "the part before '=' is no entity key"),
    "empty-value": Code("error", "nothing follows the '='"),
}


@rule(
    "ASR-061",
    kind="checked",
    summary="A session reference matches the grammar.",
    bound="One grammar; the recognizer and the diagnosis are compiled from it.",
    codes=_BAD_TEXT,
    good=Check(
        about="Agent and session ID, without a namespace.",
        streams=(lines(header("s1"), _subagent("codex:s2")), lines(header("s2"))),
    ),
    bad=Check(
        about="An empty namespace between two colons.",
        streams=(lines(header("s1"), _subagent("codex::s2")), lines(header("s2"))),
        findings=(
            Expected(
                rule="ASR-061",
                code="empty-component",
                severity="error",
                session="codex:s1",
                seq=1,
                id="r1",
                path="$.childSession",
            ),
        ),
    ),
)
def asr_061(view: View) -> Iterable[Finding]:
    """`agent:session` or `agent:namespace:session`, with or without a `#` part, and nothing else.

    No part is empty. What has more colons, a raw space or a lone `%` is no reference, and is not
    read as one that was meant.
    """
    return view.of("ASR-061")


@rule(
    "ASR-062",
    kind="checked",
    summary="A ref inside JSON is a record ID, or key=value with a known key, nothing encoded.",
    bound="Ref.from_raw takes refs as they stand in JSON; the encoded form is another function.",
    codes={
        "empty-ref": Code("error", "the ref is empty"),
        "unknown-entity-key": Code("error", "the part before '=' is no entity key and not turnId"),
        "empty-value": Code("error", "nothing follows the '='"),
    },
    good=Check(
        about="The value has a colon and an equals sign, both as they are.",
        streams=(
            lines(
                header("s1"),
                {"type": "tool_call", "seq": 1, "id": "r1", "callId": "edit:4=b"},
                {"type": "tombstone", "seq": 2, "id": "r2", "targets": ["callId=edit:4=b"]},
            ),
        ),
    ),
    bad=Check(
        about="A key that there is not: the spelling of keys is exact.",
        streams=(
            lines(
                header("s1"),
                {"type": "tool_call", "seq": 1, "id": "r1", "callId": "edit:4"},
                {"type": "tombstone", "seq": 2, "id": "r2", "targets": ["callID=edit:4"]},
            ),
        ),
        findings=(
            Expected(
                rule="ASR-062",
                code="unknown-entity-key",
                severity="error",
                session="codex:s1",
                seq=2,
                id="r2",
                path="$.targets[0]",
            ),
        ),
    ),
)
def asr_062(view: View) -> Iterable[Finding]:
    """The number of this rule stands on a page that we do not have; this is how we read its place.

    A ref is split at the first `=`. Without one it is a record ID; with one, what stands before is
    one of the seven entity keys or `turnId`, and what follows is the native value, raw.
    """
    return view.of("ASR-062")
