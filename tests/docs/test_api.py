"""The page of public names, and what it lists."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sessionref as sr

TOOL = Path(__file__).parents[2] / "tools/api.py"

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="needs the checkout")


def test_the_page_lists_every_public_name_with_a_line():
    """It is what `tools/api.py` writes today, and no line is empty."""
    done = subprocess.run([sys.executable, TOOL, "--check"], check=False)
    assert done.returncode == 0, "run `make docs`"
    page = (TOOL.parents[1] / "docs/api.md").read_text(encoding="utf-8")
    rows = dict(row.strip("| ").split(" | ", 1) for row in page.splitlines() if "` | " in row)
    assert list(rows) == [f"`{name}`" for name in sorted(sr.__all__)]
    assert all(rows.values())


def test_every_type_that_something_public_returns_is_public(monkeypatch):
    """So that whoever calls it can write the type down."""
    monkeypatch.syspath_prepend(str(TOOL.parent))
    import api  # noqa: PLC0415

    assert api.unexported() == set()


def test_known_places_are_folders_that_exist(monkeypatch, tmp_path):
    """A variable of the environment moves them."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert sr.known_places() == []
    (tmp_path / "sessions").mkdir()
    assert sr.known_places() == [str(tmp_path / "sessions")]
