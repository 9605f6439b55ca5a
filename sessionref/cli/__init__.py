"""The command `sessionref`: one file for each of its commands, rendering apart from computing."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

#: What a shell reports of a program that the signal ended.
_BROKEN_PIPE = 141
_INTERRUPTED = 130
_UNREADABLE = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments`, those of the process where none are given.

    Returns the exit code. Whatever the input, no traceback: a reader that goes away and Ctrl-C end
    the command without a word, a device that fails ends it with one line.
    """
    _open_streams()
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout once more at its end, and must not meet the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        sys.stderr.write(f"sessionref: {error.strerror or error}\n")
        return _UNREADABLE
    return code


def _run(arguments: list[str]) -> int:
    # `canonical` and `digest` are called once per reference in scripts, where importing click
    # takes longer than all the rest. Without any option, they need none of it.
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
    """Give the process the streams it was started without, and make stdout take any text."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - stays open
    for stream in (sys.stdout, sys.stderr):
        # A terminal whose encoding lacks a character shows its escape.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
