"""`sessionref resolve`: what a ref or session reference points at."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from sessionref._codes import codes
from sessionref._compiled import TURN_KEY
from sessionref.cli._common import (
    Outcome,
    json_option,
    paths_argument,
    registry_option,
    to_json,
)
from sessionref.cli._kept import kept, renamed
from sessionref.cli._lines import complain, undecodable
from sessionref.cli._places import paths_or_places
from sessionref.cli._references import error_object
from sessionref.cli._scope import read_scope, report_unread
from sessionref.cli._text import printable, shown
from sessionref.diagnosis import diagnose
from sessionref.errors import InvalidReference, StreamError
from sessionref.native.convert import unreadable
from sessionref.reference import SessionRef, try_parse
from sessionref.refs import EntityRef, RecordRef, Ref
from sessionref.streams.outcomes import Unresolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sessionref.api import Scope
    from sessionref.refs import TurnRef
    from sessionref.registry import Registry
    from sessionref.scope.capture import Capture
    from sessionref.scope.session import Account, Session
    from sessionref.streams.outcomes import Hit, Reason

    AnyRef = RecordRef | EntityRef | TurnRef

__all__ = ["command"]


@click.command(short_help="Show the records that a reference points to.")
@paths_argument
@click.argument("ref")
@click.option("--raw", is_flag=True, help="Read REF as a raw ref in any case.")
@click.option("--show", is_flag=True, help="Print the records themselves.")
@json_option
@registry_option
def command(
    paths: tuple[str, ...],
    ref: str,
    *,
    raw: bool,
    show: bool,
    as_json: bool,
    registry: Registry | None,
) -> None:
    """Show the records that REF refers to in PATH: streams, native logs, or folders of them.

    If REF parses as a session reference, it is one. Otherwise it is a raw ref: a record ID or
    KEY=VALUE. A raw ref that is found in several sessions is ambiguous. For an ambiguous REF all
    candidates are listed. A text with a colon that is neither is refused with what is wrong with it
    as a session reference. The exit code is 0 if REF resolves and 1 if it does not. Other faults in
    the logs are not reported, except input that could not be read.
    """
    try:
        target = _target(ref, raw=raw)
    except InvalidReference as error:
        _refuse(ref, error, as_json=as_json)
        raise click.exceptions.Exit(1) from None
    outcome = Outcome()
    with kept(paths_or_places(paths)) as names:
        # No other session is needed to tell: what must be there, must be there in the session.
        session = target if isinstance(target, SessionRef) else None
        scope = read_scope(tuple(names), registry, references=True, session=session)
        answer = _answer(scope, target)
        contents = _contents(scope, answer, outcome, names) if show else None
    report_unread(scope, outcome, names)
    if answer.state == "unresolved" and not raw and isinstance(target, RecordRef) and ":" in ref:
        # Nothing has this ID, and with its colon the text was meant as a session reference.
        _refuse(ref, next(diagnose(ref)), as_json=as_json)
        outcome.invalid()
        outcome.end()
    if answer.state != "resolved":
        outcome.invalid()
    records = _records(answer, names, contents)
    print(to_json(_object(ref, answer, records)) if as_json else _text(ref, answer, records))
    outcome.end()


def _refuse(ref: str, error: InvalidReference, *, as_json: bool) -> None:
    """Say why `ref` is not a reference."""
    if as_json:
        print(to_json(error_object(ref, error)))
    else:
        complain(str(error))


def _target(text: str, *, raw: bool) -> SessionRef | AnyRef:
    error = undecodable(text)
    if error is not None:
        raise error
    reference = None if raw else try_parse(text)
    if reference is not None:
        return reference
    key, equals, _ = text.partition("=")
    if equals and ":" in key and not raw:
        raise next(diagnose(text))  # no key has a colon, so a session reference was meant
    return Ref.from_raw(text)


class _Candidate(NamedTuple):
    """Where a record is that a ref means or could mean."""

    account: Account
    row: int


class _Answer(NamedTuple):
    """What a ref means in a scope.

    `session` is None where no session is meant, or several are. `conflict` is whether files of the
    session that is meant contradict each other.
    """

    state: str
    exact: bool
    session: str | None
    conflict: bool
    candidates: Sequence[_Candidate]
    reason: Reason | None


def _answer(scope: Scope, target: SessionRef | AnyRef) -> _Answer:
    outcome = scope.resolve(target)
    name: str | None = None
    if isinstance(target, SessionRef):
        named = scope.session(target)
        asked = [] if named is None else [named]
        name = target.key_under(scope.registry).canonical()
    else:
        asked = list(scope)
    found = [(session, [*_candidates(session, target)]) for session in asked]
    meant = [session for session, candidates in found if candidates]
    candidates = [candidate for _, several in found for candidate in several]
    if len(meant or asked) == 1:
        name = (meant or asked)[0].canonical
    return _Answer(
        outcome.state,
        outcome.exact and all(_are_exact(scope, target, meant, candidates)),
        name,
        any(session.conflict for session in meant),
        candidates,
        outcome.reason if isinstance(outcome, Unresolved) else None,
    )


def _candidates(session: Session, target: SessionRef | AnyRef) -> Iterator[_Candidate]:
    """The records of a session that a ref means or could mean, those of each account by `seq`."""
    ref = target.ref if isinstance(target, SessionRef) else target
    for account in session.accounts:
        index = account.index
        if ref is None:  # the session, for which its header stands
            rows: Sequence[int] = (0,)
        elif isinstance(ref, RecordRef):
            rows = index.rows_of(None, ref.record_id)
        elif isinstance(ref, EntityRef):
            rows = index.rows_of(ref.key, ref.value)
        else:
            rows = index.rows_of(TURN_KEY, ref.turn_id)
        for row in sorted(rows, key=index.order.__getitem__):
            yield _Candidate(account, row)


def _are_exact(
    scope: Scope,
    target: SessionRef | AnyRef,
    meant: Iterable[Session],
    candidates: Iterable[_Candidate],
) -> Iterator[bool]:
    """Of what a ref means, whether all required references there resolve (ASR-080)."""
    if isinstance(target, SessionRef) and target.ref is None:
        return map(scope.is_exact, meant)
    return (scope.is_exact(account, row) for account, row in candidates)


def _contents(
    scope: Scope, answer: _Answer, outcome: Outcome, names: dict[str, str]
) -> dict[_Candidate, bytes]:
    """The records themselves; one whose input cannot be read any more is missing."""
    wanted: dict[Capture, dict[int, _Candidate]] = {}
    for candidate in answer.candidates:
        capture, row = candidate.account.origin(candidate.row)
        wanted.setdefault(capture, {})[row] = candidate
    contents: dict[_Candidate, bytes] = {}
    for capture, candidates in wanted.items():
        try:
            found = scope.records(capture, candidates)
        except StreamError as error:
            outcome.report(renamed(unreadable(error), names))
            continue
        contents |= {candidates[row]: content for row, content in found.items()}
    return contents


class _Record(NamedTuple):
    """A record as it is told; `content` is None where it is not shown."""

    hit: Hit
    file: str | None
    line: int | None
    content: bytes | None


def _records(
    answer: _Answer, names: dict[str, str], contents: dict[_Candidate, bytes] | None
) -> list[_Record]:
    told: list[_Record] = []
    for candidate in answer.candidates:
        hit = candidate.account.index.hit(candidate.row)
        capture, row = candidate.account.origin(candidate.row)
        # The header of a native log comes from no line of it.
        made = row == 0 and capture.index.is_converted
        file = hit.file and names.get(hit.file, hit.file)
        content = None if contents is None else contents.get(candidate, b"")
        told.append(_Record(hit, file, None if made else hit.line, content))
    return told


def _object(ref: str, answer: _Answer, records: Sequence[_Record]) -> dict[str, Any]:
    """The answer as JSON says it."""
    said: dict[str, Any] = {
        "ref": ref,
        "state": answer.state,
        "exact": answer.exact,
        "session": answer.session,
        "records": [_record_object(record) for record in records],
    }
    if answer.reason is not None:
        said["reason"] = answer.reason
    return said


def _record_object(record: _Record) -> dict[str, Any]:
    hit = record.hit
    said: dict[str, Any] = {"id": hit.id, "seq": hit.seq, "type": hit.type}
    said |= {"file": record.file and printable(record.file), "line": record.line}
    if record.content is not None:
        said["content"] = _json(record.content)
    return said


def _json(content: bytes) -> msgspec.Raw | None:
    """`content` as it is; None where not all of it is JSON, though it was read as a record."""
    try:
        content.decode()
        return msgspec.Raw(msgspec.json.decode(content, type=msgspec.Raw))
    except (ValueError, RecursionError):
        return None


#: What a reason means where not one stream was asked but all that were read.
_SAID: dict[Reason, str] = {"no-such-session": "no input holds this session (ASR-050)"}


def _text(ref: str, answer: _Answer, records: Sequence[_Record]) -> str:
    """The answer for people."""
    state = answer.state if answer.exact else f"{answer.state}, exact: false"
    lines = [f"{state}  {shown(ref)}"]
    if answer.session is not None and answer.session != ref.partition("#")[0]:
        lines.append(f"  session {shown(answer.session)}")
    if answer.reason is not None:
        lines.append(f"  {_SAID.get(answer.reason) or codes()[answer.reason].meaning}")
    if answer.state == "ambiguous":
        if answer.conflict:
            lines.append("  the files of this session contradict each other (ASR-050)")
        lines.append(
            f"  {len(records)} candidates; not choosing between them (ASR-064)"
            if len(records) != 1
            else "  1 candidate; not choosing it (ASR-064)"
        )
    elif records and not answer.exact:
        lines.append("  the record found has a required reference that does not resolve (ASR-080)")
    rows = [_row(record) for record in records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row, record in zip(rows, records, strict=True):
        cells = [cell.ljust(min(width, _WIDEST)) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join(["", *cells, row[-1]]))
        if record.content is not None:
            lines += [f"    {shown(line)}" for line in _pretty(record.content)]
    return "\n".join(lines)


#: Beyond this width a cell no longer widens its column.
_WIDEST = 48


def _row(record: _Record) -> tuple[str, str, str, str]:
    hit = record.hit
    place = record.file or "-"
    place = place if record.line is None else f"{place}:{record.line}"
    return (f"seq {hit.seq}", shown(hit.type), shown(hit.id), shown(place))


def _pretty(content: bytes) -> list[str]:
    with suppress(ValueError, RecursionError):
        content = msgspec.json.format(content, indent=2)
    return content.decode("utf-8", "backslashreplace").split("\n")
