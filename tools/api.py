"""Write docs/api.md: every public name of the package, with the first sentence of its docstring.

python tools/api.py            writes the page
python tools/api.py --check    says whether it is up to date, and writes nothing
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import sessionref as sr

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["TARGET", "main", "render", "unexported"]

TARGET = Path(__file__).parents[1] / "docs/api.md"
_HEAD = """# Public names

`import sessionref as sr` offers these names. Everything else may change in any version.
`python tools/api.py` writes this page from the docstrings.

| name | what it is |
|---|---|
"""
#: Members that other modules of the package need; what they give is not public.
_INNER = {
    "Account.references",
    "AccountLineage.declared",
    "Agent.format",
    "Agent.rule",
    "Capture.fingerprint",
    "Capture.references",
    "Reader.survey_with_columns",
    "StreamIndex.columns",
    "Totals.items",
    "Totals.once",
    "Totals.settled",
    "Totals.shared_call",
}
#: What constants and aliases are, which have no docstring.
_VALUES = {
    "CODES": "The codes of faults in references, each with its meaning.",
    "ENTITY_KEYS": "The keys of entity refs, as in `callId=…` (ASR-062).",
    "Outcome": "What becomes of a ref: `Resolved`, `Unresolved` or `Ambiguous`.",
}
_word = re.compile(r"\b[A-Z]\w*")


def render() -> str:
    """The text of the page."""
    rows = [f"| `{name}` | {_line(name, getattr(sr, name))} |\n" for name in sorted(sr.__all__)]
    return _HEAD + "".join(rows)


def _line(name: str, value: Any) -> str:
    text = _VALUES.get(name) or inspect.getdoc(value) or ""
    first = re.split(r"(?<=[.:])\s+(?=[A-Z`])|\n\n", text, maxsplit=1)[0]
    return " ".join(first.split()).replace("|", "\\|")


def unexported() -> set[str]:
    """Classes that something public returns and that are not public, as ``where: class``."""
    public = [getattr(sr, name) for name in sr.__all__]
    missing: set[str] = set()
    for name in sr.__all__:
        value = getattr(sr, name)
        for where, function in _functions(name, value):
            if where in _INNER:
                continue
            module = inspect.getmodule(function)
            assert module is not None  # noqa: S101 - a function of this package
            for word in _word.findall(str(function.__annotations__.get("return", ""))):
                given = _classes(module).get(word)
                if given is not None and given not in public:
                    missing.add(f"{where}: {word}")
    return missing


def _functions(name: str, value: Any) -> Iterator[tuple[str, FunctionType]]:
    """A function, or the public methods and properties of a class."""
    if isinstance(value, FunctionType):
        yield name, value
    if isinstance(value, type):
        for base in value.__mro__:
            for at, member in vars(base).items():
                function = getattr(
                    member, "fget", getattr(member, "func", getattr(member, "__func__", member))
                )
                ours = isinstance(function, FunctionType) and not at.startswith("_")
                if ours and function.__module__.startswith("sessionref"):
                    yield f"{name}.{at}", function


@cache
def _classes(module: ModuleType) -> dict[str, type]:
    """The classes of this package that a module defines or imports, for types too, by name."""
    found: dict[str, type] = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sessionref"):
            home = import_module(node.module or "")
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ClassDef):
            home, names = module, [node.name]
        else:
            continue
        for name in names:
            value = getattr(home, name, None)
            if isinstance(value, type):
                found[name] = value
    return found


def main() -> int:
    """Write or check the page."""
    text = render()
    if "--check" in sys.argv[1:]:
        return int(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
