"""What comes from the data, made fit for the eyes of people and for JSON."""

from __future__ import annotations

__all__ = ["plural", "printable", "shortened", "shown"]


def shown(text: str) -> str:
    """`text` with everything escaped that a terminal would not just print.

    That is controls, escape sequences, bidirectional overrides, line separators, other invisible
    characters and lone surrogates. For people: the result is no identifier.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(text: str, width: int) -> str:
    """`shown(text)`, cut off with an ellipsis where it is wider than `width`."""
    # Nothing gets shorter by escaping, so what lies behind is never looked at.
    text = shown(text[: width + 1])
    return text if len(text) <= width else text[: width - 1] + "…"


def printable(name: str) -> str:
    """The name of a file as JSON can hold it: octets that are no UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def plural(number: int, one: str, several: str | None = None) -> str:
    """`number` with the noun in its right form; `several` where that is not `one` and an s."""
    return f"{number} {one}" if number == 1 else f"{number} {several or one + 's'}"
