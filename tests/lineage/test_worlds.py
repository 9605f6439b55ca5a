"""Totals of worlds in which the truth is known, and a slow model that decides as the reading does.

`tests/world_runs.py` makes long runs of the same (`make properties`).
"""

from __future__ import annotations

import random

from hypothesis import given, settings
from world_runs import disagreements, measured, misses
from worlds import Written, lose, partly, seeds, world_of, write


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seeds)
def test_fully_declared_worlds_are_counted_exactly(seed):
    """With everything declared and every file there, what counts once is the truth."""
    world = world_of(seed)
    written = write(world)
    # Where some logs state what calls cost and others do not, not everything is declared.
    groups = ("tokens",) if world.costs == "some" else ("tokens", "cost")
    counted = measured(written)
    for group in groups:
        assert counted[group].once == written.truth(group)
        assert counted[group].original <= written.truth(group)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seeds)
def test_partly_declared_worlds_are_wrong_only_where_it_is_said(seed):
    """Original is never too much; the rest is too high or too low only with a word about it."""
    assert misses(partly(seed)) == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seeds)
def test_totals_are_what_the_slow_model_says(seed):
    """In both groups, with everything declared or part of it."""
    assert disagreements(write(world_of(seed))) == []
    assert disagreements(partly(seed)) == []


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seeds)
def test_a_file_less_makes_no_answer_wrong(seed):
    """Every file deleted in turn: less certain, never wrong."""
    written = write(world_of(seed))
    for name in written.streams:
        left = {other: one for other, one in written.streams.items() if other != name}
        assert misses(Written(left, written.tokens, written.costs)) == []


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seeds)
def test_the_order_of_files_does_not_matter(seed):
    """Whichever comes first."""
    written = write(world_of(seed))
    lose(written, random.Random(seed), 1)  # noqa: S311 - it is to come again
    assert measured(written) == measured(written, backwards=True)
