"""The suites about many streams: reading a scope, its memory, and checking it."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import tracemalloc
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import sessionref as sr
from bench.measure import Row, interleave, once, ratios, spread
from bench.streams_data import stream

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from bench.measure import Settings, Timed

__all__ = ["check", "scope"]

_NEWLINES = '`data.count(b"\\n")` of each file'


class _Corpus:
    """Streams in the files of a folder, and the same bytes in memory."""

    def __init__(self, folder: Path, streams: int, records: int) -> None:
        self.folder = folder
        self.data: list[bytes] = []
        for number in range(streams):
            data = stream(records, seed=number, session=f"bench-{number}")
            (folder / f"{number:05}.jsonl").write_bytes(data)
            self.data.append(data)
        self.records = self.newlines()
        self.size = f"{streams:,} streams, {sum(map(len, self.data)) / 1e6:.1f} MB"

    def newlines(self) -> int:
        """The floor: how many lines there are."""
        return sum(data.count(b"\n") for data in self.data)

    def by_json(self) -> None:
        """What decoding all lines costs, none of them kept."""
        for data in self.data:
            for line in data.splitlines():
                json.loads(line)

    def by_reading(self) -> None:
        """What opening all files costs."""
        for path in self.folder.iterdir():
            path.read_bytes()

    def scope(self) -> sr.Scope:
        """All of it as one scope."""
        return sr.Scope.read([self.folder])

    def check(self, *, strict: bool) -> None:
        """All findings, of which there are none."""
        found = list(self.scope().check(strict=strict))
        if found:
            raise AssertionError(found[0])


@contextmanager
def _corpus(streams: int, records: int) -> Generator[_Corpus]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        yield _Corpus(Path(folder), streams, records)


def scope(settings: Settings) -> Iterator[Row]:
    """Folders of streams into a scope: few large ones, and very many tiny ones."""
    with _corpus(8, 5_000 // settings.scale) as corpus:
        times = interleave(
            {
                "read": once(corpus.scope, corpus.records),
                "problems": once(lambda: list(corpus.scope().problems()), corpus.records),
                "newlines": once(corpus.newlines, corpus.records, repeat=5),
                "json": once(corpus.by_json, corpus.records),
            },
            settings.process_rounds,
        )
        for ours, what in (
            ("read", f"read a scope: {corpus.size}"),
            ("problems", f"and resolve every reference: {corpus.size}"),
        ):
            for theirs, against in (("newlines", _NEWLINES), ("json", "`json.loads` of each line")):
                figures = spread(ratios(times[ours], times[theirs]))
                yield Row("scope", what, against, figures, ours=median(times[ours]))
        yield _memory(corpus)
    with _corpus(15_000 // settings.scale, 4) as corpus:
        count = len(corpus.data)
        times = interleave(
            {
                "read": once(corpus.scope, count),
                "check": once(lambda: corpus.check(strict=False), count),
                "files": once(corpus.by_reading, count),
            },
            max(3, settings.process_rounds // 6),
        )
        for ours, what in (("read", "read"), ("check", "read and check")):
            yield Row(
                "scope",
                f"{what} tiny streams: {corpus.size}",
                "`read_bytes` of each file",
                spread(ratios(times[ours], times["files"])),
                ours=median(times[ours]),
                note=f"{corpus.records // count} records each; the time is for one stream",
            )


def _memory(corpus: _Corpus) -> Row:
    gc.collect()
    tracemalloc.start()
    kept = corpus.scope()
    gc.collect()
    used, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return Row(
        "scope",
        f"memory per record of a scope: {corpus.size}",
        f"a record has {sum(map(len, corpus.data)) // corpus.records} bytes",
        spread([used / corpus.records]),
        unit="bytes",
        note=f"by `tracemalloc`; {peak / corpus.records:.0f} at the peak",
    )


def check(settings: Settings) -> Iterator[Row]:
    """A clean corpus from files to findings, and the command in one process and in two."""
    with _corpus(8, 5_000 // settings.scale) as corpus:
        times = interleave(
            {
                "fast": once(lambda: corpus.check(strict=False), corpus.records),
                "strict": once(lambda: corpus.check(strict=True), corpus.records),
                "newlines": once(corpus.newlines, corpus.records, repeat=5),
                "json": once(corpus.by_json, corpus.records),
            },
            settings.process_rounds,
        )
        for ours, what, aim in (
            ("fast", "check without the strict pass", 6.0),
            ("strict", "check with the strict pass", None),
        ):
            for theirs, against in (("newlines", _NEWLINES), ("json", "`json.loads` of each line")):
                yield Row(
                    "check",
                    f"{what}: {corpus.size}",
                    against,
                    spread(ratios(times[ours], times[theirs])),
                    ours=median(times[ours]),
                    aim=aim if theirs == "newlines" else None,
                )
        times = interleave(
            {jobs: _command(corpus, jobs) for jobs in ("1", "2")},
            max(3, settings.process_rounds // 3),
        )
        yield Row(
            "check",
            "`sessionref check --jobs 2`",
            "`sessionref check --jobs 1`",
            spread(ratios(times["2"], times["1"])),
            ours=median(times["2"]),
            aim=round(1 / 1.6, 3),
            note="from start to end, with the strict pass; the time is for one record",
        )


def _command(corpus: _Corpus, jobs: str) -> Timed:
    command = [sys.executable, "-m", "sessionref", "check", "--jobs", jobs, str(corpus.folder)]

    def sample() -> float:
        start = perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return (perf_counter() - start) / corpus.records

    return sample
