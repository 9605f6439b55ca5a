"""Taking the references out of records while a stream is read.

The table is compiled, for each record type, into the members to look at and a tree of steps below
each. A record without any of these members costs one comparison. Of a reference its value is kept,
the row, the field, and where in the record it stands, if that is in an array.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from msgspec import UNSET, Raw

from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE, MEMBERS
from sessionref.streams.observe import UNREADABLE, attribute, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessionref.scope.fields import FieldTable, ReferenceField
    from sessionref.streams.envelope import Envelope

__all__ = ["Collected", "Declaration", "References"]

#: Bits beside the number of a field: what the other members of the record say of the reference.
MAY: Final = 1
INCOMPLETE: Final = 2
OUT_OF_PLACE: Final = 4
WRONG_SHAPE: Final = 8
BITS: Final = 4

#: Bits of a row: what of it holds for one capture only (ASR-070).
SCOPED_ID: Final = 1
SCOPED_KEY: Final = 2

_ID_SCOPE = "idScope"
_CAPTURE = b'"capture"'
_DERIVED = b'"derived"'
_ABSENT: Any = object()
_EACH = "*"

_id_source: Callable[[Any], Any] = attrgetter(attribute("idSource"))


class Collected(NamedTuple):
    """A reference as it was taken out of a record.

    `row` is the place of the record in the index, `field` the number of the field in the table,
    `flags` the bits of this module. `value` is whatever stood there, `beside` what stood in the
    member that names the session, None where nothing did; of a wrong shape it is the number of
    steps that lead to it. `indexes` are the places in the arrays on the way.
    """

    row: int
    field: int
    flags: int
    value: Any
    beside: Any
    indexes: tuple[int, ...]


class Declaration(NamedTuple):
    """That the record in `row` declares `name`; `declared` is a number in the table."""

    row: int
    declared: int
    name: str


class _Node:
    """What is at one place of a record: rows whose value it is, and what may be below.

    The numbers of declarations are kept as their complements, which are negative.
    """

    __slots__ = ("below", "each", "rows")

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.below: dict[str, _Node] = {}
        self.each: _Node | None = None

    def add(self, steps: Sequence[str], number: int) -> None:
        node = self
        for step in steps:
            if step == _EACH:
                node.each = node = node.each or _Node()
            else:
                node = node.below.setdefault(step, _Node())
        node.rows.append(number)

    def first(self) -> int:
        """A reference field at or below this node, -1 where there is none."""
        waiting: list[_Node] = [self]
        for node in waiting:
            for number in node.rows:
                if number >= 0:
                    return number
            waiting.extend(node.below.values())
            if node.each is not None:
                waiting.append(node.each)
        return -1


class _Plan:
    """What to look at in the records of one type.

    `texts` are members that the envelope holds decoded, each with a field; `get` gives the raw ones
    at once, and `absent` is what it gives for a record that has none of them.
    """

    __slots__ = ("absent", "get", "get_key_source", "is_call", "nodes", "texts")

    def __init__(self, table: FieldTable, kind: str) -> None:
        nodes: dict[str, _Node] = {}
        self.texts: list[tuple[Callable[[Any], Any], int]] = []
        for number, row in table.of_type(kind):
            member, *steps = row.member_steps
            if member in MEMBERS and not steps:
                self.texts.append((attrgetter(attribute(member)), number))
            else:
                nodes.setdefault(member, _Node()).add(steps, number)
        if kind in _DECLARING:
            for number, declared in enumerate(table.declared):
                member, *steps = declared.steps
                nodes.setdefault(member, _Node()).add(steps, ~number)
        names = [*nodes, _ID_SCOPE]
        self.nodes: list[_Node | None] = [*nodes.values(), None]
        # A second name keeps the getter giving a tuple where there is but one.
        self.get: Callable[[Any], tuple[Any, ...]] = attrgetter(
            *map(attribute, names), attribute(_ID_SCOPE)
        )
        self.absent = (UNSET,) * (len(names) + 1)
        key = ENTITY_KEY_OF_TYPE.get(kind)
        self.is_call = key == "callId"
        self.get_key_source: Callable[[Any], Any] | None = (
            None if key is None else attrgetter(attribute(f"{key}Source"))
        )


#: The types whose records declare something.
_DECLARING = ("session", "declaration")


class _Compiled:
    """A table made ready, shared by all streams that are read with it."""

    def __init__(self, table: FieldTable) -> None:
        self.table = table
        self.plans: dict[str, _Plan] = {}
        self.members = frozenset(
            [
                _ID_SCOPE,
                "idSource",
                *(f"{key}Source" for key in ENTITY_KEY_OF_TYPE.values()),
                *(row.member_steps[0] for row in table.rows),
                *(declared.steps[0] for declared in table.declared),
                *(steps[0] for row in table.rows for steps in _other_steps(row)),
            ]
        )

    def plan(self, kind: str) -> _Plan:
        plan = _Plan(self.table, kind)
        # The types of a stream are what somebody wrote; few are kept.
        if len(self.plans) < _MAX_PLANS:
            self.plans[kind] = plan
        return plan


_MAX_PLANS = 1000


def _other_steps(row: ReferenceField) -> Iterator[tuple[str, ...]]:
    """The ways to the other members that a field looks at."""
    if row.session is not None:
        yield tuple(row.session.split("."))
    for condition in (row.may_if, row.incomplete_if, row.only_if):
        if condition is not None:
            yield condition.steps


_compiled = lru_cache(maxsize=16)(_Compiled)


class References:
    """The references of one stream, in the order of its records. An `Observer`.

    `declarations` are what its header and declarations declare.
    """

    def __init__(self, table: FieldTable) -> None:
        """For a stream that has yet to be read."""
        self._compiled = _compiled(table)
        self.members = self._compiled.members
        self.declarations: list[Declaration] = []
        self._rows = array("Q")
        self._codes = array("L")
        self._values: list[Any] = []
        self._indexes: dict[int, tuple[int, ...]] = {}
        self._beside: dict[int, Any] = {}
        self._scoped = bytearray()

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Collected]:
        return map(self.__getitem__, range(len(self._rows)))

    def __getitem__(self, number: int) -> Collected:
        code = self._codes[number]
        return Collected(
            self._rows[number],
            code >> BITS,
            code & ((1 << BITS) - 1),
            self._values[number],
            self._beside.get(number),
            self._indexes.get(number, ()),
        )

    def coded(self) -> Iterator[tuple[int, int, int, Any]]:
        """Number, row, field with its bits, and value of each reference, as fast as can be."""
        return zip(range(len(self._rows)), self._rows, self._codes, self._values, strict=True)

    def scope_of(self, row: int) -> int:
        """What of the record in `row` holds for this capture only, as bits of this module."""
        return self._scoped[row] if row < len(self._scoped) else 0

    def see(
        self,
        row: int,
        types: Sequence[str],
        records: Sequence[Envelope],
        contents: Sequence[bytes],  # noqa: ARG002 - what is needed of them is decoded
    ) -> None:
        """Take the references out of some records."""
        plans = self._compiled.plans
        rows, codes, values = self._rows, self._codes, self._values
        for at, (kind, record) in enumerate(zip(types, records, strict=True), row):
            plan = plans.get(kind)
            if plan is None:
                plan = self._compiled.plan(kind)
            for get, number in plan.texts:
                text = get(record)
                if text is not UNSET and text is not None:
                    rows.append(at)
                    codes.append(number << BITS)
                    values.append(text)
            present = plan.get(record)
            if present != plan.absent:
                self._take(at, record, plan, present)

    def _take(self, row: int, record: Envelope, plan: _Plan, present: Sequence[Raw | Any]) -> None:
        for node, raw in zip(plan.nodes, present, strict=False):
            if raw is UNSET:
                continue
            if node is None:
                if bytes(raw) == _CAPTURE:
                    self._note_scope(row, record, plan)
            else:
                self._walk(row, record, node, value(raw))

    def _note_scope(self, row: int, record: Envelope, plan: _Plan) -> None:
        scoped = self._scoped
        scoped.extend(bytes(row - len(scoped) + 1))
        bits = SCOPED_ID
        if plan.get_key_source is not None:
            source = plan.get_key_source(record)
            if source is UNSET and not plan.is_call:
                source = _id_source(record)
            if source is not UNSET and bytes(source) == _DERIVED:
                bits |= SCOPED_KEY
        scoped[row] = bits

    def _walk(self, row: int, record: Envelope, start: _Node, content: Any) -> None:
        waiting: list[tuple[_Node, Any, int, tuple[int, ...]]] = [(start, content, 1, ())]
        while waiting:
            node, here, depth, indexes = waiting.pop()
            for number in node.rows:
                if number >= 0:
                    self._note(row, record, number, here, indexes)
                elif type(here) is str:
                    self.declarations.append(Declaration(row, ~number, here))
            if here is None or not (node.below or node.each):
                continue
            if isinstance(here, dict) and node.below:
                members = cast("dict[str, Any]", here)
                waiting += [
                    (node.below[name], members[name], depth + 1, indexes)
                    for name in reversed(node.below)
                    if name in members
                ]
            elif isinstance(here, list) and node.each is not None:
                places = list(enumerate(cast("Sequence[Any]", here)))
                waiting += [
                    (node.each, element, depth + 1, (*indexes, place))
                    for place, element in reversed(places)
                ]
            elif not any(number >= 0 for number in node.rows):
                number = node.first()
                if number >= 0:
                    self._beside[len(self._rows)] = depth
                    self._keep(row, number << BITS | WRONG_SHAPE, here, indexes)

    def _note(
        self, row: int, record: Envelope, number: int, here: Any, indexes: tuple[int, ...]
    ) -> None:
        """Keep the reference `here`, unless it is none."""
        field = self._compiled.table.rows[number]
        if here is None and field.null is None and field.member_steps[-1] != _EACH:
            return
        if field.objects is not None and type(here) is dict:
            return
        flags = 0
        if field.may_if is not None and _at(record, field.may_if.steps) == field.may_if.value:
            flags |= MAY
        if (
            field.incomplete_if is not None
            and _at(record, field.incomplete_if.steps) == field.incomplete_if.value
        ):
            flags |= INCOMPLETE
        if field.only_if is not None and _at(record, field.only_if.steps) != field.only_if.value:
            flags |= OUT_OF_PLACE
        if field.session is not None:
            beside = _at(record, tuple(field.session.split(".")))
            if beside is not _ABSENT and beside is not None:
                self._beside[len(self._rows)] = beside
        self._keep(row, number << BITS | flags, here, indexes)

    def _keep(self, row: int, code: int, here: Any, indexes: tuple[int, ...]) -> None:
        if indexes:
            self._indexes[len(self._rows)] = indexes
        self._rows.append(row)
        self._codes.append(code)
        self._values.append(here)


def _at(record: Envelope, steps: Sequence[str]) -> Any:
    """The value at the end of `steps` in a record, `_ABSENT` where there is none."""
    here: Any = getattr(record, attribute(steps[0]))
    if type(here) is Raw:
        here = value(here)
    for step in steps[1:]:
        if not isinstance(here, dict):
            return _ABSENT
        here = cast("dict[str, Any]", here).get(step, _ABSENT)
    return _ABSENT if here is UNSET or here is UNREADABLE else here
