"""Writes requirements/*.txt: every dependency with its version and the hashes of its files.

`make lock` runs it in an environment that holds pip-tools. The files do not say where to download
from, so pip uses whatever index it is configured for. Arguments name the files to write; without
any, all are written.
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
#: Each file with the dependency groups that it pins, and whether it pins what the package needs.
FILES: dict[str, tuple[list[str], bool]] = {
    "run": ([], True),
    "test": (["test", "lint"], True),
    "bench": (["test", "lint", "bench"], True),
    "lock": (["lock"], False),
}


def main(names: list[str]) -> None:
    """Write the files of these names."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    for name in names or FILES:
        members, package = FILES[name]
        wanted = "\n".join(line for member in members for line in groups[member])
        sources = ["pyproject.toml", "-"] if package else ["-"]
        output = ["-o", f"requirements/{name}.txt"]
        command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, *output, *sources]
        subprocess.run(command, cwd=ROOT, check=True, input=wanted.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
