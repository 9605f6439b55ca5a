"""A Claude Code transcript as a long session leaves it, and copies of it with fresh IDs.

Most rows tell of hooks; then come answers, in several rows each, and results of calls, which hold
what a tool gave twice. The same seed gives the same bytes.
"""

# ruff: noqa: S311 - nothing here is secret

from __future__ import annotations

import json
import random
from typing import Any

from bench.streams_data import prose

__all__ = ["transcript"]

#: Rows of one transcript, and of these: rows of hooks for one call.
_CALLS = 210
_HOOKS = 8


def _uuid(dice: random.Random) -> str:
    digits = f"{dice.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


class _Transcript:
    def __init__(self, seed: int) -> None:
        # The words are the same for every seed: they cost more to make than to read.
        self.words = random.Random(0)
        self.dice = random.Random(seed)
        self.lines: list[bytes] = []
        self.session = _uuid(self.dice)
        self.parent: str | None = None

    def row(self, kind: str, **members: Any) -> None:
        uuid = _uuid(self.dice)
        second = len(self.lines)
        row = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/user/projects/parser-worktrees/parser-17",
            "sessionId": self.session,
            "version": "2.1.39",
            "gitBranch": "parser-17",
            "slug": "quietly-humming-sparrow",
            "type": kind,
            **members,
            "uuid": uuid,
            "timestamp": f"2026-02-{1 + second // 86_400:02}T{second // 3600 % 24:02}:"
            f"{second // 60 % 60:02}:{second % 60:02}.624Z",
        }
        self.parent = uuid
        self.lines.append(json.dumps(row, separators=(",", ":")).encode())

    def hook(self, call: str) -> None:
        data = {
            "type": "hook_progress",
            "hookEvent": "PreToolUse",
            "hookName": "PreToolUse:Bash",
            "command": "/home/user/.claude/hooks/waiting.sh clear",
        }
        self.row("progress", data=data, parentToolUseID=call, toolUseID=call)

    def answer(self, number: int, content: list[dict[str, Any]], output: int) -> None:
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": 900 + number,
            "cache_read_input_tokens": 20_000 + 400 * number,
            "cache_creation": {
                "ephemeral_5m_input_tokens": 0,
                "ephemeral_1h_input_tokens": 900 + number,
            },
            "output_tokens": output,
            "service_tier": "standard",
        }
        message = {
            "model": "claude-sonnet-4-5",
            "id": f"msg_{self.call}",
            "type": "message",
            "role": "assistant",
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        self.row("assistant", message=message, requestId=f"req_{self.call}")

    def write(self) -> bytes:
        """All lines of the transcript."""
        snapshot: dict[str, Any] = {
            "type": "file-history-snapshot",
            "messageId": _uuid(self.dice),
            "snapshot": {},
        }
        self.lines.append(json.dumps(snapshot).encode())
        message = {"role": "user", "content": prose(self.words, 800)}
        self.row("user", message=message)
        for number in range(_CALLS):
            self.call = f"{self.dice.getrandbits(96):024x}"
            tool = f"toolu_{self.dice.getrandbits(96):024x}"
            text = {"type": "text", "text": prose(self.words, 600)}
            called = {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": "make"}}
            self.answer(number, [text], 12)
            self.answer(number, [called], 150 + number)
            for _ in range(_HOOKS):
                self.hook(tool)
            given = prose(self.words, 1_900)
            result = {"type": "tool_result", "tool_use_id": tool, "content": given}
            self.row(
                "user",
                message={"role": "user", "content": [result]},
                toolUseResult={"stdout": given, "stderr": "", "interrupted": False},
            )
        return b"\n".join(self.lines) + b"\n"


def transcript(seed: int) -> bytes:
    """A transcript of some two megabytes, of a session of its own."""
    return _Transcript(seed).write()
