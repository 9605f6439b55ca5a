"""The page on streams is complete."""

from __future__ import annotations

import re
from pathlib import Path

from sessionref._codes import codes


def test_every_code_is_on_the_page():
    """Each code of a finding stands in its table with its severity."""
    page = (Path(__file__).parents[2] / "docs" / "streams.md").read_text()
    told = re.findall(r"^\| `([a-z0-9-]+)` \| (error|warning|notice) \|", page, re.MULTILINE)
    assert [one for one in told if codes()[one[0]].severity != one[1]] == []
    links = {code for code in codes() if code.startswith("supersedes-")}
    assert links | {"not-json", "crlf", "bad-member"} < dict(told).keys()
