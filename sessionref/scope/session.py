"""All that a scope has of one session: one account of it, or several that contradict each other."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from sessionref.scope.collect import References
from sessionref.streams.joined import JoinedIndex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.findings import Finding
    from sessionref.reference import SessionKey
    from sessionref.scope.capture import Capture
    from sessionref.scope.joining import Layout
    from sessionref.streams.index import StreamIndex
    from sessionref.streams.outcomes import Hit

__all__ = ["Account", "Session"]


class Account:
    """One consistent account of a session, from one capture or from several that join.

    `index` has the records of all of them, each once. `captures` are those that give records to it,
    in order; `repeats` are the others, whose records these have too. `parts` are `captures`, each
    with the rows in `index` of its records, -1 for a record that another capture gives.
    """

    def __init__(self, layout: Layout) -> None:
        first = layout.captures[0]
        self.index: StreamIndex = first.index
        self.parts: tuple[tuple[Capture, Sequence[int]], ...] = ((first, range(len(first.index))),)
        if any(max(rows) >= len(first.index) for rows in layout.rows[1:]):
            indexes = [capture.index for capture in layout.captures]
            self.index = joined = JoinedIndex([*zip(indexes, layout.rows, strict=True)])
            given = [joined.given_by(number) for number in range(len(indexes))]
            self.parts = tuple(
                (capture, rows)
                for capture, rows in zip(layout.captures, given, strict=True)
                if max(rows) >= 0
            )
        self.captures = tuple(capture for capture, _ in self.parts)
        self.repeats = tuple(c for c in layout.captures if c not in self.captures)
        self._layout = layout

    @property
    def session(self) -> str | None:
        """The canonical form of the session's key."""
        return self.index.session

    @property
    def header(self) -> Hit | None:
        """The first header, None where there is none."""
        return self.index.hit(0) if self.index.header.content else None

    def __len__(self) -> int:
        return len(self.index)

    def origin(self, row: int) -> tuple[Capture, int]:
        """The capture that gives the record in `row`, and its row there."""
        if isinstance(self.index, JoinedIndex):
            number, row = self.index.origin(row)
            return self._layout.captures[number], row
        return self.captures[0], row

    def capture_at(self, file: str | None, line: int) -> Capture:
        """The one of `captures` that a line of a file belongs to."""
        captures = self._captures_in[file]
        return captures[max(0, bisect_right(captures, line, key=_first_line) - 1)]

    @cached_property
    def _captures_in(self) -> dict[str | None, list[Capture]]:
        found: dict[str | None, list[Capture]] = {}
        for capture in sorted(self.captures, key=_first_line):
            found.setdefault(capture.file, []).append(capture)
        return found

    @cached_property
    def references(self) -> References:
        """What the records refer to. Raises TypeError in a scope that was read without that."""
        parts = [(capture.references, rows) for capture, rows in self.parts]
        return parts[0][0] if len(parts) == 1 else References.joined(parts)

    def findings_of(self, capture: Capture) -> Iterator[Finding]:
        """What is wrong with a capture of the account, as far as reading and joining it goes.

        Links between revisions lead from one capture into another, so what is wrong with them shows
        only in the index of all captures. Of a repeat only what is wrong with its input counts.
        """
        if capture not in self.captures:
            yield from (f for f in capture.index.findings if f.code in _OF_INPUT)
        elif len(self.captures) == 1:
            yield from capture.index.findings
        else:
            yield from (f for f in capture.index.findings if not f.code.startswith("supersedes-"))
            yield from self._link_findings.get(capture, ())

    @cached_property
    def _link_findings(self) -> dict[Capture, list[Finding]]:
        found: dict[Capture, list[Finding]] = {}
        for row, finding in self.index.link_findings:
            found.setdefault(self.origin(row)[0], []).append(finding)
        return found

    @property
    def findings(self) -> Iterator[Finding]:
        """What is wrong with the captures of the account."""
        for capture in (*self.captures, *self.repeats):
            yield from self.findings_of(capture)


def _first_line(capture: Capture) -> int:
    return capture.lines[0]


#: Findings about an input as such, which hold of every capture in it, whether it gives records.
_OF_INPUT = frozenset({"truncated-compression", "corrupt-compression"})


class Session:
    """One session of the scope: its key, and one account of it, or several (a conflict).

    `key` is None for a stream whose header gives none; each such stream is a session of its own.
    """

    def __init__(self, key: SessionKey | None, accounts: Sequence[Account]) -> None:
        self.key = key
        self.accounts = tuple(accounts)

    @property
    def conflict(self) -> bool:
        """Whether captures of this key contradict each other (ASR-050); none is preferred then."""
        return len(self.accounts) > 1

    @property
    def canonical(self) -> str | None:
        """The canonical form of the key, None where there is no key."""
        return None if self.key is None else self.key.canonical()

    @property
    def captures(self) -> tuple[Capture, ...]:
        """All captures of the session, read or not."""
        return tuple(
            capture
            for account in self.accounts
            for capture in (*account.captures, *account.repeats)
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the inputs that hold something of the session, in the order of names."""
        names = {capture.file for capture in self.captures}
        return tuple(sorted(name for name in names if name is not None))

    def __len__(self) -> int:
        return sum(map(len, self.accounts))

    def __repr__(self) -> str:
        return f"<Session {self.canonical}, {len(self.accounts)} account(s)>"
