"""Writing lines to stdout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["write_data", "write_text"]


def write_text(lines: Iterable[str]) -> None:
    """Write lines for people, in the encoding of the terminal."""
    sys.stdout.writelines(line + "\n" for line in lines)


def write_data(lines: Iterable[str]) -> None:
    """Write lines for programs, as UTF-8 whatever the locale."""
    sys.stdout.flush()
    out = sys.stdout.buffer
    for line in lines:
        out.write(line.encode("utf-8", "backslashreplace") + b"\n")
    out.flush()
