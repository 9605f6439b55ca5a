"""Which sessions and edges of a forest are shown, and what each session says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sessionref.cli._text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.api import Scope
    from sessionref.lineage.forest import Edge, Forest
    from sessionref.lineage.sessions import SessionLineage

__all__ = ["Filters", "Picture", "Row", "escaped_id", "label"]


class Filters(msgspec.Struct, frozen=True):
    """What is asked for.

    `agents` are canonical names, and `facets` those of edges: of what is empty every one.
    `sessions` (each with all that it comes from and all that comes from it) and `families` (each
    by any of its sessions) are canonical keys; where both are None, every session.
    """

    agents: frozenset[str] = frozenset()
    sessions: tuple[str, ...] | None = None
    families: tuple[str, ...] | None = None
    facets: frozenset[str] = frozenset()


class Row(NamedTuple):
    """A session that is shown: `name` is its canonical key, None where it has none.

    `lineage` is None for a session that is named and was not read. `selected` is False for one
    that only stands there because a selected session names it.
    """

    name: str | None
    lineage: SessionLineage | None
    selected: bool

    @property
    def counts(self) -> tuple[tuple[int, str], ...]:
        """The numbers of records by originality, each with its name; no zeros."""
        records = None if self.lineage is None else self.lineage.records
        return tuple(
            (number, name)
            for number, name in zip(records or (), ("original", "copied", "unknown"), strict=False)
            if number
        )


class Picture:
    """The part of a scope's forest that is shown.

    An edge is shown where the session that makes the claim is selected.
    """

    def __init__(self, scope: Scope, filters: Filters) -> None:
        self.forest: Forest = scope.forest()
        self._scope = scope
        self._sessions = dict(zip(scope.lineage.sessions, scope, strict=True))
        nodes = self.forest.nodes
        selected = _selected(self.forest, filters)
        self.edges: tuple[Edge, ...] = tuple(
            edge
            for edge in self.forest.edges
            if edge.source in selected and (not filters.facets or edge.facet in filters.facets)
        )
        ends = {name for edge in self.edges for name in (edge.source, edge.target)}
        if filters.facets:
            selected &= ends
        self.rows: list[Row] = [
            Row(name, node.lineage, name in selected)
            for name, node in nodes.items()
            if name in selected or name in ends
        ]
        if filters.sessions is filters.families is None and not filters.facets:
            self.rows += (
                Row(None, one, selected=True)
                for one in scope.lineage.sessions
                if one.session is None and (not filters.agents or one.agent in filters.agents)
            )

    @property
    def read(self) -> Iterable[SessionLineage]:
        """The selected sessions that were read."""
        return (row.lineage for row in self.rows if row.selected and row.lineage is not None)

    def is_exact(self, session: SessionLineage) -> bool:
        """Whether all that the session has to refer to is there (ASR-080)."""
        return self._scope.is_exact(self._sessions[session])


def _selected(forest: Forest, filters: Filters) -> set[str]:
    if filters.sessions is not None or filters.families is not None:
        names: set[str] = set()
        for name in filters.sessions or ():
            names |= {name, *forest.ancestors(name), *forest.descendants(name)}
            edges = (*forest.edges_from(name), *forest.edges_to(name))
            names.update(end for edge in edges for end in (edge.source, edge.target))
        for name in filters.families or ():
            names.update(forest.family_of[name].sessions)
    else:
        names = set(forest.nodes)
    if filters.agents:
        names = {name for name in names if _agent(forest, name) in filters.agents}
    return names


def _agent(forest: Forest, name: str) -> str | None:
    lineage = forest.nodes[name].lineage
    return name.partition(":")[0] if lineage is None else lineage.agent


def escaped_id(session: SessionLineage) -> str | None:
    """The session ID of one without a key, where it has no UTF-8 form, escaped."""
    return None if session.session is not None else session.accounts[0].index.header.escaped_id


def label(row: Row) -> str:
    """What a session is called before people."""
    if row.name is not None or row.lineage is None:
        return row.name or ""
    files = ", ".join(printable(file) for file in row.lineage.files)
    return f"(no reference) {escaped_id(row.lineage) or files or 'stdin'}"
