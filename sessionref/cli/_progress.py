"""A progress bar on stderr for whoever waits at a terminal."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from typing import TYPE_CHECKING

from sessionref.cli._text import shortened

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from typing import TypeVar

    from rich.progress import Progress

    from sessionref.streams.walk import Found

    T = TypeVar("T", bound=Found)

__all__ = ["watched"]

#: How long the wait is, in seconds, before the bar appears.
_PATIENCE = 1.0
_NAME_WIDTH = 50


def watched(files: Iterable[T], total: int, *, shares_terminal: bool) -> Generator[T]:
    """`files`, with a bar that shows how many of `total` have been taken.

    None appears within the first second, where stderr is no terminal, or where the command writes
    to the terminal all the while (`shares_terminal`).
    """
    if not sys.stderr.isatty() or (shares_terminal and sys.stdout.isatty()):
        yield from files
        return
    bar = _Bar(total)
    timer = Timer(_PATIENCE, bar.appear)
    timer.daemon = True
    timer.start()
    try:
        for file in files:
            bar.at(file.path)
            yield file
            bar.advance()
    finally:
        timer.cancel()
        bar.end()


class _Bar:
    """The bar; `appear` is called from another thread, at any time or never."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._name = ""
        self._ended = False
        self._lock = Lock()
        self._shown: Progress | None = None

    def appear(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - only for whoever waits
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        with self._lock:
            if self._ended:
                return
            self._shown = Progress(
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(file=sys.stderr),
                transient=True,
            )
            self._shown.add_task(self._name, total=self._total, completed=self._done)
            self._shown.start()

    def at(self, name: str) -> None:
        with self._lock:
            self._name = shortened(name, _NAME_WIDTH)
            self._update()

    def advance(self) -> None:
        with self._lock:
            self._done += 1
            self._update()

    def _update(self) -> None:
        if self._shown is not None:
            task = self._shown.task_ids[0]
            self._shown.update(task, completed=self._done, description=self._name)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            if self._shown is not None:
                self._shown.stop()
