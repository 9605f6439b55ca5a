"""ABNF (RFC 5234, with the case-sensitive strings of RFC 7405), read into expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from proofs.charset import CharSet
from proofs.expression import Chars, alt, literal, repeat, seq

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from proofs.expression import Expr

__all__ = ["AbnfError", "AbnfGrammar"]

_BASES = {"b": 2, "d": 10, "x": 16}
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t]+|;[^\n]*)
    | (?P<number>%(?P<base>[bdxBDX])(?P<digits>[0-9A-Fa-f]+(?:-[0-9A-Fa-f]+|(?:\.[0-9A-Fa-f]+)*)))
    | (?P<string>(?:%(?P<case>[siSI]))?"(?P<text>[\x20-\x21\x23-\x7e]*)")
    | (?P<repeat>\d*\*\d*|\d+)
    | (?P<name>[A-Za-z][A-Za-z0-9-]*)
    | (?P<mark>[()\[\]/])
    """,
    re.VERBOSE,
)


class AbnfError(ValueError):
    """A text that is no ABNF, or ABNF that names no regular language."""


class AbnfGrammar:
    """The rules of an ABNF text. Rule names are case-insensitive, as RFC 5234 has it.

    `replacing` gives some rules another one's definition.
    """

    def __init__(self, text: str, *, replacing: Mapping[str, str] | None = None) -> None:
        self._rules: dict[str, list[re.Match[str]]] = {}
        for name, operator, body in _definitions(text):
            tokens = list(_tokens(body))
            known = self._rules.get(name)
            if (known is not None) != (operator == "=/"):
                raise AbnfError(f"{name} {operator}: defined twice, or extended before")
            # "=/" adds an alternative: the same as a "/" between the two.
            self._rules[name] = tokens if known is None else [*known, *_tokens("/"), *tokens]

        for name, other in (replacing or {}).items():
            if name not in self._rules or other not in self._rules:
                raise AbnfError(f"there is no rule {name} or no rule {other}")
            self._rules[name] = self._rules[other]

    def names(self) -> list[str]:
        """The rules, in the order of their definitions, in lower case."""
        return list(self._rules)

    def rule(self, name: str) -> Expr:
        """The language of a rule."""
        return self._rule(name.lower(), ())

    def _rule(self, name: str, above: tuple[str, ...]) -> Expr:
        if name in above:
            raise AbnfError(f"the rule {name} is recursive")
        if name not in self._rules:
            raise AbnfError(f"there is no rule {name}")
        tokens = list(self._rules[name])
        expr = self._alternation(tokens, (*above, name))
        if tokens:
            raise AbnfError(f"{name}: {tokens[0][0]!r} closes nothing")
        return expr

    def _alternation(self, tokens: list[re.Match[str]], above: tuple[str, ...]) -> Expr:
        options = [self._concatenation(tokens, above)]
        while tokens and tokens[0][0] == "/":
            tokens.pop(0)
            options.append(self._concatenation(tokens, above))
        return alt(options)

    def _concatenation(self, tokens: list[re.Match[str]], above: tuple[str, ...]) -> Expr:
        parts: list[Expr] = []
        while tokens and tokens[0][0] not in ("/", ")", "]"):
            parts.append(self._repetition(tokens, above))
        if not parts:
            raise AbnfError("an empty alternative")
        return seq(parts)

    def _repetition(self, tokens: list[re.Match[str]], above: tuple[str, ...]) -> Expr:
        low: int = 1
        high: int | None = 1
        if tokens[0]["repeat"] is not None:
            count = tokens.pop(0)["repeat"]
            least, star, most = count.partition("*")
            low = int(least or 0)
            high = (int(most) if most else None) if star else low
            if not tokens:
                raise AbnfError(f"{count} of nothing")
        return repeat(self._element(tokens, above), low, high)

    def _element(self, tokens: list[re.Match[str]], above: tuple[str, ...]) -> Expr:
        token = tokens.pop(0)
        if token["name"] is not None:
            return self._rule(token["name"].lower(), above)
        if token["string"] is not None:
            return _string(token["text"], sensitive=(token["case"] or "i").lower() == "s")
        if token["number"] is not None:
            return _number(token["digits"], _BASES[token["base"].lower()])
        closing = {"(": ")", "[": "]"}.get(token[0])
        if closing is None:
            raise AbnfError(f"{token[0]!r} begins nothing")
        body = self._alternation(tokens, above)
        if not tokens or tokens.pop(0)[0] != closing:
            raise AbnfError(f"{token[0]!r} is not closed")
        return body if closing == ")" else repeat(body, 0, 1)


def _definitions(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, operator and body of each rule; a line that begins with a space goes on with one."""
    starts = list(re.finditer(r"(?m)^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=/|=)", text))
    covered = text[: starts[0].start()] if starts else text
    if re.sub(r";[^\n]*", "", covered).strip():
        raise AbnfError("text before the first rule")
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=True):
        yield match[1].lower(), match[2], text[match.end() : end]


def _tokens(body: str) -> Iterator[re.Match[str]]:
    for line in body.split("\n"):
        at = 0
        while at < len(line):
            match = _TOKEN.match(line, at)
            if match is None:
                raise AbnfError(f"no ABNF: {line[at:]!r}")
            at = match.end()
            if match["space"] is None:
                yield match


def _string(text: str, *, sensitive: bool) -> Expr:
    if sensitive:
        return literal(text)
    return seq(Chars(CharSet.from_text(c.lower() + c.upper())) for c in text)


def _number(digits: str, base: int) -> Expr:
    low, dash, high = digits.partition("-")
    if dash:
        return Chars(CharSet.of([(int(low, base), int(high, base))]))
    return literal("".join(chr(int(code, base)) for code in digits.split(".")))
