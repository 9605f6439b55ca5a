"""The page on streams is complete."""

from __future__ import annotations

from pathlib import Path

from sessionref.streams.chains import LINK_FAULTS
from sessionref.streams.decode import FAULTS


def test_every_code_is_on_the_page():
    """Each code of a finding stands in its table with its severity."""
    page = (Path(__file__).parents[2] / "docs" / "streams.md").read_text()
    for code, (severity, *_) in {**FAULTS, **LINK_FAULTS}.items():
        assert f"| `{code}` | {severity} |" in page
