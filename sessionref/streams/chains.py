"""Revision chains: which records supersede which (ASR-064, 065).

A link that breaks a rule joins nothing and is reported; no other link is put in its place. What is
left has no cycle, for each link leads to a lower `seq`, so nothing here needs recursion or a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


__all__ = ["Links", "join"]


class Links(NamedTuple):
    """The links that hold: `target` of each revision, and the revisions of each target, by row.

    `faults` are code and row of what does not hold, in the order of rows.
    """

    target: dict[int, int]
    revisions: dict[int, list[int]]
    faults: list[tuple[str, int]]


def join(
    supersedes: Mapping[int, str],
    rows_with_id: Callable[[str], Sequence[int]],
    types: Sequence[str],
    seqs: Sequence[int],
    values: Sequence[str | None],
) -> Links:
    """The links of a stream's records.

    `supersedes` has the member's value by row; `rows_with_id` gives the rows of a record ID; the
    others are columns, `values` that of the entity key's value where the type has a key.
    """
    target: dict[int, int] = {}
    faults: list[tuple[str, int]] = []
    for row, named in supersedes.items():
        found = rows_with_id(named)
        if not found:
            faults.append(("supersedes-unknown", row))
        elif len(found) > 1:
            faults.append(("supersedes-ambiguous", row))
        elif found[0] == row:
            faults.append(("supersedes-itself", row))
        elif types[found[0]] != types[row]:
            faults.append(("supersedes-other-type", row))
        elif values[found[0]] != values[row]:
            faults.append(("supersedes-other-key", row))
        else:
            target[row] = found[0]

    for circle in _circles(target):
        faults.append(("supersedes-cycle", min(circle)))
        for row in circle:
            del target[row]

    revisions: dict[int, list[int]] = {}
    for row, named_row in list(target.items()):
        if seqs[named_row] >= seqs[row]:
            faults.append(("supersedes-later", row))
            del target[row]
        else:
            revisions.setdefault(named_row, []).append(row)
    faults.extend(("supersedes-fork", row) for row, by in revisions.items() if len(by) > 1)
    faults.sort(key=lambda fault: fault[1])
    return Links(target, revisions, faults)


def _circles(target: Mapping[int, int]) -> list[list[int]]:
    """The circles of a graph in which each row leads to one row at most."""
    circles: list[list[int]] = []
    seen: dict[int, int] = {}  # row -> the walk that met it first
    for start in target:
        row: int | None = start
        walk: list[int] = []
        while row is not None and row not in seen:
            seen[row] = start
            walk.append(row)
            row = target.get(row)
        if row is not None and seen[row] == start and walk:
            circles.append(walk[walk.index(row) :])
    return circles
