"""What a person names, as a list of inputs: folders are walked once, and each file comes once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias, cast

from sessionref.streams.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.findings import Finding
    from sessionref.streams.source import Input
    from sessionref.streams.walk import Found

__all__ = ["Entry", "inputs_of"]

#: A file, an input that is no path, or what is wrong with a path.
Entry: TypeAlias = "Found | Input | Finding"


def inputs_of(given: Input | Iterable[Entry]) -> list[Entry]:
    """The inputs that one path, or several paths and other inputs, stand for.

    A file that several names lead to comes once, under the first of them. Entries of an earlier
    call stay as they are, so nothing is walked twice.
    """
    if isinstance(given, str | os.PathLike):
        given = [given]
    entries: list[Entry] = []
    seen: set[tuple[int, int]] = set()
    for one in cast("Iterable[Entry]", given):
        if isinstance(one, str | os.PathLike):
            for file in walk([one], entries.append, seen):
                entries.append(file)  # noqa: PERF402 - `walk` appends findings between the files
        else:
            entries.append(one)
    return entries
