"""The forest: sessions, and the typed, evidenced edges between them.

An edge is a claim, and stands where a session makes it. A session that nobody has read is a
placeholder; one that claims nothing has no edge, and is no root for that (ASR-401, 406).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from sessionref.errors import InvalidReference
from sessionref.findings import Finding
from sessionref.lineage import graph
from sessionref.lineage.facets import PARENT_FACETS, ForkedFrom, Inherits, SpawnedBy
from sessionref.lineage.subagents import delegations
from sessionref.refs import RecordRef, TurnRef

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from sessionref.findings import Place
    from sessionref.lineage.effective import Claim
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.reference import SessionRef

__all__ = ["ANNOUNCES", "EDGE_FACETS", "Cycle", "Edge", "Family", "Forest", "Node"]

#: The facet of edges that `subagent` records make: from the announcing session to the child.
ANNOUNCES = "announces"
#: The facets that make edges, in the order in which displays give them.
EDGE_FACETS: tuple[str, ...] = (*PARENT_FACETS, "executedBy", ANNOUNCES)

State = Literal["resolved", "unresolved", "ambiguous"]
#: A member of a record: file, line and JSON path.
Member: TypeAlias = "tuple[str | None, int, str]"


class Edge(msgspec.Struct, frozen=True):
    """A claim of `source` about `target`, both canonical session keys.

    `evidence` is the facet's, and ``record`` for an announcement, whose evidence is the `subagent`
    record itself. `record` is a raw ref into the target's ID space (of an announcement: the call,
    in the source's), `ordinal` a native position there, `through` the end of what is inherited.
    `state` says what became of the named session; `exact` is true where that session and all else
    that the claim names resolved to one thing each, and a named record is no turn (ASR-080).
    `originality` is that of the announcing record. `place` and `path` say where the claim
    stands.
    """

    source: str
    target: str
    facet: str
    evidence: str
    state: State
    exact: bool
    place: Place
    path: str
    record: str | None = None
    ordinal: int | None = None
    mode: str | None = None
    through: str | int | None = None
    reason: str | None = None
    originality: str | None = None

    def why(self) -> str:
        """What the edge rests on, as a sentence: evidence, record, file and line."""
        place = self.place
        where = (
            f", line {place.line}" if place.file is None else f", {place.file}, line {place.line}"
        )
        if self.facet == ANNOUNCES:
            said = "announces the child"
        else:
            said = f"claims {self.facet} ({self.evidence})"
        return f"{self.source} {said} in record {place.id!r}, {self.path}{where}"

    def order(self) -> tuple[Any, ...]:
        """What edges are sorted by: never the order in which streams were read."""
        place = self.place
        return (
            self.source,
            EDGE_FACETS.index(self.facet),
            self.target,
            place.seq,
            place.file or "",
            place.line,
            self.path,
        )


class Node(msgspec.Struct, frozen=True):
    """A session of the forest; `lineage` is None for one that is only named (a placeholder)."""

    session: str
    lineage: SessionLineage | None = None

    @property
    def is_placeholder(self) -> bool:
        """Whether the session is named and was not read."""
        return self.lineage is None

    @property
    def conflict(self) -> bool:
        """Whether its streams contradict each other."""
        return self.lineage is not None and self.lineage.conflict

    @property
    def root(self) -> bool | None:
        """True where the session claims it; None is unknown. Nothing is a root by absence."""
        return None if self.lineage is None else self.lineage.lineage.root


class Family(msgspec.Struct, frozen=True):
    """Sessions that hang together, in their order as texts.

    `name` is the first of those that have no parent among them, or the first of all.
    """

    name: str
    sessions: tuple[str, ...]


class Cycle(msgspec.Struct, frozen=True):
    """Sessions that are each other's ancestors, and the edges that make them so."""

    sessions: tuple[str, ...]
    edges: tuple[Edge, ...]


class Forest:
    """The sessions of a scope, those that they name, and the edges between them.

    `sessions` are the sessions of the scope by canonical key. `name_of` gives the key that a
    reference means there. `inexact` gives the members of a session's claims whose references are
    not exact, each as file, line and JSON path. All walks are iterative, and enter nothing twice,
    so cycles end.
    """

    def __init__(
        self,
        sessions: Mapping[str, SessionLineage],
        name_of: Callable[[SessionRef], str],
        inexact: Callable[[SessionLineage], Collection[Member]],
    ) -> None:
        self._sessions = sessions
        self._name_of = name_of
        self._inexact = inexact

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, by source, facet and target. None is without evidence."""
        found: list[Edge] = []
        for name, session in self._sessions.items():
            found.extend(self._claimed(name, session))
            found.extend(self._announced(name, session))
        found.sort(key=Edge.order)
        return tuple(found)

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """All sessions by canonical key: those of the scope, and placeholders."""
        names = {*self._sessions, *(edge.target for edge in self.edges)}
        return {name: Node(name, self._sessions.get(name)) for name in sorted(names)}

    def edges_from(self, session: str) -> tuple[Edge, ...]:
        """The claims that `session` makes."""
        return tuple(self._from.get(session, ()))

    def edges_to(self, session: str) -> tuple[Edge, ...]:
        """The claims that are made about `session`."""
        return tuple(self._to.get(session, ()))

    def parents(self, session: str, facets: Collection[str] = EDGE_FACETS) -> tuple[str, ...]:
        """The sessions that `session` comes from, in whatever sense `facets` allow, each once.

        An announcement makes its session a parent too, unless it is a copy, or the child names
        another spawner: the claim belongs to the child. `executedBy` names no parent.
        """
        return tuple(
            dict.fromkeys(name for name, edge in self._up(session) if edge.facet in facets)
        )

    def children(self, session: str, facets: Collection[str] = EDGE_FACETS) -> tuple[str, ...]:
        """The sessions that come from `session`: the reverse of `parents`."""
        return tuple(
            dict.fromkeys(name for name, edge in self._down(session) if edge.facet in facets)
        )

    def ancestors(self, session: str, facets: Collection[str] = EDGE_FACETS) -> Iterator[str]:
        """All that `parents` leads to, nearest first, each once."""
        return graph.reach(session, lambda name: self.parents(name, facets))

    def descendants(self, session: str, facets: Collection[str] = EDGE_FACETS) -> Iterator[str]:
        """All that `children` leads to, nearest first, each once."""
        return graph.reach(session, lambda name: self.children(name, facets))

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Sessions that hang together by any edge, placeholders included, by name."""
        groups = graph.components(self.nodes, self._neighbours)
        found: list[Family] = []
        for group in groups:
            members = sorted(group)
            inside = set(members)
            tops = (name for name in members if inside.isdisjoint(self.parents(name)))
            found.append(Family(next(tops, members[0]), tuple(members)))
        return tuple(sorted(found, key=lambda family: family.name))

    @cached_property
    def family_of(self) -> Mapping[str, Family]:
        """The family of each session."""
        return {name: family for family in self.families for name in family.sessions}

    @cached_property
    def cycles(self) -> tuple[Cycle, ...]:
        """Sessions that are each other's ancestors; and those that execute each other."""
        return (
            *self._cycles(lambda name: (parent for parent, _ in self._up(name)), self._up),
            *self._cycles(lambda name: (other for other, _ in self._run(name)), self._run),
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for each cycle."""
        return tuple(
            Finding.at(
                cycle.edges[0].place,
                None,
                "lineage-cycle",
                f"sessions are each other's ancestors: {', '.join(cycle.sessions)}",
                cycle.edges[0].path,
            )
            for cycle in self.cycles
        )

    # -- Edges ------------------------------------------------------------------------------

    def _claimed(self, name: str, session: SessionLineage) -> Iterator[Edge]:
        inexact = {
            (file, line, path.rpartition(".")[0]) for file, line, path in self._inexact(session)
        }
        for claim in session.claims():
            facet = claim.value
            target: SessionRef | None = getattr(facet, "session", None)
            if target is None or facet.evidence is None:
                continue
            if claim.facet == "inherits" and facet.mode == "none":
                continue
            edge = self._edge(session, name, claim, target)
            if (edge.place.file, edge.place.line, edge.path) in inexact:
                edge = msgspec.structs.replace(edge, exact=False)
            yield edge

    def _edge(self, session: SessionLineage, source: str, claim: Claim, named: SessionRef) -> Edge:
        facet: Any = claim.value
        evidence: str = facet.evidence
        target = self._name_of(named)
        state = self._state(target)
        ref: Any = None
        ordinal: int | None = None
        mode: str | None = None
        through: str | int | None = None
        if isinstance(facet, SpawnedBy | ForkedFrom):
            ref = facet.record
        if isinstance(facet, ForkedFrom):
            ordinal = facet.ordinal
        if isinstance(facet, Inherits):
            mode = facet.mode
            through = facet.through_ordinal if facet.through_id is None else facet.through_id
            ref = _record_ref(facet.through_id)
        exact = state == "resolved" and not session.conflict
        if exact and ref is not None:
            # A turn is no record, so it cannot be the one that is named (ASR-075).
            exact = not isinstance(ref, TurnRef) and self._sessions[target].resolve(ref).exact
        elif exact and isinstance(through, str):
            exact = False  # an ID that no ref can hold
        return Edge(
            source,
            target,
            claim.facet,
            evidence,
            state,
            exact,
            claim.place,
            claim.path,
            record=None if ref is None or isinstance(facet, Inherits) else ref.raw(),
            ordinal=ordinal,
            mode=mode,
            through=through,
            reason=getattr(facet, "reason", None),
        )

    def _announced(self, name: str, session: SessionLineage) -> Iterator[Edge]:
        for account in session.accounts:
            for delegation in delegations(account):
                # A copied announcement never makes the session that holds the copy a spawner.
                if delegation.child is None or delegation.originality.value == "copy":
                    continue
                target = self._name_of(delegation.child)
                state = self._state(target)
                call = delegation.call_id
                yield Edge(
                    name,
                    target,
                    ANNOUNCES,
                    "record",
                    state,
                    state == "resolved" and not session.conflict,
                    account.place(delegation.row),
                    "$.childSession",
                    record=None if call is None else f"callId={call}",
                    originality=delegation.originality.value,
                )

    def _state(self, target: str) -> State:
        session = self._sessions.get(target)
        if session is None:
            return "unresolved"
        return "ambiguous" if session.conflict else "resolved"

    # -- Neighbours -------------------------------------------------------------------------

    @cached_property
    def _from(self) -> dict[str, list[Edge]]:
        return _by(self.edges, lambda edge: edge.source)

    @cached_property
    def _to(self) -> dict[str, list[Edge]]:
        return _by(self.edges, lambda edge: edge.target)

    @cached_property
    def _ups(self) -> dict[str, list[tuple[str, Edge]]]:
        spawners: dict[str, set[str]] = {}
        for edge in self.edges:
            if edge.facet == "spawnedBy":
                spawners.setdefault(edge.source, set()).add(edge.target)
        ups: dict[str, list[tuple[str, Edge]]] = {}
        for edge in self.edges:
            if edge.facet in PARENT_FACETS:
                ups.setdefault(edge.source, []).append((edge.target, edge))
            elif edge.facet == ANNOUNCES and edge.source in spawners.get(
                edge.target, (edge.source,)
            ):
                ups.setdefault(edge.target, []).append((edge.source, edge))
        return ups

    @cached_property
    def _downs(self) -> dict[str, list[tuple[str, Edge]]]:
        downs: dict[str, list[tuple[str, Edge]]] = {}
        for child, several in self._ups.items():
            for parent, edge in several:
                downs.setdefault(parent, []).append((child, edge))
        for several in downs.values():
            several.sort(key=lambda item: (item[0], item[1].order()))
        return downs

    def _up(self, session: str) -> Iterable[tuple[str, Edge]]:
        return self._ups.get(session, ())

    def _down(self, session: str) -> Iterable[tuple[str, Edge]]:
        return self._downs.get(session, ())

    def _run(self, session: str) -> Iterator[tuple[str, Edge]]:
        for edge in self._from.get(session, ()):
            if edge.facet == "executedBy":
                yield edge.target, edge

    def _neighbours(self, session: str) -> Iterator[str]:
        for edge in self._from.get(session, ()):
            yield edge.target
        for edge in self._to.get(session, ()):
            yield edge.source

    def _cycles(
        self,
        onward: Callable[[str], Iterable[str]],
        edges: Callable[[str], Iterable[tuple[str, Edge]]],
    ) -> Iterator[Cycle]:
        for group in graph.strong_components(self.nodes, onward):
            inside = set(group)
            within = [
                edge for name in sorted(group) for other, edge in edges(name) if other in inside
            ]
            if within:
                yield Cycle(tuple(sorted(group)), tuple(within))


def _record_ref(record_id: str | None) -> RecordRef | None:
    try:
        return None if record_id is None else RecordRef(record_id)
    except InvalidReference:
        return None


def _by(edges: Iterable[Edge], key: Callable[[Edge], str]) -> dict[str, list[Edge]]:
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        found.setdefault(key(edge), []).append(edge)
    return found
