"""What each collected reference means, by the table and the whole scope (ASR-079, 080)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import msgspec

from sessionref.reference import SessionRef
from sessionref.refs import RecordRef, TurnRef
from sessionref.scope.actors import actor_fault
from sessionref.scope.collect import (
    INCOMPLETE,
    MAY,
    OUT_OF_PLACE,
    SCOPED_ID,
    SCOPED_KEY,
    WRONG_SHAPE,
)
from sessionref.scope.fields import json_path
from sessionref.scope.values import Flaw, read_ordinal, read_ref, read_session, session_of
from sessionref.streams.header import HEADER_TYPE
from sessionref.streams.ids import ordinal_of
from sessionref.streams.outcomes import Ambiguous, Resolved, Unresolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from sessionref.errors import InvalidReference
    from sessionref.scope.capture import Capture
    from sessionref.scope.collect import Collected
    from sessionref.scope.fields import FieldTable, NullMeaning, ReferenceField
    from sessionref.scope.session import Account, Session
    from sessionref.scope.values import AnyRef
    from sessionref.streams.outcomes import Hit, Outcome

__all__ = ["Resolution", "Resolver", "either", "outcome_in"]

_NOTHING = Unresolved("invalid")


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """One reference of a stream, where it stands, and what it means.

    `field` is its row of the table, `value` what stood there, `at` the record, `path` the JSON path
    in it. `required` is whether a target must be there (ASR-079). `meaning` is what null means,
    where it is null and may be: then the outcome is resolved and has no records. `faults` are codes
    of `data/codes.toml`; `error` says what is wrong with a text that is no reference.
    """

    field: ReferenceField
    value: Any
    at: Hit
    path: str
    required: bool
    outcome: Outcome
    meaning: NullMeaning | None = None
    faults: tuple[str, ...] = ()
    error: InvalidReference | None = None

    @property
    def exact(self) -> bool:
        """Whether the reference names one thing and nothing is wrong with it (ASR-080)."""
        return self.outcome.exact and not self.faults


class Sessions(Protocol):
    """The sessions of a scope, as far as resolving needs them."""

    @property
    def table(self) -> FieldTable:
        """The table of reference fields."""
        ...

    def session(self, key: SessionRef) -> Session | None:
        """The session that a reference names."""
        ...

    def counts_ordinals(self, account: Account) -> bool:
        """Whether the registry says how native ordinals of the session map to its records."""
        ...


def outcome_in(session: Session | None, ref: SessionRef, canonical: str) -> Outcome:
    """What `ref` means, which names `session`, or one that is not in scope.

    In a session whose captures contradict each other nothing is chosen: what any of them has is a
    candidate (ASR-050, 079).
    """
    if session is None:
        return Unresolved("no-such-session", canonical)
    outcomes: list[Outcome] = []
    for account in session.accounts:
        if ref.ref is None:
            header = account.header
            outcomes.append(Resolved(() if header is None else (header,), canonical))
        else:
            outcomes.append(account.index.resolve(ref.ref))
    return either(outcomes)


def either(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome where it is open which of several sides is meant; that of the only side."""
    first = outcomes[0]
    if len(outcomes) == 1:
        return first
    candidates: list[Hit] = []
    for outcome in outcomes:
        if isinstance(outcome, Resolved):
            candidates += outcome.records
        elif isinstance(outcome, Ambiguous):
            candidates += outcome.candidates
    return Ambiguous(tuple(candidates), first.session) if candidates else first


class _Declared(NamedTuple):
    """Where something is declared first."""

    everywhere: bool
    order: int
    row: int


class _Read(NamedTuple):
    """What was made of a value: its outcome, or what is wrong with it.

    `foreign` where it names something outside of the stream, `target` is the record that it names
    in the stream, where that is one.
    """

    outcome: Outcome
    flaw: Flaw | None = None
    foreign: bool = False
    target: int | None = None


class Resolver:
    """Resolves the references of one account."""

    def __init__(self, scope: Sessions, account: Account) -> None:
        """For the references that stand in `account`, in that scope."""
        self._scope = scope
        self._account = account
        self._index = account.index
        self._declared: dict[tuple[str, str], _Declared] | None = None
        self._ordinals: dict[Account, dict[int, list[list[int]]]] = {}
        self._by_target: dict[str, Callable[[ReferenceField, Collected], _Read]] = {
            "record": self._ref,
            "structural": self._ref,
            "turn-or-record": self._ref,
            "entity": self._ref,
            "session": self._session,
            "session-or-turn": self._session,
            "session-or-ref": self._session_or_ref,
            "ordinal": self._ordinal,
            "actor": self._actor,
            "participant": self._declaration,
            "root": self._declaration,
            "conversation": self._declaration,
            "external": self._external,
        }

    def all(self) -> Iterator[Resolution]:
        """Every reference of the account, in the order of its records."""
        return map(self.resolve, self._account.references)

    def problems(self) -> Iterator[Resolution]:
        """As `all`, only those that are not exact."""
        return (resolution for _, resolution in self.problems_by_row())

    def problems_by_row(self) -> Iterator[tuple[int, Resolution]]:
        """As `problems`, with the row of the record that has the reference."""
        for collected in self._account.references:
            resolution = self.resolve(collected)
            if not resolution.exact:
                yield collected.row, resolution

    def problems_in(self, rows: Collection[int]) -> Iterator[Resolution]:
        """As `problems`, of the records in `rows` only."""
        references = self._account.references
        for number, row in enumerate(references.rows):
            if row in rows:
                resolution = self.resolve(references[number])
                if not resolution.exact:
                    yield resolution

    def resolve(self, collected: Collected) -> Resolution:
        """What one collected reference means."""
        field = self._scope.table.rows[collected.field]
        at = self._index.hit(collected.row)
        path = json_path(field.member_steps, collected.indexes)
        required = field.requirement == "must" and not collected.flags & (MAY | INCOMPLETE)
        faults: list[str] = []
        meaning: NullMeaning | None = None
        if collected.flags & WRONG_SHAPE:
            read = _Read(_NOTHING, Flaw("wrong-shape"))
            path = json_path(field.member_steps[: collected.beside], collected.indexes)
        elif collected.value is None:
            meaning = _meaning(field, collected)
            read = _Read(Resolved((), None)) if meaning else _Read(_NOTHING, Flaw("null-reference"))
        else:
            read = self._by_target[field.target](field, collected)
        if field.requirement == "must-local":
            required = not read.foreign and collected.beside is None
        if read.flaw is not None:
            faults.append(read.flaw.code)
        elif meaning is None and not read.foreign:
            faults += self._broken(field, collected.row, read.target)
        if collected.flags & OUT_OF_PLACE:
            faults.append("out-of-place")
        if (
            field.incomplete_if is not None
            and not collected.flags & INCOMPLETE
            and not read.outcome.exact
        ):
            faults.append("claims-complete")
        return Resolution(
            field=field,
            value=collected.value,
            at=at,
            path=path,
            required=required,
            outcome=read.outcome,
            meaning=meaning,
            faults=tuple(faults),
            error=None if read.flaw is None else read.flaw.error,
        )

    # -- Kinds of targets ---------------------------------------------------------------------

    def _ref(self, field: ReferenceField, collected: Collected) -> _Read:
        ref = read_ref(field, collected.value)
        if isinstance(ref, Flaw):
            return _Read(_NOTHING, ref)
        if field.session is None or (
            collected.beside is None and field.requirement == "must-local"
        ):
            outcome = self._index.resolve(ref)
            target = _one_row(self._account, ref) if isinstance(outcome, Resolved) else None
            return _Read(outcome, target=target)
        return self._elsewhere(collected.beside, lambda account: self._found(account, ref))

    def _elsewhere(self, beside: Any, find: Callable[[Account], Outcome]) -> _Read:
        """What `find` finds in the session that the member beside the reference names."""
        named = session_of(beside) if isinstance(beside, str) else None
        if not isinstance(named, SessionRef):
            return _Read(Unresolved("no-session-named"), foreign=True)
        canonical = named.key.canonical()
        session = self._scope.session(named)
        if session is None:
            return _Read(Unresolved("no-such-session", canonical), foreign=True)
        return _Read(either([find(account) for account in session.accounts]), foreign=True)

    def _found(self, account: Account, ref: AnyRef) -> Outcome:
        """What `ref` means in an account, seen from another: capture-scoped IDs mean nothing."""
        outcome = account.index.resolve(ref)
        if account is self._account or not isinstance(outcome, Resolved):
            return outcome
        row = _one_row(account, ref)
        if row is None:
            return outcome
        bit = SCOPED_ID if isinstance(ref, RecordRef) else SCOPED_KEY
        if account.references.scope_of(row) & bit:
            return Unresolved("capture-scoped", account.session)
        return outcome

    def _session(self, field: ReferenceField, collected: Collected) -> _Read:
        named = read_session(field, collected.value)
        if isinstance(named, Flaw):
            return _Read(_NOTHING, named, foreign=True)
        return _Read(self._in_named(named), foreign=True)

    def _in_named(self, named: SessionRef) -> Outcome:
        canonical = named.key.canonical()
        session = self._scope.session(named)
        ref = named.ref
        if ref is None or session is None:
            return outcome_in(session, named, canonical)
        return either([self._found(account, ref) for account in session.accounts])

    def _session_or_ref(self, field: ReferenceField, collected: Collected) -> _Read:
        ref = read_ref(field, collected.value)
        named = read_session(field, collected.value)
        if isinstance(named, Flaw):
            if isinstance(ref, Flaw):
                return _Read(_NOTHING, ref)
            return _Read(self._index.resolve(ref))
        local = Unresolved("no-such-record") if isinstance(ref, Flaw) else self._index.resolve(ref)
        if isinstance(local, Unresolved):
            return _Read(self._in_named(named), foreign=True)
        # The text is both a session reference and the ID of a record here.
        return _Read(either([local, self._in_named(named)]), foreign=True)

    def _ordinal(self, field: ReferenceField, collected: Collected) -> _Read:  # noqa: ARG002 - as the others
        ordinal = read_ordinal(collected.value)
        if isinstance(ordinal, Flaw):
            return _Read(_NOTHING, ordinal, foreign=True)

        def find(account: Account) -> Outcome:
            return self._at_ordinal(account, ordinal)

        return self._elsewhere(collected.beside, find)

    def _at_ordinal(self, account: Account, ordinal: int) -> Outcome:
        """The records that come from the native position, where that is one (ASR-079, 409)."""
        session = account.session
        by_ordinal = self._ordinals.get(account)
        if by_ordinal is None:
            by_ordinal = self._ordinals[account] = (
                _ordinals(account) if self._scope.counts_ordinals(account) else {}
            )
        found = by_ordinal.get(ordinal)
        if found is None:
            return Unresolved("no-such-ordinal", session)
        if len(found) > 1:
            return Ambiguous(tuple(account.index.hit(rows[0]) for rows in found), session)
        return Resolved(tuple(map(account.index.hit, found[0])), session)

    def _actor(self, field: ReferenceField, collected: Collected) -> _Read:  # noqa: ARG002 - as the others
        value = collected.value
        fault = actor_fault(value)
        if fault == "bad-actor" and isinstance(value, dict):
            # The rows of these two members say what is wrong with them.
            members = cast("dict[str, Any]", value)
            fault = actor_fault({**members, "session": None, "participant": ""})
        if fault is not None:
            return _Read(_NOTHING, Flaw(fault))
        return _Read(Resolved((self._index.hit(collected.row),), self._account.session))

    def _declaration(self, field: ReferenceField, collected: Collected) -> _Read:
        name = collected.value
        if not isinstance(name, str):
            return _Read(_NOTHING, Flaw("bad-member"))
        declared = self._declarations().get((field.target, name))
        if declared is None or not (
            declared.everywhere or declared.order < self._index.order[collected.row]
        ):
            return _Read(Unresolved("not-declared", self._account.session))
        return _Read(Resolved((self._index.hit(declared.row),), self._account.session))

    def _declarations(self) -> dict[tuple[str, str], _Declared]:
        found = self._declared
        if found is None:
            found = self._declared = {}
            kinds = self._scope.table.declared
            for row, number, name in self._account.references.declarations:
                kind = kinds[number]
                # One that may be used at the same position counts as a little earlier.
                order = self._index.order[row] - kind.same_position
                candidate = _Declared(self._index.types[row] == HEADER_TYPE, order, row)
                known = found.get((kind.what, name))
                if known is None or (not candidate.everywhere, order) < (
                    not known.everywhere,
                    known.order,
                ):
                    found[kind.what, name] = candidate
        return found

    def _external(self, field: ReferenceField, collected: Collected) -> _Read:  # noqa: ARG002 - as the others
        if not isinstance(collected.value, str):
            return _Read(_NOTHING, Flaw("bad-member"), foreign=True)
        return _Read(Unresolved("external"), foreign=True)

    # -- Constraints ----------------------------------------------------------------------------

    def _broken(self, field: ReferenceField, row: int, target: int | None) -> Iterator[str]:
        """The constraints of the field that a resolved local target breaks (ASR-079)."""
        if target is None:
            return
        index = self._index
        if field.same_type and index.types[row] != index.types[target]:
            yield "other-type"
        elif field.same_key and index.values[row] != index.values[target]:
            yield "other-key"
        if field.lower_seq and index.order[target] >= index.order[row]:
            yield "not-lower-seq"


def _one_row(account: Account, ref: AnyRef) -> int | None:
    """The row of the record that a ref resolves to, which it does; None for a turn."""
    if isinstance(ref, TurnRef):
        return None
    if isinstance(ref, RecordRef):
        return account.index.rows_of(None, ref.record_id)[0]
    return account.index.rows_of(ref.key, ref.value)[0]


def _meaning(field: ReferenceField, collected: Collected) -> NullMeaning | None:
    if field.null == "no-primary-head" and collected.indexes != (0,):
        return None
    return field.null


def _ordinals(account: Account) -> dict[int, list[list[int]]]:
    """By native ordinal, the items that have it, each with the rows of its records."""
    items: dict[tuple[int, Capture, str], list[int]] = {}
    for row, hit in enumerate(account.index):
        found = ordinal_of(hit.id)
        if found is not None:
            ordinal, which = found
            items.setdefault((ordinal, account.origin(row)[0], which), []).append(row)
    by_ordinal: dict[int, list[list[int]]] = {}
    for (ordinal, _, _), rows in items.items():
        by_ordinal.setdefault(ordinal, []).append(rows)
    return by_ordinal
