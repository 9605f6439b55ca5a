"""A stream as a converter would write it: records of 700 to 1,000 bytes.

The same seed gives the same bytes.
"""

# ruff: noqa: S311 - nothing here is secret

from __future__ import annotations

import json
import random
from typing import Any

__all__ = ["CHUNK", "chunks", "prose", "stream"]

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


def prose(dice: random.Random, size: int) -> str:
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

    def write(self, kind: str, record_id: str = "", **members: Any) -> str:
        """Append a record and return its ID. The members are those of the pages' examples."""
        number = len(self.lines)
        record_id = record_id or _uuid(self.dice)
        record: dict[str, Any] = {
            "type": kind,
            "seq": number,
            "id": record_id,
            "ts": f"2026-10-26T14:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03}Z",
        }
        if self.turn:
            record["turnId"] = self.turn
        record.update(members)
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        self.lines.append(line.encode() + b"\n")
        return record_id

    def native(self, low: int, high: int) -> dict[str, Any]:
        """What a converter keeps of the row that a record came from."""
        row = {
            "parentUuid": _uuid(self.dice),
            "isSidechain": False,
            "cwd": "/srv/acme-app",
            "gitBranch": "main",
            "note": prose(self.dice, self.dice.randint(low, high)),
        }
        return {"row": row}

    def exchange(self) -> None:
        """One turn: what the user asks, and what the agent does about it."""
        dice = self.dice
        self.turn = _uuid(dice)
        self.message("user")
        for _ in range(dice.randint(1, 3)):
            call = f"toolu_{dice.getrandbits(100):025x}"
            inference = f"msg_{dice.getrandbits(100):025x}"
            self.message("assistant", inferenceId=inference)
            begun = self.inference(inference, dice.randint(1, 20))
            self.write(
                "tool_call",
                callId=call,
                inferenceId=inference,
                name="Bash",
                input={
                    "command": prose(dice, dice.randint(100, 200)),
                    "description": prose(dice, dice.randint(50, 90)),
                    "timeout": 120_000,
                },
                native=self.native(170, 250),
            )
            self.inference(inference, dice.randint(20, 900), supersedes=begun)
            self.write(
                "tool_result",
                callId=call,
                content=[{"type": "text", "text": prose(dice, dice.randint(200, 330))}],
                isError=False,
                native=self.native(140, 210),
            )
        self.message("assistant")

    def message(self, role: str, **members: Any) -> None:
        """A message."""
        dice = self.dice
        self.write(
            "message",
            messageId=_uuid(dice),
            **members,
            role=role,
            content=[{"type": "text", "text": prose(dice, dice.randint(180, 300))}],
            native=self.native(140, 210),
        )

    def inference(self, inference_id: str, output: int, **members: Any) -> str:
        """A model call, or a later revision of one, which its counts grew in."""
        dice = self.dice
        return self.write(
            "inference",
            **members,
            inferenceId=inference_id,
            model={"id": "large-2026-09"},
            usage={
                "inputTokens": dice.randint(1, 90),
                "cacheReadTokens": dice.randint(10_000, 90_000),
                "cacheWriteTokens": dice.randint(100, 5_000),
                "outputTokens": output,
            },
            native={**self.native(200, 320), "requestId": f"req_{dice.getrandbits(100):025x}"},
        )


def stream(
    count: int, seed: int = 5, session: str = "5d2f7a90-3c1e-4b86-9f04-a1c2e3d4f567"
) -> bytes:
    """The bytes of a stream of `count` records or a few more, of the session of that ID."""
    writer = _Writer(seed)
    writer.write(
        "session",
        "h",
        formatVersion="0.1",
        agent={"name": "claude-code", "version": "2.1.305"},
        sessionId=session,
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
