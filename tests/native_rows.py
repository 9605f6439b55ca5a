"""Rows of native logs for the tests, in the shape of the real ones, and what reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from sessionref.native import LogSet, read
from sessionref.reference import SessionRef
from sessionref.streams.index import read_streams

if TYPE_CHECKING:
    from pathlib import Path

    from sessionref.findings import Finding
    from sessionref.streams.index import StreamIndex

SESSION = "1b671a64-40d5-491e-99b0-da01ff1f3341"
OTHER = "7e57d004-2b97-4e7a-b45f-5387367791cd"


def jsonl(*rows: Any) -> bytes:
    """Rows as lines; bytes and strings stand as they are."""
    return b"".join(_line(row) + b"\n" for row in rows)


def _line(row: Any) -> bytes:
    if isinstance(row, bytes):
        return row
    return row.encode() if isinstance(row, str) else json.dumps(row).encode()


def user(uuid: str | None, content: Any = "Fix the parser test.", **members: Any) -> dict[str, Any]:
    """A `user` row of a Claude Code transcript."""
    return _row(
        {"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}}, members
    )


def assistant(
    uuid: str | None,
    message_id: str | None = "msg_01A",
    *blocks: dict[str, Any],
    request: str | None = "req_01A",
    output: int = 5,
    model: str | None = "claude-sonnet-4-5",
    **members: Any,
) -> dict[str, Any]:
    """An `assistant` row of a Claude Code transcript."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": list(blocks) or [{"type": "text", "text": "Looking."}],
        "usage": {
            "input_tokens": 4,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 2000,
            "output_tokens": output,
        },
    }
    if message_id is not None:
        message["id"] = message_id
    if model is not None:
        message["model"] = model
    row: dict[str, Any] = {"type": "assistant", "uuid": uuid, "message": message}
    if request is not None:
        row["requestId"] = request
    return _row(row, members)


def _row(row: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    whole = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/user/app",
        "sessionId": SESSION,
        "version": "2.1.210",
        "gitBranch": "main",
        "timestamp": "2026-08-20T09:00:00.000Z",
        **row,
        **members,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def tool_use(call_id: str | None, name: str = "Bash") -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {"command": "ls"}}
    return {name: value for name, value in block.items() if value is not None}


def tool_result(call_id: str | None) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "main.py"}
    return {name: value for name, value in block.items() if value is not None}


def rollout(kind: str, payload: Any, ordinal: int | None = None, **members: Any) -> dict[str, Any]:
    """A row of a Codex rollout."""
    row: dict[str, Any] = {"timestamp": "2026-08-20T09:00:00.000Z", "type": kind, **members}
    if ordinal is not None:
        row["ordinal"] = ordinal
    return {**row, "payload": payload}


def meta(thread: str = "thread-c", ordinal: int | None = None, **members: Any) -> dict[str, Any]:
    return rollout("session_meta", {"id": thread, "source": "cli", **members}, ordinal)


def counts(amount: int, output: int = 10, cached: int = 0) -> dict[str, int]:
    return {
        "input_tokens": amount,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": 0,
        "total_tokens": amount + output,
    }


def token_count(
    total: dict[str, int] | None, last: dict[str, int] | None, ordinal: int | None = None
) -> dict[str, Any]:
    info = {"total_token_usage": total, "last_token_usage": last}
    return rollout(
        "event_msg",
        {"type": "token_count", "info": {k: v for k, v in info.items() if v is not None}},
        ordinal,
    )


class Converted:
    """A log as read: its streams with their records, the findings, and an index of each stream."""

    def __init__(self, data: bytes, *, content: bool = True) -> None:
        self.findings: list[Finding] = []
        self.streams = [
            [_value(record) for record in stream]
            for stream in read([data], self.findings.append, content=content)
        ]
        self.text = b"".join(
            json.dumps(record).encode() + b"\n" for stream in self.streams for record in stream
        )
        self.indexes = list(read_streams([self.text])) if self.streams else []

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of the only stream, without the header."""
        (stream,) = self.streams
        return stream[1:]

    @property
    def header(self) -> dict[str, Any]:
        (stream,) = self.streams
        return stream[0]

    @property
    def index(self) -> StreamIndex:
        (index,) = self.indexes
        return index

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == kind]

    def keys(self) -> list[str | None]:
        return [index.session for index in self.indexes]


def _value(record: msgspec.Struct) -> dict[str, Any]:
    return json.loads(msgspec.json.encode(record))


class Family:
    """Logs in files of one folder, read together: for each session the stream that tells of it."""

    def __init__(self, folder: Path, files: dict[str, Any]) -> None:
        self.findings: list[Finding] = []
        self.files: dict[str, list[list[dict[str, Any]]]] = {}
        for name, rows in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(rows if isinstance(rows, bytes) else jsonl(*rows))
        with LogSet() as logs:
            names = [name for name in files if logs.add(folder / name, self.findings.append)]
            for name in names:
                self.files[name] = [
                    [_value(record) for record in stream]
                    for stream in logs.streams(folder / name, self.findings.append)
                ]

    @property
    def sessions(self) -> dict[str, list[dict[str, Any]]]:
        """The streams by session reference; the last of several."""
        return {
            _reference(stream[0]): stream for streams in self.files.values() for stream in streams
        }

    def lineage(self, session: str) -> dict[str, Any]:
        return self.sessions[session][0].get("lineage", {})

    def of(self, session: str, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.sessions[session] if record["type"] == kind]


def _reference(header: dict[str, Any]) -> str:
    return str(SessionRef(header["agent"]["name"], header.get("namespace"), header["sessionId"]))


def convert(*rows: Any, content: bool = True) -> Converted:
    return Converted(jsonl(*rows), content=content)
