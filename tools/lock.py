"""Writes requirements/*.txt: every dependency with its version and the hashes of its files.

Needs `pip-tools`. Run by `make lock`; the files name no place to download from, so whatever index
pip is set up with serves.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
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
#: Each file with the dependency groups that it holds beside what the package itself needs.
FILES = {"run": [], "test": ["test", "lint"], "bench": ["test", "lint", "bench"]}

if __name__ == "__main__":
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    for name, members in FILES.items():
        wanted = "\n".join(line for member in members for line in groups[member])
        output = ["-o", f"requirements/{name}.txt"]
        command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, *output, "pyproject.toml"]
        subprocess.run([*command, "-"], cwd=ROOT, check=True, input=wanted.encode())
