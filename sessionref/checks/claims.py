"""Claims that the registry entry of the agent has to support: ASR-402, 404 and 422.

The official registry is not ours to see, so these are warnings, and only for agents that have an
entry in the registry in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.agent import Agent
    from sessionref.checks.view import View

__all__ = ["inference_rule_findings", "mirror_findings", "root_findings"]


def root_findings(view: View) -> Iterator[Finding]:
    """ASR-402: a root is claimed, and the agent's entry does not tell how to know roots."""
    agent = view.agent
    if agent is None or (agent.root is not None and agent.root.possible.value == "yes"):
        return
    for claim in view.claimed.claims:
        if claim.facet == "root" and claim.value is True:
            yield Finding.at(
                claim.place,
                "ASR-402",
                "undocumented-root",
                f"the registry does not say how sessions of {agent.short} are known to be roots",
                claim.path,
            )


def inference_rule_findings(view: View) -> Iterator[Finding]:
    """ASR-404: a facet is inferred, and the agent's entry has no rule for that."""
    agent = view.agent
    if agent is None:
        return
    for claim in view.claimed.claims:
        if getattr(claim.value, "evidence", None) == "converter_inference" and not _is_inferred(
            agent, claim.facet
        ):
            yield Finding.at(
                claim.place,
                "ASR-404",
                "unpublished-rule",
                f"the registry has no rule by which {claim.facet} of {agent.short} is inferred",
                f"{claim.path}.evidence",
            )


def _is_inferred(agent: Agent, name: str) -> bool:
    """Whether a rule of the entry infers a facet, or a member of it."""
    member = f"lineage.{name}"
    return any(
        one.yields == "converter_inference"
        and any(about == member or about.startswith(f"{member}.") for about in one.about)
        for one in agent.rules or ()
    )


def mirror_findings(view: View) -> Iterator[Finding]:
    """ASR-422: a mirror is claimed, and the agent's entry does not say that it keeps mirrors."""
    agent = view.agent
    if (
        agent is not None
        and view.claimed.is_mirror
        and "ASR-422" not in view.broken
        and (agent.mirror is None or agent.mirror.possible.value != "yes")
    ):
        yield view.finding(
            "ASR-422",
            "undocumented-mirror",
            f"the registry does not say that {agent.short} keeps mirrors",
            path="$.authority",
        )
