"""The errors of this package, and the stable codes of a bad reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    #: Every code that `InvalidReference` can carry, with what it means. Codes and spans are API;
    #: message texts are not.
    CODES: dict[str, str]

__all__ = ["CODES", "InvalidReference", "RegistryError", "SessionrefError", "StreamError"]


def __getattr__(name: str) -> dict[str, str]:
    """Read `CODES` from the table of codes when somebody asks for it; parsing never does."""
    if name != "CODES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sessionref._codes import codes  # noqa: PLC0415 - reading the table takes milliseconds

    return {code: row.meaning for code, row in codes().items() if row.reference}


class SessionrefError(Exception):
    """The base of everything that this package raises about its input."""


class InvalidReference(SessionrefError, ValueError):  # noqa: N818 - the name is a promise
    """A text, or raw parts, that are not a valid reference.

    `code` is a key of `CODES`, `rule` the ASR rule that is broken, `component` the part of the
    reference (`reference`, `agent`, `namespace`, `session-id`, `ref`, `key`, `value` or
    `record-id`), `span` the place as start and end in code points of `text`, which is the
    reference or, where raw parts were given, the part at fault. Instances are values: they
    compare, hash and pickle by these fields.
    """

    __slots__ = ("code", "component", "message", "rule", "span", "text")

    code: str
    rule: str
    component: str
    span: tuple[int, int]
    text: str
    message: str

    def __init__(
        self,
        code: str,
        rule: str,
        component: str,
        span: tuple[int, int],
        text: str,
        message: str,
    ) -> None:
        super().__init__(code, rule, component, span, text, message)
        self.code = code
        self.rule = rule
        self.component = component
        self.span = span
        self.text = text
        self.message = message

    def __str__(self) -> str:
        start, end = self.span
        shown, before, width = _excerpt(self.text, start, end)
        caret = " " * before + "^" * width
        return f"{self.message} ({self.code}, {self.rule})\n  {shown}\n  {caret}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InvalidReference):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)

    def __reduce__(
        self,
    ) -> tuple[Callable[..., InvalidReference], tuple[object, ...]]:
        return (type(self), self.args)


class RegistryError(SessionrefError, ValueError):
    """A registry entry, file or overlay that cannot be used.

    `code` says what is wrong; `file` names the TOML file, if there is one.
    """

    def __init__(self, code: str, message: str, file: str | None = None) -> None:
        super().__init__(code, message, file)
        self.code = code
        self.message = message
        self.file = file

    def __str__(self) -> str:
        return self.message if self.file is None else f"{self.file}: {self.message}"


class StreamError(SessionrefError):
    """An input that cannot be read as what it was asked to be."""

    def __init__(self, code: str, message: str, file: str | None = None) -> None:
        super().__init__(code, message, file)
        self.code = code
        self.message = message
        self.file = file

    def __str__(self) -> str:
        return self.message if self.file is None else f"{self.file}: {self.message}"


#: How many code points of a long text are shown on either side of the place.
_CONTEXT = 60


def _excerpt(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The shown part of `text`, the columns before the caret, and the caret's width.

    Controls, surrogates and whatever else is not printable are shown escaped, so that an error
    message can stand on any terminal; the columns are counted after escaping.
    """
    low = max(0, start - _CONTEXT)
    high = min(len(text), max(end, start + 1) + _CONTEXT)
    stop = min(max(end, start + 1), start + 2 * _CONTEXT, high)
    lead = "…" if low else ""
    head = lead + _escape(text[low:start])
    marked = _escape(text[start:stop])
    tail = _escape(text[stop : min(high, stop + _CONTEXT)]) + ("…" if high < len(text) else "")
    return head + marked + tail, len(head), max(1, len(marked))


def _escape(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
