"""A forest as one web page that needs nothing else: the text, with its colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionref.cli.render.lines import COLOURS, html_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionref.cli.render.lines import Line

__all__ = ["page_lines"]


def page_lines(lines: Iterable[Line]) -> Iterator[str]:
    """The page that shows `lines`."""
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<meta charset="utf-8">'
    yield '<meta http-equiv="Content-Security-Policy" '
    yield "  content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield "<title>Sessions</title>"
    yield "<style>"
    yield ":root { color-scheme: light dark }"
    yield "pre { font: 14px/1.35 ui-monospace, monospace }"
    for name, (_, css) in COLOURS.items():
        yield f".{name} {{ {css} }}"
    yield "</style>"
    yield "<pre>"
    for line in lines:
        yield html_line(line)
    yield "</pre>"
    yield "</html>"
