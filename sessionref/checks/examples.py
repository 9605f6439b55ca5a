"""Examples: something to look at, a question about it, and the right answer.

Each rule has some, in our own words and values; they are run as tests, and they are the beginning
of the conformance vectors for other implementations (`grammar/conformance/streams/`).
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import msgspec

__all__ = [
    "Check",
    "Convert",
    "Example",
    "Expected",
    "Judge",
    "Relate",
    "Resolve",
    "Total",
    "facet",
    "header",
    "lines",
]


class Expected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What of a finding an implementation has to agree on."""

    rule: str | None
    code: str
    severity: str
    session: str | None = None
    seq: int | None = None
    id: str | None = None
    path: str | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True, tag="check", tag_field="operation"):
    """Streams that are checked together, each a text of JSON lines, and all findings."""

    about: str
    streams: tuple[str, ...]
    findings: tuple[Expected, ...] = ()


class Resolve(msgspec.Struct, frozen=True, kw_only=True, tag="resolve", tag_field="operation"):
    """A ref that is resolved among streams: a session reference, or a raw ref into `session`.

    `answer` holds `state`, `exact` and the IDs of the `records` (of an ambiguous ref: the
    candidates), or `error`, the code of what is no reference. `wrong` is an answer that the rule
    excludes.
    """

    about: str
    streams: tuple[str, ...]
    ref: str
    session: str | None = None
    answer: dict[str, Any]
    wrong: dict[str, Any]


class Convert(msgspec.Struct, frozen=True, kw_only=True, tag="convert", tag_field="operation"):
    """A native log, and records that the stream made from it must have, in this order.

    Of each the members that matter are given, those of None must be absent; other records may stand
    between. `wrong` are records that the rule excludes.
    """

    about: str
    log: str
    records: tuple[dict[str, Any], ...]
    wrong: tuple[dict[str, Any], ...]


class Judge(msgspec.Struct, frozen=True, kw_only=True, tag="judge", tag_field="operation"):
    """A record whose originality is asked for: ``copy``, ``original``, ``unknown``, or None.

    `ref` is a session reference to the record. `answer` holds `originality`; `wrong` is an answer
    that the rule excludes.
    """

    about: str
    streams: tuple[str, ...]
    ref: str
    answer: dict[str, Any]
    wrong: dict[str, Any]


class Total(msgspec.Struct, frozen=True, kw_only=True, tag="total", tag_field="operation"):
    """Streams whose use is totalled.

    `answer` holds what matters of `countedOnce`, `original`, `copied` and `unknown` of the whole
    (objects with `calls` and the token counts), and `mayIncludeCopies`; `wrong` is an answer that
    the rule excludes.
    """

    about: str
    streams: tuple[str, ...]
    answer: dict[str, Any]
    wrong: dict[str, Any]


class Relate(msgspec.Struct, frozen=True, kw_only=True, tag="relate", tag_field="operation"):
    """Streams whose sessions are related to each other.

    `answer` holds `sessions`, each with `session` and `root` (true or null), and `edges`, each with
    what matters of `from`, `to`, `facet`, `state` and `exact`; all there are, in any order. `wrong`
    is an answer that the rule excludes.
    """

    about: str
    streams: tuple[str, ...]
    answer: dict[str, Any]
    wrong: dict[str, Any]


Example: TypeAlias = Check | Resolve | Convert | Judge | Total | Relate


def header(session: str = "s1", agent: str = "codex", **members: Any) -> dict[str, Any]:
    """The header of a stream, with `members` beside what every header has."""
    return {
        "type": "session",
        "seq": 0,
        "id": "h",
        "agent": {"name": agent},
        "sessionId": session,
        **members,
    }


def facet(session: str, **members: Any) -> dict[str, Any]:
    """A facet of a lineage that names a session, with `members` beside what each has."""
    return {"session": session, "evidence": "native_field", **members}


def lines(*records: dict[str, Any]) -> str:
    """`records` as JSON lines."""
    return "".join(map(_line, records))


def _line(record: dict[str, Any]) -> str:
    try:
        return msgspec.json.encode(record).decode() + "\n"
    except UnicodeEncodeError:  # a lone surrogate, which JSON can escape
        return json.dumps(record, separators=(",", ":")) + "\n"
