"""What lineage needs of the records of a stream, gathered in the pass that indexes it.

Most records have nothing to do with it, and cost next to nothing. What repeats stands in columns,
what is rare in dicts by row.
"""

from __future__ import annotations

import datetime as dt
from array import array
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET

from sessionref.lineage.measures import TOKENS, read_cost, read_usage
from sessionref.reference import try_parse
from sessionref.streams.observe import attribute, value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessionref.lineage.measures import Usage
    from sessionref.reference import SessionRef
    from sessionref.streams.envelope import Envelope

__all__ = ["Aggregate", "Announced", "Calls", "DeclaredRow", "Gathered"]

_DECLARING = frozenset({"session", "declaration"})


class DeclaredRow(NamedTuple):
    """The members of the header or a declaration that lineage reads, and their row."""

    row: int
    lineage: Any
    authority: str | None
    scope: str | None
    producer: Any


class Announced(NamedTuple):
    """A `subagent` record: its row and members as they were read."""

    row: int
    child: Any
    call_id: str | None
    status: str | None
    capture: Any


class Aggregate(NamedTuple):
    """A `usage` record: what it covers, whether children are in it (None: may be), what it sums.

    `usage` and `cost` are None where absent; `faulty` names the members that could not be read.
    """

    row: int
    covers: Any
    includes_children: bool | None
    usage: Usage | None
    cost: dict[str, int] | None
    day: int
    faulty: tuple[str, ...]


class Calls:
    """The `inference` records of a stream as columns, one entry each.

    `tokens` holds five numbers for each, in the order of `TOKENS`, zero where the source does not
    say; `models` and `days` are positions in `model_names` and `day_names`, -1 for none. Sparse:
    `requests` (request IDs), `costs`, `unmeasured` (no token count at all), `derived` (the
    inference ID is no identifier of the source's), `faulty` (the members that could not be read).
    """

    __slots__ = (
        "costs",
        "days",
        "derived",
        "faulty",
        "models",
        "requests",
        "rows",
        "tokens",
        "unmeasured",
    )

    def __init__(self) -> None:
        self.rows = array("q")
        self.tokens = array("q")
        self.models = array("i")
        self.days = array("i")
        self.requests: dict[int, str] = {}
        self.costs: dict[int, dict[str, int]] = {}
        self.unmeasured: set[int] = set()
        self.derived: set[int] = set()
        self.faulty: dict[int, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self.rows)


class Gathered:
    """An observer of one stream (`sessionref.streams.observe.Observer`) that keeps what it saw."""

    members = frozenset(
        {
            "authority",
            "capture",
            "childSession",
            "copiedFrom",
            "cost",
            "covers",
            "executedBy",
            "idSource",
            "includesChildren",
            "inferenceIdSource",
            "lineage",
            "model",
            "native",
            "producer",
            "scope",
            "status",
            "ts",
            "usage",
        }
    )

    def __init__(self) -> None:
        self.declared: list[DeclaredRow] = []
        self.copied: dict[int, bytes] = {}
        self.repeats: dict[int, str] = {}
        self.announced: list[Announced] = []
        self.executed: dict[int, tuple[SessionRef, ...]] = {}
        self.aggregates: list[Aggregate] = []
        self.calls = Calls()
        self.model_names: list[str] = []
        self.day_names: list[str] = []
        self._models: dict[bytes, int] = {}
        self._model_of: dict[str, int] = {}
        self._days: dict[str, int] = {}
        self._day_of: dict[str, int] = {}
        self._see: dict[str, Callable[[int, Any], None]] = {
            "session": self._declaration,
            "declaration": self._declaration,
            "subagent": self._subagent,
            "state": self._state,
            "usage": self._aggregate,
            "inference": self._inference,
        }
        self._watched = frozenset(self._see)

    def see(
        self,
        row: int,
        types: Sequence[str],
        records: Sequence[Envelope],
        contents: Sequence[bytes],
    ) -> None:
        """Take what is needed from some consecutive records, the first of them in `row`."""
        several: Sequence[Any] = records
        for at, record in zip(count(row), several):
            if record.copied_from is not UNSET:
                self._copy(at, record)
        for at, content in enumerate(contents):
            if b'"repeats"' in content:
                self._repeat(row + at, _native_of(several[at]))
        if self._watched.isdisjoint(types):
            return
        handlers = self._see.get
        for at, kind, record in zip(count(row), types, several):
            handler = handlers(kind)
            if handler is not None:
                handler(at, record)

    # -- One kind of record each ------------------------------------------------------------

    def _copy(self, row: int, record: Any) -> None:
        raw = bytes(record.copied_from)
        if raw != b"null":
            self.copied[row] = raw

    def _repeat(self, row: int, raw: Any) -> None:
        try:
            first = None if raw is UNSET else _repeats(raw).repeats
        except (msgspec.DecodeError, RecursionError):
            return
        if first is not None:
            self.repeats[row] = first

    def _declaration(self, row: int, record: Any) -> None:
        self.declared.append(
            DeclaredRow(
                row,
                _value(record.lineage),
                _text(record.authority),
                _text(record.scope),
                _value(record.producer),
            )
        )

    def _subagent(self, row: int, record: Any) -> None:
        self.announced.append(
            Announced(
                row,
                _value(record.child_session),
                record.call_id or None,
                _text(record.status),
                _value(record.capture),
            )
        )

    def _state(self, row: int, record: Any) -> None:
        named = _value(record.executed_by)
        if named is None:
            return
        texts: list[Any] = named if isinstance(named, list) else [named]
        sessions = [try_parse(text) for text in texts if isinstance(text, str)]
        self.executed[row] = tuple(session for session in sessions if session is not None)

    def _aggregate(self, row: int, record: Any) -> None:
        usage, cost, faulty = self._spend(record)
        includes = _value(record.includes_children)
        self.aggregates.append(
            Aggregate(
                row,
                _value(record.covers),
                includes if isinstance(includes, bool) else None,
                usage,
                cost,
                self._day(record.ts),
                faulty,
            )
        )

    def _inference(self, row: int, record: Any) -> None:
        calls = self.calls
        at = len(calls.rows)
        calls.rows.append(row)
        usage, cost, faulty = self._spend(record)
        if usage is None:
            calls.tokens.extend(_NO_TOKENS)
            calls.unmeasured.add(at)
        else:
            calls.tokens.extend(
                (
                    usage.input_tokens or 0,
                    usage.cache_read_tokens or 0,
                    usage.cache_write_tokens or 0,
                    usage.output_tokens or 0,
                    usage.reasoning_tokens or 0,
                )
            )
        if cost is not None:
            calls.costs[at] = cost
        if faulty:
            calls.faulty[at] = faulty
        if record.request_id:
            calls.requests[at] = record.request_id
        if record.id_source is not UNSET and _is_derived(record):
            calls.derived.add(at)
        calls.models.append(-1 if record.model is UNSET else self._model(bytes(record.model)))
        calls.days.append(self._day(record.ts))

    # -- Members ----------------------------------------------------------------------------

    def _spend(self, record: Any) -> tuple[Usage | None, dict[str, int] | None, tuple[str, ...]]:
        """Usage and cost; and the names of those that are there and cannot be read."""
        usage = cost = None
        faulty: tuple[str, ...] = ()
        if record.usage is not UNSET and bytes(record.usage) != b"null":
            usage = read_usage(record.usage)
            if usage is None:
                faulty = ("usage",)
            elif usage == _NOTHING_SAID:
                usage = None
        if record.cost is not UNSET and bytes(record.cost) != b"null":
            cost = read_cost(value(record.cost))
            if cost is None:
                faulty = (*faulty, "cost")
        return usage, cost, faulty

    def _model(self, raw: bytes) -> int:
        known = self._models.get(raw)
        if known is None:
            try:
                name = _model(raw).id
            except (msgspec.DecodeError, RecursionError):
                name = None
            known = -1
            if name is not None:
                known = self._model_of.setdefault(name, len(self.model_names))
                if known == len(self.model_names):
                    self.model_names.append(name)
            self._models[raw] = known
        return known

    def _day(self, raw: Any) -> int:
        """The position of the UTC day of a time; -1 where there is no time that can be read."""
        if raw is UNSET:
            return -1
        text = bytes(raw)
        # Most times are in UTC, and then their first ten characters are the day.
        key = text[1:11].decode("ascii", "replace") if text.endswith(b'Z"') else repr(text)
        known = self._days.get(key)
        if known is None:
            name = _utc_day(_text(raw))
            if name is None:
                return -1
            known = self._day_of.setdefault(name, len(self.day_names))
            if known == len(self.day_names):
                self.day_names.append(name)
            if len(key) == _DAY_LENGTH:
                self._days[key] = known
        return known


class _Model(msgspec.Struct, gc=False):
    id: str | None = None


class _Repeats(msgspec.Struct, gc=False):
    repeats: str | None = None


_model = msgspec.json.Decoder(_Model).decode
_repeats = msgspec.json.Decoder(_Repeats).decode
_native_of = attrgetter(attribute("native"))
_inference_id_source_of = attrgetter(attribute("inferenceIdSource"))
_NO_TOKENS = (0,) * len(TOKENS)
_NOTHING_SAID = read_usage(b"{}")
_DAY_LENGTH = len("2026-10-26")


def _value(raw: Any) -> Any:
    return None if raw is UNSET else value(raw)


def _text(raw: Any) -> str | None:
    text = _value(raw)
    return text if isinstance(text, str) else None


def _is_derived(record: Any) -> bool:
    """Whether the inference ID is derived, by `inferenceIdSource`, or else by `idSource`."""
    source = _inference_id_source_of(record)
    return bytes(record.id_source if source is UNSET else source) == b'"derived"'


def _utc_day(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None  # no rule says which zone a time without one is in
    try:
        return moment.astimezone(dt.UTC).date().isoformat()
    except OverflowError:
        return None
