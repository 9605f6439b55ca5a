"""Derived and native identifiers, and those of model calls: ASR-067 to 074."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.checks.envelopes import OBSERVER
from sessionref.checks.examples import Check, Convert, Expected, Resolve, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.checks.envelopes import Envelopes
    from sessionref.checks.view import View
    from sessionref.findings import Finding
    from sessionref.registry import Registry

__all__: list[str] = []


def _rollout(*items: tuple[str, dict[str, object]]) -> str:
    first = ("session_meta", {"id": "thread-1"})
    return lines(
        *(
            {"timestamp": f"2026-03-04T09:00:0{at}.000Z", "type": kind, "payload": payload}
            for at, (kind, payload) in enumerate((first, *items))
        )
    )


_SAID = _rollout(
    (
        "response_item",
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Fix the parser."}],
        },
    )
)


def _assistant(uuid: str, call: str, block: dict[str, object]) -> dict[str, object]:
    return {
        "type": "assistant",
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": "7d3f0a52-1c64-4e0b-9a51-3b8f6c2d9e10",
        "timestamp": "2026-03-04T09:00:00.000Z",
        "requestId": "req_9",
        "message": {
            "id": call,
            "role": "assistant",
            "model": "m",
            "content": [block],
            "usage": {"input_tokens": 3, "output_tokens": 5},
        },
    }


_CALLED = lines(_assistant("u1", "msg_7", {"type": "text", "text": "Done."}))


@rule(
    "ASR-067",
    kind="checked",
    summary="A derived entity key is marked as derived.",
    bound="Readers set idSource or callIdSource to derived on each record whose IDs they made.",
    codes={
        "bad-id-source": Code("warning", "idSource or callIdSource is neither native nor derived"),
    },
    good=Check(
        about="A permission request that the source gave no ID.",
        streams=(
            lines(
                header("s1"),
                {
                    "type": "permission",
                    "seq": 1,
                    "id": "line/7",
                    "requestId": "line/7/request",
                    "idSource": "derived",
                },
            ),
        ),
    ),
    bad=Check(
        about="A mark that says neither: nobody can tell whether the ID is the source's.",
        streams=(
            lines(
                header("s1"),
                {
                    "type": "permission",
                    "seq": 1,
                    "id": "line/7",
                    "requestId": "line/7/request",
                    "idSource": "generated",
                },
            ),
        ),
        findings=(
            Expected(
                rule="ASR-067",
                code="bad-id-source",
                severity="warning",
                session="codex:s1",
                seq=1,
                id="line/7",
                path="$.idSource",
            ),
        ),
    ),
)
def asr_067(view: View) -> Iterator[Finding]:
    """What a converter made up must not look like what the source said.

    `idSource: "derived"` marks the record, `callIdSource: "derived"` a tool call. Whether a value
    without a mark is native, a stream does not show; a mark of another word, it does.
    """
    seen: Envelopes | None = view.observed(OBSERVER)
    for noted in () if seen is None else seen.sources:
        yield view.finding(
            "ASR-067",
            "bad-id-source",
            "warning",
            f"{noted.member} is neither native nor derived",
            row=noted.row,
            path=f"$.{noted.member}",
        )


@rule(
    "ASR-068",
    kind="producer",
    summary="Derived IDs are made from native IDs and positions, not from paths, times or hashes.",
    why="A stream shows the ID, not what went into it.",
    bound="sessionref.scope.derived takes what is allowed and refuses the rest; readers use lines.",
    good=Convert(
        about="An item without an ID is known by its line.",
        log=_SAID,
        records=({"type": "session"}, {"type": "message", "id": "line/2", "idSource": "derived"}),
        wrong=({"type": "session"}, {"id": "2026-03-04T09:00:01.000Z"}),
    ),
    bad=Convert(
        about="Two items with equal content are two items.",
        log=_SAID + _SAID.splitlines(keepends=True)[1],
        records=({"type": "session"}, {"id": "line/2"}, {"id": "line/3"}),
        wrong=({"type": "session"}, {"id": "line/2"}, {"id": "line/2"}),
    ),
)
def asr_068(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A derived ID holds as long as what it was made from.

    Native IDs, ordinals, line numbers and places in a row stay when a file is moved and exported
    again; paths, times of export, content hashes and host names do not. A time is no identity.
    Items whose IDs collide are not merged.
    """
    return ()


@rule(
    "ASR-069",
    kind="producer",
    summary="The same bytes and the same version of the derivation give the same IDs.",
    why="One stream shows one derivation; its source and a second run are not in it.",
    bound="Readers keep no state between logs and draw no random values.",
    good=Convert(
        about="However often this is read, the record has this ID.",
        log=_SAID,
        records=({"type": "session", "id": "h"}, {"id": "line/2"}),
        wrong=({"type": "session"}, {"id": "0b0e7a1e-5d1c-4f6e-8f7a-0a7e6b1c9d22"}),
    ),
    bad=Convert(
        about="A blank line before it counts as a line, each time.",
        log=_SAID.replace("\n", "\n\n", 1),
        records=({"type": "session"}, {"id": "line/3"}),
        wrong=({"type": "session"}, {"id": "line/2"}),
    ),
)
def asr_069(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Whoever exports a log again gets the IDs of the first export.

    Otherwise each citation of a record would break with the next export.
    """
    return ()


@rule(
    "ASR-070",
    kind="checked",
    summary="IDs from positions that the source may rewrite hold for one capture, and say so.",
    bound="Readers set idScope to capture where the entry of the agent says that it rewrites.",
    codes={
        "native-in-capture": Code("warning", "an ID is called native and of one capture only"),
    },
    good=Check(
        about="A position in a file that the source rewrites.",
        streams=(
            lines(
                header("s1", "cline", namespace="laptop-7"),
                {
                    "type": "message",
                    "seq": 1,
                    "id": "row/1",
                    "messageId": "row/1",
                    "idSource": "derived",
                    "idScope": "capture",
                },
            ),
        ),
    ),
    bad=Check(
        about="A native ID stays what it is when its row moves.",
        streams=(
            lines(
                header("s1", "cline", namespace="laptop-7"),
                {
                    "type": "message",
                    "seq": 1,
                    "id": "m1",
                    "messageId": "m1",
                    "idSource": "native",
                    "idScope": "capture",
                },
            ),
        ),
        findings=(
            Expected(
                rule="ASR-070",
                code="native-in-capture",
                severity="warning",
                session="cline:laptop-7:s1",
                seq=1,
                id="m1",
                path="$.idScope",
            ),
        ),
    ),
)
def asr_070(view: View) -> Iterator[Finding]:
    """Where a source rewrites its rows, the third row of today is not the third row of tomorrow.

    IDs made from such positions carry `idScope: "capture"`. The source's own IDs do not become
    capture-scoped because positions change.
    """
    seen: Envelopes | None = view.observed(OBSERVER)
    for row in () if seen is None else seen.scoped:
        yield view.finding(
            "ASR-070",
            "native-in-capture",
            "warning",
            "a native ID does not hold for one capture only",
            row=row,
            path="$.idScope",
        )


_ROW = {
    "type": "message",
    "seq": 1,
    "id": "row/1",
    "messageId": "row/1",
    "idSource": "derived",
    "idScope": "capture",
}


@rule(
    "ASR-071",
    kind="reader",
    summary="An ID of one capture says nothing about an equal one in another.",
    why="It forbids readers a conclusion; both streams are as they should be.",
    bound="From another stream such an ID does not resolve; conflicting captures are candidates.",
    codes={
        "capture-scoped": Code(
            "notice",
            "the ID holds for one capture, and another refers to it; "
            "an error where a target must be there",
        ),
    },
    good=Resolve(
        about="Within the capture the ID means its record.",
        streams=(lines(header("s1", "cline", namespace="n"), _ROW),),
        ref="row/1",
        session="cline:n:s1",
        answer={"state": "resolved", "exact": True, "records": ["row/1"]},
        wrong={"state": "unresolved", "exact": False, "records": []},
    ),
    bad=Resolve(
        about="Two captures that differ: both rows are candidates, and neither is taken.",
        streams=(
            lines(header("s1", "cline", namespace="n"), {**_ROW, "role": "user"}),
            lines(header("s1", "cline", namespace="n"), {**_ROW, "role": "assistant"}),
        ),
        ref="cline:n:s1#row/1",
        answer={"state": "ambiguous", "exact": False, "records": ["row/1", "row/1"]},
        wrong={"state": "resolved", "exact": True, "records": ["row/1"]},
    ),
)
def asr_071(view: View) -> Iterable[Finding]:
    """Two exports of a store that was rewritten in between may both have a row 3.

    They are not the same item for that, so a reference from elsewhere into a capture-scoped ID does
    not resolve.
    """
    return view.of("ASR-071")


@rule(
    "ASR-072",
    kind="producer",
    summary="Native identifiers are the source's, byte for byte.",
    why="The source's bytes are not in the stream.",
    bound="Readers copy texts as they were decoded; what has no UTF-8 form is escaped and marked.",
    good=Convert(
        about="Case, spaces and the form of characters stay.",
        log=_rollout().replace("thread-1", "Thread\u0301 1 "),
        records=({"type": "session", "sessionId": "Thread\u0301 1 "},),
        wrong=({"type": "session", "sessionId": "thread\u0301 1"},),
    ),
    bad=Convert(
        about="A percent-encoded ID is not decoded: it is the ID.",
        log=_rollout().replace("thread-1", "a%3Ab"),
        records=({"type": "session", "sessionId": "a%3Ab"},),
        wrong=({"type": "session", "sessionId": "a:b"},),
    ),
)
def asr_072(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A value that is called native can be searched for in the source and is found.

    Nothing is trimmed, folded, normalized or decoded on the way.
    """
    return ()


@rule(
    "ASR-073",
    kind="producer",
    summary="An inference ID is the source's identifier of the model call, or derived.",
    why="The stream has the value; where it came from, the source and the registry know.",
    bound="Readers take the member that the entry names, and derive an ID where there is none.",
    good=Convert(
        about="The provider's ID of the answer identifies the call.",
        log=_CALLED,
        records=(
            {"type": "session"},
            {"type": "message", "messageId": "u1"},
            {"type": "inference", "inferenceId": "msg_7"},
        ),
        wrong=({"type": "session"}, {"type": "message"}, {"inferenceId": "u1"}),
    ),
    bad=Convert(
        about="A row of a call without any ID gets a derived one.",
        log=_CALLED.replace('"id":"msg_7",', "").replace('"requestId":"req_9",', ""),
        records=(
            {"type": "session"},
            {"type": "message", "messageId": "u1"},
            {"type": "inference", "idSource": "derived"},
        ),
        wrong=({"type": "session"}, {"type": "message"}, {"inferenceId": "", "idSource": "native"}),
    ),
)
def asr_073(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """One call of a model has one identifier, which the provider or the source gave.

    The registry says which native member it is. Where the source records a call and names it in no
    way, the ID is derived and marked.
    """
    return ()


@rule(
    "ASR-074",
    kind="checked",
    summary="The ID of a message is not used as that of a model call.",
    bound="Readers take the two from different members.",
    codes={
        "message-id-as-inference-id": Code(
            "warning", "an inference has the ID of a message and is not marked as derived"
        ),
    },
    good=Check(
        about="Made from the message's ID, and marked as made.",
        streams=(
            lines(
                header("s1"),
                {"type": "message", "seq": 1, "id": "r1", "messageId": "m1"},
                {
                    "type": "inference",
                    "seq": 2,
                    "id": "r2",
                    "inferenceId": "m1/inference",
                    "idSource": "derived",
                },
            ),
        ),
    ),
    bad=Check(
        about="The message's ID passed off as the call's.",
        streams=(
            lines(
                header("s1"),
                {"type": "message", "seq": 1, "id": "r1", "messageId": "m1"},
                {"type": "inference", "seq": 2, "id": "r2", "inferenceId": "m1"},
            ),
        ),
        findings=(
            Expected(
                rule="ASR-074",
                code="message-id-as-inference-id",
                severity="warning",
                session="codex:s1",
                seq=2,
                id="r2",
                path="$.inferenceId",
            ),
        ),
    ),
)
def asr_074(view: View) -> Iterator[Finding]:
    """A message is not a call: one call may give several messages, or none.

    Only where the source documents that its message ID identifies the call may it serve as both;
    the registry would name the same native member for both. Marked as derived, an ID may be made
    from a message's. Equal values are a warning: a source may have given both.
    """
    index = view.index
    seen: Envelopes | None = view.observed(OBSERVER)
    derived = frozenset[int]() if seen is None else seen.derived
    if _documents_it(view.registry, None if index.key is None else index.key.agent):
        return
    values = index.values
    calls = [row for row, kind in enumerate(index.types) if kind == "inference"]
    for row in calls:
        value = values[row]
        if value is not None and row not in derived and index.rows_of("messageId", value):
            yield view.finding(
                "ASR-074",
                "message-id-as-inference-id",
                "warning",
                "a message of the stream has this ID",
                row=row,
                path="$.inferenceId",
            )


def _documents_it(registry: Registry, name: str | None) -> bool:
    """Whether the entry of an agent names one native member for messages and model calls."""
    agent = None if name is None else registry.agent(name)
    if agent is None or agent.ids is None or agent.ids.message is None or agent.inference is None:
        return False
    message, call = agent.ids.message, agent.inference.id
    return message.known and call.known and message.value == call.value
