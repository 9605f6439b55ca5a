"""The suites about streams: making an index, its memory, and resolving in it."""

from __future__ import annotations

import gc
import json
import tracemalloc
from statistics import median
from typing import TYPE_CHECKING

import msgspec

import sessionref as sr
from bench.measure import Row, each, geometric_means, interleave, once, ratios, spread
from bench.streams_data import chunks, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.measure import Settings

__all__ = ["index", "resolve"]


def _session_refs(made: sr.StreamIndex) -> dict[str, list[sr.SessionRef]]:
    """References to everything in the stream, by kind."""
    if made.key is None:
        raise AssertionError("the stream has a header")
    found: dict[str, list[sr.SessionRef]] = {"record": [], "entity": [], "turn": []}
    for ref in made.refs():
        found[ref.kind].append(made.key.at(ref))
    return found


def index(settings: Settings) -> Iterator[Row]:
    """Streams of several sizes into an index."""
    for count in (2_000, 20_000, 60_000):
        yield from _index(stream(count // settings.scale), settings)


def _index(data: bytes, settings: Settings) -> Iterator[Row]:
    """A stream into an index, against counting its lines and against decoding them whole."""
    pieces = chunks(data)
    made = sr.StreamIndex.from_chunks(pieces)
    count = len(made)
    first = [refs[0] for refs in _session_refs(made).values()]
    if count != data.count(b"\n") or made.findings:
        raise AssertionError("the stream has faults")
    del made
    decoder = msgspec.json.Decoder()

    def with_tables() -> sr.StreamIndex:
        read = sr.StreamIndex.from_chunks(pieces)
        for ref in first:
            read.resolve(ref)
        return read

    def by_json() -> None:
        for line in data.splitlines():
            json.loads(line)

    def by_msgspec() -> None:
        decode = decoder.decode
        for line in data.splitlines():
            decode(line)

    repeat = 1 + 20_000 // count
    times = interleave(
        {
            "read": once(lambda: sr.StreamIndex.from_chunks(pieces), count, repeat=repeat),
            "ready": once(with_tables, count, repeat=repeat),
            "newlines": once(lambda: data.count(b"\n"), count, repeat=5 * repeat),
            "json": once(by_json, count, repeat=repeat),
            "msgspec": once(by_msgspec, count, repeat=repeat),
        },
        settings.process_rounds,
    )
    size = f"{len(data) / 1e6:.1f} MB"
    read, ready = f"index a stream of {size}", f"and resolve a record, an entity, a turn: {size}"
    newlines = '`data.count(b"\\n")`'
    for ours, what, theirs, against, aim, note in (
        ("read", read, "newlines", newlines, 4.5, f"{count:,} records"),
        ("ready", ready, "newlines", newlines, 4.5, "so all lookup tables are made"),
        ("ready", ready, "json", "`json.loads` of each line", None, "theirs keeps nothing"),
        ("ready", ready, "msgspec", "`msgspec` of each line, to `Any`", None, "likewise"),
    ):
        yield Row(
            "index",
            what,
            against,
            spread(ratios(times[ours], times[theirs])),
            ours=median(times[ours]),
            aim=aim,
            note=note,
        )
    for what, build in (
        (f"memory per record, as read: {size}", lambda: sr.StreamIndex.from_chunks(pieces)),
        (f"memory per record, with all lookup tables: {size}", with_tables),
    ):
        gc.collect()
        tracemalloc.start()
        kept = build()
        gc.collect()
        used, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        yield Row(
            "index",
            what,
            f"a record has {len(data) // count} bytes",
            spread([used / count]),
            unit="bytes",
            note=f"by `tracemalloc`; {peak / count:.0f} at the peak",
        )
        del kept


def resolve(settings: Settings) -> Iterator[Row]:
    """A reference that is parsed already, in an index that has its tables, against its parse."""
    made = sr.StreamIndex.from_chunks(chunks(stream(20_000 // settings.scale)))
    refs = {kind: found[:2000] for kind, found in _session_refs(made).items()}
    inner = {kind: [ref.ref for ref in found] for kind, found in refs.items()}
    for found in refs.values():
        if not all(made.resolve(ref).exact for ref in found):
            raise AssertionError("everything in the stream resolves")
    samplers = {}
    for kind, found in refs.items():
        texts = [str(ref) for ref in found]
        samplers["parse", kind] = each("parse(t)", texts, settings, parse=sr.parse)
        samplers["ref", kind] = each("resolve(t)", inner[kind], settings, resolve=made.resolve)
        samplers["session", kind] = each("resolve(t)", found, settings, resolve=made.resolve)
    times = interleave(samplers, settings.rounds)
    for form, what in (("session", "resolve a session reference"), ("ref", "resolve a ref alone")):
        found = {kind: ratios(times[form, kind], times["parse", kind]) for kind in refs}
        for kind, figures in found.items():
            yield Row(
                "resolve",
                f"{what}: {kind}",
                "`parse` of the session reference",
                spread(figures),
                ours=median(times[form, kind]),
            )
        yield Row(
            "resolve",
            f"{what}: geometric mean",
            "`parse` of the session reference",
            spread(geometric_means(found.values())),
            ours=median(geometric_means([times[form, kind] for kind in refs])),
            aim=4.0 if form == "session" else None,
            named=f"{what}, warm index",
        )
