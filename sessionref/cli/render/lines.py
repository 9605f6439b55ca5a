"""Lines of text with styles, for terminals with colour and without, and for web pages."""

from __future__ import annotations

import os
import shutil
import sys
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len

from sessionref.cli._text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    #: Pieces of a line, each with the name of its style; "" is none.
    Line: TypeAlias = Sequence[tuple[str, str]]
    Paint: TypeAlias = Callable[[Line], str]

__all__ = ["COLOURS", "html_line", "middle", "paint", "plain", "takes_unicode", "width"]

#: The styles: for a terminal as codes of SGR, for a page as CSS.
COLOURS = {
    "dim": ("2", "opacity:.65"),
    "bold": ("1", "font-weight:bold"),
    "warn": ("33", "color:#b58900"),
    "bad": ("31", "color:#dc322f"),
    "spawnedBy": ("32", "color:#2e8b57"),
    "announces": ("36", "color:#2aa198"),
    "forkedFrom": ("35", "color:#b03a9e"),
    "continues": ("34", "color:#268bd2"),
    "inherits": ("33", "color:#b58900"),
    "relatedUnknown": ("2", "opacity:.65"),
    "executedBy": ("31", "color:#cb4b16"),
}


def width() -> int | None:
    """How many columns a line of stdout may have; None where nothing limits it."""
    return shutil.get_terminal_size((0, 0)).columns or None


def takes_unicode() -> bool:
    """Whether stdout can show lines and marks beyond ASCII."""
    try:
        "├─◆…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def paint() -> Paint:
    """How lines go to stdout: with colour where a terminal has it and NO_COLOR is unset."""
    coloured = (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") not in {None, "", "dumb"}
    )
    return _coloured if coloured else plain


def plain(line: Line) -> str:
    """A line without its styles."""
    return "".join(text for _, text in line).rstrip()


def _coloured(line: Line) -> str:
    return "".join(
        f"\x1b[{COLOURS[style][0]}m{text}\x1b[0m" if style else text for style, text in line
    )


def html_line(line: Line) -> str:
    """A line for a page: everything that HTML would obey is escaped."""
    return "".join(
        f'<span class="{style}">{escape(text)}</span>' if style else escape(text)
        for style, text in line
    )


def middle(text: str, limit: int, *, ellipsis: str = "…") -> str:
    """`text` as `shown`, with its middle left out where it takes more than `limit` columns.

    The beginning says which agent it is, the end tells IDs apart. For people: it is no identifier.
    """
    text = shown(text)
    if _columns(text) <= limit:
        return text
    left = limit - len(ellipsis)
    if left < 2:  # noqa: PLR2004 - something before and something after
        return ellipsis[:limit]
    tail = _taken(text[::-1], left // 2)[::-1]
    return _taken(text, left - _columns(tail)) + ellipsis + tail


def _columns(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def _taken(text: str, limit: int) -> str:
    """The first characters, as many as fit into `limit` columns."""
    used = accumulate(map(_columns, text))
    return "".join(
        character for character, columns in zip(text, used, strict=True) if columns <= limit
    )
