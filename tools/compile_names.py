"""Write sessionref/_names.py: what parsing a reference needs of the registry, as plain literals.

    python tools/compile_names.py            writes the module
    python tools/compile_names.py --check    says whether it is up to date, and writes nothing

It reads the data files with nothing but the standard library, so that it works in a checkout where
the module is missing.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["TARGET", "main", "render"]

PACKAGE = Path(__file__).parents[1] / "sessionref"
DATA = PACKAGE / "data"
TARGET = PACKAGE / "_names.py"


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def render() -> str:
    """The text of the module. Ends the program where the names need a new version first."""
    entries = [_read(path) for path in (DATA / "agents").glob("*.toml")]
    names = {entry["short_name"]["value"]: entry["reverse_dns_name"]["value"] for entry in entries}
    latest = _read(DATA / "registry.toml")["versions"][-1]
    if latest["names"] != names:
        raise SystemExit(
            "The names in data/agents are not those of the last version in data/registry.toml: "
            "add a version (see docs/registry.md)."
        )
    lines = [
        '"""The names of the registry. Written by tools/compile_names.py."""',
        "",
        "#: The short name of each registered reverse-DNS name.",
        "SHORT_NAMES: dict[str, str] = {",
        *(f'    "{names[short]}": "{short}",' for short in sorted(names)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the module, or with ``--check`` return 1 where it is stale."""
    text = render()
    if "--check" not in arguments:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.name} is stale: run python tools/compile_names.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
