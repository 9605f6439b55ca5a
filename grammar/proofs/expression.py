"""Regular expressions as values: what every notation is read into and written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from proofs.charset import EMPTY, CharSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "EPSILON",
    "NEVER",
    "Alt",
    "AmbiguousExpressionError",
    "Chars",
    "Expr",
    "Group",
    "Repeat",
    "Seq",
    "alt",
    "first",
    "follow_checked",
    "is_run",
    "literal",
    "loop_steps",
    "map_chars",
    "nullable",
    "optional",
    "repeat",
    "seq",
    "without_groups",
]


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point out of a set."""

    chars: CharSet


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other; none is the empty word."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of several; none is the empty language."""

    options: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`low` to `high` times (`high` None: without end)."""

    body: Expr
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """What a match captures. Means nothing to the language."""

    name: str
    body: Expr


Expr = Chars | Seq | Alt | Repeat | Group

EPSILON = Seq(())
NEVER = Alt(())


class AmbiguousExpressionError(ValueError):
    """An expression in which the next characters do not decide how to go on."""


def literal(text: str) -> Expr:
    """The one word `text`."""
    return seq(Chars(CharSet.from_text(c)) for c in text)


def seq(parts: Iterable[Expr]) -> Expr:
    """A sequence, flattened; `NEVER` where one part is."""
    flat: list[Expr] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Seq) else (part,))
    if NEVER in flat:
        return NEVER
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(options: Iterable[Expr]) -> Expr:
    """Alternatives, flattened, in order, each once; sets of characters are joined to one."""
    flat: list[Expr] = []
    for option in options:
        for each in option.options if isinstance(option, Alt) else (option,):
            if each in flat:
                continue
            if isinstance(each, Chars) and flat and isinstance(flat[-1], Chars):
                flat[-1] = Chars(flat[-1].chars | each.chars)
            else:
                flat.append(each)
    return flat[0] if len(flat) == 1 else Alt(tuple(flat))


def repeat(body: Expr, low: int, high: int | None) -> Expr:
    """A repetition, or less where less says the same."""
    if body == NEVER:
        return EPSILON if low == 0 else NEVER
    if body == EPSILON or high == 0:
        return EPSILON
    if (low, high) == (1, 1):
        return body
    if (low, high) == (1, None) and isinstance(body, Repeat) and (body.low, body.high) == (1, None):
        return body
    return Repeat(body, low, high)


def optional(body: Expr) -> Expr:
    """Once or not at all."""
    return repeat(body, 0, 1)


def map_chars(expr: Expr, change: Callable[[CharSet], CharSet]) -> Expr:
    """The expression with every set of characters changed; what became empty is left out."""
    match expr:
        case Chars(chars):
            changed = change(chars)
            return Chars(changed) if changed else NEVER
        case Seq(parts):
            return seq(map_chars(p, change) for p in parts)
        case Alt(options):
            return alt(o for o in (map_chars(p, change) for p in options) if o != NEVER)
        case Repeat(body, low, high):
            return repeat(map_chars(body, change), low, high)
        case Group(name, body):
            inner = map_chars(body, change)
            return NEVER if inner == NEVER else Group(name, inner)


def without_groups(expr: Expr) -> Expr:
    """The same language with nothing captured."""
    match expr:
        case Chars():
            return expr
        case Seq(parts):
            return seq(without_groups(p) for p in parts)
        case Alt(options):
            return alt(without_groups(o) for o in options)
        case Repeat(body, low, high):
            return repeat(without_groups(body), low, high)
        case Group(_, body):
            return without_groups(body)


def nullable(expr: Expr) -> bool:
    """Whether the empty word belongs to the language."""
    match expr:
        case Chars():
            return False
        case Seq(parts):
            return all(nullable(p) for p in parts)
        case Alt(options):
            return any(nullable(o) for o in options)
        case Repeat(body, low, _):
            return low == 0 or nullable(body)
        case Group(_, body):
            return nullable(body)


def first(expr: Expr) -> CharSet:
    """The characters with which words of the language begin."""
    match expr:
        case Chars(chars):
            return chars
        case Seq(parts):
            found = EMPTY
            for part in parts:
                found |= first(part)
                if not nullable(part):
                    break
            return found
        case Alt(options):
            found = EMPTY
            for option in options:
                found |= first(option)
            return found
        case Repeat(body, _, _) | Group(_, body):
            return first(body)


def loop_steps(loop: Repeat) -> Expr:
    """The body of a loop with each run of one set that is an alternative of it as a single step.

    `(?:a+|b)+` can be matched in many ways, by where each run of `a` ends. But all of them go
    over the same text, so greedy, possessive and `(?:a|b)+` are the same there.
    """
    if loop.low > 1 or loop.high is not None:
        return loop.body
    options = loop.body.options if isinstance(loop.body, Alt) else (loop.body,)
    return alt(o.body if is_run(o) else o for o in options)


def is_run(expr: Expr) -> TypeGuard[Repeat]:
    """Whether the expression is one or more characters of one set."""
    return (
        isinstance(expr, Repeat)
        and isinstance(expr.body, Chars)
        and (expr.low, expr.high) == (1, None)
    )


def _told_apart(one: Expr, two: Expr) -> bool:
    """Whether no text begins with words of both, as their first characters show."""
    return any(not a & b for a, b in zip(_heads(one), _heads(two), strict=False))


def _heads(expr: Expr) -> Iterator[CharSet]:
    """The sets of the first characters, as far as each is one place of its own."""
    for part in expr.parts if isinstance(expr, Seq) else (expr,):
        if not isinstance(part, Chars):
            return
        yield part.chars


def follow_checked(expr: Expr, follow: CharSet) -> None:
    """Raise unless the next characters always decide how to go on inside `expr`.

    `follow` holds what can come after it. In such an expression a greedy, a possessive and an
    atomic match are the same, because there is never a second way to match.
    """
    match expr:
        case Chars():
            return
        case Seq(parts):
            for part in reversed(parts):
                follow_checked(part, follow)
                follow = first(part) | follow if nullable(part) else first(part)
        case Alt(options):
            for index, option in enumerate(options):
                if nullable(option) and option is not options[-1]:
                    # It matches at once, whatever comes, and those after it are never tried.
                    raise AmbiguousExpressionError(f"an empty alternative is not the last: {expr}")
                starts = first(option) | follow if nullable(option) else first(option)
                for other in options[:index]:
                    if first(other) & starts and not _told_apart(other, option):
                        raise AmbiguousExpressionError(f"two alternatives begin alike: {expr}")
                follow_checked(option, follow)
        case Repeat(body, low, high):
            if nullable(body):
                raise AmbiguousExpressionError(f"a repetition of the empty word: {expr}")
            if low != high and first(body) & follow:
                raise AmbiguousExpressionError(f"a repetition runs into what follows: {expr}")
            follow_checked(loop_steps(expr), follow | first(body) if high != 1 else follow)
        case Group(_, body):
            follow_checked(body, follow)
