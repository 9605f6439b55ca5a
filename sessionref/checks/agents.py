"""What the registry says of agent names and namespaces: ASR-054, 056 and 057."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.checks.envelopes import OBSERVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.checks.envelopes import Envelopes
    from sessionref.checks.view import View
    from sessionref.findings import Finding

__all__ = ["agent_name_findings", "namespace_findings", "short_name_findings"]


def namespace_findings(view: View) -> Iterator[Finding]:
    """ASR-054: the agent's session IDs are not unique, and the header has no namespace."""
    key = view.index.key
    agent = view.agent
    if key is None or key.namespace is not None or agent is None:
        return
    if agent.needs_namespace(key.session_id):
        yield view.finding(
            "ASR-054",
            "missing-namespace",
            f"this ID of {agent.short} is not unique without a namespace",
            path="$.namespace",
        )


def agent_name_findings(view: View) -> Iterator[Finding]:
    """ASR-056: a subagent record names an agent by something that is not an agent name."""
    return _agents_named(view, "ASR-056")


def short_name_findings(view: View) -> Iterator[Finding]:
    """ASR-057: the header or a subagent record has a short name that is not registered."""
    agent = view.index.header.agent
    if view.index.key is not None and agent is not None:
        found = view.registry.producer_finding(agent)
        if found is not None:
            yield view.finding("ASR-057", found.code, found.message, path="$.agent.name")
    yield from _agents_named(view, "ASR-057")


def _agents_named(view: View, number: str) -> Iterator[Finding]:
    """What is wrong, under one rule, with the agents that subagent records name."""
    seen: Envelopes | None = view.observed(OBSERVER)
    for noted in () if seen is None else seen.agents:
        found = view.registry.producer_finding(noted.text)
        if found is not None and found.rule == number:
            yield view.finding(
                number, found.code, found.message, row=noted.row, path=f"$.{noted.member}"
            )
