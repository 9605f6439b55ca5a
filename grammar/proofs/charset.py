"""Sets of code points as sorted ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["ALL", "EMPTY", "MAX", "SURROGATES", "CharSet"]

#: The last code point. The universe of every automaton here is 0..MAX, surrogates included,
#: because Python strings can hold them and every recognizer must refuse them.
MAX = 0x10FFFF


@dataclass(frozen=True, slots=True)
class CharSet:
    """A set of code points: disjoint ranges, ascending, not touching."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> CharSet:
        """The union of inclusive ranges in any order."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if not 0 <= low <= high <= MAX:
                raise ValueError(f"{low:#x}-{high:#x} is no range of code points")
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return cls(tuple(merged))

    @classmethod
    def from_text(cls, text: str) -> CharSet:
        """The characters of `text`."""
        return cls.of((ord(c), ord(c)) for c in text)

    def __or__(self, other: CharSet) -> CharSet:
        return CharSet.of((*self.ranges, *other.ranges))

    def __invert__(self) -> CharSet:
        gaps: list[tuple[int, int]] = []
        start = 0
        for low, high in self.ranges:
            if low > start:
                gaps.append((start, low - 1))
            start = high + 1
        if start <= MAX:
            gaps.append((start, MAX))
        return CharSet(tuple(gaps))

    def __and__(self, other: CharSet) -> CharSet:
        return ~(~self | ~other)

    def __sub__(self, other: CharSet) -> CharSet:
        return self & ~other

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, code: int) -> bool:
        return any(low <= code <= high for low, high in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for low, high in self.ranges:
            yield from range(low, high + 1)


EMPTY = CharSet(())
ALL = CharSet(((0, MAX),))
SURROGATES = CharSet(((0xD800, 0xDFFF),))
