"""The example logs convert clean, and show what they are there to show."""

from __future__ import annotations

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
