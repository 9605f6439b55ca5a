"""The strict pass in other processes, while this one resolves references."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from sessionref.api import strictly
from sessionref.findings import Finding
from sessionref.streams.processes import workers

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from concurrent.futures import Future

    from sessionref.checks.run import Strict
    from sessionref.streams.source import Input

__all__ = ["encoded", "strict_workers"]

_decode = msgspec.json.Decoder(list[Finding]).decode
_encode = msgspec.json.Encoder().encode


@contextmanager
def strict_workers(paths: Iterable[str], jobs: int) -> Generator[Strict]:
    """Begin the strict pass over the files `paths` in all but one of `jobs` processes.

    What is given in return waits for the file that is asked for. The findings of files that are
    done stay in memory, encoded, until it is their turn.
    """
    with workers(jobs) as pool:
        begun: dict[str, Future[bytes]] = {path: pool.submit(encoded, path) for path in paths}

        def found(source: Input, file: str | None) -> Iterator[Finding]:
            future = begun.pop(source, None) if isinstance(source, str) else None
            if future is None:
                yield from strictly(source, file)
            else:
                yield from _decode(future.result())

        yield found


def encoded(path: str) -> bytes:
    """The findings of the strict pass over a file."""
    return _encode(list(strictly(path, path)))
