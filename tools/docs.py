"""Writes into README.md and docs/ what the commands they show print today.

A fenced block of the kind ``console`` holds commands, each on a line that begins with ``$ ``, and
below each what it prints. They run in the folder `examples/`, with a width of 120 columns and
without colour. `python tools/docs.py` writes the output anew; with ``--check`` it only says which
blocks are stale, and exits 1 where there are any.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ["main", "render"]

ROOT = Path(__file__).parents[1]
_block = re.compile(r"(?ms)^```console\n(.*?)^```$")


def documents() -> list[Path]:
    """The documents that may hold console blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def render(text: str) -> str:
    """`text` with the output in its console blocks as it is today."""
    return _block.sub(lambda block: f"```console\n{_run(block[1])}```", text)


def _run(block: str) -> str:
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_output(command)}" for command in commands)


def _output(command: str) -> str:
    scripts = str(Path(sys.executable).parent)
    environment = {
        "PATH": scripts + os.pathsep + os.environ["PATH"],
        "HOME": "/home/user",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT / "examples",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode()
    return "".join(line.rstrip() + "\n" for line in output.splitlines())


def main() -> int:
    """Writes or checks all documents."""
    check = "--check" in sys.argv[1:]
    stale = False
    for path in documents():
        old = path.read_text(encoding="utf-8")
        new = render(old)
        if new == old:
            continue
        stale = True
        name = str(path.relative_to(ROOT))
        sys.stdout.writelines(
            difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, name)
        )
        if not check:
            path.write_text(new, encoding="utf-8")
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main())
