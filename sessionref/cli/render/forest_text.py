"""A forest as indented text, as people know it from `tree` and `git log --graph`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from sessionref.cli._text import plural, printable, shown
from sessionref.cli.render.drawing import Drawing
from sessionref.cli.render.lines import middle
from sessionref.cli.render.picture import label
from sessionref.lineage.forest import ANNOUNCES, EDGE_FACETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.cli.render.drawing import Branch
    from sessionref.cli.render.lines import Line
    from sessionref.cli.render.picture import Picture, Row
    from sessionref.lineage.forest import Edge

__all__ = ["forest_lines"]


class _Glyphs(NamedTuple):
    """The characters of the drawing; `marks` are those of facets."""

    fork: str
    last: str
    rail: str
    session: str
    unread: str
    conflict: str
    ellipsis: str
    marks: dict[str, str]


_UNICODE = _Glyphs(
    "├─",
    "└─",
    "│  ",
    "●",
    "○",
    "◍",
    "…",
    {
        "spawnedBy": "◆",
        ANNOUNCES: "◇",
        "forkedFrom": "▷",
        "continues": "▼",
        "inherits": "≡",
        "relatedUnknown": "~",
        "executedBy": "⇄",
    },
)
_ASCII = _Glyphs(
    "|-",
    "`-",
    "|  ",
    "*",
    "o",
    "!",
    "...",
    {
        "spawnedBy": "S",
        ANNOUNCES: "A",
        "forkedFrom": "F",
        "continues": "C",
        "inherits": "I",
        "relatedUnknown": "?",
        "executedBy": "X",
    },
)

#: What a facet makes of the session that is drawn below.
_WORDS = {
    "spawnedBy": "spawned",
    ANNOUNCES: "announced",
    "forkedFrom": "forked",
    "continues": "continues it",
    "inherits": "inherits",
    "relatedUnknown": "related, how is unknown",
    "executedBy": "executes it",
}

#: How many levels of indentation are drawn where nothing limits the width, and how many columns a
#: level may take where something does. Of deeper sessions the level is told as a number.
_LEVELS = 24
_COLUMNS_PER_LEVEL = 6
#: No ID is made shorter than this.
_NARROWEST = 24


def forest_lines(
    picture: Picture, *, width: int | None = None, unicode: bool = True, why: bool = False
) -> Iterator[Line]:
    """The forest, line by line, and what its marks mean.

    IDs are shortened in their middle where a line has more than `width` columns. `why` puts under
    each edge what it rests on.
    """
    return _Forest(picture, width, _UNICODE if unicode else _ASCII, why=why).lines()


class _Forest:
    def __init__(self, picture: Picture, width: int | None, glyphs: _Glyphs, *, why: bool) -> None:
        self._picture = picture
        self._width = width
        self._levels = _LEVELS if width is None else max(3, width // _COLUMNS_PER_LEVEL)
        self._glyphs = glyphs
        self._why = why
        self._rows = {row.name: row for row in picture.rows if row.name is not None}
        self._drawing = Drawing(picture)
        cycles = picture.forest.cycles
        self._in_circles = {id(edge) for cycle in cycles for edge in cycle.edges}

    def lines(self) -> Iterator[Line]:
        family_of = self._picture.forest.family_of
        tall = True
        first = True
        for _, tops in groupby(self._drawing.tops, key=lambda top: family_of[top].name):
            lines = [line for top in tops for line in self._tree(top)]
            # Families stand apart; sessions without any stand close together.
            if not first and (tall or len(lines) > 1):
                yield []
            tall, first = len(lines) > 1, False
            yield from lines
        for row in self._picture.rows:
            if row.name is None:
                yield self._line([], self._dot(row), row, self._about(row))
        yield from self._legend()

    def _tree(self, top: str) -> Iterator[Line]:
        branches = self._drawing.branches
        row = self._rows[top]
        yield self._line([], self._dot(row), row, self._about(row))
        stack = [(branches.get(top, []), 0)]
        while stack:
            siblings, at = stack[-1]
            if at == len(siblings):
                stack.pop()
                continue
            stack[-1] = siblings, at + 1
            branch = siblings[at]
            is_home = self._drawing.home.get(branch.child) == branch.parent
            below = branches.get(branch.child, []) if is_home else []
            yield self._branch_line(branch, stack, is_home=is_home)
            if self._why:
                for edge in branch.edges:
                    yield self._reason(edge, stack, has_children=bool(below))
            if below:
                stack.append((below, 0))

    def _branch_line(
        self, branch: Branch, stack: list[tuple[list[Branch], int]], *, is_home: bool
    ) -> Line:
        siblings, at = stack[-1]
        glyphs = self._glyphs
        head = self._rails(stack[:-1] if len(stack) <= self._levels else stack[-self._levels : -1])
        if len(stack) > self._levels:
            head = f"{glyphs.ellipsis}{len(stack) - self._levels} {head}"
        head += glyphs.fork if at < len(siblings) else glyphs.last
        facets = dict.fromkeys(edge.facet for edge in branch.edges)
        marks = [(facet, glyphs.marks[facet]) for facet in facets]
        row = self._rows[branch.child]
        details = list(_edge_words(branch.edges))
        if any(id(edge) in self._in_circles for edge in branch.edges):
            details.append(("bad", "in a circle"))
        if is_home:
            details += self._about(row, told=any(not edge.exact for edge in branch.edges))
        else:
            home = self._drawing.home.get(branch.child)
            where = "unindented" if home is None else f"under {middle(home, _NARROWEST * 2)}"
            details.append(("dim", f"shown {where}"))
        plain = row.lineage is not None and not row.lineage.conflict
        dot = [] if plain else self._dot(row)
        return self._line([("dim", head), *marks], [("", " "), *dot] if dot else [], row, details)

    def _reason(
        self, edge: Edge, stack: list[tuple[list[Branch], int]], *, has_children: bool
    ) -> Line:
        head = self._rails(stack[-self._levels :])
        if len(stack) > self._levels:
            head = f"{self._glyphs.ellipsis}{len(stack) - self._levels} {head}"
        head += self._glyphs.rail if has_children else "   "
        place = edge.place
        said = f"{edge.facet} ({edge.evidence}): record {shown(place.id or '?')} {edge.path}"
        if edge.record is not None:
            said += f", names {shown(edge.record)}"
        if edge.ordinal is not None:
            said += f", names ordinal {edge.ordinal}"
        if edge.through is not None:
            said += f", through {shown(str(edge.through))}"
        said += f", {shown(printable(place.file or 'stdin'))}:{place.line}"
        return [("dim", head), ("dim", said)]

    def _rails(self, stack: list[tuple[list[Branch], int]]) -> str:
        rail = self._glyphs.rail
        return "".join(rail if at < len(siblings) else "   " for siblings, at in stack)

    def _line(
        self,
        head: list[tuple[str, str]],
        dot: list[tuple[str, str]],
        row: Row,
        details: list[tuple[str, str]],
    ) -> Line:
        before: list[tuple[str, str]] = [*head, *dot, ("", " ")]
        after: list[tuple[str, str]] = []
        for style, text in details:
            after += [("", ", " if after else "  "), (style, text)]
        name = label(row)
        if self._width is None:
            name = shown(name)
        else:
            taken = sum(len(text) for _, text in (*before, *after))
            limit = max(_NARROWEST, self._width - taken)
            name = middle(name, limit, ellipsis=self._glyphs.ellipsis)
        return [*before, ("bold" if row.selected and row.lineage else "dim", name), *after]

    def _dot(self, row: Row) -> list[tuple[str, str]]:
        glyphs = self._glyphs
        if row.lineage is None:
            return [("warn", glyphs.unread)]
        return [("bad", glyphs.conflict)] if row.lineage.conflict else [("", glyphs.session)]

    def _about(self, row: Row, *, told: bool = False) -> list[tuple[str, str]]:
        """What a session says of itself; `told` where it was said that something is not exact."""
        session = row.lineage
        if session is None:
            return [("warn", "referenced, not loaded")]
        said: list[tuple[str, str]] = []
        if session.conflict:
            said.append(
                ("bad", f"conflict: {len(session.accounts)} accounts contradict each other")
            )
        lineage = session.lineage
        if lineage.root:
            said.append(("", "root"))
        if lineage.scope is not None:
            said.append(("", shown(lineage.scope)))
        if lineage.role is not None:
            said.append(("", f"role {shown(lineage.role)}"))
        if not row.selected:
            return [*said, ("dim", "filtered out")]
        said.append(("", _counted(row)))
        if not told and not session.conflict and not self._picture.is_exact(session):
            said.append(("warn", "exact: false"))
        return said

    def _legend(self) -> Iterator[Line]:
        rows = self._picture.rows
        if not rows:
            yield [("", "no sessions")]
            return
        read = sum(1 for _ in self._picture.read)
        unread = sum(row.lineage is None for row in rows)
        conflicts = sum(one.conflict for one in self._picture.read)
        family_of = self._picture.forest.family_of
        families = {family_of[row.name].name for row in rows if row.name is not None}
        count = len(families) + sum(row.name is None for row in rows)
        said = f"{plural(read, 'session')} in {plural(count, 'family', 'families')}"
        said += f", {unread} referenced but not loaded" if unread else ""
        said += f", {conflicts} in conflict" if conflicts else ""
        yield []
        yield [("", said)]
        facets = {edge.facet for edge in self._picture.edges}
        marks = [
            (facet, f"{self._glyphs.marks[facet]} {_WORDS[facet].partition(',')[0]}")
            for facet in EDGE_FACETS
            if facet in facets
        ]
        if unread:
            marks.append(("warn", f"{self._glyphs.unread} referenced, not loaded"))
        if conflicts:
            marks.append(("bad", f"{self._glyphs.conflict} conflict"))
        if marks:
            yield [piece for mark in marks for piece in (mark, ("", "  "))][:-1]
            yield [("dim", "an unindented session is a root only if it is marked 'root'")]


def _edge_words(edges: Iterable[Edge]) -> Iterator[tuple[str, str]]:
    """What the session below is to the one above."""
    said = list(dict.fromkeys((edge.facet, _word(edge), _notes(edge)) for edge in edges))
    for (facet, word, notes), following in zip(said, [*said[1:], None], strict=True):
        # What is noted of several facets alike is noted once, after the last of them.
        told = notes and (following is None or following[2] != notes)
        yield facet, f"{word} ({', '.join(notes)})" if told else word


def _word(edge: Edge) -> str:
    words = _WORDS[edge.facet]
    if edge.mode is not None:
        words += f" {edge.mode}"
    return words if edge.reason is None else f"{words}: {shown(edge.reason)}"


def _notes(edge: Edge) -> tuple[str, ...]:
    notes: list[str] = []
    if edge.originality == "unknown":
        notes.append("may be a copy")
    if edge.state != "resolved":
        notes.append(edge.state)
    if not edge.exact:
        notes.append("exact: false")
    return tuple(notes)


def _counted(row: Row) -> str:
    counts = row.counts
    if not counts:
        return "no records"
    if len(counts) == 1:
        number, name = counts[0]
        return f"{plural(number, f'{name} record')}"
    total = sum(number for number, _ in counts)
    return f"{total} records: " + ", ".join(f"{number} {name}" for number, name in counts)
