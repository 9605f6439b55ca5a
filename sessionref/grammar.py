"""The grammar of session references (ASR-061): as text, as trees, and in other notations.

`sessionref.parse` needs none of this. Here Lark parses for real, by the grammar that the fast
recognizer is compiled from, wherever somebody wants to see the structure of a reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from sessionref._compiled import REFERENCE
from sessionref._values import plain_text
from sessionref.percent import decode
from sessionref.reference import SessionKey, SessionRef, check
from sessionref.refs import EntityRef, RecordRef, TurnRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Lark, Tree
    from lark.lexer import Token

__all__ = [
    "FORMS",
    "Form",
    "Node",
    "abnf_text",
    "export",
    "lark_text",
    "transform",
    "tree",
    "values",
]

Form = Literal["abnf", "lark", "python", "re2", "ecmascript", "railroad"]

#: The notations that `export` knows.
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class Node:
    """One part of a reference, under the name that the ABNF has for it.

    `text` is the part as written and `span` its place, start and end in code points of the
    reference. `children` are the parts it consists of, without the marks between them; one that
    has none is a leaf and carries its decoded `value`, which is None elsewhere.
    """

    name: str
    text: str
    span: tuple[int, int]
    children: tuple[Node, ...] = ()
    value: str | None = None

    def walk(self) -> Iterator[tuple[int, Node]]:
        """The node and all below it in the order of the text, each with its depth from here."""
        todo: list[tuple[int, Node]] = [(0, self)]
        while todo:
            depth, node = todo.pop()
            yield depth, node
            todo.extend((depth + 1, child) for child in reversed(node.children))

    def find(self, name: str) -> Node | None:
        """The first node of that name here or below."""
        return next((node for _, node in self.walk() if node.name == name), None)


def lark_text() -> str:
    """The executable grammar, in Lark's notation."""
    return _file("session_reference.lark")


def abnf_text() -> str:
    """The grammar in ABNF (RFC 5234 and 7405), for people and for other languages."""
    return _file("session-reference.abnf")


def tree(text: str) -> Node:
    """The parse tree of a reference; its root is named ``session-ref``.

    Takes what `sessionref.parse` takes and raises the same `InvalidReference` for all else
    (ASR-060, 061).
    """
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - Lark is slow to import

    text = plain_text(text, "a reference")
    try:
        return _node(_parse(text), text)
    except (UnexpectedInput, UnicodeDecodeError):
        raise check(text)[0] from None


def transform(
    node: Node,
) -> SessionRef | SessionKey | RecordRef | EntityRef | TurnRef | str:
    """The value that a node of a parse tree stands for.

    That is a `SessionRef` for the root, a `SessionKey` for ``session-key``, a ref for
    ``entity-ref``, ``turn-ref`` and ``record-ref``, and the decoded text for every other node.
    """
    if node.name == "session-ref":
        key, *refs = node.children
        return SessionRef(*_key_parts(key), _ref(refs[0]) if refs else None)
    if node.name == "session-key":
        return SessionKey(*_key_parts(node))
    if node.value is None or node.name == "record-ref":
        return _ref(node)
    return node.value


def values(text: str) -> SessionRef:
    """The reference that `text` is, by way of its parse tree: equal to `sessionref.parse`."""
    key, *refs = tree(text).children
    return SessionRef(*_key_parts(key), _ref(refs[0]) if refs else None)


def export(form: Form) -> str:
    """The grammar in another notation.

    ``python`` is a pattern for `re.fullmatch`, Python 3.11 or newer. ``re2`` is anchored and
    uses nothing that RE2, Go or Rust would refuse. ``ecmascript`` is the source of a `RegExp`
    with the flag ``u`` or ``v``. All three have the groups ``agent``, ``first`` and ``second``
    (with both, the first is the namespace), ``key`` and ``value``, ``record``; that decoded
    octets are valid UTF-8 (ASR-060) is left to whoever decodes. ``railroad`` is an SVG drawing
    and needs the package ``railroad-diagrams``, without which `ModuleNotFoundError` says so.
    Raises `ValueError` for a form that is not in `FORMS`.
    """
    if form == "abnf":
        return abnf_text()
    if form == "lark":
        return lark_text()
    if form == "python":
        return _rewritten("(?P<{}>")
    if form == "re2":
        pattern = _rewritten("(?P<{}>", escape=r"\x{{{:x}}}")
        return rf"\A(?:{pattern})\z"
    if form == "ecmascript":
        pattern = _rewritten("(?<{}>", escape=r"\u{{{:x}}}")
        return f"^(?:{pattern})$"
    if form == "railroad":
        return _railroad()
    raise ValueError(f"{form!r} is none of {', '.join(FORMS)}")


def _file(name: str) -> str:
    """A grammar file: in an installed package among its data, in a checkout beside it."""
    packaged = resources.files("sessionref") / "data" / "grammar" / name
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[1] / "grammar" / name).read_text(encoding="utf-8")


@cache
def _lark() -> Lark:
    from lark import Lark  # noqa: PLC0415 - Lark is slow to import

    return Lark(lark_text(), parser="lalr", start="session_ref", maybe_placeholders=False)


def _parse(text: str) -> Tree[Token]:
    parser: Any = _lark()
    return parser.parse(text)  # type: ignore[no-any-return]


#: The terminals that hold a key and its "=".
_HEADS = {"ENTITY_HEAD": "entity-key", "TURN_HEAD": "turn-key"}


def _node(rule: Tree[Token], text: str) -> Node:
    """A rule's node. The grammar has no recursion, so this goes no deeper than its rules."""
    name = str(rule.data).replace("_", "-")
    children: list[Node] = []
    for child in rule.children:
        if isinstance(child, str):
            start, end = child.start_pos or 0, child.end_pos or 0
            if child.type not in _HEADS:
                return Node(name, text[start:end], (start, end), (), decode(str(child)))
            key = text[start : end - 1]
            children.append(Node(_HEADS[child.type], key, (start, end - 1), (), key))
        else:
            children.append(_node(child, text))
    start, end = children[0].span[0], children[-1].span[1]
    return Node(name, text[start:end], (start, end), tuple(children))


def _key_parts(node: Node) -> tuple[str, str | None, str]:
    parts = [child.value or "" for child in node.children]
    return (parts[0], parts[1] if len(parts) > 2 else None, parts[-1])  # noqa: PLR2004


def _ref(node: Node) -> RecordRef | EntityRef | TurnRef:
    if node.name == "record-ref":
        return RecordRef(node.value or "")
    key, value = (child.value or "" for child in node.children)
    return TurnRef(value) if node.name == "turn-ref" else EntityRef(key, value)


#: What the compiled pattern consists of that other engines write in another way. Classes are
#: taken whole, so that a "+" or "(" inside one is no operator.
_PATTERN_PART = re.compile(
    r"(?P<wide>\\U[0-9a-f]{8}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2})|(?P<open>\[)|(?P<close>\])"
    r"|\\.|(?P<group>\((?!\?))|(?P<run>(?<=\])\+\+(?=\|))|(?P<possessive>(?<=[+*?}])\+)"
)
_GROUPS = ("agent", "first", "second", "key", "value", "record")


def _rewritten(group: str, escape: str | None = None) -> str:
    """The compiled pattern with named groups, for Python or, with `escape`, for other engines.

    Those do not know possessive quantifiers. The language is the same without: they only forbid
    what can never lead to a match. A run that is one alternative of a loop, ``(?:[…]++|…)++``,
    becomes a single step of it, since an engine that goes back would try all ways to divide it.
    """
    names = iter(_GROUPS)
    in_class = False

    def replaced(match: re.Match[str]) -> str:
        nonlocal in_class
        kind, part = match.lastgroup, match[0]
        if kind == "wide":
            return part if escape is None else escape.format(int(part[2:], 16))  # noqa: FURB166 - no prefix that int knows
        if kind in ("open", "close"):
            in_class = kind == "open"
        elif not in_class and kind == "group":
            return group.format(next(names))
        elif not in_class and kind in ("run", "possessive") and escape is not None:
            return ""
        return part

    return _PATTERN_PART.sub(replaced, REFERENCE)


def _railroad() -> str:
    """One diagram of the whole grammar, each rule a labelled box in the one that uses it."""
    try:
        draw: Any = import_module("railroad")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a railroad diagram needs the package railroad-diagrams", name=error.name
        ) from None
    lark = _lark()
    patterns = {terminal.name: terminal.pattern for terminal in lark.terminals}
    expansions: dict[str, list[list[Any]]] = {}
    for rule in lark.rules:
        expansions.setdefault(str(rule.origin.name), []).append(list(rule.expansion))

    def drawn(symbol: Any) -> Any:
        if symbol.is_term:
            pattern = patterns[symbol.name]
            box = draw.Terminal if pattern.type == "str" else draw.NonTerminal
            return box(_visible(pattern.value))
        inner = sequences([list(each) for each in expansions[str(symbol.name)]])
        name = str(symbol.name)
        return inner if name.startswith("_") else draw.Group(inner, name.replace("_", "-"))

    def sequences(options: list[list[Any]]) -> Any:
        """Alternatives; where one only goes on where another ends, the rest is optional."""
        shortest = min(options, key=len)
        size = len(shortest)
        if len(options) > 1 and size and all(each[:size] == shortest for each in options):
            rests = [each[size:] for each in options if each != shortest]
            return draw.Sequence(*map(drawn, shortest), draw.Optional(sequences(rests)))
        if len(options) == 1:
            return draw.Sequence(*map(drawn, options[0]))
        return draw.Choice(0, *(sequences([each]) for each in options))

    chunks: list[str] = []
    start = sequences([list(each) for each in expansions["session_ref"]])
    draw.Diagram(start).writeStandalone(chunks.append)
    return "".join(chunks)


def _visible(pattern: str) -> str:
    """A pattern with what is not visible ASCII escaped."""
    return "".join(c if " " <= c <= "~" else f"\\u{ord(c):04x}" for c in pattern)
