"""Session keys, namespaces and agent names: ASR-050 to 058."""

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

__all__: list[str] = []

_PARENT = "7d3f0a52-1c64-4e0b-9a51-3b8f6c2d9e10"
_SUBAGENT_LOG = lines(
    {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": _PARENT,
        "agentId": "c0ffee1",
        "isSidechain": True,
        "timestamp": "2026-03-04T09:00:00.000Z",
        "message": {"role": "user", "content": "List the call sites."},
    }
)


def _message(seq: int, **members: object) -> dict[str, object]:
    return {"type": "message", "seq": seq, "id": f"r{seq}", "messageId": f"m{seq}", **members}


@rule(
    "ASR-050",
    kind="checked",
    summary="Streams are of one session exactly when their session keys are equal.",
    bound="SessionKey compares so; a scope joins captures by it and keeps contradictions apart.",
    codes={
        "no-header": Code("error", "the stream has no header, so it names no session"),
        "identity-conflict": Code("warning", "streams of one key contradict each other"),
    },
    good=Check(
        about="The same session, once as it was and once resumed: one session.",
        streams=(
            lines(header("s1"), _message(1)),
            lines(header("s1"), _message(1), _message(2)),
        ),
    ),
    bad=Check(
        about="Two streams of one key in which the same place holds different records.",
        streams=(
            lines(header("s1"), _message(1, role="user")),
            lines(header("s1"), _message(1, role="assistant")),
        ),
        findings=(
            Expected(
                rule="ASR-050",
                code="identity-conflict",
                severity="warning",
                session="codex:s1",
            ),
        ),
    ),
)
def asr_050(view: View) -> Iterable[Finding]:
    """A session is known by agent, namespace and session ID, and by nothing else.

    The agents are compared as what their names stand for, an absent namespace and null are the same
    and the session ID is compared as it is. So two streams with equal keys tell of one session; if
    neither is the beginning of the other, both are kept apart and none is believed.
    """
    return view.of("ASR-050")


@rule(
    "ASR-051",
    kind="checked",
    summary="The header has a session ID: text, not empty, as the source has it.",
    bound="SessionKey refuses an empty ID and changes no character of any.",
    codes={
        "missing-member": Code("error", "the header has no sessionId"),
        "bad-member": Code("error", "sessionId is no string"),
        "empty-component": Code("error", "sessionId is empty"),
    },
    good=Check(
        about="An ID with a space at its end is taken as it is.",
        streams=(lines(header("Night run ")),),
    ),
    bad=Check(
        about="An empty session ID.",
        streams=(lines(header("")),),
        findings=(
            Expected(
                rule="ASR-051",
                code="empty-component",
                severity="error",
                seq=0,
                id="h",
                path="$.sessionId",
            ),
        ),
    ),
)
def asr_051(view: View) -> Iterable[Finding]:
    """`sessionId` is the source's own identifier of the session, to the last character.

    It is not trimmed, folded, prefixed or encoded. That it is there, is text and is not empty, a
    stream shows; whether it is the source's own value, only the source does.
    """
    return view.of("ASR-051")


@rule(
    "ASR-052",
    kind="producer",
    summary="Session ID and namespace come from where the registry entry of the agent says.",
    why="A stream holds the values, not the native members that they were taken from.",
    bound="Each reader of a native format takes them from the members that the entry names.",
    good=Convert(
        about="Rows of a subagent carry its parent's session ID: its own ID is the agentId.",
        log=_SUBAGENT_LOG,
        records=({"type": "session", "sessionId": "c0ffee1"},),
        wrong=({"type": "session", "sessionId": _PARENT},),
    ),
    bad=Convert(
        about="The first session_meta of a rollout names the session, not one in copied history.",
        log=lines(
            {
                "timestamp": "2026-03-04T09:00:00.000Z",
                "type": "session_meta",
                "payload": {"id": "child-1", "forked_from_id": "parent-1"},
            },
            {
                "timestamp": "2026-03-04T09:00:00.000Z",
                "type": "session_meta",
                "payload": {"id": "parent-1"},
            },
        ),
        records=({"type": "session", "sessionId": "child-1"},),
        wrong=({"type": "session", "sessionId": "parent-1"},),
    ),
)
def asr_052(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """Where an agent has an entry in the registry, the entry says which native value is what.

    A producer follows it, even where another value looks more like an identifier.
    """
    return ()


@rule(
    "ASR-053",
    kind="producer",
    summary="Paths, file names, times and hashes are no session identity.",
    why="A session ID may look like a path and be the source's own; the stream cannot tell.",
    bound="Readers get bytes and a name for messages; no name, path or time enters a key.",
    good=Convert(
        about="A transcript names its session in its rows, whatever the file is called.",
        log=_SUBAGENT_LOG,
        records=({"type": "session", "agent": {"name": "claude-code"}, "sessionId": "c0ffee1"},),
        wrong=({"type": "session", "sessionId": "agent-c0ffee1"},),
    ),
    bad=Convert(
        about="The time at which a rollout began is no part of its identity.",
        log=lines(
            {
                "timestamp": "2026-03-04T09:00:00.000Z",
                "type": "session_meta",
                "payload": {"id": "thread-1", "timestamp": "2026-03-04T08:59:59.000Z"},
            }
        ),
        records=({"type": "session", "sessionId": "thread-1", "namespace": None},),
        wrong=({"type": "session", "sessionId": "rollout-2026-03-04T08-59-59-thread-1"},),
    ),
)
def asr_053(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A session stays the same when its file is moved, renamed, compressed or archived.

    So nothing that changes then can be part of its key, unless the source itself uses such a value
    as its identifier.
    """
    return ()


@rule(
    "ASR-054",
    kind="checked",
    summary="Session IDs that are not unique everywhere have a namespace, and it is not empty.",
    bound="The registry says which agents need one; readers ask for it or take the container's ID.",
    codes={
        "missing-namespace": Code("error", "IDs of this agent are not unique without a namespace"),
        "bad-member": Code("error", "namespace is no string"),
        "empty-component": Code("error", "namespace is empty"),
    },
    good=Check(
        about="A counter of one installation, with the installation beside it.",
        streams=(lines(header("20260304_2", "goose", namespace="laptop-7")),),
    ),
    bad=Check(
        about="The same counter alone: every installation has a session of that name.",
        streams=(lines(header("20260304_2", "goose")),),
        findings=(
            Expected(
                rule="ASR-054",
                code="missing-namespace",
                severity="error",
                session="goose:20260304_2",
                seq=0,
                id="h",
                path="$.namespace",
            ),
        ),
    ),
)
def asr_054(view: View) -> Iterator[Finding]:
    """Counters, times and folders name a session in one installation only.

    The registry says which agents have such IDs, always or in the cases that a published rule of
    the entry describes. Their streams carry a namespace for the installation, profile, account or
    enclosing container.
    """
    yield from view.of("ASR-054")
    key = view.index.key
    if key is None or key.namespace is not None:
        return
    agent = view.agent
    if agent is not None and agent.needs_namespace(key.session_id):
        yield view.finding(
            "ASR-054",
            "missing-namespace",
            "error",
            f"this ID of {agent.short} is not unique without a namespace",
            path="$.namespace",
        )


@rule(
    "ASR-055",
    kind="producer",
    summary="A namespace stays the same: it comes from the caller or is made once and saved.",
    why="One stream shows one namespace, not where it came from or what the next will be.",
    bound="The readers of this package make no namespace up: a container's ID, or the caller's.",
    good=Convert(
        about="A short agent ID gets its container, which is the same in every export.",
        log=_SUBAGENT_LOG,
        records=({"type": "session", "namespace": _PARENT, "sessionId": "c0ffee1"},),
        wrong=({"type": "session", "namespace": None, "sessionId": "c0ffee1"},),
    ),
    bad=Convert(
        about="An agent ID that does not repeat gets none, least of all a folder.",
        log=_SUBAGENT_LOG.replace("c0ffee1", "b41f09c2d35e8a76"),
        records=({"type": "session", "namespace": None, "sessionId": "b41f09c2d35e8a76"},),
        wrong=({"type": "session", "namespace": "subagents", "sessionId": "b41f09c2d35e8a76"},),
    ),
)
def asr_055(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A namespace that changed with each export would make a new session each time.

    It is not made from paths or times. A source without an identifier of its installation gets one
    from the caller or from what an exporter has saved, and without it is not exported.
    """
    return ()


@rule(
    "ASR-056",
    kind="checked",
    summary="An agent name is a short name or a reverse-DNS name.",
    bound="SessionKey and the grammar of references take no other.",
    codes={
        "bad-agent-name": Code("error", "neither a short name nor a reverse-DNS name"),
        "missing-member": Code("error", "the header has no agent.name"),
        "bad-member": Code("error", "agent.name is no string"),
    },
    good=Check(
        about="An agent without an entry, under a domain of its maintainer.",
        streams=(lines(header("s1", "com.example.night-agent")),),
    ),
    bad=Check(
        about="Upper case and an underscore.",
        streams=(lines(header("s1", "Night_Agent")),),
        findings=(
            Expected(
                rule="ASR-056",
                code="bad-agent-name",
                severity="error",
                seq=0,
                id="h",
                path="$.agent.name",
            ),
        ),
    ),
)
def asr_056(view: View) -> Iterator[Finding]:
    """Labels of lower-case letters and digits, parted by hyphens: one label, or several with dots.

    The same holds for the agent that a subagent record names.
    """
    yield from view.of("ASR-056")
    yield from _agents_named(view, "ASR-056")


@rule(
    "ASR-057",
    kind="checked",
    summary="A short name is one of the registry; other agents use a reverse-DNS name.",
    bound="Registry.may_produce; an overlay adds names.",
    codes={
        "unregistered-agent-name": Code("error", "a short name that the registry does not hold"),
    },
    good=Check(
        about="The fallback for recorders of the Agent Client Protocol needs no entry.",
        streams=(lines(header("s1", "org.agent-session.acp.night-agent")),),
    ),
    bad=Check(
        about="A short name that nobody has registered.",
        streams=(lines(header("s1", "night-agent")),),
        findings=(
            Expected(
                rule="ASR-057",
                code="unregistered-agent-name",
                severity="error",
                session="night-agent:s1",
                seq=0,
                id="h",
                path="$.agent.name",
            ),
        ),
    ),
)
def asr_057(view: View) -> Iterator[Finding]:
    """Short names belong to the registry, so that two makers never take the same one.

    A reader accepts a short name that it does not know, since its registry may be old; whoever
    wrote it hears of it. Who controls the domain of a reverse-DNS name, a stream does not show.
    """
    key = view.index.key
    agent = view.index.header.agent
    if key is not None and agent is not None:
        found = view.registry.producer_finding(agent)
        if found is not None:
            yield view.finding(
                "ASR-057", found.code, found.severity, found.message, path="$.agent.name"
            )
    yield from _agents_named(view, "ASR-057")


def _agents_named(view: View, number: str) -> Iterator[Finding]:
    """What is wrong under a rule with the agents that subagent records name."""
    seen: Envelopes | None = view.observed(OBSERVER)
    for noted in () if seen is None else seen.agents:
        found = view.registry.producer_finding(noted.text)
        if found is not None and found.rule == number:
            yield view.finding(
                number,
                found.code,
                found.severity,
                found.message,
                row=noted.row,
                path=f"$.{noted.member}",
            )


@rule(
    "ASR-058",
    kind="reader",
    summary="Agents are compared as what their names stand for; either name may be written.",
    why="A stream may use either form, so there is none that breaks it; comparing is the reader's.",
    bound="SessionKey holds the canonical name; Registry.identity gives the reverse-DNS name.",
    good=Resolve(
        about="A stream under the reverse-DNS name, and a reference with the short name.",
        streams=(lines(header("s1", "com.openai.codex"), _message(1)),),
        ref="codex:s1#messageId=m1",
        answer={"state": "resolved", "exact": True, "records": ["r1"]},
        wrong={"state": "unresolved", "exact": False, "records": []},
    ),
    bad=Resolve(
        about="Names that look alike are not the same agent.",
        streams=(lines(header("s1", "com.example.codex"), _message(1)),),
        ref="codex:s1#messageId=m1",
        answer={"state": "unresolved", "exact": False, "records": []},
        wrong={"state": "resolved", "exact": True, "records": ["r1"]},
    ),
)
def asr_058(view: View) -> Iterable[Finding]:  # noqa: ARG001
    """A registered short name is another spelling of the agent's reverse-DNS name.

    Readers replace the one by the other before they compare; a name that the registry does not hold
    stands for itself.
    """
    return ()
