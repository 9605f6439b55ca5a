"""`sessionref convert`: native logs as streams."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sessionref.cli._common import Outcome, json_option, paths_argument
from sessionref.cli._places import paths_or_places
from sessionref.cli._progress import watched
from sessionref.cli._text import shown
from sessionref.errors import StreamError
from sessionref.native.convert import unreadable
from sessionref.native.logset import LogSet
from sessionref.streams.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.native.record import NativeStream, Report
    from sessionref.streams.walk import Found

__all__ = ["command"]


@click.command(short_help="Write native logs as streams (JSONL).")
@paths_argument
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write one file per session into DIR, which is created if it does not exist.",
)
@click.option(
    "--no-content",
    is_flag=True,
    help="Keep identity, relations and usage only.",
)
@json_option
def command(paths: tuple[str, ...], into: str | None, *, no_content: bool, as_json: bool) -> None:  # noqa: ARG001
    """Write the sessions in the native logs PATH (files or folders) as streams to stdout.

    The kind of a log is detected from its content. In a folder, files of unknown format are skipped
    and counted. A named file of unknown format gives exit code 3. With --into, a file is named
    after the agent and the digest of the session's canonical form. An existing file of that name is
    replaced. Streams are always JSON lines, so --json changes nothing.
    """
    outcome = Outcome()
    folder = None if into is None else _folder(into)
    written: set[str] = set()
    files = list(walk(paths_or_places(paths), outcome.report))
    with LogSet() as logs:
        # All are looked at before one is written, since what one says of another may be in any.
        for file in watched(files, len(files), shares_terminal=into is None):
            _add(logs, file, outcome)
        for file in watched(files, len(files), shares_terminal=into is None):
            if file.path not in logs:
                continue
            for stream in _streams(logs, file, outcome, content=not no_content):
                with ExitStack() as stack:
                    out = sys.stdout.buffer
                    if folder is not None:
                        stem = stream.session.key.file_stem()
                        # A second stream of one session follows the first: both are kept apart.
                        mode = "ab" if stem in written else "wb"
                        written.add(stem)
                        out = stack.enter_context((folder / f"{stem}.jsonl").open(mode))
                    out.writelines(stream.jsonl())
    sys.stdout.buffer.flush()
    outcome.end()


def _add(logs: LogSet, file: Found, outcome: Outcome) -> None:
    report = _report(file, outcome)
    try:
        logs.add(file.path, report)
    except StreamError as error:
        report(unreadable(error))


def _streams(
    logs: LogSet, file: Found, outcome: Outcome, *, content: bool
) -> Iterator[NativeStream]:
    report = _report(file, outcome)
    try:
        yield from logs.streams(file.path, report, content=content)
    except StreamError as error:
        report(unreadable(error))


def _report(file: Found, outcome: Outcome) -> Report:
    return outcome.report if file.named else outcome.of_folder(outcome.report)


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.BadParameter(f"{shown(name)}: {error.strerror}", param_hint="--into") from error
    return folder
