"""Worker processes, bounded by what `--jobs` allows."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["processors", "workers", "worth_while"]

#: With fewer bytes for each process, starting it costs more than it saves.
_WORTH_WHILE = 4 << 20


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if affinity is None else len(affinity(0))


def worth_while(paths: Iterable[str], jobs: int) -> int:
    """How many processes, `jobs` at most, are of use to read these files; at least 1."""
    total = number = 0
    for number, path in enumerate(paths, 1):
        try:
            total += os.stat(path).st_size  # noqa: PTH116 - any path as it was given
        except (OSError, ValueError):
            continue
        if total >= jobs * _WORTH_WHILE and number >= jobs:
            break
    return max(1, min(jobs, number, total // _WORTH_WHILE))


def workers(jobs: int) -> ProcessPoolExecutor:
    """A pool that, with this process, makes `jobs` processes; `jobs` is at least 2."""
    # A forked process needs no imports. Forking is safe on Linux only, and only without threads.
    alone = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if alone else "spawn")
    # What a worker makes has no reference cycles, so it does not look for any.
    return ProcessPoolExecutor(jobs - 1, mp_context=context, initializer=gc.disable)
