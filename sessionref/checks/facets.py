"""Facets of a lineage and their evidence: ASR-400 to 406."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.checks.examples import Check, Convert, Expected, Relate, facet, header, lines
from sessionref.checks.rules import Code, rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.agent import Agent
    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__: list[str] = []

#: In the examples a session of this name is in scope, so that what names it resolves.
_PARENT = lines(header("p1", producer={"name": "x", "lossy": ["lineage"]}))

_ME = "7d3f0a52-1c64-4e0b-9a51-3b8f6c2d9e10"
_OTHER = "91b7c3de-5a20-4f86-8e14-2d7c60f1ab35"


def _child(**lineage: Any) -> str:
    return lines(header("s1", lineage=lineage))


def _of_header(number: str, code: str, severity: str, path: str) -> Expected:
    return Expected(
        rule=number, code=code, severity=severity, session="codex:s1", seq=0, id="h", path=path
    )


def _row(uuid: str, text: str, session: str = _ME, **members: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": session,
        "timestamp": "2026-03-04T09:00:00.000Z",
        "cwd": "/srv/lib",
        "message": {"role": "user", "content": text},
        **members,
    }


@rule(
    "ASR-400",
    kind="checked",
    summary="A facet is an object with evidence, and names a session without a # part.",
    bound="A facet that cannot be read costs that facet alone; without evidence it makes no edge.",
    codes={
        "wrong-shape": Code("error", "the lineage, a facet or an entry of executedBy is no object"),
        "bad-facet": Code("error", "a facet is null, or the role is no string"),
        "missing-evidence": Code("error", "a facet has no evidence"),
        "bad-session-reference": Code("error", "a facet names no session"),
        "bad-member": Code("error", "the session of a facet is no string"),
        "unexpected-ref": Code("error", "the session of a facet has a # part"),
    },
    good=Check(
        about="Spawned by one session and executed by another, both with evidence.",
        streams=(
            _child(spawnedBy=facet("codex:p1"), executedBy=[facet("codex:p2")]),
            _PARENT,
            lines(header("p2")),
        ),
    ),
    bad=Check(
        about="A relation that nothing is said to show.",
        streams=(_child(spawnedBy={"session": "codex:p1"}), _PARENT),
        findings=(_of_header("ASR-400", "missing-evidence", "error", "$.lineage.spawnedBy"),),
    ),
)
def asr_400(view: View) -> Iterable[Finding]:
    """Each relation is a claim of its own, with what it rests on beside it.

    `session` names a whole session; a record of it stands in a member of its own.
    """
    return view.of("ASR-400")


@rule(
    "ASR-401",
    kind="reader",
    summary="What a stream does not say of its lineage is unknown: no facet makes no root.",
    why="A stream may leave out every facet; only what is made of their absence can be wrong.",
    bound="Effective.root is True or None, never False; the forest has no root by absence.",
    good=Relate(
        about="A stream without any lineage: nobody knows whether it has a parent.",
        streams=(lines(header("s1", scope="primary")),),
        answer={"sessions": [{"session": "codex:s1", "root": None}], "edges": []},
        wrong={"sessions": [{"session": "codex:s1", "root": True}], "edges": []},
    ),
    bad=Relate(
        about="A role and a fresh context say nothing about a parent either.",
        streams=(
            _child(role="worker", inherits={"mode": "none", "evidence": "native_field"}),
            lines(header("s2", lineage={"root": True})),
        ),
        answer={
            "sessions": [
                {"session": "codex:s1", "root": None},
                {"session": "codex:s2", "root": True},
            ],
            "edges": [],
        },
        wrong={
            "sessions": [
                {"session": "codex:s1", "root": True},
                {"session": "codex:s2", "root": True},
            ],
            "edges": [],
        },
    ),
)
def asr_401(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Only a claim says something; that it is missing says nothing.

    So readers do not take a session for a root, or for one without a parent, because no facet names
    a parent.
    """
    return ()


@rule(
    "ASR-402",
    kind="checked",
    summary="A root has no parent facet, and is claimed only where the source can tell.",
    bound="Where a parent facet stands beside root: true, readers take the root for unknown.",
    codes={
        "root-with-parent": Code("error", "root stands beside a facet that names a parent"),
        "bad-root": Code("error", "root is something else than true"),
        "undocumented-root": Code(
            "warning", "the agent's entry does not say how its sources tell roots"
        ),
    },
    good=Check(
        about="A thread without a parent, whose turns another session ran: that is no parent.",
        streams=(
            lines(
                header(
                    "t1",
                    "t3-code",
                    namespace="env-1",
                    lineage={"root": True, "executedBy": [facet("codex:p1")]},
                )
            ),
            _PARENT,
        ),
    ),
    bad=Check(
        about="A root that was forked from another session.",
        streams=(
            lines(
                header(
                    "t1",
                    "t3-code",
                    namespace="env-1",
                    lineage={"root": True, "forkedFrom": facet("codex:p1")},
                )
            ),
            _PARENT,
        ),
        findings=(
            Expected(
                rule="ASR-402",
                code="root-with-parent",
                severity="error",
                session="t3-code:env-1:t1",
                seq=0,
                id="h",
                path="$.lineage.root",
            ),
        ),
    ),
)
def asr_402(view: View) -> Iterator[Finding]:
    """`root: true` says that there is no parent of any kind.

    So it cannot stand with `spawnedBy`, `forkedFrom`, `continues`, `relatedUnknown`, or with
    `inherits` that takes records over. Which declaration claims which of the two makes no
    difference: what counts is the lineage at the end. A producer claims it only where the agent's
    entry in the registry says by what the source tells roots from others.
    """
    yield from view.of("ASR-402")
    agent = view.agent
    if agent is None or (agent.root is not None and agent.root.possible.value == "yes"):
        return
    for claim in view.claimed.claims:
        if claim.facet == "root" and claim.value is True:
            yield claim.place.finding(
                "ASR-402",
                "undocumented-root",
                f"the registry does not say how sessions of {agent.short} are known to be roots",
                claim.path,
                "warning",
            )


@rule(
    "ASR-403",
    kind="producer",
    summary="Facets rest on positive evidence, not on what looks alike or is near.",
    why="A stream shows what evidence is named, not whether the source has it.",
    bound="Readers claim a facet from a native member or structure that the registry names.",
    good=Convert(
        about="A text that mentions another session relates nothing.",
        log=lines(_row("u1", f"Go on with session {_OTHER}.")),
        records=({"type": "session", "sessionId": _ME, "lineage": None},),
        wrong=({"type": "session", "lineage": {"continues": {"reason": "resume"}}},),
    ),
    bad=Convert(
        about="A rollout in the folder and from the time of another is not forked from it.",
        log=lines(
            {
                "timestamp": "2026-03-04T09:00:00.000Z",
                "type": "session_meta",
                "payload": {"id": "thread-2", "cwd": "/srv/lib"},
            }
        ),
        records=({"type": "session", "sessionId": "thread-2", "lineage": {"forkedFrom": None}},),
        wrong=({"type": "session", "lineage": {"forkedFrom": {"session": "codex:thread-1"}}},),
    ),
)
def asr_403(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Something in the source has to say that two sessions are related, and how.

    Equal content, times that fit, a shared folder and files side by side say neither.
    """
    return ()


@rule(
    "ASR-404",
    kind="checked",
    summary="Evidence is one of three values; an inference follows a published rule.",
    bound="Facets with other evidence make no edge; readers infer only by rules of the registry.",
    codes={
        "bad-evidence": Code("error", "evidence is none of the three values"),
        "unpublished-rule": Code(
            "warning", "the agent's entry has no rule by which this facet is inferred"
        ),
    },
    good=Check(
        about="A boundary that a rule of Codex's entry gives.",
        streams=(
            lines(
                header(
                    "s1",
                    lineage={
                        "inherits": {
                            "mode": "copied",
                            "from": "codex:p1",
                            "localThroughId": "r1",
                            "evidence": "converter_inference",
                        }
                    },
                ),
                {"type": "hook", "seq": 1, "id": "r1"},
            ),
            _PARENT,
        ),
    ),
    bad=Check(
        about="How sure a producer is, is no evidence.",
        streams=(_child(spawnedBy=facet("codex:p1", evidence="likely")), _PARENT),
        findings=(_of_header("ASR-404", "bad-evidence", "error", "$.lineage.spawnedBy.evidence"),),
    ),
)
def asr_404(view: View) -> Iterator[Finding]:
    """A native field says it, the way in which the source stores it says it, or a rule infers it.

    The rule by which a producer infers a facet stands in the agent's entry in the registry, so that
    readers can judge it.
    """
    yield from view.of("ASR-404")
    agent = view.agent
    if agent is None:
        return
    for claim in view.claimed.claims:
        if getattr(claim.value, "evidence", None) == "converter_inference" and not _is_inferred(
            agent, claim.facet
        ):
            yield claim.place.finding(
                "ASR-404",
                "unpublished-rule",
                f"the registry has no rule by which {claim.facet} of {agent.short} is inferred",
                f"{claim.path}.evidence",
                "warning",
            )


def _is_inferred(agent: Agent, name: str) -> bool:
    """Whether a rule of the entry infers a facet, or a member of it."""
    member = f"lineage.{name}"
    return any(
        one.yields == "converter_inference"
        and any(about == member or about.startswith(f"{member}.") for about in one.about)
        for one in agent.rules or ()
    )


@rule(
    "ASR-405",
    kind="producer",
    summary="A parent pointer of unknown meaning becomes relatedUnknown, and nothing more.",
    why="A stream with a guessed facet looks like one whose source said so.",
    bound="Readers give a pointer the facet that the registry names for it.",
    good=Convert(
        about="Rows of another session before the first own one: how it came so, nothing says.",
        log=lines(_row("u1", "Find it.", _OTHER), _row("u2", "Go on.", parentUuid="u1")),
        records=(
            {
                "type": "session",
                "sessionId": _ME,
                "lineage": {
                    "relatedUnknown": {"session": f"claude-code:{_OTHER}"},
                    "continues": None,
                },
            },
        ),
        wrong=({"type": "session", "lineage": {"continues": {"reason": "resume"}}},),
    ),
    bad=Convert(
        about="A pointer whose meaning is known: nothing is left for relatedUnknown.",
        log=lines(
            _row("u1", "Find it.", forkedFrom={"sessionId": _OTHER, "messageUuid": "x1"}),
            _row("u2", "Go on.", parentUuid="u1"),
        ),
        records=(
            {
                "type": "session",
                "lineage": {
                    "forkedFrom": {"session": f"claude-code:{_OTHER}"},
                    "relatedUnknown": None,
                },
            },
        ),
        wrong=({"type": "session", "lineage": {"forkedFrom": None}},),
    ),
)
def asr_405(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A source can name a parent and not say what it is to the child.

    Then that is all that a producer says. Whether it was a delegation, a fork or a continuation, it
    does not guess.
    """
    return ()


@rule(
    "ASR-406",
    kind="reader",
    summary="A parent that is not there makes no child invalid; it is shown as unresolved.",
    why="A stream may name any session; what becomes of a child whose parent is gone, readers say.",
    bound="A missing session is a notice and a placeholder in the forest, with an edge to it.",
    good=Relate(
        about="The parent was never exported: the edge stands, and says that it leads nowhere.",
        streams=(_child(spawnedBy=facet("codex:gone")),),
        answer={
            "sessions": [{"session": "codex:s1"}],
            "edges": [
                {
                    "from": "codex:s1",
                    "to": "codex:gone",
                    "facet": "spawnedBy",
                    "state": "unresolved",
                    "exact": False,
                }
            ],
        },
        wrong={"sessions": [{"session": "codex:s1"}], "edges": []},
    ),
    bad=Relate(
        about="The parent is there and the record that it names is not: the edge is not exact.",
        streams=(_child(forkedFrom=facet("codex:p1", record="r9")), _PARENT),
        answer={
            "sessions": [{"session": "codex:s1"}, {"session": "codex:p1"}],
            "edges": [
                {
                    "from": "codex:s1",
                    "to": "codex:p1",
                    "facet": "forkedFrom",
                    "state": "resolved",
                    "exact": False,
                }
            ],
        },
        wrong={
            "sessions": [{"session": "codex:s1"}, {"session": "codex:p1"}],
            "edges": [
                {
                    "from": "codex:s1",
                    "to": "codex:p1",
                    "facet": "forkedFrom",
                    "state": "resolved",
                    "exact": True,
                }
            ],
        },
    ),
)
def asr_406(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Lineage is what the child claims, and a child stands by itself.

    A reader that does not have the parent says so and reads the child. A parent that changes never
    asks that its children be written anew.
    """
    return ()
