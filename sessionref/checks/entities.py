"""The keys and IDs of entities: ASR-065, 067, 070 and 074."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.checks.envelopes import OBSERVER
from sessionref.findings import Finding
from sessionref.refs import ENTITY_KEYS
from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.checks.envelopes import Envelopes
    from sessionref.checks.view import View
    from sessionref.registry import Registry
    from sessionref.streams.index import StreamIndex

__all__ = [
    "ambiguous_key_findings",
    "capture_scope_findings",
    "entity_key_findings",
    "id_source_findings",
    "inference_id_findings",
]


def entity_key_findings(view: View) -> Iterator[Finding]:
    """ASR-065: a record of a type with an entity key does not carry that key."""
    index = view.index
    types = index.types
    for row in [row for row, value in enumerate(index.values) if value is None]:
        key = ENTITY_KEY_OF_TYPE.get(types[row])
        if key is not None:
            yield view.finding(
                "ASR-065",
                "missing-entity-key",
                f"a record of type {types[row]} needs a {key}",
                row=row,
                path=f"$.{key}",
            )


def ambiguous_key_findings(index: StreamIndex) -> Iterator[Finding]:
    """ASR-064: several chains have one entity key, whether or not something refers to it.

    Where a link between the records is at fault, that is reported, and this only follows.
    """
    faulty: frozenset[int] | None = None
    for key in ENTITY_KEYS:
        for rows in index.ambiguous(key).values():
            if faulty is None:
                faulty = frozenset(row for row, _ in index.link_findings)
            if faulty and any(not faulty.isdisjoint(index.chain(row)) for row in rows):
                continue
            yield Finding.at(
                index.place(rows[-1]),
                "ASR-064",
                "ambiguous",
                f"{len(rows)} records have this {key}, and none of them supersedes another",
                f"$.{key}",
                "notice",
            )


def id_source_findings(view: View) -> Iterator[Finding]:
    """ASR-067: `idSource` or `callIdSource` has a value that does not exist."""
    seen: Envelopes | None = view.observed(OBSERVER)
    for noted in () if seen is None else seen.sources:
        yield view.finding(
            "ASR-067",
            "bad-id-source",
            f"{noted.member} is neither native nor derived",
            row=noted.row,
            path=f"$.{noted.member}",
        )


def capture_scope_findings(view: View) -> Iterator[Finding]:
    """ASR-070: an ID is called native, and yet valid in one capture only."""
    seen: Envelopes | None = view.observed(OBSERVER)
    for row in () if seen is None else seen.scoped:
        yield view.finding(
            "ASR-070",
            "native-in-capture",
            "a native ID is valid in every capture, not in one only",
            row=row,
            path="$.idScope",
        )


def inference_id_findings(view: View) -> Iterator[Finding]:
    """ASR-074: an inference has the ID of a message, and is not marked as derived.

    Where the agent's entry documents that one native member identifies both, that is right.
    """
    index = view.index
    seen: Envelopes | None = view.observed(OBSERVER)
    derived = frozenset[int]() if seen is None else seen.derived
    if _is_documented(view.registry, None if index.key is None else index.key.agent):
        return
    values = index.values
    for row in [row for row, kind in enumerate(index.types) if kind == "inference"]:
        value = values[row]
        if value is not None and row not in derived and index.rows_of("messageId", value):
            yield view.finding(
                "ASR-074",
                "message-id-as-inference-id",
                "a message of the stream has this ID",
                row=row,
                path="$.inferenceId",
            )


def _is_documented(registry: Registry, name: str | None) -> bool:
    """Whether the entry of an agent names one native member for messages and model calls."""
    agent = None if name is None else registry.agent(name)
    if agent is None or agent.ids is None or agent.ids.message is None or agent.inference is None:
        return False
    message, call = agent.ids.message, agent.inference.id
    return message.known and call.known and message.value == call.value
