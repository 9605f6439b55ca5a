"""A Lark grammar without recursion, read into expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lark import Lark, Tree

from proofs import regex
from proofs.expression import Group, alt, literal, repeat, seq

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from proofs.expression import Expr

__all__ = ["LarkGrammar"]


class LarkGrammar:
    """The rules of a Lark grammar as they are written, and its terminals as regexes.

    The language is that of the grammar: any terminal may match any of its words. That Lark's
    lexer, which is greedy, finds them is another question and tested apart.
    """

    def __init__(self, text: str, start: str) -> None:
        lark = Lark(text, parser="lalr", start=start)
        terminals, _, _ = lark.grammar.compile([start], "*")
        self.start = start
        #: Terminal name -> its language.
        self.terminals: dict[str, Expr] = {
            t.name: regex.read(t.pattern.to_regexp()) for t in terminals
        }
        self._definitions: dict[str, Tree[Any]] = {
            str(name): tree for name, (tree, _) in lark.grammar.term_defs
        }
        self._rules: dict[str, Tree[Any]] = {
            str(name): tree for name, _, tree, _ in lark.grammar.rule_defs
        }

    def rule(self, name: str, grouped: AbstractSet[str] = frozenset()) -> Expr:
        """The language of a rule; terminals named in `grouped` become groups of that name."""
        return self._inline(self._rules[name], grouped, (name,))

    def definition(self, name: str) -> Expr:
        """A terminal with its alternatives in the order in which they are written."""
        return self._inline(self._definitions[name], frozenset(), ())

    def _inline(self, node: Any, grouped: AbstractSet[str], above: tuple[str, ...]) -> Expr:
        """The depth is that of the rules as written, which are few."""
        if not isinstance(node, Tree):
            return self._symbol(node, grouped, above)
        if node.data == "literal":
            token: Any = node.children[0]
            if token.type == "REGEXP":
                return regex.read(str(token)[1:-1])
            return literal(_unquoted(str(token)))
        if node.data == "value":
            (child,) = node.children
            return self._inline(child, grouped, above)
        if node.data == "expansion":
            return seq(self._inline(child, grouped, above) for child in node.children)
        if node.data == "expansions":
            return alt(self._inline(child, grouped, above) for child in node.children)
        if node.data == "alias":
            return self._inline(node.children[0], grouped, above)
        if node.data == "maybe":
            return repeat(seq(self._inline(c, grouped, above) for c in node.children), 0, 1)
        if node.data == "expr":
            body, operator = node.children
            low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[str(operator)]
            return repeat(self._inline(body, grouped, above), low, high)
        raise NotImplementedError(f"{node.data} in a rule")

    def _symbol(self, symbol: Any, grouped: AbstractSet[str], above: tuple[str, ...]) -> Expr:
        name = str(symbol.name)
        if symbol.is_term:
            language = self.terminals[name]
            return Group(name, language) if name in grouped else language
        if name in above:
            raise NotImplementedError(f"the rule {name} is recursive")
        return self._inline(self._rules[name], grouped, (*above, name))


def _unquoted(token: str) -> str:
    if not (token.startswith('"') and token.endswith('"')) or "\\" in token:
        raise NotImplementedError(f"{token} in a rule")
    return token[1:-1]
