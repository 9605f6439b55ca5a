"""Inputs that can be read only once, kept for commands that read them again."""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import msgspec

from sessionref.streams.walk import STDIN

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from sessionref.findings import Finding

__all__ = ["kept", "renamed"]


@contextmanager
def kept(paths: Iterable[str]) -> Generator[dict[str, str]]:
    """The paths to read in place of `paths`, each with the name that the user knows it by.

    Standard input and pipes are kept in files until the context ends; all others stay.
    """
    with ExitStack() as files:
        yield {_kept(path, files): path for path in dict.fromkeys(paths)}


def _kept(path: str, files: ExitStack) -> str:
    if path == STDIN:
        return _copy(sys.stdin.buffer, files)
    try:
        if stat.S_ISFIFO(Path(path).stat().st_mode):
            with Path(path).open("rb", buffering=0) as pipe:
                return _copy(pipe, files)
    except (OSError, ValueError):
        pass  # whoever reads it says what is wrong with it
    return path


def _copy(source: BinaryIO, files: ExitStack) -> str:
    copy = files.enter_context(
        tempfile.NamedTemporaryFile(prefix="sessionref-", suffix=".jsonl")  # noqa: SIM115 - `files` closes it
    )
    shutil.copyfileobj(source, cast("BinaryIO", copy))
    copy.flush()
    return copy.name


def renamed(finding: Finding, names: dict[str, str]) -> Finding:
    """`finding` with the name of the input as the user knows it."""
    name = None if finding.file is None else names.get(finding.file)
    if name is None or name == finding.file:
        return finding
    return msgspec.structs.replace(finding, file=name)
