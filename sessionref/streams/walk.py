"""From the paths that a user names to the files that are read.

Folders are walked in a fixed order, so that the same tree always gives the same output. A path
only says where bytes are: it never becomes identity (ASR-053).
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from sessionref.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["STDIN", "Found", "walk"]

#: The path that means standard input.
STDIN = "-"


class Found(NamedTuple):
    """A file to read: its path, and whether the user named it or a folder held it."""

    path: str
    named: bool


def walk(
    paths: Iterable[str | os.PathLike[str]],
    report: Callable[[Finding], None],
    seen: set[tuple[int, int]] | None = None,
) -> Iterator[Found]:
    """Every file under `paths`, each once, folders in the order of their names.

    Links are followed, and a folder is entered once however many links lead to it, so that loops
    end. In a folder, whatever is neither file nor folder (a device, a socket, a pipe) is passed
    over with a notice; named by hand it is yielded, since a pipe can be read. What cannot be
    opened is reported under the code `unreadable`, and the rest goes on. `seen` has the files and
    folders of earlier calls, by device and inode, and gets those of this one.
    """
    seen = set() if seen is None else seen
    for path in paths:
        text = os.fspath(path)
        if text == STDIN:
            yield Found(STDIN, named=True)
            continue
        pending = [text]
        while pending:
            current = pending.pop()
            named = current is text
            try:
                status = os.stat(current)  # noqa: PTH116 - hot, and Path would not say more
                key = (status.st_dev, status.st_ino)
                if key in seen:
                    continue
                seen.add(key)
                if stat.S_ISDIR(status.st_mode):
                    pending.extend(_children(current))
                    continue
            except (OSError, ValueError) as error:
                report(_unreadable(current, error))
                continue
            if named or stat.S_ISREG(status.st_mode):
                yield Found(current, named)
            else:
                seen.discard(key)  # it may be named yet
                report(
                    Finding(
                        code="special-file",
                        severity="notice",
                        message="neither a file nor a folder: passed over",
                        file=current,
                    )
                )


def _children(folder: str) -> list[str]:
    """The entries of a folder as paths, last name first, as a stack wants them."""
    with os.scandir(folder) as entries:
        names = sorted((entry.name for entry in entries), key=os.fsencode, reverse=True)
    return [os.path.join(folder, name) for name in names]  # noqa: PTH118 - as above


def _unreadable(path: str, error: Exception) -> Finding:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Finding(
        code="unreadable",
        severity="error",
        message=f"cannot be read: {reason}",
        file=path,
    )
