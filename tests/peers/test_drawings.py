"""Forests drawn by the programs whose languages they are written in: Graphviz and Mermaid."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from click.testing import CliRunner
from graph_streams import HOSTILE, conflict, family, hostile

from sessionref.cli._app import program

if TYPE_CHECKING:
    from pathlib import Path

    from lineage_streams import Stream


def drawn(form: str, *streams: Stream) -> bytes:
    text = b"".join(stream.text() for stream in streams)
    return CliRunner().invoke(program, ["tree", "--format", form, "-"], input=text).stdout_bytes


def test_graphviz_renders_dot(dot: str):
    """Graphviz draws every session and edge, whatever the IDs hold."""
    written = drawn("dot", *hostile(), *conflict(), *family())
    done = subprocess.run([dot, "-Tjson"], input=written, capture_output=True, check=True)
    assert done.stderr == b""
    graph = json.loads(done.stdout)
    labels = {node["label"] for node in graph["objects"]}
    assert 'codex:a\\"b\\nno records' in labels or 'codex:a"b\\nno records' in labels
    assert len(labels) == len(HOSTILE) + 1 + 2 + 1 + 7
    assert len(graph["edges"]) == 2 * len(HOSTILE) + 1 + 8
    svg = subprocess.run([dot, "-Tsvg"], input=written, capture_output=True, check=True).stdout
    shown = {element.text for element in ET.fromstring(svg).iter() if element.text}  # noqa: S314 - our own output
    for label in ("codex:am&amp;p%20&lt;", "codex:back\\slash\\n", "codex:bi\\u202edi"):
        assert label in shown
    assert "inherits copied, unresolved, exact: false" in shown


def test_mermaid_parses_its_flowchart(node: str, packages: Path, tmp_path: Path):
    """Mermaid's own parser takes it, with every node and edge."""
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "parse.mjs").write_text(_MERMAID)
    written = drawn("mermaid", *hostile(), *family())
    done = subprocess.run(
        [node, "parse.mjs"], cwd=tmp_path, input=written, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "type": "flowchart-v2",
        "nodes": len(HOSTILE) + 1 + 7,
        "edges": 2 * len(HOSTILE) + 8,
    }


_MERMAID = """
import { JSDOM } from 'jsdom';
import fs from 'node:fs';
const dom = new JSDOM('<!doctype html><body></body>');
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const mermaid = (await import('mermaid')).default;
mermaid.initialize({ startOnLoad: false, maxEdges: 1e6, maxTextSize: 1e9 });
const text = fs.readFileSync(0, 'utf8');
const { diagramType } = await mermaid.parse(text);
const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
const nodes = db.getVertices();
console.log(JSON.stringify({
  type: diagramType,
  nodes: nodes.size ?? Object.keys(nodes).length,
  edges: db.getEdges().length,
}));
"""
