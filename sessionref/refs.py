"""Refs: they name a record, an entity or a turn inside one stream (ASR-062 to 064, 075).

A ref has two written forms. In the JSON of a stream it is raw: nothing is encoded. After the ``#``
of a session reference its value is percent-encoded. `Ref.from_raw` and `Ref.raw` use the first
form, `Ref.from_fragment` and `Ref.fragment` the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

from sessionref._compiled import ENTITY_KEYS, RECORD_ID, REFERENCE, TURN_KEY
from sessionref._recognizers import compiled
from sessionref._values import Value, plain_text
from sessionref.diagnosis import diagnose_fragment
from sessionref.errors import InvalidReference
from sessionref.percent import decode, encode

if TYPE_CHECKING:
    from typing import TypeGuard

__all__ = ["ENTITY_KEYS", "EntityRef", "RecordRef", "Ref", "TurnRef"]

_SURROGATE = r"[\ud800-\udfff]"
_entity_keys = frozenset(ENTITY_KEYS)


class Ref(Value):
    """One of `RecordRef`, `EntityRef` and `TurnRef`. Ordered in that sequence, then by content."""

    __slots__ = ()

    #: "record", "entity" or "turn"
    kind: ClassVar[str]

    @staticmethod
    def from_raw(text: str) -> RecordRef | EntityRef | TurnRef:
        """The ref that the JSON of a stream writes as `text`, split at the first ``=``.

        Nothing is decoded. Raises `InvalidReference` with the code ``empty-ref``,
        ``unknown-entity-key`` or ``empty-value`` (ASR-062).
        """
        text = plain_text(text, "a ref")
        key, equals, value = text.partition("=")
        if not equals:
            return RecordRef(text)
        if key == TURN_KEY:
            if value:
                return TurnRef(value)
        elif key not in _entity_keys:
            raise InvalidReference(
                "unknown-entity-key",
                "ASR-062",
                "key",
                (0, len(key)),
                text,
                "not an entity key and not turnId",
            )
        elif value:
            return EntityRef(key, value)
        raise InvalidReference(
            "empty-value",
            "ASR-062",
            "value",
            (len(text), len(text)),
            text,
            "nothing follows the '='",
        )

    @staticmethod
    def from_fragment(text: str) -> RecordRef | EntityRef | TurnRef:
        """The ref that a session reference writes as `text` after its ``#``.

        Its value is percent-decoded, once. Raises `InvalidReference` exactly when a session
        reference with this ``#`` part would be invalid (ASR-059 to 061).
        """
        text = plain_text(text, "a ref")
        match = compiled(REFERENCE).fullmatch("x:x#" + text)
        if match is not None and match.lastindex is not None and match.lastindex > 3:  # noqa: PLR2004
            try:
                return build_ref(*match.group(4, 5, 6))
            except UnicodeDecodeError:
                pass
        raise next(diagnose_fragment(text))

    def _has_order_with(self, other: object) -> TypeGuard[Value]:
        return isinstance(other, Ref)

    def raw(self) -> str:
        """The form used in the JSON of a stream; nothing is encoded."""
        raise NotImplementedError

    def fragment(self) -> str:
        """The form used after the ``#`` of a session reference, minimally encoded.

        Raises `InvalidReference` if there is none: ``unencodable-record-id`` for a record ID
        that ASR-059 would have to encode, ``surrogate`` for a value with no UTF-8 form.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        return self.raw()


class _RecordRefFields:
    __slots__ = ("record_id",)
    record_id: str


@final
class RecordRef(_RecordRefFields, Ref):
    """Exactly the record with this record ID, not its revisions (ASR-063)."""

    __slots__ = ()
    __match_args__ = ("record_id",)
    kind = "record"

    def __new__(cls, record_id: str) -> RecordRef:
        """Raises `InvalidReference`: ``empty-ref``, or ``equals-in-record-id`` for a ``=``."""
        record_id = plain_text(record_id, "a record ID")
        if not record_id:
            raise InvalidReference(
                "empty-ref", "ASR-062", "record-id", (0, 0), record_id, "empty record ID"
            )
        equals = record_id.find("=")
        if equals >= 0:
            raise InvalidReference(
                "equals-in-record-id",
                "ASR-062",
                "record-id",
                (equals, equals + 1),
                record_id,
                "a record ID cannot hold '='",
            )
        return _make_record_ref(record_id)

    def raw(self) -> str:
        """The record ID."""
        return self.record_id

    def fragment(self) -> str:
        """The record ID, where every character of it may stand in a reference."""
        if compiled(RECORD_ID).fullmatch(self.record_id) is None:
            raise _refusal(self.record_id, "record-id")
        return self.record_id

    def order(self) -> tuple[Any, ...]:
        """What equality, hash and order compare."""
        return (0, "", self.record_id)

    def __repr__(self) -> str:
        return f"RecordRef({self.record_id!r})"

    def __reduce__(self) -> tuple[type[RecordRef], tuple[str]]:
        return (RecordRef, (self.record_id,))


class _EntityRefFields:
    __slots__ = ("key", "value")
    key: str
    value: str


@final
class EntityRef(_EntityRefFields, Ref):
    """The latest revision of the entity with this native key (ASR-064)."""

    __slots__ = ()
    __match_args__ = ("key", "value")
    kind = "entity"

    def __new__(cls, key: str, value: str) -> EntityRef:
        """Raises `InvalidReference`: ``unknown-entity-key`` or ``empty-value``."""
        key = plain_text(key, "an entity key")
        value = plain_text(value, "the value of an entity ref")
        if key not in _entity_keys:
            raise InvalidReference(
                "unknown-entity-key", "ASR-062", "key", (0, len(key)), key, "not an entity key"
            )
        if not value:
            raise InvalidReference("empty-value", "ASR-062", "value", (0, 0), value, "empty value")
        return _make_entity_ref(key, value)

    def raw(self) -> str:
        """``key=value``, the value as it is."""
        return f"{self.key}={self.value}"

    def fragment(self) -> str:
        """``key=value``, the value percent-encoded."""
        return f"{self.key}={_encoded(self.value)}"

    def order(self) -> tuple[Any, ...]:
        """What equality, hash and order compare."""
        return (1, self.key, self.value)

    def __repr__(self) -> str:
        return f"EntityRef({self.key!r}, {self.value!r})"

    def __reduce__(self) -> tuple[type[EntityRef], tuple[str, str]]:
        return (EntityRef, (self.key, self.value))


class _TurnRefFields:
    __slots__ = ("turn_id",)
    turn_id: str


@final
class TurnRef(_TurnRefFields, Ref):
    """The records whose envelope carries this ``turnId`` (ASR-075). A turn is not a record."""

    __slots__ = ()
    __match_args__ = ("turn_id",)
    kind = "turn"

    def __new__(cls, turn_id: str) -> TurnRef:
        """Raises `InvalidReference` with the code ``empty-value``."""
        turn_id = plain_text(turn_id, "a turn ID")
        if not turn_id:
            raise InvalidReference(
                "empty-value", "ASR-062", "value", (0, 0), turn_id, "empty turn ID"
            )
        return _make_turn_ref(turn_id)

    def raw(self) -> str:
        """``turnId=value``, the value as it is."""
        return f"{TURN_KEY}={self.turn_id}"

    def fragment(self) -> str:
        """``turnId=value``, the value percent-encoded."""
        return f"{TURN_KEY}={_encoded(self.turn_id)}"

    def order(self) -> tuple[Any, ...]:
        """What equality, hash and order compare."""
        return (2, "", self.turn_id)

    def __repr__(self) -> str:
        return f"TurnRef({self.turn_id!r})"

    def __reduce__(self) -> tuple[type[TurnRef], tuple[str]]:
        return (TurnRef, (self.turn_id,))


def _make_record_ref(record_id: str) -> RecordRef:
    made: Any = _RecordRefFields()
    made.record_id = record_id
    made.__class__ = RecordRef
    return made  # type: ignore[no-any-return]


def _make_entity_ref(key: str, value: str) -> EntityRef:
    made: Any = _EntityRefFields()
    made.key = key
    made.value = value
    made.__class__ = EntityRef
    return made  # type: ignore[no-any-return]


def _make_turn_ref(turn_id: str) -> TurnRef:
    made: Any = _TurnRefFields()
    made.turn_id = turn_id
    made.__class__ = TurnRef
    return made  # type: ignore[no-any-return]


def build_ref(key: str | None, value: str, record_id: str) -> RecordRef | EntityRef | TurnRef:
    """Make the ref from the groups that the recognizer matched; not public.

    Raises `UnicodeDecodeError` for octets that are not valid UTF-8.
    """
    made: Any
    if key is None:
        made = _RecordRefFields()
        made.record_id = record_id
        made.__class__ = RecordRef
        return made  # type: ignore[no-any-return]
    if "%" in value:
        value = decode(value)
    if key == TURN_KEY:
        return _make_turn_ref(value)
    made = _EntityRefFields()
    made.key = key
    made.value = value
    made.__class__ = EntityRef
    return made  # type: ignore[no-any-return]


def _encoded(value: str) -> str:
    refuse_surrogates(value, "value")
    return encode(value)


def refuse_surrogates(raw: str, component: str) -> None:
    """Raises `InvalidReference` where `raw` has no UTF-8 form (ASR-059, 060); not public."""
    if not raw.isascii() and compiled(_SURROGATE).search(raw):
        raise _refusal(raw, component)


def _refusal(raw: str, component: str) -> InvalidReference:
    """Why `raw` cannot stand in a reference, with the first place."""
    surrogate = compiled(_SURROGATE).search(raw)
    if surrogate is not None:
        return InvalidReference(
            "surrogate",
            "ASR-060",
            component,
            surrogate.span(),
            raw,
            f"surrogate code point in the {component}; it cannot be written as a reference",
        )
    good = compiled(RECORD_ID).match(raw)
    place = good.end() if good else 0
    return InvalidReference(
        "unencodable-record-id",
        "ASR-059",
        component,
        (place, place + 1),
        raw,
        "a reference cannot hold this record ID: the character would have to be percent-encoded",
    )
