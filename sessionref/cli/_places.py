"""Where the known agents keep their logs on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["known_places", "paths_or_places"]

#: For each agent: the variable that moves its folder, the folder below the home folder where it is
#: not set, and where below that it keeps logs.
_FOLDERS = (
    ("CLAUDE_CONFIG_DIR", (".claude", ".config/claude"), ("projects",)),
    ("CODEX_HOME", (".codex",), ("sessions", "archived_sessions")),
)


def known_places() -> list[str]:
    """The folders of logs that there are."""
    return [str(place) for place in _candidates() if place.is_dir()]


def _candidates() -> Iterator[Path]:
    for variable, folders, below in _FOLDERS:
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
        raise click.UsageError(f"No PATH is given, and there is none of {looked}.")
    return found
