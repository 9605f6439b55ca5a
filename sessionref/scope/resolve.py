"""What each collected reference means, by the table and the whole scope (ASR-079, 080)."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import msgspec

from sessionref.errors import InvalidReference
from sessionref.reference import SessionRef, parse
from sessionref.refs import ENTITY_KEYS, EntityRef, RecordRef, Ref, TurnRef, refuse_surrogates
from sessionref.scope.actors import ACTOR_FAULTS, actor_fault
from sessionref.scope.collect import (
    BITS,
    INCOMPLETE,
    MAY,
    OUT_OF_PLACE,
    SCOPED_ID,
    SCOPED_KEY,
    WRONG_SHAPE,
    is_text,
)
from sessionref.scope.fields import json_path
from sessionref.scope.session import Place
from sessionref.streams.ids import ordinal_of
from sessionref.streams.outcomes import Ambiguous, Resolved, Unresolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sessionref.scope.collect import Collected
    from sessionref.scope.fields import FieldTable, NullMeaning, ReferenceField
    from sessionref.scope.session import Account, Session
    from sessionref.streams.outcomes import Hit, Outcome

__all__ = ["REFERENCE_FAULTS", "Resolution", "Resolver", "outcome_in"]

#: The codes of what can be wrong with a reference itself, whatever it resolves to.
REFERENCE_FAULTS: dict[str, str] = {
    "bad-member": "the value has the wrong JSON type for a reference",
    "wrong-shape": "there is no such object or array where the reference should stand",
    "bad-reference": "the text is no reference by the grammar (ASR-061, 062)",
    "unexpected-ref": "a '#' part stands where only a session may be named",
    "turn-ref": "a turn ref stands where a record or an entity is required (ASR-075)",
    "entity-ref": "an entity ref stands where a record ID is required",
    "null-reference": "null stands where it means nothing (ASR-079)",
    "out-of-place": "the reference may not stand beside what the record says otherwise",
    "not-lower-seq": "the target has no lower seq",
    "other-type": "the target is a record of another type",
    "other-key": "the target has another entity key (ASR-065)",
    "claims-complete": "not all targets are there, and nothing says that they are not (ASR-079)",
    **ACTOR_FAULTS,
}

_NOTHING = Unresolved("invalid")


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """One reference of a stream, where it stands, and what it means.

    `field` is its row of the table, `value` what stood there, `at` the record, `path` the JSON path
    in it. `required` is whether a target must be there (ASR-079). `meaning` is what null means,
    where it is null and may be: then the outcome is resolved and has no records. `faults` are codes
    of `REFERENCE_FAULTS`; `error` says what is wrong with a text that is no reference.
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

    def named(self, ref: SessionRef) -> Session | None:
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
            outcomes.append(account.resolve(ref.ref))
    return _either(outcomes)


def _either(outcomes: Sequence[Outcome]) -> Outcome:
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
    order: tuple[int, int]
    place: Place


class _Read(NamedTuple):
    """What was made of a value: its outcome, or what is wrong with it."""

    outcome: Outcome
    fault: str | None = None
    error: InvalidReference | None = None
    foreign: bool = False
    target: Place | None = None


class Resolver:
    """Resolves the references of one account."""

    def __init__(self, scope: Sessions, account: Account) -> None:
        """For the references that stand in `account`, in that scope."""
        self._scope = scope
        self._account = account
        self._declared: dict[tuple[str, str], _Declared] | None = None
        self._ordinals: dict[Account, dict[int, list[list[Place]]]] = {}
        self._by_target: dict[str, Callable[[ReferenceField, Collected, Place], _Read]] = {
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
        for segment, capture in enumerate(self._account.captures):
            for collected in capture.references:
                yield self.resolve(segment, collected)

    def problems(self) -> Iterator[Resolution]:
        """As `all`, only those that are not exact; whatever is fine costs little."""
        return (resolution for _, resolution in self.problems_by_place())

    def problems_by_place(self) -> Iterator[tuple[Place, Resolution]]:
        """As `problems`, with the place of the record that has the reference."""
        for segment, capture in enumerate(self._account.captures):
            references = capture.references
            for number in self._doubtful(segment):
                collected = references[number]
                resolution = self.resolve(segment, collected)
                if not resolution.exact:
                    yield Place(segment, collected.row), resolution

    def resolve(self, segment: int, collected: Collected) -> Resolution:
        """What one collected reference means."""
        field = self._scope.table.rows[collected.field]
        place = Place(segment, collected.row)
        at = self._account.hit(place)
        path = json_path(field.member_steps, collected.indexes)
        required = field.requirement == "must" and not collected.flags & (MAY | INCOMPLETE)
        faults: list[str] = []
        meaning: NullMeaning | None = None
        if collected.flags & WRONG_SHAPE:
            read = _Read(_NOTHING, "wrong-shape")
            path = json_path(field.member_steps[: collected.beside], collected.indexes)
        elif collected.value is None:
            meaning = _meaning(field, collected)
            read = _Read(Resolved((), None)) if meaning else _Read(_NOTHING, "null-reference")
        else:
            read = self._by_target[field.target](field, collected, place)
        if field.requirement == "must-local":
            required = not read.foreign and collected.beside is None
        if read.fault is not None:
            faults.append(read.fault)
        elif meaning is None and not read.foreign:
            faults += self._broken(field, place, read.target)
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
            error=read.error,
        )

    # -- Kinds of targets ---------------------------------------------------------------------

    def _ref(self, field: ReferenceField, collected: Collected, place: Place) -> _Read:  # noqa: ARG002
        ref, fault = _ref_of(field, collected.value)
        if ref is None:
            return fault
        if field.session is None or (
            collected.beside is None and field.requirement == "must-local"
        ):
            outcome = self._account.resolve(ref)
            target = _one_place(self._account, ref) if isinstance(outcome, Resolved) else None
            return _Read(outcome, target=target)
        return self._elsewhere(collected.beside, lambda account: self._found(account, ref))

    def _elsewhere(self, beside: Any, find: Callable[[Account], Outcome]) -> _Read:
        """What `find` finds in the session that the member beside the reference names."""
        named = _parsed(beside)
        if not isinstance(named, SessionRef):
            return _Read(Unresolved("no-session-named"), foreign=True)
        canonical = named.key.canonical()
        session = self._scope.named(named)
        if session is None:
            return _Read(Unresolved("no-such-session", canonical), foreign=True)
        return _Read(_either([find(account) for account in session.accounts]), foreign=True)

    def _found(self, account: Account, ref: RecordRef | EntityRef | TurnRef) -> Outcome:
        """What `ref` means in an account, seen from another: capture-scoped IDs mean nothing."""
        outcome = account.resolve(ref)
        if account is self._account or not isinstance(outcome, Resolved):
            return outcome
        place = _one_place(account, ref)
        if place is None:
            return outcome
        bit = SCOPED_ID if isinstance(ref, RecordRef) else SCOPED_KEY
        if account.captures[place.segment].references.scope_of(place.row) & bit:
            return Unresolved("capture-scoped", account.session)
        return outcome

    def _session(self, field: ReferenceField, collected: Collected, place: Place) -> _Read:  # noqa: ARG002
        named = _parsed(collected.value)
        if not isinstance(named, SessionRef):
            return named
        if named.ref is not None and (
            field.target == "session" or not isinstance(named.ref, TurnRef)
        ):
            return _Read(_NOTHING, "unexpected-ref", foreign=True)
        return _Read(self._in_named(named), foreign=True)

    def _in_named(self, named: SessionRef) -> Outcome:
        canonical = named.key.canonical()
        session = self._scope.named(named)
        ref = named.ref
        if ref is None or session is None:
            return outcome_in(session, named, canonical)
        return _either([self._found(account, ref) for account in session.accounts])

    def _session_or_ref(self, field: ReferenceField, collected: Collected, place: Place) -> _Read:  # noqa: ARG002
        ref, fault = _ref_of(field, collected.value)
        named = _parsed(collected.value)
        if not isinstance(named, SessionRef):
            return fault if ref is None else _Read(self._account.resolve(ref))
        local = Unresolved("no-such-record") if ref is None else self._account.resolve(ref)
        if isinstance(local, Unresolved):
            return _Read(self._in_named(named), foreign=True)
        # The text is both a session reference and the ID of a record here.
        return _Read(_either([local, self._in_named(named)]), foreign=True)

    def _ordinal(self, field: ReferenceField, collected: Collected, place: Place) -> _Read:  # noqa: ARG002
        ordinal = collected.value
        if type(ordinal) is not int or ordinal < 0:
            return _Read(_NOTHING, "bad-member", foreign=True)

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
            return Ambiguous(tuple(account.hit(places[0]) for places in found), session)
        return Resolved(tuple(map(account.hit, found[0])), session)

    def _actor(self, field: ReferenceField, collected: Collected, place: Place) -> _Read:  # noqa: ARG002
        value = collected.value
        fault = actor_fault(value)
        if fault == "bad-actor" and isinstance(value, dict):
            # The rows of these two members say what is wrong with them.
            members = cast("dict[str, Any]", value)
            fault = actor_fault({**members, "session": None, "participant": ""})
        if fault is not None:
            return _Read(_NOTHING, fault)
        return _Read(Resolved((self._account.hit(place),), self._account.session))

    def _declaration(self, field: ReferenceField, collected: Collected, place: Place) -> _Read:
        name = collected.value
        if not isinstance(name, str):
            return _Read(_NOTHING, "bad-member")
        declared = self._declarations().get((field.target, name))
        if declared is None or not (
            declared.everywhere or declared.order < self._account.order(place)
        ):
            return _Read(Unresolved("not-declared", self._account.session))
        return _Read(Resolved((self._account.hit(declared.place),), self._account.session))

    def _declarations(self) -> dict[tuple[str, str], _Declared]:
        found = self._declared
        if found is None:
            found = self._declared = {}
            kinds = self._scope.table.declared
            for segment, capture in enumerate(self._account.captures):
                for row, number, name in capture.references.declarations:
                    kind = kinds[number]
                    place = Place(segment, row)
                    segment_order, seq = self._account.order(place)
                    # One that may be used at the same position counts as a little earlier.
                    order = (segment_order, seq - kind.same_position)
                    candidate = _Declared(row == 0, order, place)
                    known = found.get((kind.what, name))
                    if known is None or (not candidate.everywhere, order) < (
                        not known.everywhere,
                        known.order,
                    ):
                        found[kind.what, name] = candidate
        return found

    def _external(self, field: ReferenceField, collected: Collected, place: Place) -> _Read:  # noqa: ARG002
        if not isinstance(collected.value, str):
            return _Read(_NOTHING, "bad-member", foreign=True)
        return _Read(Unresolved("external"), foreign=True)

    # -- Constraints, and what is fine at once --------------------------------------------------

    def _broken(self, field: ReferenceField, place: Place, target: Place | None) -> Iterator[str]:
        """The constraints of the field that a resolved local target breaks (ASR-079)."""
        if target is None:
            return
        kind, _, value = self._account.captures[place.segment].index.place(place.row)
        other, _, other_value = self._account.captures[target.segment].index.place(target.row)
        if field.same_type and kind != other:
            yield "other-type"
        elif field.same_key and value != other_value:
            yield "other-key"
        if field.lower_seq and self._account.order(target) >= self._account.order(place):
            yield "not-lower-seq"

    def _doubtful(self, segment: int) -> Sequence[int]:
        """The numbers of the references of a segment of which it is not certain that all is well.

        Those of a field that asks for an entity, and for nothing else, are looked up together.
        """
        capture = self._account.captures[segment]
        references = capture.references
        if len(self._account.captures) > 1:
            return range(len(references))
        codes, values = references.codes, references.values
        doubtful: list[int] = []
        left = set(codes)
        for number, field in enumerate(self._scope.table.rows):
            code = number << BITS
            if code in left and field.key is not None and _asks_no_more(field):
                left.remove(code)
                named = set(compress(values, [other == code for other in codes]))
                missing = named.difference(capture.index.sole(field.key))
                if missing:
                    doubtful += [
                        at
                        for at, (other, value) in enumerate(zip(codes, values, strict=True))
                        if other == code and value in missing
                    ]
        if left:
            is_fine = self._fine(segment)
            rows = references.rows
            doubtful += [
                at
                for at, code in enumerate(codes)
                if code in left and not is_fine(rows[at], code, values[at])
            ]
        doubtful.sort()
        return doubtful

    def _fine(self, segment: int) -> Callable[[int, int, Any], bool]:
        """Tells of a row, a coded field and a value whether it is certain that nothing is wrong."""
        index = self._account.captures[segment].index
        types, seqs, own = index.types, index.seqs, index.values
        sole: dict[str | None, Mapping[str, int]] = {}
        plans: dict[int, tuple[str | None, bool, bool, bool, bool] | None] = {}
        for number, field in enumerate(self._scope.table.rows):
            if field.target in {"record", "structural", "entity"} and field.session is None:
                plans[number << BITS] = (
                    field.key,
                    field.target == "structural",
                    field.lower_seq,
                    field.same_type,
                    field.same_key,
                )
        plan_of = plans.get
        naming_sessions = {
            number << BITS
            for number, field in enumerate(self._scope.table.rows)
            if field.target == "session"
        }
        known: dict[str, bool] = {}

        def is_fine(row: int, code: int, value: Any) -> bool:
            plan = plan_of(code)
            if type(value) is not str:
                return False
            if plan is None:
                if code not in naming_sessions:
                    return False
                fine = known.get(value)
                if fine is None:
                    fine = known[value] = self._is_known(value)
                return fine
            key, structural, lower, same_type, same_key = plan
            if key is None and "=" in value:
                if not structural:
                    return False
                key, _, value = value.partition("=")
                if key == "turnId":
                    return False
            if key not in sole:
                # A value of another key than the seven may stand in any record; none resolves.
                sole[key] = index.sole(key) if key is None or key in ENTITY_KEYS else {}
            target = sole[key].get(value)
            return (
                target is not None
                and (not lower or seqs[target] < seqs[row])
                and (not same_type or types[target] == types[row])
                and (not same_key or own[target] == own[row])
            )

        return is_fine

    def _is_known(self, text: str) -> bool:
        """Whether `text` names one session of the scope, and nothing in it."""
        named = _parsed(text)
        return (
            isinstance(named, SessionRef)
            and named.ref is None
            and (session := self._scope.named(named)) is not None
            and not session.conflict
        )


def _asks_no_more(field: ReferenceField) -> bool:
    """Whether the field, a text, asks for nothing but that its target is there."""
    return (
        is_text(field)
        and field.session is None
        and not (field.lower_seq or field.same_type or field.same_key)
    )


def _one_place(account: Account, ref: RecordRef | EntityRef | TurnRef) -> Place | None:
    """The record that a ref resolves to, which it does; None for a turn."""
    if isinstance(ref, TurnRef):
        return None
    if isinstance(ref, RecordRef):
        return account.find(None, ref.record_id)[0]
    return account.find(ref.key, ref.value)[0]


def _meaning(field: ReferenceField, collected: Collected) -> NullMeaning | None:
    if field.null == "no-primary-head" and collected.indexes != (0,):
        return None
    return field.null


def _parsed(value: Any) -> SessionRef | _Read:
    if not isinstance(value, str):
        return _Read(_NOTHING, "bad-member", foreign=True)
    try:
        return parse(value)
    except InvalidReference as error:
        return _Read(_NOTHING, "bad-reference", error, foreign=True)


def _ref_of(
    field: ReferenceField, value: Any
) -> tuple[RecordRef | EntityRef | TurnRef | None, _Read]:
    """The ref that `value` is, where the field allows it; else None and what is wrong."""
    ref: RecordRef | EntityRef | TurnRef
    if not isinstance(value, str):
        return None, _Read(_NOTHING, "bad-member")
    try:
        refuse_surrogates(value, "ref")
        ref = Ref.from_raw(value) if field.key is None else EntityRef(field.key, value)
    except InvalidReference as error:
        return None, _Read(_NOTHING, "bad-reference", error)
    if isinstance(ref, TurnRef) and field.target not in {"turn-or-record", "session-or-ref"}:
        return None, _Read(_NOTHING, "turn-ref")
    if isinstance(ref, EntityRef) and field.target == "record":
        return None, _Read(_NOTHING, "entity-ref")
    return ref, _Read(_NOTHING)


def _ordinals(account: Account) -> dict[int, list[list[Place]]]:
    """By native ordinal, the items that have it, each with its records."""
    items: dict[tuple[int, int, str], list[Place]] = {}
    for place, hit in account:
        found = ordinal_of(hit.id)
        if found is not None:
            ordinal, which = found
            items.setdefault((ordinal, place.segment, which), []).append(place)
    by_ordinal: dict[int, list[list[Place]]] = {}
    for (ordinal, _, _), places in items.items():
        by_ordinal.setdefault(ordinal, []).append(places)
    return by_ordinal
