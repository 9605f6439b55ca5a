"""What a person names, as a list of inputs."""

from __future__ import annotations

import os

import pytest
from cli_logs import claude_log, codex_log

import sessionref as sr
from sessionref.streams import inputs, walk
from sessionref.streams.inputs import inputs_of
from sessionref.streams.walk import Found


def test_each_file_comes_once_under_its_first_name(tmp_path):
    """Whatever else leads to it: the same path, its folder, or a link."""
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b").symlink_to("a")
    file, data = str(tmp_path / "a"), [b"bytes"]
    assert inputs_of([file, data, tmp_path, tmp_path / "b"]) == [Found(file, named=True), data]
    assert inputs_of(tmp_path) == [Found(file, named=False)]


def test_findings_keep_their_place_and_nothing_is_walked_twice(tmp_path):
    """Entries of an earlier call stay as they are."""
    (tmp_path / "a").write_bytes(b"")
    entries = inputs_of([tmp_path / "gone", tmp_path / "a", "-"])
    assert [getattr(entry, "code", entry) for entry in entries] == [
        "unreadable",
        Found(str(tmp_path / "a"), named=True),
        Found("-", named=True),
    ]
    assert inputs_of(entries) == entries


def test_a_pipe_that_a_folder_held_can_be_named_yet(tmp_path):
    """In the folder it gives a notice; named, it is read."""
    os.mkfifo(tmp_path / "pipe")
    notice, pipe = inputs_of([tmp_path, tmp_path / "pipe"])
    assert isinstance(notice, sr.Finding)
    assert notice.code == "special-file"
    assert pipe == Found(str(tmp_path / "pipe"), named=True)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_scope_walks_each_folder_once(tmp_path, monkeypatch, jobs):
    """Looking at logs together and reading them share one list."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/codex").write_bytes(codex_log())
    (tmp_path / "claude").write_bytes(claude_log())
    entered: list[str] = []
    really = walk._children
    monkeypatch.setattr(walk, "_children", lambda path: entered.append(path) or really(path))
    assert inputs.walk is walk.walk
    assert len(sr.Scope.read(tmp_path, jobs=jobs)) == 2
    assert entered == [str(tmp_path), str(tmp_path / "folder")]
