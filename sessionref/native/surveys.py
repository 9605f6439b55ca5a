"""The surveys of many files, made by several processes if there is enough to read."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sessionref.errors import StreamError
from sessionref.native.columns import Records
from sessionref.native.logs import Log
from sessionref.native.logset import survey_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessionref.findings import Finding
    from sessionref.native.logset import Surveyed

__all__ = ["Looked", "survey_each"]

#: Below so many bytes for each process, to start it costs more than it saves.
_WORTH_WHILE = 4 << 20
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
    jobs = min(jobs, len(paths), _size_of(paths, jobs) // _WORTH_WHILE)
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
    # A copy of this process needs no imports. It is not safe elsewhere than on Linux, nor where
    # there are threads.
    alone = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if alone else "spawn")
    chunk = max(1, min(_MOST, len(paths) // (4 * jobs)))
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_without_collection) as pool:
        for looked, records in pool.map(partial(_packed, look), paths, chunksize=chunk):
            surveyed = looked.surveyed
            if records is not None and not isinstance(surveyed, StreamError):
                surveyed = surveyed._replace(records=Records.unpacked(records))
            yield looked._replace(surveyed=surveyed)


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


def _without_collection() -> None:
    """Switch the garbage collector off: nothing made here holds a reference cycle."""
    gc.disable()


def _size_of(paths: Sequence[str], jobs: int) -> int:
    """How many bytes the files have together; no more is looked at than matters."""
    total = 0
    for path in paths:
        if total >= jobs * _WORTH_WHILE:
            break
        try:
            total += os.stat(path).st_size  # noqa: PTH116 - as everywhere with paths as given
        except (OSError, ValueError):
            continue
    return total
