"""The suites about lineage: `usage` and `tree` on native logs, forest and totals of streams."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from bench.claude_data import transcript
from bench.measure import Row, interleave, once, ratios, spread
from sessionref.api import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from bench.measure import Settings, Timed

__all__ = ["lineage", "usage"]

#: What is measured against: the npm package, and its binary for this kind of machine.
_VERSION = "20.0.24"
_PACKAGES = (f"ccusage@{_VERSION}", f"@ccusage/ccusage-linux-x64@{_VERSION}")
_LOGS = 500_000_000
_MEMBERS = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
_THEIR_MEMBERS = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")


def usage(settings: Settings) -> Iterator[Row]:
    """Many megabytes of Claude Code logs, as whole processes, beside `ccusage`."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        logs = folder / "logs"
        size = _write_logs(logs / "projects/bench", _LOGS // settings.scale)
        what = f"{size / 1e6:.0f} MB of Claude Code logs"
        commands = {
            command: _process([sys.executable, "-m", "sessionref", *command.split(), str(logs)])
            for command in ("usage --json", "usage --json --jobs 1", "tree --json")
        }
        peer = _ccusage(folder)
        if peer is None:
            against = "`read_bytes` of each file"
            commands[against] = once(lambda: _read_all(logs))
        else:
            against = f"`ccusage session --offline --json` {_VERSION}"
            environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(logs)}
            asked = [str(peer), "session", "--offline", "--json"]
            _compare(_output(asked, environment), logs)
            commands[against] = _process(asked, environment)
        times = interleave(commands, max(3, settings.process_rounds // 4))
        for command in list(commands)[:-1]:
            yield Row(
                "usage",
                f"`sessionref {command}`: {what}",
                against,
                spread(ratios(times[command], times[against])),
                ours=median(times[command]),
                aim=0.5 if peer is not None and "--jobs" not in command else None,
                note="from start to end; the same tokens" if peer is not None else "",
            )


def _write_logs(folder: Path, size: int) -> int:
    """Write transcripts of about `size` bytes together; their size."""
    folder.mkdir(parents=True)
    written = number = 0
    while written < size:
        written += (folder / f"{number}.jsonl").write_bytes(transcript(number))
        number += 1
    return written


def _read_all(folder: Path) -> None:
    for path in folder.rglob("*.jsonl"):
        path.read_bytes()


def _ccusage(folder: Path) -> Path | None:
    """The command, installed for this run; None where that cannot be."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *_PACKAGES],
        capture_output=True,
        check=False,
    )
    command = folder / "node_modules/.bin/ccusage"
    return command if done.returncode == 0 and command.exists() else None


def _compare(theirs: bytes, logs: Path) -> None:
    """Raise where the two do not count the same tokens."""
    ours = _output([sys.executable, "-m", "sessionref", "usage", "--json", str(logs)])
    counted = json.loads(ours)["total"]["countedOnce"]
    totals = json.loads(theirs)["totals"]
    if [counted[name] for name in _MEMBERS] != [totals[name] for name in _THEIR_MEMBERS]:
        raise AssertionError(f"{counted} {totals}")


def _output(command: list[str], environment: Mapping[str, str] | None = None) -> bytes:
    return subprocess.run(command, env=environment, capture_output=True, check=True).stdout


def _process(command: list[str], environment: Mapping[str, str] | None = None) -> Timed:
    def sample() -> float:
        start = perf_counter()
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        return perf_counter() - start

    return sample


def lineage(settings: Settings) -> Iterator[Row]:
    """Forest and totals of streams: against the newlines in them, and as they become more."""
    per_record: dict[int, list[float]] = {}
    for sessions in (100, 1_000, 10_000):
        with _streams(max(10, sessions // settings.scale), 100) as (folder, data):
            records = sum(each.count(b"\n") for each in data)
            times = interleave(
                {
                    "ours": once(_lineage_of(folder), records),
                    "floor": once(lambda: [each.count(b"\n") for each in data], records, repeat=5),
                },
                max(3, settings.process_rounds // 6),
            )
            size = (
                f"{len(data):,} sessions, {records:,} records, {sum(map(len, data)) / 1e6:.0f} MB"
            )
            per_record[records] = times["ours"]
            yield Row(
                "lineage",
                f"forest and totals: {size}",
                '`data.count(b"\\n")` of each file',
                spread(ratios(times["ours"], times["floor"])),
                ours=median(times["ours"]),
                aim=9.0 if sessions == 10_000 else None,
            )
    fewest, *others = per_record
    for records in others:
        yield Row(
            "lineage",
            f"time for one record of {records:,}",
            f"one of {fewest:,}",
            spread(ratios(per_record[records], per_record[fewest])),
            ours=median(per_record[records]),
            note="not interleaved: samples of two moments",
        )


def _lineage_of(folder: Path) -> Callable[[], object]:
    def work() -> object:
        scope = scope_of([folder], references=False)
        return len(scope.forest().edges), scope.totals().total

    return work


@contextmanager
def _streams(sessions: int, records: int) -> Generator[tuple[Path, list[bytes]]]:
    """Streams in a folder, and their bytes: families of ten, spawned one by the other."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        template = _template(records)
        data: list[bytes] = []
        for number in range(sessions):
            parent = number - 1 if number % 10 else number
            each = template.replace(b"@parent", b"%08d" % parent).replace(b"@own", b"%08d" % number)
            (folder / f"{number:08}.jsonl").write_bytes(each)
            data.append(each)
        yield folder, data


def _template(records: int) -> bytes:
    """A stream of so many records; `@own` stands for its session, `@parent` for its parent."""
    lineage = {
        "spawnedBy": {"session": "codex:@parent", "evidence": "native_field"},
        "inherits": {"mode": "none", "evidence": "native_structure"},
    }
    header: dict[str, Any] = {
        "type": "session",
        "seq": 0,
        "id": "h",
        "agent": {"name": "codex"},
        "sessionId": "@own",
        "lineage": lineage,
    }
    lines = [header]
    for number in range(1, records):
        record: dict[str, Any] = {
            "type": ("message", "inference", "tool_call", "tool_result")[number % 4],
            "seq": number,
            "id": f"@own-{number}",
            "ts": "2026-05-04T10:00:00Z",
            "turnId": f"t{number // 10}",
        }
        if number % 4 == 1:
            record["inferenceId"] = f"i-@own-{number}"
            record["model"] = {"id": "gpt-5"}
            record["usage"] = {"inputTokens": number, "outputTokens": 7, "cacheReadTokens": 40}
        else:
            record["content"] = [{"type": "text", "text": "reads a line and keeps its place " * 12}]
        lines.append(record)
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
