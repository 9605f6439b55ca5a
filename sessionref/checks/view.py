"""What the function of a rule looks at: one stream, its scope, and what reading it has found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionref.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sessionref.agent import Agent
    from sessionref.findings import Severity
    from sessionref.lineage.effective import Effective
    from sessionref.registry import Registry
    from sessionref.scope.capture import Capture
    from sessionref.streams.index import StreamIndex

__all__ = ["View"]


class View:
    """One stream of a scope.

    `raised` are the findings that reading the stream and resolving its references gave, by their
    rule; those under no rule stand under None. `claimed` is what the stream claims of the effective
    lineage of its session.
    """

    __slots__ = ("_raised", "capture", "claimed", "registry")

    def __init__(
        self,
        capture: Capture,
        registry: Registry,
        raised: Mapping[str | None, Sequence[Finding]],
        claimed: Effective,
    ) -> None:
        self.capture = capture
        self.registry = registry
        self.claimed = claimed
        self._raised = raised

    @property
    def agent(self) -> Agent | None:
        """What the registry knows of the stream's agent, None where it has no entry."""
        key = self.index.key
        return None if key is None else self.registry.agent(key.agent)

    @property
    def index(self) -> StreamIndex:
        """The records of the stream."""
        return self.capture.index

    def of(self, rule: str) -> Iterable[Finding]:
        """What reading and resolving raised under a rule."""
        return self._raised.get(rule, ())

    def observed(self, name: str) -> Any:
        """What the observer of that name gathered, None where it did not look."""
        return self.capture.observed.get(name)

    def finding(
        self,
        rule: str,
        code: str,
        severity: Severity,
        message: str,
        *,
        row: int = 0,
        path: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> Finding:
        """A finding about the record in `row`; `path` is a JSON path into it."""
        hit = self.index.hit(row)
        return Finding(
            rule=rule,
            code=code,
            severity=severity,
            message=message,
            session=hit.session,
            seq=hit.seq,
            id=hit.id,
            path=path,
            file=hit.file,
            line=hit.line,
            span=span,
        )
