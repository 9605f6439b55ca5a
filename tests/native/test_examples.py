"""The example logs convert clean, and show what they are there to show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessionref.native import convert
from sessionref.streams.index import read_streams

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the checkout")


def test_all_that_the_examples_name_resolves():
    """Five sessions, no finding, no ambiguity."""
    found = []
    indexes = list(
        read_streams(convert([EXAMPLES / "claude-code", EXAMPLES / "codex"], found.append))
    )
    assert found == []
    assert len({index.session for index in indexes}) == 5
    for index in indexes:
        assert index.findings == ()
        for ref in index.refs():
            assert index.resolve(ref).state == "resolved"


def test_the_examples_show_a_family_of_each_kind():
    """A parent with its subagent, forks with and without their parent."""
    lineages = {}
    for index in read_streams(
        convert([EXAMPLES / "claude-code", EXAMPLES / "codex"], lambda _: None)
    ):
        lineages[index.session] = json.loads(index.header.content).get("lineage", {})
    facets = sorted(tuple(sorted(lineage)) for lineage in lineages.values())
    assert facets == [
        (),
        ("forkedFrom",),
        ("forkedFrom", "inherits"),
        ("inherits",),
        ("inherits", "role", "spawnedBy"),
    ]
    named = {
        lineage[facet]["session"]
        for lineage in lineages.values()
        for facet in ("spawnedBy", "forkedFrom")
        if facet in lineage
    }
    assert len(named - set(lineages)) == 1
