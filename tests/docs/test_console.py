"""What the documents show is what the commands print today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "tools/docs.py").exists(), reason="needs the checkout")
def test_the_console_blocks_of_all_documents_are_what_the_commands_print():
    """README.md and docs/ are rendered again, and nothing changes."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools/docs.py", "--check"], capture_output=True, check=False
    )
    assert done.stdout.decode() == ""
    assert done.returncode == 0, done.stderr.decode()
