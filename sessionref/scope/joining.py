"""Which captures of a session join, and how their records are laid on each other."""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessionref.scope.capture import Capture
    from sessionref.streams.index import StreamIndex

__all__ = ["Digests", "Layout", "Likeness", "layouts", "rivals"]

#: How the records of two captures are compared, as `Fingerprint` says.
Likeness = Literal["exact", "alike"]
_LIKENESSES: tuple[Likeness, ...] = ("exact", "alike")

#: Gives a digest of each beginning of a capture; none where it can no longer be read.
Digests: TypeAlias = "Callable[[Capture, Likeness], Sequence[bytes]]"


class Layout(NamedTuple):
    """Captures that make one account of a session.

    `rows` has for each capture the row in the account of each of its records, in the order of the
    account. Captures that have a record in common have one row for it; the first of them gives the
    record.
    """

    captures: tuple[Capture, ...]
    rows: tuple[Sequence[int], ...]


def layouts(captures: Sequence[Capture], digests: Digests) -> list[Layout]:
    """The accounts that the captures of one session key make. Several are a conflict (ASR-050).

    Captures join where one has the records of the other, or the beginning of them, and where the
    registry's segments lead from one to the other (`Segment`). Each account has the order of its
    segments; accounts have the order of their files.
    """
    sides = [side for found in _by_segment(captures).values() for side in _repeats(found, digests)]
    chain = _chain(sides)
    if chain is not None:
        return [_laid_out(chain)]
    sides.sort(key=lambda side: side[0].place)
    return [_laid_out([side]) for side in sides]


def rivals(captures: Sequence[Capture]) -> list[Capture]:
    """The captures of one session key whose records have to be compared."""
    found = _by_segment(captures).values()
    return [capture for several in found if len(several) > 1 for capture in several]


def _by_segment(captures: Sequence[Capture]) -> dict[str | None, list[Capture]]:
    found: defaultdict[str | None, list[Capture]] = defaultdict(list)
    for capture in captures:
        found[None if capture.segment is None else capture.segment.id].append(capture)
    return found


def _repeats(captures: Sequence[Capture], digests: Digests) -> list[list[Capture]]:
    """The captures in groups: the first of each has the records of the others, or more."""
    if len(captures) == 1:
        return [list(captures)]
    by_place = sorted(captures, key=lambda capture: capture.place)
    longest_first = sorted(by_place, key=lambda capture: capture.precedence, reverse=True)
    sides = [[capture] for capture in longest_first]
    for likeness in _LIKENESSES:
        merged: list[list[Capture]] = []
        beginnings: dict[bytes, list[Capture]] = {}
        for side in sides:
            found = digests(side[0], likeness)
            into = beginnings.get(found[-1]) if found else None
            if into is None:
                merged.append(side)
                beginnings.update((digest, side) for digest in reversed(found))
            else:
                into += side
        sides = merged
    return sides


def _chain(sides: Sequence[list[Capture]]) -> list[list[Capture]] | None:
    """The sides in the order of their segments; None where they do not follow each other."""
    segments = [side[0].segment for side in sides]
    ids = {segment.id for segment in segments if segment is not None}
    by_start: dict[str | None, list[Capture]] = {}
    for side, segment in zip(sides, segments, strict=True):
        if segment is not None:
            by_start[segment.after if segment.after in ids else None] = side
    chain: list[list[Capture]] = []
    following = by_start.pop(None, None)
    while following is not None:
        chain.append(following)
        segment = following[0].segment
        following = None if segment is None else by_start.pop(segment.id, None)
    # Two segments with one start, a circle, or a capture without a segment make no chain.
    return chain if len(chain) == len(sides) else None


def _laid_out(chain: Sequence[Sequence[Capture]]) -> Layout:
    """The layout of segments that follow each other, each with its repeats."""
    laid: list[tuple[Capture, Sequence[int]]] = []
    repeats: list[tuple[Capture, Sequence[int]]] = []
    start = 0
    for capture, *others in chain:
        rows = _in_order(capture.index, start) if len(chain) > 1 else range(len(capture.index))
        laid.append((capture, rows))
        repeats += [(other, rows[: len(other.index)]) for other in others]
        start += len(rows)
    captures, rows_of = zip(*laid, *repeats, strict=True)
    return Layout(captures, rows_of)


def _in_order(index: StreamIndex, start: int) -> Sequence[int]:
    """The rows from `start` that the records of `index` have when they are sorted by `seq`."""
    seqs = index.seqs
    if all(one <= other for one, other in pairwise(seqs)):
        return range(start, start + len(seqs))
    rows = array("q", bytes(8 * len(seqs)))
    for at, row in enumerate(sorted(range(len(seqs)), key=seqs.__getitem__), start):
        rows[row] = at
    return rows
