"""Many streams as one scope, in which references resolve (ASR-050, 079, 080)."""

from __future__ import annotations

import itertools
import os
import warnings
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Self

from sessionref.errors import StreamError
from sessionref.findings import Finding
from sessionref.reference import SessionKey, SessionRef, parse
from sessionref.refs import EntityRef, RecordRef, TurnRef
from sessionref.registry import Registry
from sessionref.scope.capture import Capture, Fingerprint
from sessionref.scope.collect import References
from sessionref.scope.fields import FieldTable
from sessionref.scope.joining import Layout, layouts, rivals
from sessionref.scope.resolve import Resolver, outcome_in
from sessionref.scope.session import Account, Session
from sessionref.scope.sources import is_lasting, open_streams
from sessionref.streams.inputs import inputs_of
from sessionref.streams.lines import MAX_LINE
from sessionref.streams.outcomes import Ambiguous, Resolved, Unresolved, as_ref
from sessionref.streams.walk import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from sessionref.refs import Ref
    from sessionref.scope.fields import ReferenceField
    from sessionref.scope.joining import Likeness
    from sessionref.scope.resolve import Resolution
    from sessionref.scope.sources import Open
    from sessionref.streams.envelope import Envelope
    from sessionref.streams.inputs import Entry
    from sessionref.streams.observe import Observer
    from sessionref.streams.outcomes import Hit, Outcome
    from sessionref.streams.source import Input

__all__ = ["StreamScope", "session_ref"]


class StreamScope:
    """Sessions, and what the references in and to them mean.

    Made by `of`; `sessionref.Scope` is one that reads native logs too. Iteration gives the sessions
    by canonical key, those without a key last. A record's place, keys and references are kept. The
    rest is read again when it is asked for.
    """

    def __init__(
        self,
        captures: Iterable[Capture],
        *,
        findings: Sequence[Finding] = (),
        passed_over: int = 0,
        table: FieldTable | None = None,
        registry: Registry | None = None,
        open: Open = open_streams,  # noqa: A002 - it is what it does
        max_line: int = MAX_LINE,
    ) -> None:
        """A scope of these captures; `of` makes them."""
        self.table = FieldTable.standard() if table is None else table
        self.registry = Registry.default() if registry is None else registry
        self.passed_over = passed_over
        self._open = open
        self._max_line = max_line
        self._input_findings = list(findings)
        self._sessions = self._group(captures)
        self._by_key = {
            session.key: session for session in self._sessions if session.key is not None
        }
        self._resolvers: dict[Account, Resolver] = {}
        self._inexact: dict[Account, frozenset[int]] = {}

    @classmethod
    def of(
        cls,
        sources: Input | Iterable[Entry],
        *,
        observers: Sequence[Callable[[], Observer]] = (),
        fields: Iterable[ReferenceField] = (),
        references: bool = True,
        registry: Registry | None = None,
        open: Open = open_streams,  # noqa: A002
        max_line: int = MAX_LINE,
    ) -> Self:
        """The scope of all streams in `sources`: paths of files and folders, ``-``, binary file
        objects, and iterables of bytes.

        Each of `observers` makes one observer for each stream; `Capture.observed` has it by the
        name of what made it. `fields` are more rows for the table of reference fields; without
        `references` no such field is looked at, which takes much less time, and `resolutions`,
        `problems` and `is_exact` raise `TypeError`. `registry` tells which agent names are the same
        agent, the built-in one where none is given. `open` reads inputs; what it gives no streams
        for in a folder is passed over and counted in `passed_over`.

        Nothing is raised for what an input holds or for one that cannot be read: `findings` say it,
        and the rest is read.
        """  # noqa: D205
        table = FieldTable.standard().with_rows(fields)
        reading = _Reading(table if references else None, observers, open, max_line)
        for entry in inputs_of(sources):
            if isinstance(entry, Finding):
                reading.findings.append(entry)
            elif isinstance(entry, Found):
                reading.one(entry.path, found=not entry.named)
            else:
                reading.one(entry, found=False)
        return cls(
            reading.captures,
            findings=reading.findings,
            passed_over=reading.passed_over,
            table=table,
            registry=registry,
            open=open,
            max_line=max_line,
        )

    # -- What is in scope ---------------------------------------------------------------------

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    def __repr__(self) -> str:
        files = sum(1 for _ in self.captures)
        return f"<{type(self).__name__} sessions={len(self)} streams={files}>"

    @property
    def captures(self) -> Iterator[Capture]:
        """All captures, session by session."""
        for session in self._sessions:
            yield from session.captures

    @property
    def findings(self) -> Iterator[Finding]:
        """What is wrong with the inputs and streams as such, conflicts included; not with their
        references, which `resolutions` has.
        """  # noqa: D205
        yield from self.input_findings
        for session in self._sessions:
            for account in session.accounts:
                yield from account.findings

    @property
    def input_findings(self) -> Iterator[Finding]:
        """Inputs that could not be read, and sessions whose captures contradict each other."""
        yield from self._input_findings
        yield from (_conflict(session) for session in self._sessions if session.conflict)

    def session(self, key: SessionKey | SessionRef | str) -> Session | None:
        """The session of that key, or that a reference names; None if it is not in scope.

        A ``#`` part does not count. Raises `InvalidReference` for text that is not a session
        reference, and TypeError for anything else.
        """
        return self._by_key.get(self._under(session_ref(key)))

    def named(self, ref: SessionRef) -> Session | None:
        """Deprecated: `session` takes references too."""
        warnings.warn("Scope.named: use Scope.session instead", DeprecationWarning, 2)
        return self.session(ref)

    def fetch(self, hit: Hit) -> bytes:
        """The record of `hit` as JSON, without line ending, by reading the input again.

        As `StreamIndex.fetch`, and for native logs too. Raises `StreamError`: ``foreign-hit`` for a
        hit that is not of this scope, ``no-file`` if the input cannot be read twice, ``replaced``
        if the record is no longer there.
        """
        for capture in self.captures:
            if capture.file != hit.file or capture.index.session != hit.session:
                continue
            row = capture.index.find(hit)
            if row is None:
                continue
            if not capture.index.is_converted:
                return capture.index.fetch(hit)
            wanted = _Wanted([row])
            self._read_again(capture, {capture.number: wanted})
            if wanted.places.get(row) != (hit.id, hit.seq):
                message = f"line {hit.line} is no longer what it was"
                raise StreamError("replaced", message, hit.file)
            return wanted.found[row]
        raise StreamError("foreign-hit", "the hit is not of this scope", hit.file)

    def records(self, capture: Capture, rows: Iterable[int]) -> dict[int, bytes]:
        """The records in these rows of a capture as JSON, whole, by reading the input again.

        Raises `StreamError` where that cannot be read, with the code ``no-file`` where it cannot be
        read twice.
        """
        wanted = _Wanted(rows)
        self._read_again(capture, {capture.number: wanted})
        return wanted.found

    # -- What references mean -------------------------------------------------------------------

    def resolve(self, ref: SessionRef | RecordRef | EntityRef | TurnRef | str) -> Outcome:
        """What `ref` means in this scope.

        A session reference resolves in the session that it names; without ``#`` part it means the
        header. In a session whose captures contradict each other a ref is ambiguous, and no capture
        is preferred. A ref without session is looked for in every session, and ambiguous where
        several have it. A text is a session reference where it parses as one, else a raw ref;
        raises `InvalidReference` where it is neither.
        """
        ref = as_ref(ref)
        if isinstance(ref, SessionRef):
            return outcome_in(self.session(ref), ref, self._under(ref).canonical())
        candidates: list[Hit] = []
        resolved: list[Resolved] = []
        unresolved = Unresolved(_REASONS[type(ref)])
        for session in self._sessions:
            for account in session.accounts:
                outcome = account.index.resolve(ref)
                if isinstance(outcome, Resolved):
                    if not session.conflict:
                        resolved.append(outcome)
                    candidates += outcome.records
                elif isinstance(outcome, Ambiguous):
                    candidates += outcome.candidates
        if len(resolved) == 1 and len(resolved[0].records) == len(candidates):
            return resolved[0]
        return Ambiguous(tuple(candidates)) if candidates else unresolved

    def resolutions(self, session: Session | None = None) -> Iterator[Resolution]:
        """What every reference field of the streams means, of one session or of all (ASR-079)."""
        for account in self._accounts(session):
            yield from self._resolver(account).all()

    def problems(self, session: Session | None = None) -> Iterator[Resolution]:
        """Those of `resolutions` that are not exact: unresolved, ambiguous, or faulty.

        Costs much less than looking for them there.
        """
        for account in self._accounts(session):
            yield from self._resolver(account).problems()

    def problems_in(self, account: Account, rows: Collection[int]) -> Iterator[Resolution]:
        """As `problems`, of the records of an account in `rows` only."""
        return self._resolver(account).problems_in(rows)

    def is_exact(self, of: Session | Account, row: int | None = None) -> bool:
        """Whether all required references of a session, account or record resolve (ASR-080).

        A session whose captures contradict each other is not exact.
        """
        if isinstance(of, Session):
            return not of.conflict and not any(map(self._inexact_rows, of.accounts))
        rows = self._inexact_rows(of)
        return not rows if row is None else row not in rows

    def counts_ordinals(self, account: Account) -> bool:
        """Whether the registry says how native ordinals of the session map to its records."""
        key = account.captures[0].key
        agent = None if key is None else self.registry.agent(key.agent)
        return agent is not None and agent.ordinals is not None and agent.ordinals.native.known

    def _accounts(self, session: Session | None) -> Iterator[Account]:
        for one in self._sessions if session is None else (session,):
            yield from one.accounts

    def _resolver(self, account: Account) -> Resolver:
        resolver = self._resolvers.get(account)
        if resolver is None:
            resolver = self._resolvers[account] = Resolver(self, account)
        return resolver

    def _inexact_rows(self, account: Account) -> frozenset[int]:
        found = self._inexact.get(account)
        if found is None:
            found = self._inexact[account] = frozenset(
                row
                for row, resolution in self._resolver(account).problems_by_row()
                if resolution.required
            )
        return found

    def _under(self, ref: SessionRef) -> SessionKey:
        return ref.key_under(self.registry)

    # -- Which captures are of one session ------------------------------------------------------

    def _group(self, captures: Iterable[Capture]) -> list[Session]:
        by_key: defaultdict[SessionKey, list[Capture]] = defaultdict(list)
        sessions: list[Session] = []
        for capture in sorted(captures, key=lambda capture: capture.place):
            if capture.key is None:
                sessions.append(Session(None, [_alone(capture)]))
            else:
                by_key[self._under(capture.key.at())].append(capture)
        prints = self._fingerprints(by_key.values())

        def digests(capture: Capture, likeness: Likeness) -> Sequence[bytes]:
            fingerprint = prints[capture]
            found = fingerprint.exact if likeness == "exact" else fingerprint.alike
            return found[: len(capture.index)]

        keyed = [
            Session(key, list(map(Account, layouts(found, digests))))
            for key, found in by_key.items()
        ]
        keyed.sort(key=lambda session: session.canonical or "")
        return keyed + sessions

    def _fingerprints(self, keyed: Iterable[Sequence[Capture]]) -> dict[Capture, Fingerprint]:
        """The fingerprints of the captures that have to be compared.

        An input with several of them is read again once. Where it cannot be read any more, the
        fingerprints have no digests.
        """
        prints: dict[Capture, Fingerprint] = {}
        unseen: dict[Any, list[Capture]] = {}
        for capture in itertools.chain.from_iterable(map(rivals, keyed)):
            prints[capture] = capture.fingerprint or Fingerprint()
            if capture.fingerprint is None:
                unseen.setdefault(os.fsdecode(capture.source), []).append(capture)
        for several in unseen.values():
            try:
                self._read_again(several[0], {one.number: prints[one] for one in several})
            except StreamError as error:
                self._input_findings.append(_unreadable(error, several[0].file))
                prints.update((capture, Fingerprint()) for capture in several)
        return prints

    def _read_again(self, capture: Capture, observers: Mapping[int, Observer]) -> None:
        """Read the input of a capture again.

        `observers` are shown the records of its streams, which are numbered from 0.
        """
        if not is_lasting(capture.source):
            raise StreamError("no-file", "the input cannot be read twice", capture.file)
        numbers = itertools.count()

        def observe() -> tuple[Observer, ...]:
            observer = observers.get(next(numbers))
            return () if observer is None else (observer,)

        streams = self._open(
            capture.source,
            observe=observe,
            report=_silent,
            whole=True,
            found=False,
            max_line=self._max_line,
        )
        for number, _ in enumerate(streams):
            if number == max(observers):
                break


class _Reading:
    """Inputs as they are read, one after the other."""

    def __init__(
        self,
        table: FieldTable | None,
        observers: Sequence[Callable[[], Observer]],
        open_input: Open,
        max_line: int,
    ) -> None:
        self.captures: list[Capture] = []
        self.findings: list[Finding] = []
        self.passed_over = 0
        self._table = table
        self._makers = tuple(observers)
        self._names = [maker.__name__ for maker in self._makers]
        self._open = open_input
        self._max_line = max_line

    def one(self, source: Input, *, found: bool) -> None:
        lasting = is_lasting(source)

        def observe() -> tuple[Observer, ...]:
            ours: list[Observer] = [] if self._table is None else [References(self._table)]
            if not lasting:
                ours.append(Fingerprint())
            return (*ours, *(make() for make in self._makers))

        try:
            streams = self._open(
                source,
                observe=observe,
                report=self.findings.append,
                whole=not lasting,
                found=found,
                max_line=self._max_line,
            )
            for number, index in enumerate(streams):
                others = list(index.observers)
                references = None if self._table is None else others.pop(0)
                # `observe` made them
                assert references is None or isinstance(references, References)  # noqa: S101
                fingerprint = None if lasting else others.pop(0)
                assert fingerprint is None or isinstance(fingerprint, Fingerprint)  # noqa: S101
                observed = dict(zip(self._names, others, strict=True))
                self.captures.append(
                    Capture(index, source, number, references, observed, fingerprint)
                )
        except StreamError as error:
            if found and error.code == "unknown-format":
                self.passed_over += 1
            else:
                name = source if isinstance(source, str | os.PathLike) else None
                file = None if name is None else os.fsdecode(name)
                self.findings.append(_unreadable(error, error.file or file))


class _Wanted:
    """An observer that keeps some records whole."""

    members: frozenset[str] = frozenset()

    def __init__(self, rows: Iterable[int]) -> None:
        self._rows = frozenset(rows)
        self.found: dict[int, bytes] = {}
        #: By row: the ID and the `seq` of the record.
        self.places: dict[int, tuple[str, int]] = {}

    def see(
        self,
        row: int,
        types: Sequence[str],  # noqa: ARG002
        records: Sequence[Envelope],
        contents: Sequence[bytes],
    ) -> None:
        for at, (record, content) in enumerate(zip(records, contents, strict=True), row):
            if at in self._rows:
                self.found[at] = content.rstrip(b"\r\n")
                self.places[at] = record.id, record.seq


def _alone(capture: Capture) -> Account:
    return Account(Layout((capture,), (range(len(capture.index)),)))


_REASONS: Mapping[type[Ref], Any] = {
    RecordRef: "no-such-record",
    EntityRef: "no-such-entity",
    TurnRef: "no-such-turn",
}


def session_ref(key: SessionKey | SessionRef | str) -> SessionRef:
    """The reference that a key, reference or text stands for.

    Raises `InvalidReference` for text that is not a session reference, and TypeError for anything
    else.
    """
    if isinstance(key, SessionRef):
        return key
    if isinstance(key, SessionKey):
        return key.at()
    if isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        return parse(key)
    raise TypeError(f"a session key, reference or text was expected, not {type(key).__name__}")


def _conflict(session: Session) -> Finding:
    files = ", ".join(session.files) or "inputs without a name"
    return Finding(
        code="identity-conflict",
        severity="warning",
        message=f"captures of one session contradict each other, none is preferred: {files}",
        rule="ASR-050",
        session=session.canonical,
        file=session.captures[0].file,
    )


def _unreadable(error: StreamError, file: str | None) -> Finding:
    code = "unknown-format" if error.code == "unknown-format" else "unreadable"
    return Finding(code=code, severity="error", message=error.message, file=error.file or file)


def _silent(_finding: Finding) -> None:
    """It was said when the input was read for the first time."""
