"""Where IDs come from and which agents records name, gathered while a stream is read."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET

from sessionref.agent import name_kind
from sessionref.streams.json import value
from sessionref.streams.observe import attribute, held

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessionref.streams.envelope import Envelope

__all__ = ["OBSERVER", "Envelopes", "Noted"]

#: The name under which a scope keeps what this observer gathers.
OBSERVER = "Envelopes"

_SOURCES = (b'"native"', b'"derived"')
_SOURCE_TEXTS = frozenset({"native", "derived"})
_NATIVE = b'"native"'
_CAPTURE = b'"capture"'
_DERIVED = b'"derived"'
_DELEGATION = "subagent"
_CALL = "inference"

_MARKS = frozenset({"idSource", "idScope", "callIdSource", "inferenceIdSource"})
_get: Callable[[Any], tuple[Any, Any, Any]] = attrgetter(
    attribute("idSource"), attribute("idScope"), attribute("callIdSource")
)
_agent: Callable[[Any], Any] = attrgetter(attribute("agent"))
_call_source: Callable[[Any], Any] = attrgetter(attribute("inferenceIdSource"))
_NONE = (UNSET, UNSET, UNSET)


class Noted(NamedTuple):
    """The text of a member of the record in `row`."""

    row: int
    member: str
    text: str


class Envelopes:
    """Where IDs come from, and agents that records name. An `Observer`.

    - `sources`: values of `idSource` and `callIdSource` other than ``native`` and ``derived``;
    - `derived`: the rows of model calls whose ID is marked as derived;
    - `scoped`: the rows of records marked as native and as valid in one capture only;
    - `agents`: agents that subagent records name. Reverse-DNS names are left out: all are allowed.
    """

    members = _MARKS | {"agent"}

    def __init__(self) -> None:
        self.sources: list[Noted] = []
        self.scoped: list[int] = []
        self.agents: list[Noted] = []
        self.derived: set[int] = set()

    def see(
        self,
        row: int,
        types: Sequence[str],
        records: Sequence[Envelope],
        contents: Sequence[bytes],  # noqa: ARG002 - the decoded members suffice
    ) -> None:
        """Look at some records."""
        there = held(records)
        if there.isdisjoint(_MARKS) and not ("agent" in there and _DELEGATION in types):
            return
        for at, (kind, record) in enumerate(zip(types, records, strict=True), row):
            present = _get(record)
            if present != _NONE:
                self._note(at, *present)
            if kind == _CALL:
                if _is(_call_source(record) or present[0], _DERIVED):
                    self.derived.add(at)
            elif kind == _DELEGATION and (raw := _agent(record)) is not UNSET:
                name = value(raw)
                if isinstance(name, str) and name_kind(name) != "reverse-dns":
                    self.agents.append(Noted(at, "agent", name))

    def _note(self, row: int, source: Any, scope: Any, call_source: Any) -> None:
        for member, raw in (("idSource", source), ("callIdSource", call_source)):
            if raw is not UNSET and bytes(raw) not in _SOURCES:
                text = value(raw)
                # The two may be written with escapes.
                if isinstance(text, str) and text not in _SOURCE_TEXTS:
                    self.sources.append(Noted(row, member, text))
        if _is(scope, _CAPTURE) and _is(source, _NATIVE):
            self.scoped.append(row)


def _is(raw: Any, text: bytes) -> bool:
    """Whether `raw` is the JSON string `text`, however it is escaped."""
    if raw is UNSET:
        return False
    written = bytes(raw)
    return written == text or (b"\\" in written and value(raw) == text[1:-1].decode())
