"""What a user would take instead, each with what it checks and what it leaves undone.

Each peer is imported when it is measured, so that the package can be read without any of them.
"""

# ruff: noqa: PLC0415 - what is measured is imported when it is measured

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.by_hand import by_hand, by_hand_into_value

if TYPE_CHECKING:
    from bench.shapes import Shape

__all__ = ["OURS", "Contender", "contenders"]

_FOUR_PARTS = "a = r.agent; n = r.namespace; s = r.session_id; f = r.ref"


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to take a text apart.

    `statement` does it for the text `t` and reads every part that it finds, with `names` in its
    scope. `input` is the attribute of `Shape` that makes the texts. `note` says what is checked.
    """

    name: str
    statement: str
    names: dict[str, Any] = field(repr=False)
    note: str
    input: str = "reference"
    aim: float | None = None

    def texts_of(self, shape: Shape) -> Any:
        """The function that makes the texts of a shape."""
        return getattr(shape, self.input)


def _ours() -> Contender:
    from sessionref import parse

    return Contender("sessionref.parse", f"r = parse(t); {_FOUR_PARTS}", {"parse": parse}, "all")


OURS = _ours()


def contenders() -> list[Contender]:
    """All that `sessionref.parse` is measured against."""
    return [*_written_by_hand(), *_url_parsers(), *_identifiers(), *_grammars()]


def _written_by_hand() -> list[Contender]:
    return [
        Contender(
            "split and unquote, by hand",
            "a, n, s, f = by_hand(t)",
            {"by_hand": by_hand},
            "checks nothing; gives a tuple (code in `bench/by_hand.py`)",
            aim=1.5,
        ),
        Contender(
            "the same, into a frozen dataclass",
            f"r = by_hand(t); {_FOUR_PARTS}",
            {"by_hand": by_hand_into_value},
            "checks nothing; gives a value with equality and hash",
        ),
    ]


def _url_parsers() -> list[Contender]:
    from urllib.parse import unquote, urlsplit

    import can_ada
    import hyperlink
    import rfc3986
    import yarl

    def can_ada_split(text: str) -> tuple[Any, ...]:
        url = can_ada.parse(text)
        first, colon, second = url.pathname.partition(":")
        key, equals, value = url.hash[1:].partition("=")
        ref = (key, unquote(value)) if equals else unquote(key) or None
        agent = url.protocol[:-1]
        if colon:
            return agent, unquote(first), unquote(second), ref
        return agent, None, unquote(first), ref

    parts = "a = u.scheme; s = u.path; f = u.fragment"
    undone = "namespace and session ID not told apart"
    return [
        Contender(
            "urllib.parse.urlsplit",
            f"u = urlsplit(t); {parts}",
            {"urlsplit": urlsplit},
            f"checks the scheme's characters, deletes tabs and newlines; {undone}, nothing decoded",
        ),
        Contender(
            "can-ada (C++)",
            "u = parse(t); a = u.protocol; s = u.pathname; f = u.hash",
            {"parse": can_ada.parse},
            f"checks the WHATWG grammar, encodes what it lets pass; {undone}, nothing decoded",
            aim=1.2,
        ),
        Contender(
            "can-ada, then split and unquote",
            "a, n, s, f = split(t)",
            {"split": can_ada_split},
            "the same work as far as the parts go; escapes not checked",
        ),
        Contender(
            "yarl",
            f"u = URL(t); {parts}",
            {"URL": yarl.URL},
            f"checks little, requotes, decodes; {undone}",
        ),
        Contender(
            "rfc3986",
            f"u = urlparse(t); {parts}",
            {"urlparse": rfc3986.urlparse},
            f"splits by the regex of RFC 3986, checks nothing; {undone}, nothing decoded",
        ),
        Contender(
            "hyperlink",
            f"u = parse(t); {parts}",
            {"parse": hyperlink.parse},
            f"checks characters and escapes, decodes; {undone}",
        ),
    ]


def _identifiers() -> list[Contender]:
    from packageurl import PackageURL
    from swh.model.swhids import CoreSWHID, QualifiedSWHID

    def swhid(text: str) -> CoreSWHID | QualifiedSWHID:
        return (QualifiedSWHID if ";" in text else CoreSWHID).from_string(text)

    return [
        Contender(
            "packageurl-python",
            "p = parse(t); a = p.type; n = p.namespace; s = p.name; f = p.qualifiers; p.subpath",
            {"parse": PackageURL.from_string},
            "package URL of the same parts; checks type and qualifier keys, decodes",
            input="purl",
        ),
        Contender(
            "swh.model",
            "i = parse(t); a = i.object_type; s = i.object_id",
            {"parse": swhid},
            "SWHID of about the same length; checks all of its own grammar; other parts",
            input="swhid",
        ),
    ]


def _grammars() -> list[Contender]:
    import re

    from abnf import Rule
    from lark import Lark

    from sessionref import grammar

    class SessionRule(Rule):
        """The rules of our ABNF, by themselves."""

    text = re.sub(r"[ \t]*;.*", "", grammar.abnf_text())
    rules = re.sub(r"\n+", "\n", text).strip().replace("\n", "\r\n") + "\r\n"
    SessionRule.load_grammar(rules)
    lark = Lark(grammar.lark_text(), parser="lalr", start="session_ref", maybe_placeholders=False)
    return [
        Contender(
            "Lark, LALR",
            "tree = parse(t)",
            {"parse": lark.parse},
            "our grammar as it is; checks all but the UTF-8 of escapes; a tree, nothing decoded",
        ),
        Contender(
            "sessionref.grammar.values",
            f"r = values(t); {_FOUR_PARTS}",
            {"values": grammar.values},
            "our own way through Lark's tree to the same value",
        ),
        Contender(
            "abnf",
            "tree = parse(t)",
            {"parse": SessionRule("session-ref").parse_all},
            "our ABNF as it is; checks all but the UTF-8 of escapes; a tree, nothing decoded",
        ),
    ]
