"""The results as text for the terminal and as Markdown."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.measure import Row, Settings

__all__ = ["line", "machine", "markdown"]

_PEERS = (
    "can-ada",
    "yarl",
    "rfc3986",
    "hyperlink",
    "packageurl-python",
    "swh.model",
    "lark",
    "abnf",
    "msgspec",
)

TITLES = {
    "parse": "Parse one reference",
    "canonical": "Canonical form and digest",
    "bulk": "Many references",
    "values": "Values",
    "start": "Start of a process",
    "stdin": "Streaming from stdin",
    "index": "Index a stream in memory",
    "resolve": "Resolve in a warm index",
    "scope": "Read many streams as one scope",
    "check": "Check a clean corpus",
    "usage": "Totals and tree of native logs",
    "lineage": "Forest and totals of many streams",
}


def machine() -> str:
    """Processor and Python, and nothing that names this machine among others."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for entry in cpuinfo.read_text("utf-8").splitlines():
            name, _, value = entry.partition(":")
            if name.strip() == "model name":
                model = value.strip()
                break
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{model}, {os.cpu_count()} logical processors, {python}, {platform.system()}"


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _figure(row: Row) -> tuple[str, str]:
    """The median and the range from lowest to highest."""
    unit = f" {row.unit}" if row.unit else ""
    low, high = _number(row.figure.low), _number(row.figure.high)
    return f"{_number(row.figure.median)}{unit}", f"{low} to {high}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{_number(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _verdict(row: Row) -> str:
    return {True: "met", False: "**missed**", None: ""}[row.met]


def line(row: Row) -> str:
    """One result for the terminal."""
    figure, between = _figure(row)
    aim = "" if row.aim is None else f"  aim {row.aim:g}: {_verdict(row)}"
    return f"{row.suite:9}  {figure:>10}  ({between})  {row.work} / {row.against}{aim}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'|'.join('---' for _ in heads)}|",
        *(f"| {' | '.join(cells)} |" for cells in rows),
        "",
    ]


def markdown(rows: Sequence[Row], settings: Settings, *, quick: bool, load: float) -> str:
    """The whole of results.md."""
    when = datetime.now(tz=UTC).date().isoformat()
    peers = ", ".join(f"{name} {version(name)}" for name in _PEERS)
    text = [
        "# Results",
        "",
        (
            "Written by `python -m bench --write`. [How it is measured, and what the figures do"
            " not say](../docs/performance.md)."
        ),
        "",
        (
            "A figure is the median over the rounds of our time divided by theirs in the same"
            " round, so below 1 is faster; beside it stand the lowest and the highest round."
            " Absolute times are for orientation."
        ),
        "",
        f"- Machine: {machine()}",
        f"- Peers: {peers}",
        (
            f"- Run: {when}, {settings.rounds} rounds, {settings.process_rounds} of processes and"
            f" of long work; load average before the run {load:.2f}"
        ),
    ]
    if quick:
        text.append("- **Quick run: less data and few rounds. These figures decide nothing.**")
    text += ["", "## Aims", ""]
    text += _table(
        ("work", "against", "aim", "median", "lowest to highest", ""),
        (
            (row.named or row.work, row.against, f"{row.aim:g}", *_figure(row), _verdict(row))
            for row in rows
            if row.aim is not None
        ),
    )
    for suite in dict.fromkeys(row.suite for row in rows):
        text += [f"## {TITLES[suite]}", ""]
        own = [row for row in rows if row.suite == suite]
        if suite == "parse":
            text += _by_peer(own)
            continue
        text += _table(
            ("work", "against", "median", "lowest to highest", "ours", "remarks"),
            ((row.work, row.against, *_figure(row), _time(row.ours), row.note) for row in own),
        )
    return "\n".join(text).rstrip() + "\n"


def _by_peer(rows: Sequence[Row]) -> list[str]:
    """One line for each peer, with the shapes side by side."""
    works = list(dict.fromkeys(row.work for row in rows))
    peers = dict.fromkeys(row.against for row in rows)
    by_place = {(row.against, row.work): row for row in rows}
    ours = [_time(by_place[next(iter(peers)), work].ours) for work in works]
    heads = ("against", *works[:-1], "mean", "lowest to highest", "what they check")
    return _table(
        heads,
        [
            *(
                (
                    peer,
                    *(_figure(by_place[peer, work])[0] for work in works),
                    _figure(by_place[peer, works[-1]])[1],
                    by_place[peer, works[-1]].note,
                )
                for peer in peers
            ),
            ("*time of ours*", *ours, "", "grammar, UTF-8 of escapes; gives an immutable value"),
        ],
    )
