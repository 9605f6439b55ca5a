"""Python regular expressions, read into expressions and written from them."""

from __future__ import annotations

import re
from re import _constants as ops
from re import _parser
from typing import TYPE_CHECKING, Any

from proofs.charset import EMPTY, CharSet
from proofs.expression import (
    Alt,
    AmbiguousExpressionError,
    Chars,
    Group,
    Repeat,
    Seq,
    alt,
    first,
    follow_checked,
    nullable,
    repeat,
    seq,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from proofs.expression import (
        Expr,
    )

__all__ = ["read", "write", "write_class"]


def read(pattern: str) -> Expr:
    """The language of `re.fullmatch(pattern, …)`.

    Lookaround, back references, flags and the dot mean no set of code points here and raise
    `NotImplementedError`. A possessive or atomic part is read as a greedy one, which is right
    only where there is one way to match: elsewhere it raises `AmbiguousExpressionError`. So
    does a possessive loop that early releases of Python 3.11 match wrongly, see `_steady`.
    """
    parsed = _parser.parse(pattern)
    if parsed.state.flags & ~re.UNICODE:
        raise NotImplementedError("flags")
    return _Reader().sequence(list(parsed), EMPTY)


class _Reader:
    def __init__(self) -> None:
        self.inside = 0

    def sequence(self, items: list[tuple[Any, Any]], follow: CharSet) -> Expr:
        """Read from the end, so that each part knows what can follow it."""
        parts: list[Expr] = []
        for op, argument in reversed(items):
            part = self.item(op, argument, follow)
            parts.append(part)
            follow = first(part) | follow if nullable(part) else first(part)
        return seq(reversed(parts))

    def item(self, op: Any, argument: Any, follow: CharSet) -> Expr:
        if op is ops.LITERAL:
            return Chars(CharSet.of([(argument, argument)]))
        if op is ops.NOT_LITERAL:
            return Chars(~CharSet.of([(argument, argument)]))
        if op is ops.IN:
            return Chars(_class(argument))
        if op is ops.SUBPATTERN:
            number, added, removed, items = argument
            if added or removed:
                raise NotImplementedError("flags")
            body = self.sequence(list(items), follow)
            return body if number is None else Group(str(number), body)
        if op is ops.BRANCH:
            return alt(self.sequence(list(option), follow) for option in argument[1])
        if op is ops.ATOMIC_GROUP:
            return self.decided(follow, lambda: self.sequence(list(argument), follow))
        if op is ops.POSSESSIVE_REPEAT:
            if not _steady(list(argument[2])):
                raise AmbiguousExpressionError("a possessive loop that Python 3.11.4 breaks")
            return self.decided(follow, lambda: self.repetition(argument, follow))
        if op is ops.MIN_REPEAT and self.inside:
            raise AmbiguousExpressionError("a lazy repetition that never goes on")
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            return self.repetition(argument, follow)
        raise NotImplementedError(str(op))

    def repetition(self, argument: Any, follow: CharSet) -> Expr:
        low, high, items = argument
        if high != 1:
            follow |= first(self.sequence(list(items), EMPTY))
        return repeat(
            self.sequence(list(items), follow), low, None if high is ops.MAXREPEAT else high
        )

    def decided(self, follow: CharSet, read_part: Callable[[], Expr]) -> Expr:
        """Read a part that is never matched a second way, and check that there is none.

        The check of the outermost such part covers those inside it.
        """
        self.inside += 1
        expr = read_part()
        self.inside -= 1
        if not self.inside:
            follow_checked(expr, follow)
        return expr


def _steady(items: list[tuple[Any, Any]]) -> bool:
    """Whether every Python that knows possessive loops matches a loop of these items rightly.

    Before 3.11.5 (gh-106052) a loop whose last round fails goes on from where a branch or a
    repetition inside that round began, and not from where the round began. So those may only
    stand first in a round, or be repetitions that cannot fail.
    """
    if len(items) == 1:
        op, argument = items[0]
        if op is ops.SUBPATTERN and argument[0] is None:
            return _steady(list(argument[3]))
        if op is ops.BRANCH:
            return all(_steady(list(option)) for option in argument[1])
    single = (ops.LITERAL, ops.NOT_LITERAL, ops.IN)
    repeats = (ops.MAX_REPEAT, ops.POSSESSIVE_REPEAT)
    for index, (op, argument) in enumerate(items):
        if op in single:
            continue
        of_one = op in repeats and len(argument[2]) == 1 and argument[2][0][0] in single
        if not of_one or (index and argument[0]):
            return False
    return True


def _class(items: list[tuple[Any, Any]]) -> CharSet:
    ranges: list[tuple[int, int]] = []
    negated = False
    for op, argument in items:
        if op is ops.NEGATE:
            negated = True
        elif op is ops.LITERAL:
            ranges.append((argument, argument))
        elif op is ops.RANGE:
            ranges.append(argument)
        else:
            raise NotImplementedError(str(op))
    chars = CharSet.of(ranges)
    return ~chars if negated else chars


def write(expr: Expr, follow: CharSet = EMPTY) -> str:
    """A pattern for `re.fullmatch`, ASCII only.

    Repetitions are possessive wherever what follows cannot begin inside them, so that the match
    never goes back over them.
    """
    match expr:
        case Chars(chars):
            return write_class(chars)
        case Seq(parts):
            written: list[str] = []
            for part in reversed(parts):
                text = write(part, follow)
                written.append(f"(?:{text})" if isinstance(part, Alt) else text)
                follow = first(part) | follow if nullable(part) else first(part)
            return "".join(reversed(written))
        case Alt(options):
            return "|".join(write(option, follow) for option in options)
        case Group(_, body):
            return f"({write(body, follow)})"
        case Repeat(body, 0, 1) if not isinstance(body, Chars):
            # An empty alternative is tried faster than a repetition of none or one.
            return f"(?:{write(body, follow)}|)"
        case Repeat(body, low, high):
            return _loop(body, low, high, follow)


def _loop(body: Expr, low: int, high: int | None, follow: CharSet) -> str:
    loop = Repeat(body, low, high)
    inner = follow | first(body) if high != 1 else follow
    if isinstance(body, Chars):
        possessive = low != high and not body.chars & follow
        return write(body) + _quantifier(low, high) + ("+" if possessive else "")
    rounds = _rounds(body) if _decided(loop, follow) else None
    if rounds is None:
        return f"(?:{write(body, inner)}){_quantifier(low, high)}"
    return f"(?:{rounds}){_quantifier(low, high)}+"


def _rounds(body: Expr) -> str | None:
    """The body of a possessive loop in the form that `_steady` asks for, if it has one.

    What begins a round may be a run, since the loop goes over all of it anyway. After that, one
    or more of a set become one and then any number, and a fixed number is written out.
    """
    options = body.options if isinstance(body, Alt) else (body,)
    written: list[str] = []
    for option in options:
        text = ""
        for index, part in enumerate(option.parts if isinstance(option, Seq) else (option,)):
            match part:
                case Chars(chars):
                    text += write_class(chars)
                case Repeat(Chars(chars), 1, None) if index == 0:
                    text += write_class(chars) + "++"
                case Repeat(Chars(chars), low, None):
                    text += write_class(chars) * (low + 1) + "*+"
                case Repeat(Chars(chars), low, high) if low == high:
                    text += write_class(chars) * low
                case _:
                    return None
        written.append(text)
    return "|".join(written)


def _quantifier(low: int, high: int | None) -> str:
    known = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    if known is not None:
        return known
    if high == low:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


def _decided(expr: Repeat, follow: CharSet) -> bool:
    if expr.low == expr.high:
        return False
    try:
        follow_checked(expr, follow)
    except AmbiguousExpressionError:
        return False
    return True


def write_class(chars: CharSet) -> str:
    """A set of code points as a positive class, or as one character where it holds one."""
    if not chars:
        raise ValueError("the empty set has no pattern")
    (low, high), *more = chars.ranges
    if low == high and not more:
        return f"\\{chr(low)}" if chr(low) in r".^$*+?{}[]\|()" else _escaped(low)
    # The widest range first: the engine tries them in this order.
    ranges = (
        sorted(chars.ranges, key=lambda r: r[0] - r[1]) if len(chars.ranges) < 3 else chars.ranges
    )
    return f"[{''.join(_range(low, high) for low, high in ranges)}]"


def _range(low: int, high: int) -> str:
    ends = [f"\\{chr(c)}" if chr(c) in r"\]^-[" else _escaped(c) for c in (low, high)]
    if low == high:
        return ends[0]
    return "".join(ends) if high == low + 1 else "-".join(ends)


def _escaped(code: int) -> str:
    if 0x20 < code < 0x7F:
        return chr(code)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
