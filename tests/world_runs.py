"""Long runs of the properties of counting: `python tests/world_runs.py [MINUTES] [FIRST SEED]`.

For each seed a world is written with everything declared, and with part of it lost. The run ends
with 1 at the first answer that is wrong, and prints how often a partly declared world is counted
exactly.
"""

from __future__ import annotations

import json
import secrets
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from counting_model import count
from lineage_streams import lineage_of
from worlds import partly, world_of, write

if TYPE_CHECKING:
    from worlds import Written

GROUPS = ("tokens", "cost")


class Counted(NamedTuple):
    """What the package counts of one group, and what it says about it."""

    original: int
    unknown: int
    copied: int
    may_include_copies: bool
    lower_bound: bool

    @property
    def once(self) -> int:
        return self.original + self.unknown


def measured(written: Written, *, backwards: bool = False) -> dict[str, Counted]:
    """What the package counts of some streams."""
    files = written.files()[:: -1 if backwards else 1]
    texts = [b"".join(json.dumps(record).encode() + b"\n" for record in one) for one in files]
    totals = lineage_of(*texts).totals
    lower = any("lower bound" in note.message for note in totals.notes)
    total = totals.total

    def amounts(group: str) -> list[int]:
        several = (total.original, total.unknown, total.copied)
        if group == "tokens":
            return [one.output_tokens for one in several]
        return [sum(int(cost.amount) for cost in one.cost) for one in several]

    return {group: Counted(*amounts(group), totals.may_include_copies, lower) for group in GROUPS}


def misses(written: Written) -> list[str]:
    """What is wrong with what is counted: too much as original, or too much or little unsaid."""
    found = []
    for group, counted in measured(written).items():
        truth = written.truth(group)
        if counted.original > truth:
            found.append(f"{group}: {counted.original} are original, {truth} were used")
        elif counted.once > truth and not counted.may_include_copies:
            found.append(f"{group}: {counted.once} count, {truth} were used, nothing says so")
        elif counted.once < truth and not counted.lower_bound:
            found.append(f"{group}: {counted.once} count of {truth}, nothing says so")
    return found


def disagreements(written: Written) -> list[str]:
    """Where the package and the slow model count differently."""
    found = []
    for group, package in measured(written).items():
        model = count(written.files(), group)
        if package[:3] != (model.original, model.unknown, model.copied):
            found.append(f"{group}: the package says {package}, the model {model}")
    return found


def run(minutes: float, seed: int) -> int:
    """Try one seed after the other; the exit code."""
    end = time.monotonic() + 60 * minutes
    exact: Counter[bool] = Counter()
    first = seed
    while time.monotonic() < end:
        world = world_of(seed)
        whole, part = write(world), partly(seed)
        wrong = [*misses(part), *disagreements(whole), *disagreements(part)]
        counted = measured(whole)
        for group in GROUPS[:1] if world.costs == "some" else GROUPS:
            counts, truth = counted[group], whole.truth(group)
            wrong += [f"{group}: {counts} of {truth}, all is declared"] * (counts.once != truth)
        if wrong:
            print(f"seed {seed}, lost: {', '.join(part.dropped)}", *wrong, sep="\n  ")  # noqa: T201
            return 1
        for group, one in measured(part).items():
            exact[one.once == part.truth(group)] += 1
        seed += 1
    share = exact[True] / max(1, exact.total())
    print(f"seeds {first} to {seed - 1}: {share:.2%} of partly declared worlds are exact")  # noqa: T201
    return 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(
        run(
            float(arguments[0]) if arguments else 1,
            int(arguments[1]) if arguments[1:] else secrets.randbelow(2**32),
        )
    )
