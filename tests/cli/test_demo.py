"""The demonstration that `make demo` runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.sh"


@pytest.mark.skipif(not DEMO.exists(), reason="needs the checkout")
def test_demo_shows_a_record_an_entity_and_a_turn():
    """All in it resolves but what is shown as ambiguous or bad; tree and totals end it."""
    done = subprocess.run(
        ["sh", str(DEMO)],
        env={**os.environ, "BIN": str(Path(sys.executable).parent)},
        capture_output=True,
        check=False,
    )
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert text.count("\nresolved  ") == 7
    assert text.count("\nambiguous, exact: false  ") == 1
    assert "\nunresolved" not in text
    tree, usage = text.partition("$ sessionref usage")[::2]
    assert "$ sessionref tree" in tree
    assert "root, primary" in tree
    assert "named, not read" in tree
    assert usage.rstrip().endswith("are proven copies, which count nowhere.")
    assert "\x1b" not in text
