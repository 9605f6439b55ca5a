"""What the commands share: their options, the registry they use, and how they end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from sessionref.cli._lines import complain
from sessionref.cli._text import plural, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessionref.findings import Finding
    from sessionref.native.record import Report
    from sessionref.registry import Registry

    Command = TypeVar("Command", bound=Callable[..., object] | click.Command)

__all__ = [
    "FORMAT",
    "INVALID",
    "UNREADABLE",
    "Outcome",
    "jobs_option",
    "json_option",
    "paths_argument",
    "references_argument",
    "registry_option",
    "to_json",
]

#: The member `format` of JSON documents. Members may be added under the same number.
FORMAT = 1

#: Exit codes: something was wrong with the input, and part of the input could not be read.
INVALID = 1
UNREADABLE = 3


class Outcome:
    """How a run went, as the exit code that says so. What went wrong is written to stderr."""

    def __init__(self) -> None:
        self.code = 0
        self._passed_over = 0

    def invalid(self) -> None:
        """Something was wrong with what was read."""
        self.code = self.code or INVALID

    def report(self, finding: Finding) -> None:
        """Write a finding to stderr, and count it; what could not be read wins over all else."""
        from sessionref.native.convert import UNREAD  # noqa: PLC0415 - only with findings

        if finding.code in UNREAD:
            self.code = UNREADABLE
        elif finding.severity == "error":
            self.invalid()
        complain(shown(_one_line(finding)))

    def of_folder(self, report: Report) -> Report:
        """`report` for the files of a folder: those of an unknown kind are only counted."""

        def heard(finding: Finding) -> None:
            if finding.code == "unknown-format":
                self._passed_over += 1
            elif finding.code != "not-native":
                report(finding)

        return heard

    def note_passed_over(self, files: int) -> None:
        """Count files of folders that are of an unknown kind."""
        self._passed_over += files

    def tell_passed_over(self) -> None:
        """Say what was passed over so far."""
        if self._passed_over:
            complain(f"skipped {plural(self._passed_over, 'file')} (not a known log format)")
            self._passed_over = 0

    def end(self) -> NoReturn:
        """Say what was passed over, and end the command with the exit code."""
        self.tell_passed_over()
        raise click.exceptions.Exit(self.code)


def _one_line(finding: Finding) -> str:
    place = "".join(f"{part}:" for part in (finding.file, finding.line) if part is not None)
    rule = "" if finding.rule is None else f", {finding.rule}"
    return f"{place} {finding.severity}: {finding.message} ({finding.code}{rule})".lstrip()


def to_json(value: object) -> str:
    """`value` on one line of JSON; text that has no UTF-8 form with its surrogates escaped."""
    import msgspec  # noqa: PLC0415 - only where JSON is asked for

    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        from json import dumps  # noqa: PLC0415 - for text that hardly any log holds

        return dumps(msgspec.to_builtins(value), separators=(",", ":"))


def references_argument(command: Command) -> Command:
    """The references to work on, or none for those on stdin."""
    return click.argument("references", metavar="[REF]...", nargs=-1)(command)


def paths_argument(command: Command) -> Command:
    """The streams, logs and folders to read, or none for the known places on this machine."""
    return click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())(command)


def jobs_option(command: Command) -> Command:
    """In how many processes logs are read; None where nothing is said."""
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Use at most N processes. The default is the number of processors.",
    )(command)


def json_option(command: Command) -> Command:
    """Whether programs read the output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(command)


def registry_option(command: Command) -> Command:
    """The registry that overlay files make; None where neither option nor environment name any."""
    return click.option(
        "--registry",
        metavar="FILE",
        multiple=True,
        callback=_load,
        help="A TOML file whose entries add to or replace those of the built-in registry. May be "
        "given several times. The files named by SESSIONREF_REGISTRY are read first.",
    )(command)


def _load(
    context: click.Context, parameter: click.Parameter, files: tuple[str, ...]
) -> Registry | None:
    if not files and not os.environ.get("SESSIONREF_REGISTRY"):
        return None
    from sessionref.errors import RegistryError  # noqa: PLC0415 - only with an overlay
    from sessionref.registry import Registry  # noqa: PLC0415

    try:
        return Registry.from_environment(*files)
    except RegistryError as error:
        raise click.BadParameter(shown(str(error)), context, parameter) from error
