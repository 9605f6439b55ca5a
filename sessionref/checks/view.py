"""What a rule that looks for itself is given: one stream, its scope, and what was found so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.findings import Finding

if TYPE_CHECKING:
    from sessionref.agent import Agent
    from sessionref.lineage.effective import Effective
    from sessionref.registry import Registry
    from sessionref.scope.capture import Capture
    from sessionref.streams.index import StreamIndex

__all__ = ["View"]


class View:
    """One stream of a scope.

    `broken` are the rules under which reading the stream or resolving its references found a fault.
    `claimed` is what the stream claims of the effective lineage of its session.
    """

    __slots__ = ("broken", "capture", "claimed", "registry")

    def __init__(
        self,
        capture: Capture,
        registry: Registry,
        broken: frozenset[str | None],
        claimed: Effective,
    ) -> None:
        self.capture = capture
        self.registry = registry
        self.broken = broken
        self.claimed = claimed

    @property
    def agent(self) -> Agent | None:
        """What the registry knows of the stream's agent, None where it has no entry."""
        key = self.index.key
        return None if key is None else self.registry.agent(key.agent)

    @property
    def index(self) -> StreamIndex:
        """The records of the stream."""
        return self.capture.index

    def observed(self, name: str) -> Any:
        """What the observer of that name gathered, None where it did not look."""
        return self.capture.observed.get(name)

    def finding(
        self,
        rule: str,
        code: str,
        message: str,
        *,
        row: int = 0,
        path: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> Finding:
        """A finding about the record in `row`; `path` is a JSON path into it.

        The table of codes gives the severity.
        """
        return Finding.at(self.index.place(row), rule, code, message, path, span=span)
