"""Find everything that is wrong with a text that is not a reference, each fault with its place.

The recognizer that is compiled from the grammar decides whether a text is a reference; this module
is asked only after a refusal. It finds a fault in every text that the recognizer refuses, and none
in a text that it accepts; tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref._compiled import AGENT_NAME, ENTITY_KEYS, MUST_ENCODE, PCT_RUN, TURN_KEY
from sessionref._recognizers import compiled
from sessionref.errors import InvalidReference

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["diagnose", "diagnose_agent", "diagnose_fragment"]

#: Agent, namespace and session ID.
_PARTS = 3

_keys = frozenset((*ENTITY_KEYS, TURN_KEY))

# What may go wrong inside a component, in the order of trial. Neighbouring faults of one kind are
# one finding; a '%' takes up to two of the characters that should have been its digits.
_REST = rf"|(?P<surrogate>[\ud800-\udfff]+)|(?P<raw>{MUST_ENCODE.replace('%', '')}+)"
_FAULT = rf"(?P<octets>{PCT_RUN})|(?P<percent>%[^%]{{0,2}}){_REST}"
_FAULT_IN_RECORD_ID = rf"(?P<percent>%+){_REST}"


def diagnose(text: str) -> Iterator[InvalidReference]:
    """The faults of `text` as a session reference; none when it is one.

    Faults of the grammar (ASR-056, 059, 061) come first, in the order of the text, then octets that
    are not valid UTF-8 (ASR-060), which only matter in a text that is otherwise well formed.
    """
    if not text:
        yield InvalidReference("empty", "ASR-061", "reference", (0, 0), text, "empty text")
        return
    head, mark, fragment = text.partition("#")
    octets: list[InvalidReference] = []
    names = head.split(":")
    yield from diagnose_agent(names[0], text)
    if len(names) == 1:
        yield InvalidReference(
            "missing-session-id",
            "ASR-061",
            "session-id",
            (len(head), len(head)),
            text,
            "there is no ':' and no session ID",
        )
    place = len(names[0]) + 1
    too_many = len(names) > _PARTS
    if too_many:
        third = sum(map(len, names[:_PARTS])) + 2
        yield InvalidReference(
            "too-many-components",
            "ASR-061",
            "reference",
            (third, third + 1),
            text,
            "more than a namespace and a session ID",
        )
    for number, name in enumerate(names[1:], 1):
        component = "namespace" if number == 1 and len(names) >= _PARTS else "session-id"
        if not name and not too_many:
            yield InvalidReference(
                "empty-component",
                "ASR-061",
                component,
                (place, place),
                text,
                f"empty {component}",
            )
        yield from _component(name, place, component, text, octets)
        place += len(name) + 1
    if mark:
        yield from _fragment(fragment, len(head) + 1, text, octets)
    yield from octets


def diagnose_fragment(fragment: str) -> Iterator[InvalidReference]:
    """The faults of `fragment` as what may follow the ``#`` of a session reference."""
    octets: list[InvalidReference] = []
    yield from _fragment(fragment, 0, fragment, octets)
    yield from octets


def diagnose_agent(name: str, text: str) -> Iterator[InvalidReference]:
    """What is wrong with `name`, which begins `text`, as an agent name (ASR-056)."""
    good = compiled(AGENT_NAME).match(name)
    end = good.end() if good else 0
    if end < len(name) or not name:
        yield InvalidReference(
            "bad-agent-name",
            "ASR-056",
            "agent",
            (end, min(end + 1, len(name))),
            text,
            "empty agent name" if not name else "not an agent name",
        )


def _fragment(
    fragment: str, place: int, text: str, octets: list[InvalidReference]
) -> Iterator[InvalidReference]:
    if not fragment:
        yield InvalidReference(
            "empty-ref", "ASR-061", "ref", (place, place), text, "nothing follows the '#'"
        )
        return
    key, equals, value = fragment.partition("=")
    if not equals:
        yield from _record_id(key, place, text)
        return
    if key not in _keys:
        yield InvalidReference(
            "unknown-entity-key",
            "ASR-061",
            "key",
            (place, place + len(key)),
            text,
            "not an entity key and not turnId",
        )
    place += len(key) + 1
    if not value:
        yield InvalidReference(
            "empty-value", "ASR-061", "value", (place, place), text, "nothing follows the '='"
        )
    yield from _component(value, place, "value", text, octets)


def _component(
    name: str, place: int, component: str, text: str, octets: list[InvalidReference]
) -> Iterator[InvalidReference]:
    for fault in compiled(_FAULT).finditer(name):
        span = (place + fault.start(), place + fault.end())
        match fault.lastgroup:
            case "octets":
                invalid = _invalid_utf8(fault[0], span[0], component, text)
                if invalid is not None:
                    octets.append(invalid)
            case "percent":
                yield InvalidReference(
                    "bad-percent-encoding",
                    "ASR-061",
                    component,
                    span,
                    text,
                    "'%' without two hexadecimal digits",
                )
            case "surrogate":
                yield _surrogate(component, span, text)
            case _:
                yield _forbidden(component, span, text)


def _record_id(name: str, place: int, text: str) -> Iterator[InvalidReference]:
    for fault in compiled(_FAULT_IN_RECORD_ID).finditer(name):
        span = (place + fault.start(), place + fault.end())
        match fault.lastgroup:
            case "percent":
                yield InvalidReference(
                    "unencodable-record-id",
                    "ASR-059",
                    "record-id",
                    span,
                    text,
                    "a record ID is never percent-encoded",
                )
            case "surrogate":
                yield _surrogate("record-id", span, text)
            case _:
                yield _forbidden("record-id", span, text)


def _surrogate(component: str, span: tuple[int, int], text: str) -> InvalidReference:
    return InvalidReference(
        "surrogate", "ASR-060", component, span, text, f"surrogate code point in the {component}"
    )


def _forbidden(component: str, span: tuple[int, int], text: str) -> InvalidReference:
    return InvalidReference(
        "forbidden-character",
        "ASR-059",
        component,
        span,
        text,
        f"character that must be percent-encoded in the {component}"
        if component != "record-id"
        else "character that no record ID in a reference may hold",
    )


def _invalid_utf8(run: str, place: int, component: str, text: str) -> InvalidReference | None:
    try:
        bytes.fromhex(run.replace("%", "")).decode("utf-8")
    except UnicodeDecodeError as error:
        span = (place + 3 * error.start, place + 3 * error.end)
        return InvalidReference(
            "invalid-utf8",
            "ASR-060",
            component,
            span,
            text,
            f"octets that are not valid UTF-8 in the {component}",
        )
    return None
