"""A stream as a converter would write it: records of 700 to 1,000 bytes.

The same seed gives the same bytes.
"""

# ruff: noqa: S311 - nothing here is secret

from __future__ import annotations

import json
import random
from typing import Any

__all__ = ["CHUNK", "chunks", "stream"]

#: How much `StreamIndex.read` takes from a file at a time.
CHUNK = 256 * 1024

_WORDS = r"""
the parser reads one line and keeps its place while index grows with every record that names a turn
or tool call so tests compare what was resolved against what was written before a commit lands on
main where reviewers ask why this branch returns early and whether an empty input still raises
größer naïve "quoted" path\to\file C:\src {brace} [bracket] 0x1f → done
""".split()  # noqa: SIM905 - a list of words reads worse

_CODE = (
    'def load(path):\n    """Read it."""\n    with open(path, encoding="utf-8") as file:\n'
    "        return [line.rstrip() for line in file]\n"
)


def _prose(dice: random.Random, size: int) -> str:
    """Words of about `size` characters, with a piece of code among them now and then."""
    words: list[str] = []
    length = 0
    while length < size:
        word = _CODE if size - length > len(_CODE) and dice.random() < 0.02 else dice.choice(_WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)


def _uuid(dice: random.Random) -> str:
    digits = f"{dice.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


class _Writer:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.lines: list[bytes] = []
        self.turn = ""

    def write(self, kind: str, **members: Any) -> str:
        """Append a record, filled up with text where it has any, and return its ID."""
        number = len(self.lines)
        record_id = members.pop("id", None) or _uuid(self.dice)
        record: dict[str, Any] = {
            "type": kind,
            "seq": number,
            "id": record_id,
            "time": f"2026-10-26T14:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03}Z",
        }
        if self.turn:
            record["turnId"] = self.turn
        record.update(members)
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        self.lines.append(line.encode() + b"\n")
        return record_id

    def exchange(self) -> None:
        """One turn: what the user asks, and what the agent does about it."""
        dice = self.dice
        self.turn = _uuid(dice)
        model = {"provider": "example", "id": "large-2026-09"}
        self.message("user", "user")
        for _ in range(dice.randint(1, 3)):
            call = f"toolu_{dice.getrandbits(100):025x}"
            inference = f"msg_{dice.getrandbits(100):025x}"
            self.message("agent", "assistant", inferenceId=inference)
            self.write(
                "inference",
                inferenceId=inference,
                requestId=f"req_{dice.getrandbits(100):025x}",
                model=model,
                status="completed",
                stopReason="tool_use",
                usage={
                    "inputTokens": dice.randint(1, 90),
                    "cacheReadTokens": dice.randint(10_000, 90_000),
                    "cacheWriteTokens": dice.randint(100, 5_000),
                    "outputTokens": dice.randint(20, 900),
                    "reasoningTokens": 0,
                },
                cost=[{"amount": f"0.0{dice.randint(100, 999)}", "currency": "USD"}],
                native={"note": _prose(dice, dice.randint(190, 420))},
            )
            begun = self.write(
                "tool_call",
                callId=call,
                inferenceId=inference,
                name="run_command",
                status="running",
                input={
                    "command": _prose(dice, dice.randint(170, 330)),
                    "description": _prose(dice, dice.randint(140, 220)),
                    "timeout": 120_000,
                },
            )
            self.write(
                "tool_call",
                callId=call,
                supersedes=begun,
                inferenceId=inference,
                name="run_command",
                status="completed",
                input={"description": _prose(dice, dice.randint(80, 120))},
                output=[{"type": "text", "text": _prose(dice, dice.randint(190, 400))}],
            )
        self.message("agent", "assistant")

    def message(self, actor: str, role: str, **members: Any) -> None:
        dice = self.dice
        self.write(
            "message",
            messageId=_uuid(dice),
            role=role,
            authorActor={"kind": actor},
            **members,
            content=[{"type": "text", "text": _prose(dice, dice.randint(380, 600))}],
        )


def stream(count: int, seed: int = 5) -> bytes:
    """The bytes of a stream of `count` records or a few more."""
    writer = _Writer(seed)
    writer.write(
        "session",
        id="h",
        formatVersion="0.1",
        agent={"name": "claude-code", "version": "2.1.305"},
        sessionId="5d2f7a90-3c1e-4b86-9f04-a1c2e3d4f567",
        producer={"name": "bench", "version": "1", "method": "converter", "lossy": []},
        startedAt="2026-10-26T14:00:00.000Z",
        scope="primary",
    )
    while len(writer.lines) < count:
        writer.exchange()
    return b"".join(writer.lines)


def chunks(data: bytes) -> list[bytes]:
    """`data` as it comes from a file."""
    return [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
