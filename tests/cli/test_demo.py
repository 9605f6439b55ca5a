"""The demonstration that `make demo` runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "demo.sh"
README = ROOT / "README.md"


@pytest.mark.skipif(not DEMO.exists(), reason="needs the checkout")
def test_demo_shows_a_record_an_entity_and_a_turn():
    """All in it resolves but what is shown as ambiguous or bad; tree and totals end it."""
    environment = {**os.environ, "BIN": str(Path(sys.executable).parent)}
    # The picture in the README has marks beyond ASCII.
    environment |= {"PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["sh", str(DEMO)],
        env=environment,
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
    assert "referenced, not loaded" in tree
    assert usage.rstrip().endswith("are proven copies, which do not count.")
    # The README shows exactly that.
    picture = README.read_text("utf-8").partition("```console\n")[2].partition("```")[0]
    shown = {block.strip() for block in picture.split("$ sessionref ") if block}
    printed = {block.partition("\n\n\n")[0].strip() for block in text.split("$ sessionref ")}
    assert len(shown) == 2
    assert shown <= printed
    assert "\x1b" not in text
