"""Findings as text for people, as JSON, as SARIF 2.1.0, and as annotations of GitHub.

Each writer takes the findings one by one, those of a file together, and keeps none of them.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.parse import quote

import msgspec

from sessionref import __version__
from sessionref.checks.places import locate
from sessionref.cli._text import plural, printable, shown
from sessionref.errors import StreamError
from sessionref.findings import SEVERITIES
from sessionref.native.logs import Log
from sessionref.streams.lines import Oversize, cut_lines
from sessionref.streams.source import plain_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sessionref.checks.book import Rule
    from sessionref.findings import Finding

__all__ = ["FORMATS", "MOST_TIMES", "Excerpts", "FindingWriter", "Statistics", "marked", "writer"]

FORMATS = ("text", "json", "sarif", "github")

#: How many characters of the line are shown on either side of the place, and of the place itself.
_BESIDE = 36
_MARKED = 60

_encode = msgspec.json.Encoder().encode


class FindingWriter(Protocol):
    """Writes findings to stdout as they come."""

    def write(self, finding: Finding) -> None:
        """Write one finding."""

    def end(self) -> None:
        """Write what stands after the last."""


def writer(name: str, rules: Iterable[Rule], paths: Mapping[str, str]) -> FindingWriter:
    """The writer of the format `name`, which is one of `FORMATS`.

    `paths` says where the inputs can be read that have another name.
    """
    if name == "json":
        return _JsonLines()
    if name == "sarif":
        return _Sarif(rules)
    if name == "github":
        return _Annotations()
    return _Text(paths)


def _out(text: str) -> None:
    sys.stdout.write(text)


class _Text:
    """Findings under the name of their file, each with the line that it is about."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._file: str | None = None
        self._begun = False
        self._excerpts = Excerpts(paths)
        self._counts: Counter[str] = Counter()

    def write(self, finding: Finding) -> None:
        if not self._begun or finding.file != self._file:
            _out("\n" if self._begun else "")
            self._begun = True
            self._file = finding.file
            _out(shown(finding.file or "(no file)") + "\n")
        self._counts[finding.severity] += 1
        line = "" if finding.line is None else str(finding.line)
        rule = "" if finding.rule is None else f"{finding.rule} "
        _out(f"  {line:>6}  {finding.severity:<7} {rule}{finding.code}: {shown(finding.message)}\n")
        for excerpt in self._excerpt(finding):
            _out(f"  {'':6}  {'':7} {excerpt}\n")

    def _excerpt(self, finding: Finding) -> Iterator[str]:
        if finding.line is not None and finding.file is not None and finding.path is not None:
            content = self._excerpts.line(finding.file, finding.line)
            if content is not None:
                yield from marked(content, finding.path)

    def end(self) -> None:
        self._excerpts.close()
        if not self._begun:
            return
        counts = [plural(count, name) for name in SEVERITIES if (count := self._counts[name])]
        _out(f"\n{', '.join(counts)}\n")


def marked(content: bytes, path: str) -> Iterator[str]:
    """The part of a line around a place, and carets under the place; nothing where it is none.

    Nothing either for a row of a native log: the path leads through the record that was made of it.
    """
    place = locate(content, path)
    if place is None or locate(content, "$.seq") is None:
        return
    start, end = place
    width = 4 * _BESIDE  # enough bytes for that many characters
    before = content[max(0, start - width) : start].decode(errors="backslashreplace")
    inside = content[start : min(end, start + 4 * _MARKED)].decode(errors="backslashreplace")
    after = content[end : end + width].decode(errors="backslashreplace")
    lead = "" if start <= width and len(before) <= _BESIDE else "…"
    before = lead + shown(before[-_BESIDE:])
    whole = end - start <= 4 * _MARKED and len(inside) <= _MARKED
    inside = shown(inside) if whole else shown(inside[:_MARKED]) + "…"
    more = shown(after[:_BESIDE]) + ("…" if len(after) > _BESIDE else "") if whole else ""
    yield before + inside + more
    yield " " * len(before) + "^" * len(inside)


#: How often a file is read again from its start because its findings did not come by line.
MOST_TIMES = 50


class Excerpts:
    """The lines of files, read once more for findings that come file by file and by line."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        """`paths` says where the files can be read that have another name."""
        self._paths = paths
        self._file: str | None = None
        self._times: Counter[str] = Counter()
        self._opened = ExitStack()
        self._lines: Iterator[tuple[int, bytes]] = iter(())
        self._last: tuple[int, bytes] = (0, b"")

    def line(self, file: str, number: int) -> bytes | None:
        """A line without its ending; None where it is not to be had."""
        if file != self._file or number < self._last[0]:
            self._open(file)
        while self._last[0] < number:
            following = next(self._lines, None)
            if following is None:
                return None
            self._last = following
        return self._last[1].rstrip(b"\r\n") if self._last[0] == number else None

    def _open(self, file: str) -> None:
        self.close()
        self._file = file
        self._last = (0, b"")
        self._lines = iter(())
        self._times[file] += 1
        if self._times[file] <= MOST_TIMES:
            try:
                log = self._opened.enter_context(Log(self._paths.get(file, file)))
            except StreamError:
                return
            self._lines = _numbered(log)

    def close(self) -> None:
        """Close the file that is open."""
        self._opened.close()
        self._opened = ExitStack()


def _numbered(log: Log) -> Iterator[tuple[int, bytes]]:
    for piece in cut_lines(plain_chunks(log.chunks(), [])):
        if not isinstance(piece, Oversize):
            yield from enumerate(piece.lines, piece.number)


def as_object(finding: Finding) -> dict[str, Any]:
    """A finding as the JSON of `check` has it."""
    return {
        "rule": finding.rule,
        "code": finding.code,
        "severity": finding.severity,
        "session": finding.session,
        "seq": finding.seq,
        "id": finding.id,
        "path": finding.path,
        "file": None if finding.file is None else printable(finding.file),
        "line": finding.line,
        "message": finding.message,
    }


class _JsonLines:
    """One object for each finding, on a line of its own."""

    def write(self, finding: Finding) -> None:
        _out(_json(as_object(finding)) + "\n")

    def end(self) -> None:
        """Nothing follows."""


def _json(value: Any) -> str:
    return _encode(value).decode()


class _Sarif:
    """A SARIF 2.1.0 log of one run, written as it grows."""

    _LEVELS: ClassVar = {"error": "error", "warning": "warning", "notice": "note"}

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._separator = ""
        driver = {
            "name": "sessionref",
            "version": __version__,
            "rules": [
                {
                    "id": rule.number,
                    "shortDescription": {"text": rule.summary},
                    "fullDescription": {"text": rule.text},
                    "properties": {"kind": rule.kind},
                }
                for rule in rules
            ],
        }
        _out(
            '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0",'
            f'"runs":[{{"tool":{{"driver":{_json(driver)}}},"columnKind":"unicodeCodePoints",'
            '"results":['
        )

    def write(self, finding: Finding) -> None:
        result: dict[str, Any] = {
            "ruleId": finding.rule or finding.code,
            "level": self._LEVELS[finding.severity],
            "message": {"text": finding.message},
            "properties": {
                "code": finding.code,
                "session": finding.session,
                "seq": finding.seq,
                "id": finding.id,
                "path": finding.path,
            },
        }
        location: dict[str, Any] = {}
        if finding.file is not None:
            physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
            if finding.line is not None:
                physical["region"] = {"startLine": finding.line}
            location["physicalLocation"] = physical
        if finding.session is not None:
            location["logicalLocations"] = [{"fullyQualifiedName": finding.session}]
        if location:
            result["locations"] = [location]
        _out(f"{self._separator}\n{_json(result)}")
        self._separator = ","

    def end(self) -> None:
        _out("\n]}]}\n")


def _uri(file: str) -> str:
    """A relative path as it is, an absolute one as a file URI; both percent-encoded."""
    path = quote(file.encode(errors="surrogateescape"), safe="/")
    if Path(file).is_absolute():
        return f"file://{path}"
    # A colon in the first segment would make a scheme of it; quote has encoded it.
    return path


class _Annotations:
    """Workflow commands by which GitHub annotates the lines of a pull request."""

    def write(self, finding: Finding) -> None:
        places = {
            "file": finding.file,
            "line": finding.line,
            "title": f"{finding.rule} {finding.code}" if finding.rule else finding.code,
        }
        named = ",".join(
            f"{name}={_property(str(value))}" for name, value in places.items() if value is not None
        )
        _out(f"::{finding.severity} {named}::{_data(finding.message)}\n")

    def end(self) -> None:
        """Nothing follows."""


def _data(text: str) -> str:
    return shown(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


class Statistics:
    """How many findings there are of each rule and code, in place of the findings."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def write(self, finding: Finding) -> None:
        """Count one finding."""
        self._counts[finding.rule or "", finding.code, finding.severity] += 1

    def end(self) -> None:
        """Write the counts, the highest first."""
        for (rule, code, severity), count in sorted(
            self._counts.items(), key=lambda item: (-item[1], item[0])
        ):
            if self._as_json:
                row = {"rule": rule or None, "code": code, "severity": severity, "count": count}
                _out(_json(row) + "\n")
            else:
                _out(f"{count:>8}  {rule or '-':<8}  {severity:<7}  {code}\n")
