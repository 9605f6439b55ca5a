"""The facade for people: everything under some paths as one scope."""

from __future__ import annotations

import os
import warnings
from array import array
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import msgspec

from sessionref.errors import StreamError
from sessionref.findings import Finding
from sessionref.lineage.gather import Gathered
from sessionref.lineage.lineage import Lineage
from sessionref.native.convert import read_log
from sessionref.native.detect import DECIDING_LINES, STREAM, kind_of_lines
from sessionref.native.logs import Log
from sessionref.native.logset import LogSet
from sessionref.native.readers import reader_of
from sessionref.native.surveys import survey_each
from sessionref.registry import Registry
from sessionref.scope.scope import StreamScope, session_ref
from sessionref.scope.sources import is_lasting
from sessionref.streams.index import read_streams
from sessionref.streams.inputs import inputs_of
from sessionref.streams.lines import MAX_LINE
from sessionref.streams.walk import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from sessionref.lineage.forest import Forest
    from sessionref.lineage.totals import Totals
    from sessionref.native.columns import Records
    from sessionref.native.record import NativeRecord, NativeStream
    from sessionref.reference import SessionKey, SessionRef
    from sessionref.scope.fields import ReferenceField
    from sessionref.scope.sources import Open
    from sessionref.streams.index import StreamIndex
    from sessionref.streams.inputs import Entry
    from sessionref.streams.observe import Observe, Observer
    from sessionref.streams.source import Input

__all__ = ["Scope", "open_any", "scope_of", "strictly"]

#: Keywords of `Scope.read` in version 0.1, with what is to be done instead.
_FORMER = {
    "references": "has no effect any more; references are always read",
    "checks": "has no effect any more; a scope can always be checked",
    "observers": "will be removed; `sessionref.scope.scope.StreamScope.of` takes observers",
    "open": "will be removed; `sessionref.scope.scope.StreamScope.of` takes an opener",
    "step": "is now called `progress`",
}


class Scope(StreamScope):
    """The sessions under some paths, from streams and from native logs. Made by `read`."""

    @classmethod
    def read(
        cls,
        paths: Input | Iterable[Input],
        *,
        fields: Iterable[ReferenceField] = (),
        session: SessionKey | SessionRef | str | None = None,
        registry: Registry | None = None,
        max_line: int = MAX_LINE,
        jobs: int = 1,
        progress: Callable[[], object] | None = None,
        **former: Any,
    ) -> Self:
        """The scope of all streams and native logs under `paths`.

        `paths` are files and folders, ``-`` for standard input, binary file objects and iterables
        of bytes, compressed or not. The content of a file decides what kind of log it is. Native
        logs are compared with each other, so that each session carries what only the others show
        of it. Nothing is raised for what an input holds, or if it cannot be read: `findings` have
        it, and the rest is read.

        `fields` are rows to add to the table of reference fields. With `session` the other sessions
        of native logs are skipped, which costs less. `registry` tells which names are of the same
        agent; the default is the built-in one. A line longer than `max_line` bytes is a finding. At
        most `jobs` processes read; the result does not depend on it. `progress` is called for each
        input that is done.

        Raises `InvalidReference` if `session` is text that is not a session reference. The keywords
        of version 0.1 (`references`, `checks`, `observers`, `open`, `step`) still work, with a
        DeprecationWarning.
        """
        for name in former:
            if name not in _FORMER:
                raise TypeError(f"Scope.read() got an unexpected keyword argument {name!r}")
            warnings.warn(f"Scope.read({name}=...): {_FORMER[name]}", DeprecationWarning, 2)
        return cls._made(
            paths,
            observers=former.get("observers", ()),
            fields=fields,
            references=True,
            checks=True,
            session=session,
            registry=registry,
            open=former.get("open"),
            max_line=max_line,
            jobs=jobs,
            step=progress or former.get("step"),
        )

    @classmethod
    def _made(
        cls,
        paths: Input | Iterable[Entry],
        *,
        observers: Sequence[Callable[[], Observer]],
        fields: Iterable[ReferenceField],
        references: bool,
        checks: bool,
        session: SessionKey | SessionRef | str | None,
        registry: Registry | None,
        open: Open | None,  # noqa: A002 - as in the base class
        max_line: int,
        jobs: int,
        step: Callable[[], object] | None,
    ) -> Self:
        ours: tuple[Callable[[], Observer], ...] = (Gathered,)
        if checks and references:
            from sessionref.checks.run import OBSERVERS  # noqa: PLC0415 - costs its import

            ours = (*OBSERVERS, Gathered)
        observers = tuple(dict.fromkeys((*ours, *observers)))
        registry = Registry.default() if registry is None else registry
        sources = inputs_of(paths)
        with ExitStack() as opened:
            if open is None:
                # What only lineage looks at needs no more than columns.
                lean = not references and session is None and observers == (Gathered,)
                inputs = _Inputs(sources, max_line, columns=lean, jobs=jobs, step=step or _nothing)
                if session is not None:
                    inputs.only(session_ref(session), registry)
                open = opened.enter_context(inputs)  # noqa: A001
            scope = cls.of(
                sources,
                observers=observers,
                fields=fields,
                references=references,
                registry=registry,
                open=open,
                max_line=max_line,
            )
        scope._can_check = checks and references  # noqa: SLF001 - it was made here
        return scope

    _can_check = True

    def check(self, *, strict: bool = True) -> Iterator[Finding]:
        """What is wrong with the streams, by the rules of the pages, file by file.

        With `strict` each file of streams is read again, and all its bytes are looked at. Raises
        `StreamError` for a file that cannot be read any more.
        """
        if not self._can_check:  # only `scope_of` makes such a scope
            raise TypeError("this scope was read without what the rules look at")
        from sessionref.checks.run import check  # noqa: PLC0415 - costs its import

        return check(self, strict=strictly if strict else None)

    @cached_property
    def lineage(self) -> Lineage:
        """How the sessions hang together; what is built on it is made when it is asked for."""
        return Lineage(self)

    def forest(self) -> Forest:
        """The sessions, those that they name, and the typed, evidenced edges between them.

        A session that was named and not read is a placeholder; nothing is a root by absence
        (ASR-401, 406).
        """
        return self.lineage.forest

    def totals(self) -> Totals:
        """Model calls, tokens and cost: original, copied and unknown, and what counts once.

        Copies never count (ASR-417). What may be a copy is unknown, and stands apart (ASR-416).
        """
        return self.lineage.totals


def scope_of(
    paths: Input | Iterable[Entry],
    *,
    references: bool = True,
    checks: bool = True,
    session: SessionKey | SessionRef | str | None = None,
    registry: Registry | None = None,
    jobs: int = 1,
    step: Callable[[], object] | None = None,
) -> Scope:
    """As `Scope.read`, for commands that know what they will ask for.

    Without `references` the scope has no resolutions; without `checks` it cannot be checked. Both
    save time and memory.
    """
    return Scope._made(  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - made for commands
        paths,
        observers=(),
        fields=(),
        references=references,
        checks=checks,
        session=session,
        registry=registry,
        open=None,
        max_line=MAX_LINE,
        jobs=jobs,
        step=step,
    )


def open_any(
    source: Input,
    *,
    observe: Observe,
    report: Callable[[Finding], None],
    whole: bool,
    found: bool,
    max_line: int = MAX_LINE,
) -> Iterator[StreamIndex]:
    """The streams of an input that holds streams or a native log.

    An opener as `sessionref.scope.sources.Open` describes it. The records of a native log stand at
    its lines.
    """
    with Log(source, max_line=max_line) as log:
        yield from _indexes(
            log,
            source,
            lambda: read_log(log, report, content=whole),
            observe=observe,
            found=found,
            max_line=max_line,
        )


class _Inputs:
    """Opens inputs that were looked at together before. An `Open`.

    The headers of native logs then carry the lineage that all of them show. Inputs that cannot be
    read twice are kept until the context ends; the others can be opened ever after.
    """

    def __init__(
        self,
        sources: Iterable[Entry],
        max_line: int,
        *,
        columns: bool,
        jobs: int,
        step: Callable[[], object],
    ) -> None:
        self._max_line = max_line
        self._step = step
        self._is_meant: Callable[[NativeStream], bool] = lambda _: True
        self._kept = ExitStack()
        self._logs = self._kept.enter_context(LogSet(max_line=max_line, columns=columns))
        #: By input: what to ask `_logs` for, and what was wrong with it when it was added.
        self._native: dict[str | int, tuple[Input | Log, list[Finding]]] = {}
        self._held: dict[str | int, Log] = {}
        self._failed: dict[str | int, StreamError] = {}
        self._streams: set[str | int] = set()
        files: list[str] = []
        for entry in sources:
            if not isinstance(entry, Found):
                if not isinstance(entry, Finding):
                    self._add(entry)
            elif is_lasting(entry.path):
                files.append(entry.path)
            else:
                self._add(entry.path)
        for path, surveyed, said in survey_each(
            files, jobs=jobs, max_line=max_line, columns=columns
        ):
            if isinstance(surveyed, StreamError):
                self._failed[path] = surveyed
                continue
            kind = self._logs.add_surveyed(path, surveyed)
            if reader_of(kind) is not None:
                self._native[path] = path, said
                step()  # what is left to do takes no longer
            elif kind == STREAM:
                self._streams.add(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self._kept.close()

    def only(self, session: SessionRef, registry: Registry) -> None:
        """Pass over the streams of all other sessions."""
        key = session.key_under(registry)
        self._is_meant = lambda stream: stream.session.key_under(registry) == key

    def _add(self, source: Input) -> None:
        """Look at an input that cannot be read twice."""
        said: list[Finding] = []
        key = _key(source)
        try:
            log = Log(source, max_line=self._max_line)
            self._held[key] = self._kept.enter_context(log)
            if reader_of(self._logs.add(log, said.append)) is not None:
                self._native[key] = log, said
        except StreamError as error:
            self._failed[key] = error

    def __call__(
        self,
        source: Input,
        *,
        observe: Observe,
        report: Callable[[Finding], None],
        whole: bool,
        found: bool,
        max_line: int = MAX_LINE,
    ) -> Iterator[StreamIndex]:
        """As `open_any`."""
        self._logs.say(report)
        key = _key(source)
        if key in self._failed:
            raise self._failed[key]
        if key in self._streams and isinstance(source, str | os.PathLike):
            yield from read_streams(source, observe=observe, max_line=max_line)
            self._step()
            return
        native, said = self._native.get(key, (source, []))
        lean = self._logs.records(native) if key in self._native and not whole else None
        if lean is not None:
            for finding in (*said, *lean[1].findings):
                report(finding)
            yield _joined(*lean, self._logs.name_of(native), observe)
            return

        def streams() -> Iterator[NativeStream]:
            for finding in said:
                report(finding)
            return filter(self._is_meant, self._logs.streams(native, report, content=whole))

        with ExitStack() as opened:
            log = self._held.get(key)
            if log is None:
                log = opened.enter_context(Log(source, max_line=max_line))
            yield from _indexes(
                log, source, streams, observe=observe, found=found, max_line=max_line
            )
        if key not in self._native:
            self._step()


def _key(source: Input) -> str | int:
    return os.fsdecode(source) if isinstance(source, str | os.PathLike) else id(source)


def _indexes(
    log: Log,
    source: Input,
    native: Callable[[], Iterator[NativeStream]],
    *,
    observe: Observe,
    found: bool,
    max_line: int,
) -> Iterator[StreamIndex]:
    """The streams in `log`, which is `source` opened; `native` gives those of a native log."""
    kind = kind_of_lines(data for _, data in log.lines(_silent))
    if kind == STREAM or (kind is None and _is_stream(log, found=found)):
        yield from read_streams(
            source if is_lasting(source) else log.chunks(),
            file=log.name,
            observe=observe,
            max_line=max_line,
        )
    elif kind is None:
        raise StreamError("unknown-format", "no known kind of log", log.name)
    else:
        for stream in native():
            lines = array("q")
            chunks = stream.jsonl(lines)
            (index,) = read_streams(chunks, file=log.name, observe=observe)
            index.at_lines(lines)
            yield index


def _joined(header: NativeRecord, records: Records, file: str, observe: Observe) -> StreamIndex:
    """The index of a header and of the records behind it."""
    line = msgspec.json.encode(header) + b"\n"
    (index,) = read_streams([line], file=file, observe=observe)
    records.behind(index)
    return index


def strictly(source: Input, file: str | None = None) -> Iterator[Finding]:
    """What the strict pass finds in the bytes of an input that holds streams, by line.

    Nothing for any other, and for one that cannot be read twice. Raises `StreamError` where it
    cannot be read any more.
    """
    if is_lasting(source):
        with Log(source) as log:
            kind = kind_of_lines(data for _, data in log.lines(_silent))
            if kind == STREAM or (kind is None and _is_stream(log, found=False)):
                from sessionref.checks.strict import strict_findings  # noqa: PLC0415

                yield from strict_findings(log.chunks(), file)


class _Row(msgspec.Struct, gc=False):
    type: str
    seq: int
    id: str


_row = msgspec.json.Decoder(_Row).decode


def _is_stream(log: Log, *, found: bool) -> bool:
    """Whether a log of no known kind is a stream without a good header.

    An empty file that was named counts as one, so that what is missing is said.
    """
    empty = True
    for number, (_, data) in enumerate(log.lines(_silent)):
        empty = False
        if number == DECIDING_LINES:
            break
        try:
            _row(data)
        except (msgspec.DecodeError, RecursionError):
            continue
        return True
    return empty and not found


def _nothing() -> None:
    """For whoever does not wait."""


def _silent(_finding: Finding) -> None:
    """It is said when the records are read."""
