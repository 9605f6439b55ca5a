"""The command `sessionref`: one file for each of its commands; rendering is kept apart."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

__all__ = ["main"]

#: Exit codes as a shell reports them for a program that a signal ended.
_BROKEN_PIPE = 141
_INTERRUPTED = 130
_UNREADABLE = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    `arguments` are those of the process if None. No input causes a traceback. Ctrl-C and a reader
    that closes the pipe end the command silently; a failing device, such as a full disk, ends it
    with one line on stderr and exit code 3.
    """
    _open_streams()
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        code = _BROKEN_PIPE
        _discard(sys.stdout)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except OSError as error:
        code = _UNREADABLE
        with suppress(OSError):
            sys.stderr.write(f"sessionref: {error.strerror or error}\n")
    finally:
        for stream in (sys.stdout, sys.stderr):
            _settle(stream)
    return code


def _settle(stream: TextIO) -> None:
    """Flush `stream`, or give up what it holds.

    Python flushes stdout and stderr once more when the process ends. If that fails, it prints
    "Exception ignored" and exits with code 120 whatever `main` returned.
    """
    try:
        stream.flush()
    except OSError:
        _discard(stream)


def _discard(stream: TextIO) -> None:
    """Send to the null device whatever `stream` still holds or gets."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _run(arguments: list[str]) -> int:
    # Scripts call `canonical` and `digest` once per reference. Importing click takes longer than
    # the work itself, and without options these two commands do not need it.
    if (
        arguments[:1] in (["canonical"], ["digest"])
        and not any(argument.startswith("-") for argument in arguments)
        and "SESSIONREF_REGISTRY" not in os.environ
    ):
        from sessionref import reference  # noqa: PLC0415
        from sessionref.cli._lines import PlainLines, translate  # noqa: PLC0415

        return translate(arguments[1:], PlainLines(getattr(reference, arguments[0])))
    from sessionref.cli._app import run  # noqa: PLC0415

    return run(arguments)


def _open_streams() -> None:
    """Open the standard streams that the process was started without; let them take any text."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - stays open
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is written as an escape.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
