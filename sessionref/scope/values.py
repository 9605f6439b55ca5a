"""Reading the value of a reference field: what it names, or what is wrong with it (ASR-061, 062).

Everything that reads a reference inside a record asks here: resolution, lineage and checks. So one
fault has one rule, code and message, and one text is parsed once, however many ask.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sessionref._codes import codes
from sessionref.errors import InvalidReference
from sessionref.reference import parse
from sessionref.refs import EntityRef, RecordRef, Ref, TurnRef, refuse_surrogates

if TYPE_CHECKING:
    from sessionref.reference import SessionRef
    from sessionref.scope.fields import ReferenceField

__all__ = [
    "AnyRef",
    "Flaw",
    "Report",
    "read",
    "read_ordinal",
    "read_ref",
    "read_session",
    "report",
    "session_of",
]

AnyRef: TypeAlias = RecordRef | EntityRef | TurnRef

#: The rules of faults that are the same in every field; others are under the field's own rule.
_RULE_OF_FAULT = {
    "turn-ref": "ASR-075",
    "null-reference": "ASR-079",
    "claims-complete": "ASR-079",
}
#: The rules under which some members must be the object or array that references stand in.
_RULE_OF_SHAPE = {
    "$.lineage.inherits": "ASR-400",
    "$.lineage.executedBy": "ASR-420",
}


class Flaw(NamedTuple):
    """What is wrong with a value: a code, and the error of a bad text.

    `ref` is what the text says all the same, where it is a ref of a kind that is not allowed.
    """

    code: str
    error: InvalidReference | None = None
    ref: AnyRef | None = None


class Report(NamedTuple):
    """How a finding tells a fault of a reference: the members of `Finding` that follow from it."""

    rule: str
    code: str
    message: str
    component: str | None = None
    span: tuple[int, int] | None = None


def report(field: ReferenceField, path: str, code: str, error: InvalidReference | None) -> Report:
    """The rule, code and message of a fault at the JSON path `path`."""
    if error is not None:
        message = f"{field.path}: {error.message}"
        return Report(error.rule, error.code, message, error.component, error.span)
    if code == "wrong-shape":
        return Report(_RULE_OF_SHAPE.get(path, field.rule), code, codes()[code].meaning)
    rule = _RULE_OF_FAULT.get(code, field.rule)
    return Report(rule, code, f"{field.path}: {codes()[code].meaning}")


def read(field: ReferenceField, value: Any) -> SessionRef | AnyRef | int | Flaw:
    """The session, ref or ordinal that `value` is, by the target of the field; or what is wrong."""
    if field.target == "ordinal":
        return read_ordinal(value)
    return read_session(field, value) if field.target == "session" else read_ref(field, value)


def read_session(field: ReferenceField, value: Any) -> SessionRef | Flaw:
    """The session reference that `value` is, with a ``#`` part only where the field allows it."""
    if not isinstance(value, str):
        return Flaw("bad-member")
    named = session_of(value)
    if isinstance(named, InvalidReference):
        return Flaw("bad-reference", named)
    if named.ref is None or field.target == "session-or-ref":
        return named
    if field.target == "session-or-turn" and isinstance(named.ref, TurnRef):
        return named
    return Flaw("unexpected-ref")


def read_ref(field: ReferenceField, value: Any) -> AnyRef | Flaw:
    """The ref that `value` is, as raw text or as the bare value of the field's entity key."""
    if not isinstance(value, str):
        return Flaw("bad-member")
    ref = _ref(field.key, value)
    if isinstance(ref, InvalidReference):
        return Flaw("bad-reference", ref)
    if isinstance(ref, TurnRef) and field.target not in {"turn-or-record", "session-or-ref"}:
        return Flaw("turn-ref", ref=ref)
    if isinstance(ref, EntityRef) and field.target == "record":
        return Flaw("entity-ref", ref=ref)
    return ref


def read_ordinal(value: Any) -> int | Flaw:
    """The native position that `value` is; a negative one is an integer that maps to nothing."""
    return value if type(value) is int else Flaw("bad-member")


#: How many texts are remembered. The references of one record are asked for close together, and
#: most streams name few sessions.
_REMEMBERED = 4096


@lru_cache(maxsize=_REMEMBERED)
def session_of(text: str) -> SessionRef | InvalidReference:
    """The session reference that `text` is, or why it is none."""
    try:
        return parse(text)
    except InvalidReference as error:
        return error


@lru_cache(maxsize=_REMEMBERED)
def _ref(key: str | None, text: str) -> AnyRef | InvalidReference:
    try:
        refuse_surrogates(text, "ref")
        return Ref.from_raw(text) if key is None else EntityRef(key, text)
    except InvalidReference as error:
        return error
