"""Taking the references out of records while a stream is read.

The table is compiled, for the members that the records of a batch may have, into members that hold
text, which are taken out of all records at once, and for each record type into the others to look
at with a tree of steps below each. What no record has costs nothing. Of a reference its value is
kept, the row, the field, and where in the record it stands, if that is in an array.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import count
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from msgspec import UNSET, Raw

from sessionref.streams.envelope import ENTITY_KEY_OF_TYPE, MEMBERS
from sessionref.streams.json import UNREADABLE, value
from sessionref.streams.observe import attribute, held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sessionref.scope.fields import FieldTable, ReferenceField
    from sessionref.streams.envelope import Envelope

__all__ = ["Collected", "Declaration", "References", "is_text"]

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
_first, _second, _third = map(itemgetter, range(3))
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


#: Row, field and bits, value, places in arrays, and what stands beside, as in `Collected`.
_Taken: TypeAlias = tuple[int, int, Any, tuple[int, ...], Any]


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
    """What to look at, beside texts, in the records of one type.

    `get` gives these members at once, and `absent` is what it gives for a record that has none.
    """

    __slots__ = ("absent", "get", "get_key_source", "is_call", "nodes")

    def __init__(self, nodes: dict[str, _Node | None], kind: str) -> None:
        names = [*nodes]
        self.nodes = [*nodes.values()]
        # A second name keeps the getter giving a tuple where there is but one.
        self.get: Callable[[Any], tuple[Any, ...]] = attrgetter(
            *map(attribute, names), attribute(names[-1])
        )
        self.absent = (UNSET,) * (len(names) + 1)
        key = ENTITY_KEY_OF_TYPE.get(kind)
        self.is_call = key == "callId"
        self.get_key_source: Callable[[Any], Any] | None = (
            None if key is None else attrgetter(attribute(f"{key}Source"))
        )


class _Text(NamedTuple):
    """A member that is a reference as it is, decoded already: its field, and what gets it."""

    number: int
    get: Callable[[Any], Any]


class _Look:
    """What to look at in records that have no members beyond `members`."""

    __slots__ = ("_members", "_plans", "_table", "texts")

    def __init__(self, table: FieldTable, members: frozenset[str]) -> None:
        self._table = table
        self._members = members
        self._plans: dict[str, _Plan | None] = {}
        self.texts = [
            _Text(number, attrgetter(attribute(row.member_steps[0])))
            for number, row in enumerate(table.rows)
            if is_text(row) and row.member_steps[0] in members
        ]

    def plans(self, kinds: Iterable[str]) -> dict[str, _Plan]:
        """The plans of those types of records that have anything beside texts."""
        known = self._plans
        found: dict[str, _Plan] = {}
        for kind in kinds:
            if kind in known:
                plan = known[kind]
            else:
                plan = self._plan(kind)
                # The types of a stream are what somebody wrote; few are kept.
                if len(known) < _MAX_PLANS:
                    known[kind] = plan
            if plan is not None:
                found[kind] = plan
        return found

    def _plan(self, kind: str) -> _Plan | None:
        nodes: dict[str, _Node | None] = {}
        for number, row in self._table.of_type(kind):
            if not is_text(row):
                self._add(nodes, row.member_steps, number)
        if kind in _DECLARING:
            for number, declared in enumerate(self._table.declared):
                self._add(nodes, declared.steps, ~number)
        if _ID_SCOPE in self._members:
            nodes[_ID_SCOPE] = None
        return _Plan(nodes, kind) if nodes else None

    def _add(self, nodes: dict[str, _Node | None], steps: Sequence[str], number: int) -> None:
        member, *below = steps
        if member in self._members:
            node = nodes[member] = nodes.get(member) or _Node()
            node.add(below, number)


def is_text(row: ReferenceField) -> bool:
    """Whether the field is a member that the envelope holds decoded."""
    return row.member_steps[0] in MEMBERS and len(row.member_steps) == 1


#: The types whose records declare something.
_DECLARING = ("session", "declaration")


class _Compiled:
    """A table made ready, shared by all streams that are read with it."""

    def __init__(self, table: FieldTable) -> None:
        self.table = table
        self._looks: dict[frozenset[str], _Look] = {}
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

    def look(self, present: frozenset[str]) -> _Look:
        """What to look at in records that have no members but `present`."""
        members = self.members.union(MEMBERS).intersection(present)
        look = self._looks.get(members)
        if look is None:
            if len(self._looks) == _MAX_LOOKS:
                self._looks.clear()
            look = self._looks[members] = _Look(self.table, members)
        return look


#: How many sets of members are known at a time, and how many types of records for each.
_MAX_LOOKS = 64
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
        """For a stream that has yet to be read.

        `rows`, `codes` (fields with their bits) and `values` are of each reference, `fields` the
        numbers of the fields that have any; not to be changed.
        """
        self._compiled = _compiled(table)
        self.members = self._compiled.members
        self.declarations: list[Declaration] = []
        self.rows = array("Q")
        self.codes = array("L")
        self.values: list[Any] = []
        self._indexes: dict[int, tuple[int, ...]] = {}
        self._beside: dict[int, Any] = {}
        self._scoped = bytearray()
        #: References that were taken out of the batch at hand, beside texts.
        self._taken: list[_Taken] = []
        #: The numbers of the fields that have any.
        self.fields: set[int] = set()

    @classmethod
    def joined(cls, parts: Sequence[tuple[References, Sequence[int]]]) -> References:
        """The references of several captures together.

        Each part has the row of each of its records in the whole, -1 for a record that is left out.
        """
        whole = cls(parts[0][0]._compiled.table)  # noqa: SLF001 - of this class
        for part, rows in parts:
            whole.fields |= part.fields
            whole.declarations += [
                one._replace(row=rows[one.row]) for one in part.declarations if rows[one.row] >= 0
            ]
            for row, bits in enumerate(part._scoped):  # noqa: SLF001
                if bits and rows[row] >= 0:
                    whole._scope(rows[row], bits)
        found = sorted(
            (rows[row], number, at)
            for number, (part, rows) in enumerate(parts)
            for at, row in enumerate(part.rows)
            if rows[row] >= 0
        )
        for row, number, at in found:
            part = parts[number][0]
            if at in part._indexes:  # noqa: SLF001
                whole._indexes[len(whole.rows)] = part._indexes[at]  # noqa: SLF001
            if at in part._beside:  # noqa: SLF001
                whole._beside[len(whole.rows)] = part._beside[at]  # noqa: SLF001
            whole.rows.append(row)
            whole.codes.append(part.codes[at])
            whole.values.append(part.values[at])
        return whole

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Collected]:
        return map(self.__getitem__, range(len(self.rows)))

    def __getitem__(self, number: int) -> Collected:
        code = self.codes[number]
        return Collected(
            self.rows[number],
            code >> BITS,
            code & ((1 << BITS) - 1),
            self.values[number],
            self._beside.get(number),
            self._indexes.get(number, ()),
        )

    def coded(self) -> Iterator[tuple[int, int, int, Any]]:
        """Number, row, field with its bits, and value of each reference, as fast as can be."""
        return zip(range(len(self.rows)), self.rows, self.codes, self.values, strict=True)

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
        look = self._compiled.look(held(records))
        kinds = set(types)
        found: list[tuple[int, int, Any]] = []
        table = self._compiled.table.rows
        for number, get in look.texts:
            field = table[number]
            on = {kind for kind in kinds if field.stands_on(kind)}
            if not on:
                continue
            code = number << BITS
            found += [
                (at, code, text)
                for at, kind, text in zip(count(row), types, map(get, records))
                if text is not UNSET and text is not None and kind in on
            ]
        plans = look.plans(kinds)
        if plans:
            for at, kind in enumerate(types):
                if kind in plans:
                    plan, record = plans[kind], records[at]
                    present = plan.get(record)
                    if present != plan.absent:
                        self._take(row + at, record, plan, present)
        self._add(found)

    def _add(self, texts: list[tuple[int, int, Any]]) -> None:
        """Add the references of a batch, those in texts and those taken, record by record."""
        found: Sequence[tuple[Any, ...]] = texts
        if self._taken:
            found = [*texts, *self._taken]
            self._taken.clear()
        if not found:
            return
        # Where one field alone has any they are in order, which the sort sees at once.
        found = sorted(found, key=_first)
        if len(found) > len(texts):
            for number, (_, _, _, *more) in enumerate(found, len(self.rows)):
                if more:
                    indexes, beside = more
                    if indexes:
                        self._indexes[number] = indexes
                    if beside is not None:
                        self._beside[number] = beside
        codes: list[int] = list(map(_second, found))
        self.rows.fromlist(list(map(_first, found)))
        self.codes.fromlist(codes)
        self.values += map(_third, found)
        self.fields.update({code >> BITS for code in set(codes)})

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
        bits = SCOPED_ID
        if plan.get_key_source is not None:
            source = plan.get_key_source(record)
            if source is UNSET and not plan.is_call:
                source = _id_source(record)
            if source is not UNSET and bytes(source) == _DERIVED:
                bits |= SCOPED_KEY
        self._scope(row, bits)

    def _scope(self, row: int, bits: int) -> None:
        scoped = self._scoped
        scoped.extend(bytes(max(0, row - len(scoped) + 1)))
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
                    code = number << BITS | WRONG_SHAPE
                    self._taken.append((row, code, cast("Any", here), indexes, depth))

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
        beside = None
        if field.session is not None:
            beside = _at(record, tuple(field.session.split(".")))
            if beside is _ABSENT:
                beside = None
        self._taken.append((row, number << BITS | flags, here, indexes, beside))


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
