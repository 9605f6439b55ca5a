"""Real logs, where they are at hand, as one scope each, and through the command."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from click.testing import CliRunner

import sessionref as sr
from sessionref.cli._app import program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDERS = ("corpus/claude-code", "corpus/codex", "corpus-large/claude-code", "corpus-large/codex")


class Named(NamedTuple):
    """A ref into a session of a log, and what it means."""

    ref: sr.SessionRef
    file: str
    state: str


def folder_of(shared: Path, name: str) -> Path:
    folder = shared / name
    if not folder.is_dir():
        pytest.skip(f"there is no {name}")
    return folder


def named(scope: sr.Scope) -> Iterator[Named]:
    """Every session, record, entity and turn, and what a reference to it means."""
    for session in scope:
        assert session.key is not None
        for capture in session.captures:
            for ref in (None, *capture.index.refs()):
                target = session.key.at(ref)
                yield Named(target, capture.file or "", scope.resolve(target).state)


@pytest.mark.parametrize("name", FOLDERS)
def test_all_that_a_folder_names_resolves(shared: Path, name: str) -> None:
    """Ambiguous is only what logs use for several things: call IDs, and whole session IDs."""
    scope = sr.Scope.read([folder_of(shared, name)])
    in_conflict = {session.key for session in scope if session.conflict}
    found = list(named(scope))
    assert {one.state for one in found} <= {"resolved", "ambiguous"}
    doubtful = [one for one in found if one.state == "ambiguous" and one.ref.key not in in_conflict]
    # A fixture whose values were all replaced by one text.
    assert {(type(one.ref.ref), one.file.rpartition("/")[2]) for one in doubtful} <= {
        (sr.EntityRef, "small.jsonl")
    }
    # Fixtures of several sources that chose one session ID.
    assert {key.session_id for key in in_conflict if key} <= {
        "claude-lineage-parent",
        "child-session",
        "parent-session",
    }


@pytest.mark.parametrize("name", FOLDERS)
def test_all_that_a_file_names_resolves(shared: Path, name: str) -> None:
    """Likewise where each file is read alone."""
    for file in sorted(folder_of(shared, name).rglob("*")):
        if not file.is_file():
            continue
        for one in named(sr.Scope.read([file])):
            if one.state != "resolved":
                assert one.state == "ambiguous"
                assert isinstance(one.ref.ref, sr.EntityRef)
                assert file.name in {"small.jsonl", "05c88849-2cba-4805-a58c-15cf1ed484e2.jsonl"}


@pytest.mark.parametrize("name", FOLDERS)
def test_the_command_says_the_same(shared: Path, name: str) -> None:
    """A sample of the refs, resolved by `sessionref resolve` in the folder and in the file."""
    folder = folder_of(shared, name)
    found = [one for one in named(sr.Scope.read([folder])) if "#" in str(one.ref)]
    for one in random.Random(7).sample(found, 8):  # noqa: S311 - a sample, always the same
        result = CliRunner().invoke(program, ["resolve", "--json", str(folder), str(one.ref)])
        said = json.loads(result.stdout)
        assert (said["state"], said["exact"]) == (one.state, one.state == "resolved")
        assert result.exit_code == (0 if one.state == "resolved" else 1)
        assert one.file in {record["file"] for record in said["records"]}
