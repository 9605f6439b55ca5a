"""Where the known agents keep their logs on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["known_places", "paths_or_places"]


def known_places() -> list[str]:
    """The folders of logs that there are."""
    return [str(place) for place in _candidates() if place.is_dir()]


def _candidates() -> Iterator[Path]:
    from sessionref.native.readers import readers  # noqa: PLC0415 - costs its import

    for reader in readers().by_agent.values():
        for variable, folders, below in reader.folders:
            named = os.environ.get(variable)
            homes = [Path(named)] if named else [Path.home() / folder for folder in folders]
            for home in homes:
                for name in below:
                    yield home / name


def paths_or_places(paths: tuple[str, ...]) -> list[str]:
    """`paths`, or the known places where none are given; wrong usage where there are none."""
    found = list(paths) or known_places()
    if not found:
        looked = ", ".join(str(place) for place in _candidates())
        raise click.UsageError(f"no PATH given, and none of the default folders exists: {looked}")
    return found
