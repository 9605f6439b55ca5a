"""Where each session of a forest stands when it is drawn as indented text.

Every edge is drawn; a session with several parents stands in full under one of them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sessionref.lineage.forest import ANNOUNCES, EDGE_FACETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.cli.render.picture import Picture
    from sessionref.lineage.forest import Edge

__all__ = ["Branch", "Drawing"]


class Branch(NamedTuple):
    """A session below another, and all edges that join the two, by facet."""

    parent: str
    child: str
    edges: tuple[Edge, ...]


class Drawing:
    """The sessions of a picture, each in one place.

    `tops` stand at the margin: that says nothing of them. `branches` are what is drawn below a
    session, `home` is under which session one stands in full. Of sessions in a circle one stands at
    the margin.
    """

    def __init__(self, picture: Picture) -> None:
        names = [row.name for row in picture.rows if row.name is not None]
        joined: dict[tuple[str, str], list[Edge]] = {}
        for edge in picture.edges:
            joined.setdefault(_ends(edge), []).append(edge)
        self.branches: dict[str, list[Branch]] = {}
        best: dict[str, tuple[int, str]] = {}
        forest = picture.forest
        for (parent, child), edges in sorted(joined.items(), key=lambda item: item[0]):
            edges.sort(key=lambda edge: EDGE_FACETS.index(edge.facet))
            self.branches.setdefault(parent, []).append(Branch(parent, child, tuple(edges)))
            rank = EDGE_FACETS.index(edges[0].facet)
            if edges[0].facet == ANNOUNCES and parent not in forest.parents(child):
                rank = len(EDGE_FACETS)  # the child names another spawner
            best[child] = min(best.get(child, (rank, parent)), (rank, parent))
        self.home = {child: parent for child, (_, parent) in best.items()}
        _cut_circles(self.home, names)
        family_of = forest.family_of
        self.tops = sorted(
            (name for name in names if name not in self.home),
            key=lambda name: (family_of[name].name, name),
        )


def _ends(edge: Edge) -> tuple[str, str]:
    """What is drawn above, and what below."""
    if edge.facet in {ANNOUNCES, "executedBy"}:
        return edge.source, edge.target
    return edge.target, edge.source


def _cut_circles(home: dict[str, str], names: Iterable[str]) -> None:
    """Take one session of each circle out of `home`, the first by name."""
    seen: dict[str, str] = {}
    for start in names:
        way: list[str] = []
        at: str | None = start
        while at is not None and at not in seen:
            seen[at] = start
            way.append(at)
            at = home.get(at)
        if at is not None and seen[at] == start:
            del home[min(way[way.index(at) :])]
