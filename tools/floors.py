"""Writes requirements/floors.txt: the minimum versions that pyproject.toml declares, as pins.

    python tools/floors.py            writes the file
    python tools/floors.py --check    says whether it is up to date, and writes nothing

`make test-floors` runs the tests with these versions, so that the declared minimums stay true.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

__all__ = ["TARGET", "main", "render"]

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "requirements" / "floors.txt"


def render() -> str:
    """The text of the file. Ends the program if a requirement declares no minimum."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = declared["project"]
    requirements = [*project["dependencies"], *declared["build-system"]["requires"]]
    for extra in project["optional-dependencies"].values():
        requirements += extra
    pins: set[str] = set()
    for requirement in requirements:
        found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
        if found is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} declares no minimum (NAME>=VERSION)")
        pins.add(f"{found[1]}=={found[2]}\n")
    return "# Written by tools/floors.py from pyproject.toml.\n" + "".join(sorted(pins))


def main(arguments: list[str]) -> int:
    """Write the file, or with ``--check`` return 1 if it is stale."""
    text = render()
    if "--check" not in arguments:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.name} is stale: run python tools/floors.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
