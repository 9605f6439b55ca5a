"""A forest as a graph, in the languages of programs that draw graphs.

Edges run as the claims do: from the session that makes one to the session it names. Every session
is a node `n0`, `n1`, … in the order of their names, so no identifier is ever one of the language.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.sax.saxutils import escape

from sessionref.cli._text import printable, shown
from sessionref.cli.render.picture import label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sessionref.cli.render.picture import Picture, Row
    from sessionref.lineage.forest import Edge

__all__ = ["dot_lines", "graphml_lines", "mermaid_lines"]


def _numbered(picture: Picture) -> tuple[list[tuple[str, Row]], dict[str, str]]:
    """The sessions with the names of their nodes, and these names by canonical key."""
    rows = [(f"n{number}", row) for number, row in enumerate(picture.rows)]
    return rows, {row.name: node for node, row in rows if row.name is not None}


def _counts(row: Row) -> str:
    if row.lineage is None:
        return "referenced, not loaded"
    said = ", ".join(f"{number} {name}" for number, name in row.counts) or "no records"
    return f"conflict, {said}" if row.lineage.conflict else said


def _caption(edge: Edge) -> str:
    said = edge.facet if edge.mode is None else f"{edge.facet} {edge.mode}"
    if edge.state != "resolved":
        said += f", {edge.state}"
    return said if edge.exact else f"{said}, exact: false"


# -- Graphviz ------------------------------------------------------------------------------------

_DOT_STYLES = {
    "spawnedBy": 'color="#2e8b57"',
    "announces": 'color="#2aa198", style=dotted, constraint=false',
    "forkedFrom": 'color="#b03a9e"',
    "continues": 'color="#268bd2", style=bold',
    "inherits": 'color="#b58900", style=dashed',
    "relatedUnknown": 'color="#888888", style=dotted',
    "executedBy": 'color="#cb4b16", arrowhead=diamond',
}


def dot_lines(picture: Picture) -> Iterator[str]:
    """The forest in the DOT language of Graphviz."""
    rows, nodes = _numbered(picture)
    yield "digraph sessions {"
    yield "  rankdir=BT;"
    yield '  node [shape=box, fontname="sans-serif"];'
    yield '  edge [fontname="sans-serif", fontsize=10];'
    for node, row in rows:
        more = "" if row.lineage is not None else ", style=dashed"
        if row.lineage is not None and row.lineage.conflict:
            more = ', color="#dc322f"'
        yield f'  {node} [label="{_dot(label(row))}\\n{_dot(_counts(row))}"{more}];'
    for edge in picture.edges:
        ends = f"{nodes[edge.source]} -> {nodes[edge.target]}"
        said = f'label="{_dot(_caption(edge))}", tooltip="{_dot(edge.why())}"'
        yield f"  {ends} [{said}, {_DOT_STYLES[edge.facet]}];"
    yield "}"


def _dot(text: str) -> str:
    # Graphviz knows escapes and the entities of HTML in labels.
    text = shown(text).replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("&", "&amp;")


# -- Mermaid -------------------------------------------------------------------------------------

_MERMAID_ARROWS = {
    "spawnedBy": "-->",
    "announces": "-.->",
    "forkedFrom": "==>",
    "continues": "==>",
    "inherits": "-.->",
    "relatedUnknown": "-.-",
    "executedBy": "--o",
}
_PLAIN = frozenset(" :._-/,()abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def mermaid_lines(picture: Picture) -> Iterator[str]:
    """The forest as a flowchart of Mermaid."""
    rows, nodes = _numbered(picture)
    yield "flowchart BT"
    for node, row in rows:
        style = "" if row.lineage is not None else ":::unread"
        if row.lineage is not None and row.lineage.conflict:
            style = ":::conflict"
        yield f'  {node}["{_mermaid(label(row))}<br/>{_mermaid(_counts(row))}"]{style}'
    for edge in picture.edges:
        caption = f'|"{_mermaid(_caption(edge))}"|'
        arrow = _MERMAID_ARROWS[edge.facet]
        yield f"  {nodes[edge.source]} {arrow}{caption} {nodes[edge.target]}"
    yield "  classDef unread stroke-dasharray: 4"
    yield "  classDef conflict stroke: #dc322f"


def _mermaid(text: str) -> str:
    """Everything but plain characters as Mermaid's entities: nothing is markup."""
    return "".join(c if c in _PLAIN else f"#{ord(c)};" for c in shown(text))


# -- GraphML -------------------------------------------------------------------------------------

#: What nodes and edges carry: the name, and its type in GraphML.
_NODE_KEYS = {
    "session": "string",
    "label": "string",
    "agent": "string",
    "scope": "string",
    "role": "string",
    "files": "string",
    "read": "boolean",
    "selected": "boolean",
    "root": "boolean",
    "exact": "boolean",
    "conflict": "boolean",
    "records": "long",
    "original": "long",
    "copied": "long",
    "unknown": "long",
}
_EDGE_KEYS = {
    "facet": "string",
    "evidence": "string",
    "state": "string",
    "exact": "boolean",
    "record": "string",
    "ordinal": "long",
    "mode": "string",
    "through": "string",
    "reason": "string",
    "originality": "string",
    "why": "string",
}


def graphml_lines(picture: Picture) -> Iterator[str]:
    """The forest in GraphML. What is not known has no value."""
    rows, nodes = _numbered(picture)
    yield "<?xml version='1.0' encoding='UTF-8'?>"
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for domain, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name, kind in keys.items():
            yield (
                f'  <key id="{domain}-{name}" for="{domain}" attr.name="{name}" '
                f'attr.type="{kind}"/>'
            )
    yield '  <graph id="sessions" edgedefault="directed">'
    for node, row in rows:
        yield f'    <node id="{node}">'
        yield from _data("node", _node_values(picture, row))
        yield "    </node>"
    for number, edge in enumerate(picture.edges):
        ends = f'source="{nodes[edge.source]}" target="{nodes[edge.target]}"'
        yield f'    <edge id="e{number}" {ends}>'
        values = {name: getattr(edge, name) for name in _EDGE_KEYS if name != "why"}
        yield from _data("edge", values | {"why": edge.why()})
        yield "    </edge>"
    yield "  </graph>"
    yield "</graphml>"


def _node_values(picture: Picture, row: Row) -> dict[str, object]:
    session = row.lineage
    values: dict[str, object] = {
        "session": None if row.name is None else _holdable(row.name),
        "label": label(row),
        "read": session is not None,
        "selected": row.selected,
    }
    if session is not None:
        counts = session.records
        values |= {
            "agent": session.agent,
            "scope": session.lineage.scope,
            "role": session.lineage.role,
            "files": "\n".join(printable(file) for file in session.files),
            "root": session.lineage.root,
            "exact": picture.is_exact(session),
            "conflict": session.conflict,
            "records": sum(counts),
            "original": counts.original,
            "copied": counts.copied,
            "unknown": counts.unknown,
        }
    return values


def _data(domain: str, values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f'      <data key="{domain}-{name}">{_xml(text)}</data>'


def _xml(text: str) -> str:
    """`text` for XML, exactly; invisible characters as references.

    What XML cannot hold at all stands as an escape.
    """
    return "".join(
        c if c.isprintable() else shown(c) if _is_no_xml(c) else f"&#{ord(c)};"
        for c in escape(text)
    )


def _holdable(name: str) -> str:
    """`name` as a reference to the same session that XML can hold, where it cannot hold that."""
    return "".join(quote(c) if _is_no_xml(c) else c for c in name)


#: What XML 1.0 cannot hold, not even as a reference.
_is_no_xml = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").match
