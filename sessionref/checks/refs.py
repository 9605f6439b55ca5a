"""Records, entities and revisions: ASR-063 to 066."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.checks.examples import Check, Expected, Resolve, header, lines
from sessionref.checks.rules import Code, rule
from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []


def _call(seq: int, call: str = "c1", **members: object) -> dict[str, object]:
    return {"type": "tool_call", "seq": seq, "id": f"r{seq}", "callId": call, **members}


@rule(
    "ASR-063",
    kind="checked",
    summary="A record ID means exactly that record; where one must be there, it is.",
    bound="StreamIndex.resolve gives the one record of that ID, however often it was revised.",
    codes={
        "no-such-record": Code(
            "error", "no record of the stream has this ID; a notice where the table allows that"
        ),
        "supersedes-unknown": Code("error", "supersedes names no record of the stream"),
    },
    good=Check(
        about="A rewind to a record of the stream, though it was revised since.",
        streams=(
            lines(
                header("s1"),
                _call(1),
                _call(2, supersedes="r1"),
                {"type": "rewind", "seq": 3, "id": "r3", "to": "r1"},
            ),
        ),
    ),
    bad=Check(
        about="A rewind to a record that the stream does not have.",
        streams=(
            lines(header("s1"), _call(1), {"type": "rewind", "seq": 2, "id": "r2", "to": "r9"}),
        ),
        findings=(
            Expected(
                rule="ASR-063",
                code="no-such-record",
                severity="error",
                session="codex:s1",
                seq=2,
                id="r2",
                path="$.to",
            ),
        ),
    ),
)
def asr_063(view: View) -> Iterable[Finding]:
    """A ref that is a record ID resolves to the record with that ID, and to no revision of it.

    Where the table of reference fields asks for a target in the stream, an ID that no record has is
    an error; elsewhere it is an absent target.
    """
    return view.of("ASR-063")


@rule(
    "ASR-064",
    kind="reader",
    summary="An entity ref means the latest revision of its one chain; of several, none.",
    why="What a ref means is worked out by readers; streams may hold several chains of one key.",
    bound="StreamIndex.resolve gives Ambiguous with all candidates and never picks one.",
    codes={
        "ambiguous": Code(
            "error",
            "several chains could be meant; a notice where the table allows an absent target",
        ),
        "supersedes-fork": Code("error", "two records supersede the same one: two are latest"),
    },
    good=Resolve(
        about="A call that was revised: the ref means what it became.",
        streams=(lines(header("s1"), _call(1), _call(2, supersedes="r1")),),
        ref="callId=c1",
        session="codex:s1",
        answer={"state": "resolved", "exact": True, "records": ["r2"]},
        wrong={"state": "resolved", "exact": True, "records": ["r1"]},
    ),
    bad=Resolve(
        about="A source that used an ID again in a later turn: two chains, and none is taken.",
        streams=(lines(header("s1"), _call(1, turnId="t1"), _call(2, turnId="t2")),),
        ref="callId=c1",
        session="codex:s1",
        answer={"state": "ambiguous", "exact": False, "records": ["r1", "r2"]},
        wrong={"state": "resolved", "exact": True, "records": ["r2"]},
    ),
)
def asr_064(view: View) -> Iterable[Finding]:
    """`key=value` names a thing, and the thing is its latest revision.

    Records joined by `supersedes` are one chain. Two records with the same key and no such link are
    two chains, and then the ref could mean either: a reader treats it as unresolved and does not
    take the first, the last or the nearest.
    """
    return view.of("ASR-064")


@rule(
    "ASR-065",
    kind="checked",
    summary="Records of an entity carry its key, and a revision carries the same one.",
    bound="A link between different keys joins nothing; an empty key is no identity.",
    codes={
        "missing-entity-key": Code("error", "a record of a type with an entity key has none"),
        "supersedes-other-key": Code("error", "a revision has another entity key"),
    },
    good=Check(
        about="A revision with the key of what it revises; a type without a key needs none.",
        streams=(
            lines(
                header("s1"),
                _call(1),
                _call(2, supersedes="r1"),
                {"type": "hook", "seq": 3, "id": "r3"},
            ),
        ),
    ),
    bad=Check(
        about="A revision that calls the same thing by another name.",
        streams=(lines(header("s1"), _call(1), _call(2, "c2", supersedes="r1")),),
        findings=(
            Expected(
                rule="ASR-065",
                code="supersedes-other-key",
                severity="error",
                session="codex:s1",
                seq=2,
                id="r2",
                path="$.supersedes",
            ),
        ),
    ),
)
def asr_065(view: View) -> Iterator[Finding]:
    """A message has a `messageId`, a tool call a `callId`, and so on for the types with a key.

    Without it nothing can refer to the entity. A revision is a new record of the same entity, so it
    repeats the key.
    """
    yield from view.of("ASR-065")
    index = view.index
    keys = ENTITY_KEY_OF_TYPE
    types = index.types
    for row in [row for row, value in enumerate(index.values) if value is None]:
        kind = types[row]
        if kind in keys:
            yield view.finding(
                "ASR-065",
                "missing-entity-key",
                "error",
                f"a record of type {kind} carries its {keys[kind]}",
                row=row,
                path=f"$.{keys[kind]}",
            )


@rule(
    "ASR-066",
    kind="reader",
    summary="Equal values of different entity keys are different entities.",
    why="A source may give a message and a model call equal IDs, so no stream is wrong in it.",
    bound="StreamIndex looks a value up under its key; a pointer of that name is no identity.",
    good=Resolve(
        about="A message and a model call with equal IDs: each ref means its own.",
        streams=(
            lines(
                header("s1"),
                {"type": "message", "seq": 1, "id": "r1", "messageId": "m_01X"},
                {
                    "type": "inference",
                    "seq": 2,
                    "id": "r2",
                    "inferenceId": "m_01X",
                    "idSource": "derived",
                },
            ),
        ),
        ref="messageId=m_01X",
        session="codex:s1",
        answer={"state": "resolved", "exact": True, "records": ["r1"]},
        wrong={"state": "ambiguous", "exact": False, "records": ["r1", "r2"]},
    ),
    bad=Resolve(
        about="The messages of a model call point at it; they are not it.",
        streams=(
            lines(
                header("s1"),
                {"type": "inference", "seq": 1, "id": "r1", "inferenceId": "i1"},
                {"type": "message", "seq": 2, "id": "r2", "messageId": "m1", "inferenceId": "i1"},
            ),
        ),
        ref="inferenceId=i1",
        session="codex:s1",
        answer={"state": "resolved", "exact": True, "records": ["r1"]},
        wrong={"state": "ambiguous", "exact": False, "records": ["r1", "r2"]},
    ),
)
def asr_066(view: View) -> Iterable[Finding]:
    """An identifier means something only under its key and on the types that the key refers to.

    A member with the name of a key on a record of another type points at an entity: `inferenceId`
    on a message says which call produced it.
    """
    return view.of("ASR-066")
