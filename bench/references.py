"""The suites about references: parse, canonical and digest, many at once, values."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from statistics import median
from typing import TYPE_CHECKING, Any

import sessionref as sr
from bench.by_hand import by_hand, by_hand_into_value
from bench.measure import Row, each, geometric_means, interleave, once, ratios, spread
from bench.peers import OURS, contenders
from bench.shapes import SHAPES, mixed, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.measure import Settings, Timed

__all__ = ["agree", "bulk", "canonical", "parse", "values"]

_MEAN = "geometric mean of the shapes"


def _parts(ref: sr.SessionRef) -> tuple[Any, ...]:
    inner = ref.ref
    match inner:
        case None:
            return ref.agent, ref.namespace, ref.session_id, None
        case sr.RecordRef():
            return ref.agent, ref.namespace, ref.session_id, inner.record_id
        case sr.EntityRef():
            return ref.agent, ref.namespace, ref.session_id, (inner.key, inner.value)
        case sr.TurnRef():
            return ref.agent, ref.namespace, ref.session_id, ("turnId", inner.turn_id)


def agree() -> None:
    """Make sure that what is compared does the same: raise `AssertionError` where it does not."""
    for shape in SHAPES:
        for text in texts(shape.reference, 50):
            ref = sr.parse(text)
            if by_hand(text) != _parts(ref):
                raise AssertionError(f"by hand: {text}")
            if sr.grammar.values(text) != ref or sr.try_parse(text) != ref:
                raise AssertionError(f"not the same value: {text}")
            key = ref.key.canonical()
            if sr.canonical(key) != key or sr.digest(text) != ref.key.digest():
                raise AssertionError(f"not canonical: {key}")


def parse(settings: Settings) -> Iterator[Row]:
    """`parse` of one reference, every part read, against each peer."""
    agree()
    peers = contenders()
    samplers = {
        (way.name, shape.name): each(
            way.statement, texts(way.texts_of(shape)), settings, **way.names
        )
        for way in (OURS, *peers)
        for shape in SHAPES
    }
    times = interleave(samplers, settings.rounds)
    for peer in peers:
        found = {
            shape.name: ratios(times[OURS.name, shape.name], times[peer.name, shape.name])
            for shape in SHAPES
        }
        found[_MEAN] = geometric_means(found.values())
        for name, figures in found.items():
            mean = name == _MEAN
            ours = geometric_means([times[OURS.name, shape.name] for shape in SHAPES])
            yield Row(
                "parse",
                name,
                peer.name,
                spread(figures),
                ours=median(ours if mean else times[OURS.name, name]),
                aim=peer.aim if mean else None,
                note=peer.note if mean else "",
                named="parse one reference, uncached, all parts read",
            )


def canonical(settings: Settings) -> Iterator[Row]:
    """`canonical` of canonical text against its parse; `digest` against canonical and SHA-256."""
    work = {
        "parse": ("parse(t)", {"parse": sr.parse}),
        "canonical": ("canonical(t)", {"canonical": sr.canonical}),
        "key": ("parse(t).key.canonical()", {"parse": sr.parse}),
        "is": ("is_canonical(t)", {"is_canonical": sr.is_canonical}),
        "digest": ("digest(t)", {"digest": sr.digest}),
        "apart": (
            '"sha256:" + sha256(canonical(t).encode()).hexdigest()',
            {"canonical": sr.canonical, "sha256": sha256},
        ),
    }
    inputs = {
        shape.name: [sr.canonical(text) for text in texts(shape.reference)] for shape in SHAPES
    }
    times = interleave(
        {
            (name, shape): each(statement, items, settings, **names)
            for name, (statement, names) in work.items()
            for shape, items in inputs.items()
        },
        settings.rounds,
    )
    rows = (
        ("canonical", "parse", "canonical form of canonical text", "`parse` of it", 2.0, ""),
        (
            "digest",
            "apart",
            "digest of canonical text",
            "`canonical` and `hashlib.sha256`",
            1.1,
            "the aim says: and nothing else; 1.1 leaves room for the call",
        ),
        ("key", "parse", "parse(text).key.canonical()", "`parse` of it", None, ""),
        ("is", "parse", "is_canonical of canonical text", "`parse` of it", None, ""),
    )
    for ours, theirs, what, against, aim, note in rows:
        found = {shape: ratios(times[ours, shape], times[theirs, shape]) for shape in inputs}
        found[_MEAN] = geometric_means(found.values())
        for shape, figures in found.items():
            mean = shape == _MEAN
            own = geometric_means([times[ours, each_shape] for each_shape in inputs])
            yield Row(
                "canonical",
                what if mean else f"{what}: {shape}",
                against,
                spread(figures),
                ours=median(own if mean else times[ours, shape]),
                aim=aim if mean else None,
                note=note if mean else "",
                named=what,
            )


def bulk(settings: Settings) -> Iterator[Row]:
    """Many references at once, all good and with bad ones among them."""
    count = 100_000 // settings.scale
    good = mixed(count)
    spoiled = [text.replace(":", "::", 1) if n % 100 == 0 else text for n, text in enumerate(good)]

    def loop(parse: Callable[[str], object], items: list[str]) -> Timed:
        def run() -> None:
            for text in items:
                parse(text)

        return once(run, count)

    def guarded() -> None:
        for text in spoiled:
            try:  # noqa: SIM105 - what a user writes who knows no check_all
                sr.parse(text)
            except sr.InvalidReference:
                pass

    times = interleave(
        {
            "parse": loop(sr.parse, good),
            "try_parse": loop(sr.try_parse, good),
            "check_all": once(lambda: list(sr.check_all(good)), count),
            "check_all, 1% bad": once(lambda: list(sr.check_all(spoiled)), count),
            "parse in try, 1% bad": once(guarded, count),
            "lru_cache": loop(lru_cache(maxsize=None)(sr.parse), good),
            "parse, kept": once(lambda: [sr.parse(text) for text in good], count),
            "by hand, kept": once(lambda: [by_hand(text) for text in good], count),
        },
        settings.process_rounds,
    )
    for ours, theirs, what, against, note in (
        ("try_parse", "parse", "try_parse, all good", "`parse` in a loop", ""),
        ("check_all", "parse", "check_all, all good", "`parse` in a loop", ""),
        (
            "check_all, 1% bad",
            "parse in try, 1% bad",
            "check_all, one in a hundred bad",
            "`parse` in `try`, in a loop",
            "ours finds all that is wrong, `parse` the first",
        ),
        (
            "parse, kept",
            "by hand, kept",
            "parse into a list",
            "split and unquote, by hand, into a list",
            "the garbage collector runs",
        ),
        (
            "parse",
            "lru_cache",
            "parse",
            "a hit in an unbounded `functools.lru_cache` over `parse`",
            "what a cache of one's own would gain where nothing misses",
        ),
    ):
        yield Row(
            "bulk",
            what,
            against,
            spread(ratios(times[ours], times[theirs])),
            ours=median(times[ours]),
            note=note,
        )
    yield Row(
        "bulk",
        "parse 100,000 references",
        "one second",
        spread(time * 100_000 for time in times["parse, kept"]),
        aim=1.0,
        unit="s",
        note="on this machine; all values are kept",
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    ours: Any
    theirs: Any


def values(settings: Settings) -> Iterator[Row]:
    """Equality, hash and pickling of values, against a frozen dataclass of the same parts."""
    sources = mixed(1000)
    pairs = [_Pair(sr.parse(text), by_hand_into_value(text)) for text in sources]
    twins = [_Pair(sr.parse(text), by_hand_into_value(text)) for text in sources]
    both = {
        side: list(
            zip(
                [getattr(pair, side) for pair in pairs],
                [getattr(twin, side) for twin in twins],
                strict=True,
            )
        )
        for side in ("ours", "theirs")
    }
    found = {side: {twin: 1 for _, twin in items} for side, items in both.items()}
    work = {
        "equality": ("t[0] == t[1]", ""),
        "hash": ("hash(t[0])", ""),
        "lookup in a dict": ("found[t[0]]", ""),
        "pickle and unpickle": ("loads(dumps(t[0]))", "ours validates what it unpickles"),
    }
    times = interleave(
        {
            (name, side): each(
                statement,
                items,
                settings,
                found=found[side],
                loads=pickle.loads,
                dumps=pickle.dumps,
            )
            for name, (statement, _) in work.items()
            for side, items in both.items()
        },
        settings.rounds,
    )
    for name, (_, note) in work.items():
        yield Row(
            "values",
            name,
            "a frozen dataclass of the same parts",
            spread(ratios(times[name, "ours"], times[name, "theirs"])),
            ours=median(times[name, "ours"]),
            note=note,
        )
