"""Actor references: ASR-076 to 078."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.checks.examples import Check, Convert, Expected, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

_HEADER = header("s1", participants=[{"id": "ada"}])


def _message(actor: object) -> dict[str, object]:
    return {"type": "message", "seq": 1, "id": "r1", "messageId": "m1", "authorActor": actor}


@rule(
    "ASR-076",
    kind="checked",
    summary="An actor is an object with a participant, a session, an address or a device.",
    bound="Actor refuses an empty one and a session with a # part.",
    codes={
        "bad-actor": Code("error", "an actor is no object, or a member has the wrong type"),
        "empty-actor": Code("error", "an actor has none of the four members"),
        "bad-member": Code("error", "the session of an actor is no string"),
        "unexpected-ref": Code("error", "the session of an actor has a # part"),
    },
    good=Check(
        about="An address in the source's own words.",
        streams=(lines(_HEADER, _message({"address": "/lead/worker"})),),
    ),
    bad=Check(
        about="A name alone says nothing that could be followed.",
        streams=(lines(_HEADER, _message({"displayName": "Ada"})),),
        findings=(
            Expected(
                rule="ASR-076",
                code="empty-actor",
                severity="error",
                session="codex:s1",
                seq=1,
                id="r1",
                path="$.authorActor",
            ),
        ),
    ),
)
def asr_076(view: View) -> Iterable[Finding]:
    """Whoever did something is named by at least one of four things, in one shape everywhere.

    `session`, where it stands, names a whole session.
    """
    return view.of("ASR-076")


@rule(
    "ASR-077",
    kind="checked",
    summary="An actor's participant was declared in the header or earlier.",
    bound="Resolution looks in the header and in declarations with a lower seq.",
    codes={
        "not-declared": Code("error", "neither header nor an earlier declaration declares it"),
        "bad-member": Code("error", "the participant of an actor is no string"),
    },
    good=Check(
        about="A participant that joined later, and spoke after that.",
        streams=(
            lines(
                _HEADER,
                {"type": "declaration", "seq": 1, "id": "r1", "participants": [{"id": "bo"}]},
                {**_message({"participant": "bo"}), "seq": 2, "id": "r2"},
            ),
        ),
    ),
    bad=Check(
        about="A participant whom only a later declaration declares.",
        streams=(
            lines(
                _HEADER,
                _message({"participant": "bo"}),
                {"type": "declaration", "seq": 2, "id": "r2", "participants": [{"id": "bo"}]},
            ),
        ),
        findings=(
            Expected(
                rule="ASR-077",
                code="not-declared",
                severity="error",
                session="codex:s1",
                seq=1,
                id="r1",
                path="$.authorActor.participant",
            ),
        ),
    ),
)
def asr_077(view: View) -> Iterable[Finding]:
    """A participant is introduced before anything is said of it.

    The header introduces participants for the whole stream, a declaration those for the records
    after it.
    """
    return view.of("ASR-077")


_USER = {
    "type": "user",
    "uuid": "u1",
    "parentUuid": None,
    "sessionId": "7d3f0a52-1c64-4e0b-9a51-3b8f6c2d9e10",
    "timestamp": "2026-03-04T09:00:00.000Z",
}


@rule(
    "ASR-078",
    kind="producer",
    summary="Actors come from the source: no address is built, resolved or read out of text.",
    why="A stream shows an address, not whether the source wrote it.",
    bound="No reader makes an actor out of anything but a native member that names one.",
    good=Convert(
        about="A name in the text makes no actor.",
        log=lines({**_USER, "message": {"role": "user", "content": "Bo here: run the tests."}}),
        records=({"type": "session"}, {"type": "message", "authorActor": None}),
        wrong=({"type": "session"}, {"authorActor": {"address": "Bo"}}),
    ),
    bad=Convert(
        about="The type of a user is no device and no address.",
        log=lines(
            {
                **_USER,
                "userType": "external",
                "message": {"role": "user", "content": "Run the tests."},
            }
        ),
        records=({"type": "session"}, {"type": "message", "authorActor": None}),
        wrong=({"type": "session"}, {"authorActor": {"device": "external"}}),
    ),
)
def asr_078(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Who did something is taken from where the source says it, verbatim.

    A producer neither joins parts to an address nor decides, without native evidence, which session
    or participant an address belongs to.
    """
    return ()
