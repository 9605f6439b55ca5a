"""The surveys of many files, made by several processes if there is enough to read."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sessionref.errors import StreamError
from sessionref.native.columns import Records
from sessionref.native.logs import Log
from sessionref.native.logset import survey_of
from sessionref.streams.processes import workers, worth_while

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessionref.findings import Finding
    from sessionref.native.logset import Surveyed

__all__ = ["Looked", "survey_each"]

#: How many files at most a process is given at once.
_MOST = 8


class Looked(NamedTuple):
    """A file that was looked at: its survey, or why it could not be read."""

    path: str
    surveyed: Surveyed | StreamError
    findings: list[Finding]


def survey_each(
    paths: Sequence[str], *, jobs: int, max_line: int, columns: bool
) -> Iterator[Looked]:
    """The survey of each of some regular files, in their order, made by at most `jobs` processes.

    The result is the same whatever `jobs` is. `columns` is as in `survey_of`.
    """
    look = partial(_look, max_line=max_line, columns=columns)
    jobs = worth_while(paths, jobs)
    done = 0
    if jobs > 1:
        try:
            for looked in _looked_at(paths, jobs, look):
                yield looked
                done += 1
        except (BrokenProcessPool, ImportError, NotImplementedError, OSError):
            pass  # there can be no processes here, or one was ended: go on without them
    yield from map(look, paths[done:])


def _looked_at(paths: Sequence[str], jobs: int, look: Callable[[str], Looked]) -> Iterator[Looked]:
    size = max(1, min(_MOST, len(paths) // (4 * jobs)))
    chunks = [paths[start : start + size] for start in range(0, len(paths), size)]
    with workers(jobs) as pool:
        futures = [pool.submit(_packed_each, look, chunk) for chunk in chunks]
        own: dict[int, list[Looked]] = {}
        last = len(chunks)
        try:
            for number, future in enumerate(futures):
                # This process is one of `jobs`: instead of waiting, it takes files from the end.
                while number not in own and not future.done() and last > number:
                    last -= 1
                    if futures[last].cancel():
                        own[last] = [look(path) for path in chunks[last]]
                yield from own.pop(number) if number in own else map(_unpacked, future.result())
        finally:
            for future in futures:
                future.cancel()


def _unpacked(packed: tuple[Looked, bytes | None]) -> Looked:
    looked, records = packed
    surveyed = looked.surveyed
    if records is None or isinstance(surveyed, StreamError):
        return looked
    return looked._replace(surveyed=surveyed._replace(records=Records.unpacked(records)))


def _packed_each(
    look: Callable[[str], Looked], paths: Sequence[str]
) -> list[tuple[Looked, bytes | None]]:
    return [_packed(look, path) for path in paths]


def _packed(look: Callable[[str], Looked], path: str) -> tuple[Looked, bytes | None]:
    """As `look`, with the columns packed for another process."""
    looked = look(path)
    surveyed = looked.surveyed
    if isinstance(surveyed, StreamError) or surveyed.records is None:
        return looked, None
    packed = surveyed.records.packed()
    return looked._replace(surveyed=surveyed._replace(records=None)), packed


def _look(path: str, *, max_line: int, columns: bool) -> Looked:
    findings: list[Finding] = []
    try:
        with Log(path, max_line=max_line) as log:
            return Looked(path, survey_of(log, findings.append, columns=columns), findings)
    except StreamError as error:
        return Looked(path, error, findings)
