"""Writes requirements/*.txt: every dependency with its version and the hashes of its files.

Needs `pip-tools`. Run by `make lock`; the files name no place to download from, so whatever index
pip is set up with serves.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
OPTIONS = [
    "--quiet",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-emit-trusted-host",
    "--no-emit-find-links",
    "--no-emit-options",
    "--no-header",
    "--no-annotate",
    "--strip-extras",
    "--allow-unsafe",
]
FILES = {
    "run": ["pyproject.toml"],
    "test": ["pyproject.toml", "requirements/test.in"],
    "bench": ["pyproject.toml", "requirements/test.in", "requirements/bench.in"],
}

if __name__ == "__main__":
    for name, inputs in FILES.items():
        target = f"requirements/{name}.txt"
        command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, "-o", target, *inputs]
        subprocess.run(command, cwd=ROOT, check=True)
