"""What native logs say was used, added without the package: `json`, dictionaries and sums.

Claude Code: a model call is a message ID with its request ID; of its rows the latest with counts holds. It counts
once, in however many files it stands. Codex: a model call is a `token_count` whose running total differs from the
one before it in the file, with the counts of its last call, or those of the `token_usage_record` that follows it. The rows that a fork begins with and that its parent
has too, in the same order, are copies.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Input, cache read, cache write, output.
Sums = tuple[int, int, int, int]


def rows_of(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; what is no object of JSON is left out."""
    with file.open("rb") as lines:
        for line in lines:
            at = 0
            text = line.decode("utf-8", errors="surrogateescape").strip("\0 \t\r\n")
            while at < len(text):  # two rows can stand on one line
                try:
                    row, at = json.JSONDecoder().raw_decode(text, at)
                except ValueError:
                    break
                if isinstance(row, dict):
                    yield row


def claude_code(folder: Path) -> Sums:
    """What all transcripts of a folder used together."""
    calls: dict[Any, dict[str, Any]] = {}
    requests: dict[tuple[str, str], str] = {}
    for file in sorted(folder.rglob("*.jsonl")):
        for number, row in enumerate(rows_of(file)):
            message = row.get("message")
            usage = message.get("usage") if isinstance(message, dict) else None
            if row.get("type") != "assistant" or not isinstance(usage, dict):
                continue
            if not any(usage.get(name) for name in CLAUDE_MEMBERS):
                continue
            name, request = message.get("id"), row.get("requestId")
            if name is None and request is None:
                calls[(file, number)] = usage
                continue
            session = row.get("agentId") or row.get("sessionId")
            if request is None:  # it joins the call of the same message in its session
                request = requests.get((session, name))
            else:
                requests.setdefault((session, name), request)
            calls[(name, request) if request else (session, name)] = usage
    return tuple(sum(usage.get(name) or 0 for usage in calls.values()) for name in CLAUDE_MEMBERS)  # type: ignore[return-value]


CLAUDE_MEMBERS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def codex(folder: Path) -> Sums:
    """What all rollouts of a folder used together."""
    threads: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(folder.rglob("*.jsonl")):
        rows = list(rows_of(file))
        metas = [row["payload"] for row in rows if row.get("type") == "session_meta"]
        if metas and rows != threads.get(metas[0]["id"]):
            threads.setdefault(metas[0]["id"], []).extend(rows)  # pages of one thread
    calls: list[dict[str, Any]] = []
    for rows in threads.values():
        meta = next(row["payload"] for row in rows if row.get("type") == "session_meta")
        parent = threads.get(meta.get("forked_from_id") or "")
        copied = 0 if parent is None else common(items(parent), items(rows))
        total: Any = None
        for at, item in enumerate(items(rows)):
            payload = item.get("payload") or {}
            if item.get("type") == "token_usage_record" and at >= copied:
                calls[-1] = payload["usage"]
            info = payload.get("info") if payload.get("type") == "token_count" else None
            last = info.get("last_token_usage") if isinstance(info, dict) else None
            if not isinstance(info, dict) or not isinstance(last, dict):
                continue
            before, total = total, info.get("total_token_usage")
            if at >= copied and (total is None or total != before):
                calls.append(last)
    read, cached, written = (
        sum(call.get(name) or 0 for call in calls)
        for name in ("input_tokens", "cached_input_tokens", "output_tokens")
    )
    return read - cached, cached, 0, written


def items(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without their time, and without those that say what a thread or turn runs with."""
    return [
        {name: value for name, value in row.items() if name not in ("timestamp", "ordinal")}
        for row in rows
        if row.get("type") not in ("session_meta", "turn_context")
    ]


def common(parent: list[dict[str, Any]], child: list[dict[str, Any]]) -> int:
    """How many rows both begin with."""
    same = 0
    for ours, theirs in zip(child, parent, strict=False):
        if ours != theirs:
            break
        same += 1
    return same
