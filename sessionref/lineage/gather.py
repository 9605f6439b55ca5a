"""What lineage needs of the records of a stream, gathered in the pass that indexes it.

Most records have nothing to do with it, and cost next to nothing. What repeats stands in columns,
what is rare in dicts by row.
"""

from __future__ import annotations

import datetime as dt
from array import array
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from sessionref.findings import Fault
from sessionref.lineage.shapes import is_array
from sessionref.reference import SessionRef
from sessionref.scope.values import session_of
from sessionref.streams.json import value
from sessionref.streams.observe import attribute, held
from sessionref.usage import SPEND, TOKENS, Usage, misfit, read_cost, read_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sessionref.streams.envelope import Envelope

__all__ = ["Aggregate", "Announced", "Calls", "DeclaredRow", "Gathered"]


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

    `usage` and `cost` are None where absent; `faulty` says which could not be read.
    """

    row: int
    covers: Any
    includes_children: bool | None
    usage: Usage | None
    cost: dict[str, int] | None
    day: int
    faulty: tuple[Fault, ...]


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
        self.faulty: dict[int, tuple[Fault, ...]] = {}

    def take(self, row: int, other: Calls, at: int, model: int, day: int) -> None:
        """Add the call at position `at` of other columns as that of the record in `row`."""
        here = len(self.rows)
        self.rows.append(row)
        self.tokens.extend(other.tokens[5 * at : 5 * at + 5])
        self.models.append(model)
        self.days.append(day)
        if at in other.requests:
            self.requests[here] = other.requests[at]
        if at in other.costs:
            self.costs[here] = other.costs[at]
        if at in other.faulty:
            self.faulty[here] = other.faulty[at]
        if at in other.unmeasured:
            self.unmeasured.add(here)
        if at in other.derived:
            self.derived.add(here)


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
        self._days: dict[bytes, int] = {}
        self._day_of: dict[str, int] = {}
        self._see: dict[str, Callable[[int, Any], None]] = {
            "session": self._declaration,
            "declaration": self._declaration,
            "subagent": self._subagent,
            "state": self._state,
            "usage": self._aggregate,
        }
        self.watched = frozenset({"inference", *self._see})

    def see(
        self,
        row: int,
        types: Sequence[str],
        records: Sequence[Envelope],
        contents: Sequence[bytes],  # noqa: ARG002 - what is needed of them is decoded
    ) -> None:
        """Take what is needed from some consecutive records, the first of them in `row`."""
        self.take(range(row, row + len(records)), types, records)

    def take(self, where: Sequence[int], types: Sequence[str], records: Sequence[Envelope]) -> None:
        """As `see`, for records in the rows `where`, between which may be others."""
        several: Sequence[Any] = records
        there = held(records)
        if "copiedFrom" in there:
            for at in [n for n, record in enumerate(several) if record.copied_from is not UNSET]:
                self._copy(where[at], several[at])
        if "native" in there:
            rows = [n for n, record in enumerate(several) if _native_of(record) is not UNSET]
            firsts = _repeated([_native_of(several[at]) for at in rows])
            if any(first is not None for first in firsts):
                found = zip(rows, firsts, strict=True)
                self.repeats.update((where[at], first) for at, first in found if first is not None)
        if self.watched.isdisjoint(types):
            return
        calls = [n for n, kind in enumerate(types) if kind == "inference"]
        if calls:
            self._inferences([where[at] for at in calls], [several[at] for at in calls])
        handlers = self._see
        for at in [n for n, kind in enumerate(types) if kind in handlers]:
            handlers[types[at]](where[at], several[at])

    @classmethod
    def joined(cls, parts: Sequence[tuple[Gathered, Sequence[int]]]) -> Gathered:
        """What observers of several captures saw, together.

        Each part has the row of each of its records in the whole, -1 for a record that is left out.
        """
        whole = cls()
        calls: list[tuple[int, Calls, int, int, int]] = []
        for part, rows in parts:
            whole.copied |= _in_rows(part.copied, rows)
            whole.repeats |= _in_rows(part.repeats, rows)
            whole.executed |= _in_rows(part.executed, rows)
            whole.declared += [o._replace(row=rows[o.row]) for o in part.declared]
            whole.announced += [o._replace(row=rows[o.row]) for o in part.announced]
            # The position -1, which stands for no name, leads to the last element.
            models = [*map(whole._model_named, part.model_names), -1]
            days = [*(_number(name, whole._day_of, whole.day_names) for name in part.day_names), -1]
            whole.aggregates += [
                o._replace(row=rows[o.row], day=days[o.day]) for o in part.aggregates
            ]
            own = part.calls
            calls += [
                (rows[row], own, at, models[own.models[at]], days[own.days[at]])
                for at, row in enumerate(own.rows)
            ]
        whole.declared = _left(whole.declared)
        whole.announced = _left(whole.announced)
        whole.aggregates = _left(whole.aggregates)
        for row, own, at, model, day in sorted(calls, key=_first):
            if row >= 0:
                whole.calls.take(row, own, at, model, day)
        return whole

    def adopt(self, other: Gathered) -> None:
        """Go on with what another has gathered of all that follows what was seen here."""
        self.copied |= other.copied
        self.repeats |= other.repeats
        self.declared += other.declared
        self.announced += other.announced
        self.executed |= other.executed
        self.aggregates += other.aggregates
        self.calls = other.calls
        self.model_names = other.model_names
        self.day_names = other.day_names

    # -- One kind of record each ------------------------------------------------------------

    def _copy(self, row: int, record: Any) -> None:
        raw = bytes(record.copied_from)
        if raw != b"null":
            self.copied[row] = raw

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
        said = _value(record.executed_by)
        if said is None:
            return
        texts = said if is_array(said) else [said]
        sessions = [session_of(text) for text in texts if isinstance(text, str)]
        named = tuple(session for session in sessions if isinstance(session, SessionRef))
        if named or not texts:  # what cannot be read does not say that nobody ran the turn
            self.executed[row] = named

    def _aggregate(self, row: int, record: Any) -> None:
        usage, cost, faulty = _spend(record.usage, record.cost)
        includes = _value(record.includes_children)
        self.aggregates.append(
            Aggregate(
                row,
                _value(record.covers),
                includes if isinstance(includes, bool) else None,
                usage,
                cost,
                -1 if record.ts is UNSET else self._day(bytes(record.ts)),
                faulty,
            )
        )

    def _inferences(self, rows: list[int], records: list[Any]) -> None:
        """Add the model calls in `rows`; there are many, so they share what can be shared."""
        calls = self.calls
        at = len(calls.rows)
        calls.rows.extend(rows)
        tokens, models, days = calls.tokens, calls.models, calls.days
        known_model, known_day = self._models.get, self._days.get
        for usage, record in zip(_usages(records), records, strict=True):
            if usage is None:
                tokens.extend(_NO_TOKENS)
                calls.unmeasured.add(at)
                if faulty := _spend(record.usage, UNSET)[2]:
                    calls.faulty[at] = faulty
            else:
                tokens.extend(
                    (
                        usage.input_tokens or 0,
                        usage.cache_read_tokens or 0,
                        usage.cache_write_tokens or 0,
                        usage.output_tokens or 0,
                        usage.reasoning_tokens or 0,
                    )
                )
            if record.cost is not UNSET:
                self._cost(at, record)
            if record.request_id:
                calls.requests[at] = record.request_id
            if _is_derived(record):
                calls.derived.add(at)
            raw = record.model
            if raw is UNSET:
                models.append(-1)
            else:
                raw = bytes(raw)
                model = known_model(raw)
                models.append(self._model(raw) if model is None else model)
            raw = record.ts
            if raw is UNSET:
                days.append(-1)
            else:
                raw = bytes(raw)
                day = known_day(raw[1:11]) if raw[-2:] == b'Z"' else None
                days.append(self._day(raw) if day is None else day)
            at += 1

    def add_call(
        self,
        row: int,
        tokens: tuple[int | None, int | None, int | None, int | None],
        model: str | None,
        ts: str | None,
        request: str | None,
        *,
        derived: bool,
    ) -> None:
        """Add a model call from values; `tokens` are input, read, written and output."""
        calls = self.calls
        at = len(calls.rows)
        calls.rows.append(row)
        fresh, read, written, output = tokens
        calls.tokens.extend((fresh or 0, read or 0, written or 0, output or 0, 0))
        if tokens == _UNKNOWN_TOKENS:
            calls.unmeasured.add(at)
        if request:
            calls.requests[at] = request
        if derived:
            calls.derived.add(at)
        calls.models.append(-1 if model is None else self._model_named(model))
        calls.days.append(-1 if ts is None else self._day_at(_encode(ts)))

    def _model_named(self, name: str) -> int:
        number = self._model_of.get(name)
        return _number(name, self._model_of, self.model_names) if number is None else number

    def _day_at(self, raw: bytes) -> int:
        day = self._days.get(raw[1:11]) if raw[-2:] == b'Z"' else None
        return self._day(raw) if day is None else day

    def _cost(self, at: int, record: Any) -> None:
        _, cost, faulty = _spend(UNSET, record.cost)
        if cost is not None:
            self.calls.costs[at] = cost
        if faulty:
            self.calls.faulty[at] = self.calls.faulty.get(at, ()) + faulty

    # -- Members ----------------------------------------------------------------------------

    def _model(self, raw: bytes) -> int:
        """The position of a model's name; -1 where there is none. Remembered by its bytes."""
        try:
            name = _model(raw).id
        except (msgspec.DecodeError, RecursionError):
            name = None
        number = -1 if name is None else _number(name, self._model_of, self.model_names)
        self._models[raw] = number
        return number

    def _day(self, raw: bytes) -> int:
        """The position of the UTC day of a time; -1 where it cannot be read as one."""
        name = _utc_day(_decoded_text(raw))
        if name is None:
            return -1
        number = _number(name, self._day_of, self.day_names)
        if raw[-2:] == b'Z"' and raw[1:11] == name.encode():
            self._days[raw[1:11]] = number  # times in UTC begin with their day
        return number


T = TypeVar("T")
R = TypeVar("R", DeclaredRow, Announced, Aggregate)
_first = itemgetter(0)


def _in_rows(found: Mapping[int, T], rows: Sequence[int]) -> dict[int, T]:
    """What was found by row, by the rows of the whole."""
    return {rows[row]: one for row, one in found.items() if rows[row] >= 0}


def _left(found: Iterable[R]) -> list[R]:
    """Those whose record is not left out, in the order of rows."""
    return sorted((one for one in found if one.row >= 0), key=attrgetter("row"))


class _Model(msgspec.Struct, gc=False):
    id: str | None = None


class _Repeats(msgspec.Struct, gc=False):
    repeats: str | None = None


_model = msgspec.json.Decoder(_Model).decode
_repeats = msgspec.json.Decoder(_Repeats).decode
_all_repeats = msgspec.json.Decoder(list[_Repeats]).decode
_native_of = attrgetter(attribute("native"))
_inference_id_source_of = attrgetter(attribute("inferenceIdSource"))
_NO_TOKENS = (0,) * len(TOKENS)
_encode = msgspec.json.Encoder().encode
_UNKNOWN_TOKENS = (None,) * 4
_NOTHING_SAID = read_usage(b"{}")
_all_usages = msgspec.json.Decoder(list[Usage]).decode


def _repeated(natives: Sequence[msgspec.Raw]) -> list[str | None]:
    """The member `repeats` of each; None where there is none, or none that can be read."""
    try:
        return [one.repeats for one in _all_repeats(b"[" + b",".join(natives) + b"]")]
    except (msgspec.DecodeError, RecursionError):
        return [_repeat(native) for native in natives]


def _repeat(native: msgspec.Raw) -> str | None:
    try:
        return _repeats(native).repeats
    except (msgspec.DecodeError, RecursionError):
        return None


def _usages(records: Sequence[Any]) -> list[Usage | None]:
    """The usage of each record; None where there is none, or none that can be read."""
    try:
        usages = _all_usages(b"[" + b",".join([record.usage for record in records]) + b"]")
    except (TypeError, msgspec.DecodeError, RecursionError):
        return [None if record.usage is UNSET else _said(record.usage) for record in records]
    return [None if usage == _NOTHING_SAID else usage for usage in usages]


def _said(raw: msgspec.Raw) -> Usage | None:
    usage = read_usage(raw)
    return None if usage == _NOTHING_SAID else usage


def _spend(usage: Any, cost: Any) -> tuple[Usage | None, dict[str, int] | None, tuple[Fault, ...]]:
    """What members `usage` and `cost` say, and what of them cannot be read."""
    faulty: list[Fault] = []
    tokens = money = None
    if usage is not UNSET and bytes(usage) != b"null":
        tokens = read_usage(usage)
        if tokens is None:
            faulty.append(_misfit("usage", usage))
        elif tokens == _NOTHING_SAID:
            tokens = None
    if cost is not UNSET and bytes(cost) != b"null":
        money = read_cost(cost)
        if money is None:
            faulty.append(_misfit("cost", cost))
    return tokens, money, tuple(faulty)


def _misfit(name: str, raw: Any) -> Fault:
    """What keeps a member of `SPEND` from being read, as a check of the whole line names it."""
    said = value(raw)
    found = misfit(name, said, SPEND[name])
    if found is not None:
        return found
    # Its type is right, so what is left is text without a UTF-8 form; the table has one free text.
    at = next(n for n, entry in enumerate(said) if not entry["currency"].isascii())
    try:
        bytes(raw).decode()
    except UnicodeDecodeError:
        return Fault("bad-utf8", f"$.{name}[{at}].currency")
    return Fault("lone-surrogate", f"$.{name}[{at}].currency")


def _decoded_text(raw: bytes) -> str | None:
    try:
        text = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return None
    return text if isinstance(text, str) else None


def _number(name: str, numbers: dict[str, int], names: list[str]) -> int:
    """The position of `name` in `names`, to which it is added where it is new."""
    number = numbers.setdefault(name, len(names))
    if number == len(names):
        names.append(name)
    return number


def _value(raw: Any) -> Any:
    return None if raw is UNSET else value(raw)


def _text(raw: Any) -> str | None:
    text = _value(raw)
    return text if isinstance(text, str) else None


def _is_derived(record: Any) -> bool:
    """Whether the inference ID is derived, by `inferenceIdSource`, or else by `idSource`."""
    source = _inference_id_source_of(record)
    if source is UNSET:
        source = record.id_source
    return source is not UNSET and (bytes(source) == b'"derived"' or _value(source) == "derived")


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
