"""Counts lines of code by folder, without blank lines, comments and docstrings.

python tools/count.py [FOLDER…]     # `sessionref` where none is named
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

_LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


def code_lines(text: str) -> int:
    """The number of lines that hold a token of code which is no docstring."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - docstrings)


def main(folders: list[str]) -> None:
    """Print the lines of code of each folder, and of all."""
    for top in map(Path, folders or ["sessionref"]):
        found: Counter[str] = Counter()
        for file in sorted(top.rglob("*.py")):
            found[str(file.parent)] += code_lines(file.read_text(encoding="utf-8"))
        for folder, lines in found.items():
            print(f"{lines:7,}  {folder}")
        print(f"{found.total():7,}  {top}, all together")


if __name__ == "__main__":
    main(sys.argv[1:])
