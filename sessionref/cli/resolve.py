"""`sessionref resolve`: what a ref or session reference points at."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from sessionref.cli._common import (
    Outcome,
    json_option,
    paths_argument,
    registry_option,
    to_json,
)
from sessionref.cli._lines import complain, undecodable
from sessionref.cli._places import paths_or_places
from sessionref.cli._references import error_object
from sessionref.cli._sessions import sessions
from sessionref.cli._text import printable, shown
from sessionref.errors import InvalidReference
from sessionref.reference import SessionRef, try_parse
from sessionref.refs import EntityRef, RecordRef, Ref, TurnRef
from sessionref.streams.outcomes import REASONS, Resolved, Unresolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessionref.cli._sessions import Session
    from sessionref.reference import SessionKey
    from sessionref.registry import Registry
    from sessionref.streams.outcomes import Ambiguous, Hit, Reason

    AnyRef = RecordRef | EntityRef | TurnRef

__all__ = ["command"]


@click.command(short_help="What a ref or session reference points at.")
@paths_argument
@click.argument("ref")
@click.option("--raw", is_flag=True, help="Take REF as a raw ref even where it is a reference.")
@click.option("--show", is_flag=True, help="Show the records themselves.")
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
    """Show what REF means in PATH: streams, native logs, or folders of them.

    REF is a session reference where it is one, else a raw ref: a record ID, or KEY=VALUE. A raw ref
    that means something in several sessions is ambiguous. Of what is ambiguous all candidates are
    shown and none is chosen. The exit code is 0 where REF resolves and 1 where it does not; only
    what could not be read is reported besides.
    """
    try:
        target = _target(ref, raw=raw)
    except InvalidReference as error:
        if as_json:
            print(to_json(error_object(ref, error)))
        else:
            complain(str(error))
        raise click.exceptions.Exit(1) from None
    outcome = Outcome()
    answer = _find(paths_or_places(paths), target, outcome, registry, show=show)
    if answer.state != "resolved":
        outcome.invalid()
    print(to_json(_object(ref, answer)) if as_json else _text(ref, answer))
    outcome.end()


def _target(text: str, *, raw: bool) -> SessionRef | AnyRef:
    error = undecodable(text)
    if error is not None:
        raise error
    reference = None if raw else try_parse(text)
    return Ref.from_raw(text) if reference is None else reference


class _Record(NamedTuple):
    """A record that REF means or could mean; `content` is kept only where it is shown."""

    hit: Hit
    line: int | None
    digest: bytes
    content: bytes | None


class _Answer(NamedTuple):
    """What REF means: in one stream, or in all. `session` is None where none or several are."""

    state: str
    session: str | None
    records: Sequence[_Record] = ()
    reason: Reason | None = None


def _find(
    paths: list[str],
    target: SessionRef | AnyRef,
    outcome: Outcome,
    registry: Registry | None,
    *,
    show: bool,
) -> _Answer:
    """Resolve in each stream by itself, then see what the answers make together."""
    key: SessionKey | None = None
    ref: AnyRef | None
    if isinstance(target, SessionRef):
        key, ref = _under(target.key, registry), target.ref
    else:
        ref = target

    def is_meant(other: SessionKey) -> bool:
        return key is None or _under(other, registry) == key

    seen: set[str | None] = set()
    answers: list[_Answer] = []
    for session in sessions(paths, outcome, is_meant if key else None):
        own = session.index.key
        name = None if own is None else _under(own, registry).canonical()
        seen.add(name)
        # A reference without # part means the session, for which its header stands.
        resolution = session.index.resolve(ref or _header_of(session))
        if not isinstance(resolution, Unresolved):
            records = _records(session, resolution, show=show)
            answers.append(_Answer(resolution.state, name, records))
    if answers:
        return _together(answers)
    if key is not None:
        reason = _MISSING[type(ref)] if seen else "no-such-session"
        return _Answer("unresolved", key.canonical(), reason=reason)
    return _Answer("unresolved", seen.pop() if len(seen) == 1 else None, reason=_MISSING[type(ref)])


def _header_of(session: Session) -> SessionRef:
    key = session.index.key
    assert key is not None  # noqa: S101 - only sessions with the key that is meant are asked
    return key.at()


def _together(answers: list[_Answer]) -> _Answer:
    """What the answers of several streams make together.

    Streams of one session that have the very same records agree: they are captures of it. All
    others could each be what is meant, and none is chosen (ASR-064, 079).
    """
    first = answers[0]
    one = len(answers) == 1
    alike = one or (first.session is not None and {a.session for a in answers} == {first.session})
    contents = {tuple(record.digest for record in answer.records) for answer in answers}
    if alike and len(contents) == 1:
        return first
    records = [record for answer in answers for record in answer.records]
    return _Answer("ambiguous", first.session if alike else None, records)


#: What is missing where a ref of that kind finds nothing in a session.
_MISSING: dict[type, Reason] = {
    RecordRef: "no-such-record",
    EntityRef: "no-such-entity",
    TurnRef: "no-such-turn",
}


def _under(key: SessionKey, registry: Registry | None) -> SessionKey:
    return key if registry is None else key.at().key_under(registry)


def _records(session: Session, resolution: Resolved | Ambiguous, *, show: bool) -> list[_Record]:
    hits = resolution.records if isinstance(resolution, Resolved) else resolution.candidates
    return [
        _Record(hit, session.line(hit), sha256(content).digest(), content if show else None)
        for hit, content in zip(hits, session.contents(hits), strict=True)
    ]


def _object(ref: str, answer: _Answer) -> dict[str, Any]:
    """The answer as JSON says it."""
    said: dict[str, Any] = {
        "ref": ref,
        "state": answer.state,
        "exact": answer.state == "resolved",
        "session": answer.session,
        "records": [_record_object(record) for record in answer.records],
    }
    if answer.reason is not None:
        said["reason"] = answer.reason
    return said


def _record_object(record: _Record) -> dict[str, Any]:
    hit = record.hit
    said: dict[str, Any] = {"id": hit.id, "seq": hit.seq, "type": hit.type}
    said |= {"file": hit.file and printable(hit.file), "line": record.line}
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
_SAID: dict[Reason, str] = {"no-such-session": "nothing that was read is of this session (ASR-050)"}


def _text(ref: str, answer: _Answer) -> str:
    """The answer for people."""
    lines = [f"{answer.state}  {shown(ref)}"]
    if answer.state != "resolved":
        lines[0] = f"{answer.state}, exact: false  {shown(ref)}"
    if answer.session is not None and answer.session != ref.partition("#")[0]:
        lines.append(f"  session {shown(answer.session)}")
    if answer.reason is not None:
        lines.append(f"  {_SAID.get(answer.reason) or REASONS[answer.reason]}")
    if answer.state == "ambiguous":
        lines.append(f"  {len(answer.records)} candidates, of which none is chosen (ASR-064)")
    rows = [_row(record) for record in answer.records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row, record in zip(rows, answer.records, strict=True):
        cells = [cell.ljust(min(width, _WIDEST)) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join(["", *cells, row[-1]]))
        if record.content is not None:
            lines += [f"    {shown(line)}" for line in _pretty(record.content)]
    return "\n".join(lines)


#: Beyond this width a cell no longer widens its column.
_WIDEST = 48


def _row(record: _Record) -> tuple[str, str, str, str]:
    hit = record.hit
    place = hit.file or "-"
    place = place if record.line is None else f"{place}:{record.line}"
    return (f"seq {hit.seq}", shown(hit.type), shown(hit.id), shown(place))


def _pretty(content: bytes) -> list[str]:
    with suppress(ValueError, RecursionError):
        content = msgspec.json.format(content, indent=2)
    return content.decode("utf-8", "backslashreplace").split("\n")
