"""Timing by interleaved samples, and ratios of them.

A single time says more about the moment than about the code, so nothing here is reported as one.
All contenders are sampled in every round, in an order shuffled for each, and what is reported is
the median over the rounds of the ratio of two samples of one round, with the lowest and highest.
"""

from __future__ import annotations

import gc
import random
import statistics
import timeit
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "Row",
    "Settings",
    "Spread",
    "Timed",
    "each",
    "geometric_means",
    "interleave",
    "once",
    "ratios",
    "spread",
]

#: Takes one sample and returns seconds for one unit of work.
Timed: TypeAlias = "Callable[[], float]"

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Settings:
    """How thoroughly to measure. `scale` divides the amounts of data."""

    rounds: int
    process_rounds: int
    sample: float  # seconds that one sample of a short statement lasts at least
    scale: int


class Spread(NamedTuple):
    """The median of some figures, and the lowest and highest."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the results: a ratio (ours divided by theirs) or, with a unit, a figure.

    `ours` is the median time of one unit of our work in seconds, for orientation. `aim` is what
    the median should not exceed. `named` is the work under which it stands among the aims.
    """

    suite: str
    work: str
    against: str
    figure: Spread
    ours: float | None = None
    aim: float | None = None
    note: str = ""
    unit: str = ""
    named: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the median keeps the aim, None where there is none."""
        return None if self.aim is None else self.figure.median <= self.aim


def each(statement: str, items: Sequence[object], settings: Settings, **names: object) -> Timed:
    """A sampler of `statement`, run for each `t` of `items`: seconds for one of them.

    The statement is compiled into the loop, so no call is added to what it does. `timeit` switches
    the garbage collector off while it runs. What is slow gets by with its first items.
    """
    names["items"] = items
    timer = timeit.Timer(f"for t in items:\n    {statement}", globals=names)
    timer.timeit(1)  # warm: caches, specialized bytecode
    once = timer.timeit(1)
    if once > settings.sample:
        few = max(1, int(len(items) * settings.sample / once))
        names["items"] = items = items[:few]
        once = timer.timeit(1)
    number = max(1, round(settings.sample / once))
    total = number * len(items)
    return lambda: timer.timeit(number) / total


def once(work: Callable[[], object], units: int = 1, *, repeat: int = 1) -> Timed:
    """A sampler of a long piece of work of so many units, with the garbage collector as it is."""

    def sample() -> float:
        start = perf_counter()
        for _ in range(repeat):
            work()
        return (perf_counter() - start) / repeat / units

    return sample


def interleave(contenders: Mapping[K, Timed], rounds: int) -> dict[K, list[float]]:
    """So many rounds of one sample of each contender, after one round that does not count."""
    order = list(contenders)
    shuffle = random.Random(1).shuffle  # noqa: S311 - nothing here is secret
    times: dict[K, list[float]] = {name: [] for name in order}
    for counts in (False, *[True] * rounds):
        shuffle(order)
        gc.collect()
        for name in order:
            time = contenders[name]()
            if counts:
                times[name].append(time)
    return times


def spread(figures: Iterable[float]) -> Spread:
    """Median, lowest and highest of `figures`."""
    found = list(figures)
    return Spread(statistics.median(found), min(found), max(found))


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """The ratio of the two samples of each round."""
    return [our / their for our, their in zip(ours, theirs, strict=True)]


def geometric_means(rounds: Iterable[Sequence[float]]) -> list[float]:
    """Round by round, the geometric mean of several figures of that round."""
    return [statistics.geometric_mean(figures) for figures in zip(*rounds, strict=True)]
