"""The benchmarks compare like with like. Nothing here is about time."""

from __future__ import annotations

import pytest

import sessionref as sr

references = pytest.importorskip("bench.references", reason="bench/ is not part of the package")
shapes = pytest.importorskip("bench.shapes")
streams_data = pytest.importorskip("bench.streams_data")


def test_every_suite_has_a_title_in_the_results():
    """What was measured for minutes is not lost when it is written."""
    titles = pytest.importorskip("bench.report").TITLES
    assert set(pytest.importorskip("bench.__main__").SUITES) == set(titles)


def test_what_is_measured_gives_the_same_result():
    """Parse, Lark and the hand-written split give the same parts of every measured reference."""
    references.agree()


def test_no_two_measured_references_are_alike():
    """So no cache of a peer answers, and every run measures the same texts."""
    for shape in shapes.SHAPES:
        texts = shapes.texts(shape.reference)
        assert len(set(texts)) == len(texts)
        assert texts == shapes.texts(shape.reference)


def test_the_measured_stream_is_sound_and_realistic():
    """It has no findings, everything in it resolves, and nearly all records are of 700 to 1,000 bytes."""
    data = streams_data.stream(300)
    assert data == streams_data.stream(300)
    index = sr.StreamIndex.from_chunks(streams_data.chunks(data))
    assert index.findings == ()
    assert all(index.resolve(ref).exact for ref in index.refs())
    lengths = [len(line) for line in data.splitlines()][1:]
    assert sum(700 <= length <= 1000 for length in lengths) > 0.95 * len(lengths)
