"""Folders and files as nobody wants them, through every command that reads logs."""

from __future__ import annotations

import json
import os
import socket
from threading import Thread

import pytest
from cli_logs import STREAM, codex_log, lines, stream
from click.testing import CliRunner

from sessionref.cli._app import program

COMMANDS = {
    "check": ["check", "--json"],
    "tree": ["tree", "--json"],
    "usage": ["usage", "--json"],
    "resolve": ["resolve", "--json"],
}
#: The two sessions that are always there, and a ref into one of them.
SESSIONS = {"codex:s1", "codex:good"}
#: A stream of which `check` has something to say, and no error.
S1 = STREAM + lines({"type": "subagent", "seq": 6, "id": "r6", "childSession": "codex:elsewhere"})
REF = "codex:s1#r1"


@pytest.fixture(params=COMMANDS)
def command(request):
    return request.param


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to work in, with two sessions that every command has to read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.jsonl").write_bytes(codex_log("good"))
    (tmp_path / "s1.jsonl").write_bytes(S1)
    return tmp_path


def run(command: str, *paths: str):
    arguments = [*COMMANDS[command], *paths, *([REF] if command == "resolve" else [])]
    result = CliRunner().invoke(program, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def everything_else_is_done(command: str, result) -> bool:
    """Whether the two sessions were read."""
    said = [json.loads(line) for line in result.stdout.splitlines()]
    if command == "check":
        return ("no-such-session", "codex:s1") in {(one["code"], one["session"]) for one in said}
    if command == "resolve":
        return [one["state"] for one in said] == ["resolved"]
    return {one["session"] for one in said[0]["sessions"]} >= SESSIONS


class Special:
    """What is no file, made in the folder it is given."""

    @staticmethod
    def directory(folder):
        (folder / "x.jsonl").mkdir()

    @staticmethod
    def dangling_link(folder):
        (folder / "x.jsonl").symlink_to("nowhere")

    @staticmethod
    def link_to_itself(folder):
        (folder / "x.jsonl").symlink_to("x.jsonl")

    @staticmethod
    def link_to_its_folder(folder):
        (folder / "x.jsonl").symlink_to(".")

    @staticmethod
    def device(folder):
        (folder / "x.jsonl").symlink_to("/dev/null")

    @staticmethod
    def pipe(folder):
        os.mkfifo(folder / "x.jsonl")

    @staticmethod
    def socket(folder):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(folder / "x.jsonl"))

    @staticmethod
    def empty(folder):
        (folder / "x.jsonl").write_bytes(b"")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (Special.directory, 0),
        (Special.dangling_link, 3),
        (Special.link_to_itself, 3),
        (Special.link_to_its_folder, 0),
        (Special.device, 0),
        (Special.pipe, 0),
        (Special.socket, 0),
        (Special.empty, 0),
    ],
)
def test_what_a_folder_may_hold(command, folder, make, code):
    """Nothing hangs or stops the work; a link to nothing could not be read."""
    make(folder)
    result = run(command, ".")
    assert result.exit_code == code
    assert everything_else_is_done(command, result)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (Special.directory, 0),
        (Special.dangling_link, 3),
        (Special.link_to_itself, 3),
        (Special.device, 3),
        (Special.socket, 3),
    ],
)
def test_what_may_be_named_by_hand(command, folder, make, code):
    """What was named and cannot be read is exit code 3, and everything else is done."""
    make(folder)
    result = run(command, "x.jsonl", "s1.jsonl", "gone.jsonl", "good.jsonl")
    assert result.exit_code == 3
    assert everything_else_is_done(command, result)
    result = run(command, "x.jsonl", "s1.jsonl", "good.jsonl")
    assert result.exit_code == code


def test_a_device_by_name(command):
    """It cannot be read as a log."""
    result = run(command, "/dev/null", "s1.jsonl", "good.jsonl")
    assert result.exit_code == 3
    assert everything_else_is_done(command, result)


def test_an_empty_file_by_name(command, folder):
    """It is a stream without a header: an error for those that say what is wrong with streams."""
    Special.empty(folder)
    result = run(command, "x.jsonl", "s1.jsonl", "good.jsonl")
    assert result.exit_code == (0 if command == "resolve" else 1)
    assert everything_else_is_done(command, result)


def test_a_file_that_may_not_be_read(command, folder, monkeypatch):
    """In a folder too it is exit code 3."""
    (folder / "locked.jsonl").write_bytes(stream("locked"))
    really = os.open

    def refuse(path, *arguments, **options):
        if os.fspath(path).endswith("locked.jsonl"):
            raise PermissionError(13, "Permission denied")
        return really(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    result = run(command, ".")
    assert result.exit_code == 3
    assert everything_else_is_done(command, result)


def test_a_pipe_by_name(command, folder):
    """It is read once, whatever the command needs to read twice."""
    Special.pipe(folder)
    (folder / "s1.jsonl").unlink()

    def write() -> None:
        (folder / "x.jsonl").write_bytes(S1)

    writing = Thread(target=write)
    writing.start()
    result = run(command, "x.jsonl", "good.jsonl")
    writing.join()
    assert result.exit_code == 0
    assert everything_else_is_done(command, result)


@pytest.mark.parametrize("name", ["s1.jsonl", "good.jsonl"])
def test_a_file_that_grows_while_it_is_read(command, folder, monkeypatch, name):
    """Whenever it is opened there is more in it, and a torn line at the end."""
    growing = folder / name
    more = {
        "s1.jsonl": b'{"type":"x","seq":7,"id":"r7"}\n{"type":"x","se',
        "good.jsonl": lines({"timestamp": "t", "type": "event_msg", "payload": {}}) + b'{"time',
    }
    really = os.open

    def grow(path, *arguments, **options):
        if os.fspath(path).endswith(name):
            growing.write_bytes(growing.read_bytes().removesuffix(more[name][-15:]) + more[name])
        return really(path, *arguments, **options)

    monkeypatch.setattr(os, "open", grow)
    result = run(command, ".")
    assert result.exit_code in {0, 1}
    assert everything_else_is_done(command, result)


@pytest.mark.slow
def test_very_many_tiny_streams(command, folder):
    """Thousands of files in one folder, half of them native."""
    for number in range(1000):
        (folder / f"{number}-a.jsonl").write_bytes(stream(f"a{number}"))
        (folder / f"{number}-b.jsonl").write_bytes(codex_log(f"b{number}"))
    result = run(command, ".")
    assert result.exit_code == 0
    assert everything_else_is_done(command, result)
