"""The paths that a command reads: those given, or the known places."""

from __future__ import annotations

import click

__all__ = ["paths_or_places"]


def paths_or_places(paths: tuple[str, ...]) -> list[str]:
    """`paths`, or the known places where none are given; wrong usage where there are none."""
    if paths:
        return list(paths)
    from sessionref.native.readers import default_places, known_places  # noqa: PLC0415

    found = known_places()
    if not found:
        looked = ", ".join(default_places())
        raise click.UsageError(f"no PATH given, and none of the default folders exists: {looked}")
    return found
