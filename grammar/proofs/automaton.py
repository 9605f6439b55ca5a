"""Deterministic automata over all code points: exact comparison, minimal form, test suites.

The code points are divided into classes that no expression at hand tells apart, so a range up
to U+10FFFF costs what one character costs, and every class is looked at.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proofs.charset import ALL, EMPTY, CharSet
from proofs.expression import Alt, Chars, Group, Repeat, Seq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from proofs.expression import Expr

__all__ = [
    "Dfa",
    "Witness",
    "classes_of",
    "combine",
    "determinized",
    "difference",
    "distinguishing_words",
    "minimal",
    "state_cover",
    "w_suite",
]


@dataclass(frozen=True, slots=True)
class Witness:
    """A shortest word that one of two languages holds and the other does not."""

    word: str
    in_left: bool
    in_right: bool

    def __str__(self) -> str:
        side = "left" if self.in_left else "right"
        return f"only the {side} language holds {self.word!r}"


@dataclass(frozen=True, slots=True)
class Dfa:
    """A complete automaton: state 0 is the start, `steps[state][class]` the next state."""

    classes: tuple[CharSet, ...]
    steps: tuple[tuple[int, ...], ...]
    accepting: tuple[bool, ...]

    def symbol(self, code: int) -> int:
        """The class of a code point."""
        return next(i for i, chars in enumerate(self.classes) if code in chars)

    def accepts(self, text: str) -> bool:
        """Whether the language holds `text`."""
        return self.accepted([text]) == [text]

    def accepted(self, texts: Iterable[str]) -> list[str]:
        """Those of `texts` that the language holds."""
        known: dict[str, int] = {}
        found: list[str] = []
        for text in texts:
            state = 0
            for char in text:
                if char not in known:
                    known[char] = self.symbol(ord(char))
                state = self.steps[state][known[char]]
            if self.accepting[state]:
                found.append(text)
        return found

    def representatives(self) -> tuple[str, ...]:
        """One character of each class; a visible ASCII one where the class has one."""
        visible = CharSet(((0x21, 0x7E),))
        return tuple(chr((c & visible or c).ranges[0][0]) for c in self.classes)

    def edges(self) -> tuple[str, ...]:
        """All first and last characters of ranges: where an off-by-one would show."""
        return tuple(sorted({chr(e) for c in self.classes for r in c.ranges for e in r}))


class _Nfa:
    """Thompson's construction: one start, one end, empty steps."""

    def __init__(self) -> None:
        self.empty: list[list[int]] = []
        self.step: list[tuple[CharSet, int] | None] = []

    def state(self) -> int:
        self.empty.append([])
        self.step.append(None)
        return len(self.empty) - 1

    def add(self, expr: Expr, start: int) -> int:
        """Add what reads a word of `expr` from `start` on; the state where it ends."""
        match expr:
            case Chars(chars):
                here, end = self.state(), self.state()
                self.empty[start].append(here)
                self.step[here] = (chars, end)
                return end
            case Group(_, body):
                return self.add(body, start)
            case Seq(parts):
                for part in parts:
                    start = self.add(part, start)
                return start
            case Alt(options):
                end = self.state()
                for option in options:
                    self.empty[self.add(option, self._fresh(start))].append(end)
                return end
            case Repeat(body, low, high):
                for _ in range(low):
                    start = self.add(body, start)
                if high is None:
                    loop, end = self._fresh(start), self.state()
                    self.empty[self.add(body, loop)].append(loop)
                    self.empty[loop].append(end)
                    return end
                end = self.state()
                self.empty[start].append(end)
                for _ in range(high - low):
                    start = self.add(body, start)
                    self.empty[start].append(end)
                return end

    def _fresh(self, start: int) -> int:
        made = self.state()
        self.empty[start].append(made)
        return made

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        found = set(states)
        todo = list(found)
        while todo:
            for after in self.empty[todo.pop()]:
                if after not in found:
                    found.add(after)
                    todo.append(after)
        # Only what reads on, or has no empty step left (the end among it), tells sets apart.
        return frozenset(s for s in found if self.step[s] is not None or not self.empty[s])


def classes_of(*exprs: Expr) -> tuple[CharSet, ...]:
    """The coarsest division of all code points that splits no set in the expressions."""
    classes = [ALL]
    for chars in {chars for expr in exprs for chars in _sets(expr)}:
        split = [part for each in classes for part in (each & chars, each - chars)]
        classes = [part for part in split if part]
    return tuple(sorted(classes, key=lambda c: c.ranges))


def _sets(expr: Expr) -> Iterator[CharSet]:
    match expr:
        case Chars(chars):
            yield chars
        case Seq(each) | Alt(each):
            for part in each:
                yield from _sets(part)
        case Repeat(body, _, _) | Group(_, body):
            yield from _sets(body)


def determinized(expr: Expr, classes: Sequence[CharSet] | None = None) -> Dfa:
    """The automaton of an expression, by the subset construction."""
    classes = classes_of(expr) if classes is None else classes
    nfa = _Nfa()
    start = nfa.state()
    end = nfa.add(expr, start)
    first = nfa.closure([start])
    numbers = {first: 0}
    todo = deque([first])
    steps: list[tuple[int, ...]] = []
    accepting: list[bool] = []
    while todo:
        current = todo.popleft()
        accepting.append(end in current)
        row: list[int] = []
        for chars in classes:
            sample = chars.ranges[0][0]
            after = nfa.closure(
                step[1] for s in current if (step := nfa.step[s]) is not None and sample in step[0]
            )
            if after not in numbers:
                numbers[after] = len(numbers)
                todo.append(after)
            row.append(numbers[after])
        steps.append(tuple(row))
    return Dfa(tuple(classes), tuple(steps), tuple(accepting))


def difference(left: Expr, right: Expr) -> Witness | None:
    """None where two expressions have the same language, else a shortest word that differs."""
    classes = classes_of(left, right)
    one, two = determinized(left, classes), determinized(right, classes)
    for pair, word in _pairs(one, two):
        if one.accepting[pair[0]] != two.accepting[pair[1]]:
            return Witness(word(), one.accepting[pair[0]], two.accepting[pair[1]])
    return None


def _pairs(one: Dfa, two: Dfa) -> Iterator[tuple[tuple[int, int], Callable[[], str]]]:
    """Every pair of states that one word reaches in both, with a shortest such word."""
    samples = one.representatives()
    came: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {(0, 0): None}
    todo = deque([(0, 0)])

    def word_to(pair: tuple[int, int]) -> str:
        letters: list[str] = []
        while (step := came[pair]) is not None:
            pair, letter = step
            letters.append(letter)
        return "".join(reversed(letters))

    while todo:
        pair = todo.popleft()
        yield pair, lambda pair=pair: word_to(pair)  # type: ignore[misc]
        for index, letter in enumerate(samples):
            after = (one.steps[pair[0]][index], two.steps[pair[1]][index])
            if after not in came:
                came[after] = (pair, letter)
                todo.append(after)


def combine(left: Expr, right: Expr, accept: Callable[[bool, bool], bool]) -> Dfa:
    """The minimal automaton of a Boolean combination of two languages."""
    classes = classes_of(left, right)
    one, two = determinized(left, classes), determinized(right, classes)
    pairs = [pair for pair, _ in _pairs(one, two)]
    numbers = {pair: number for number, pair in enumerate(pairs)}
    return _minimized(
        Dfa(
            classes,
            tuple(
                tuple(numbers[one.steps[a][i], two.steps[b][i]] for i in range(len(classes)))
                for a, b in pairs
            ),
            tuple(accept(one.accepting[a], two.accepting[b]) for a, b in pairs),
        )
    )


def minimal(expr: Expr) -> Dfa:
    """The minimal automaton of an expression, with as few classes as it needs."""
    return _minimized(determinized(expr))


def _minimized(dfa: Dfa) -> Dfa:
    """Moore's algorithm, then the classes on which all states agree become one."""
    block = [int(a) for a in dfa.accepting]
    while True:
        seen: dict[tuple[int, tuple[int, ...]], int] = {}
        finer = [
            seen.setdefault((block[s], tuple(block[t] for t in row)), len(seen))
            for s, row in enumerate(dfa.steps)
        ]
        if max(finer) == max(block):
            break
        block = finer
    # `setdefault` numbers blocks as they come, so the start's block is 0.
    rows: dict[int, tuple[int, ...]] = {}
    accepting: dict[int, bool] = {}
    for state, row in enumerate(dfa.steps):
        rows.setdefault(finer[state], tuple(finer[t] for t in row))
        accepting.setdefault(finer[state], dfa.accepting[state])
    columns: dict[tuple[int, ...], CharSet] = {}
    for index, chars in enumerate(dfa.classes):
        column = tuple(rows[s][index] for s in range(len(rows)))
        columns[column] = columns.get(column, EMPTY) | chars
    return Dfa(
        tuple(columns.values()),
        tuple(tuple(column[s] for column in columns) for s in range(len(rows))),
        tuple(accepting[s] for s in range(len(rows))),
    )


def state_cover(dfa: Dfa) -> dict[int, str]:
    """For each state a shortest word that reaches it."""
    cover = {0: ""}
    todo = deque([0])
    samples = dfa.representatives()
    while todo:
        state = todo.popleft()
        for index, after in enumerate(dfa.steps[state]):
            if after not in cover:
                cover[after] = cover[state] + samples[index]
                todo.append(after)
    return cover


def distinguishing_words(dfa: Dfa) -> list[str]:
    """Words that tell every two states of a minimal automaton apart (the W of the W-method).

    Greedy: the word that splits a block of states that are still together is a shortest one.
    """
    blocks: list[list[int]] = [list(range(len(dfa.steps)))]
    words: list[str] = []
    while (block := next((b for b in blocks if len(b) > 1), None)) is not None:
        word = _separating(dfa, block[0], block[1])
        words.append(word)
        split: list[list[int]] = []
        for each in blocks:
            for verdict in (True, False):
                part = [s for s in each if _accepts_from(dfa, s, word) is verdict]
                if part:
                    split.append(part)
        blocks = split
    return words


def _separating(dfa: Dfa, one: int, two: int) -> str:
    samples = dfa.representatives()
    came = {(one, two): ""}
    todo = deque([(one, two)])
    while todo:
        pair = todo.popleft()
        if dfa.accepting[pair[0]] != dfa.accepting[pair[1]]:
            return came[pair]
        for index, letter in enumerate(samples):
            after = (dfa.steps[pair[0]][index], dfa.steps[pair[1]][index])
            if after not in came:
                came[after] = came[pair] + letter
                todo.append(after)
    raise ValueError("two states of an automaton that is not minimal")


def _accepts_from(dfa: Dfa, state: int, word: str) -> bool:
    for char in word:
        state = dfa.steps[state][dfa.symbol(ord(char))]
    return dfa.accepting[state]


def w_suite(dfa: Dfa, extra_states: int = 0, letters: Sequence[str] | None = None) -> list[str]:
    """The suite of the W-method (Chow 1978), sorted by length.

    Whoever agrees with the automaton on all of it, tells no two characters of a class apart and
    has at most `extra_states` more states than the automaton, accepts its language. `letters`
    are the characters that are tried in every state; without them one of each class. With
    `edges()` the classes are tried at all their borders.
    """
    letters = dfa.representatives() if letters is None else letters
    middles = _words_up_to(letters, extra_states + 1)
    tails = distinguishing_words(dfa)
    starts = state_cover(dfa).values()
    words = {start + mid + tail for start in starts for mid in middles for tail in tails}
    return sorted(words, key=lambda word: (len(word), word))


def _words_up_to(letters: Sequence[str], length: int) -> list[str]:
    return [
        "".join(each) for n in range(length + 1) for each in itertools.product(letters, repeat=n)
    ]
