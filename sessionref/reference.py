"""Session keys and session references (ASR-050, 051, 054, 056, 058 to 061).

Four relations are easily confused, so each has its own expression: two texts are the same text
(``a == b`` on `str`), the same reference (``parse(a) == parse(b)``: key and ref, not spelling), the
same session (``.key == .key``), or the same session under a registry with more agents than the
built-in one (``key_under(registry)``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, final

from sessionref._compiled import AGENT_NAME, CANONICAL, PLAIN, REFERENCE
from sessionref._names import SHORT_NAMES
from sessionref._recognizers import compiled
from sessionref._values import Value, plain_text
from sessionref.diagnosis import diagnose, diagnose_agent
from sessionref.errors import InvalidReference
from sessionref.percent import decode, encode
from sessionref.refs import Ref, build_ref, refuse_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import NotRequired

    from sessionref.refs import EntityRef, RecordRef, TurnRef

    AnyRef = RecordRef | EntityRef | TurnRef

__all__ = [
    "SessionKey",
    "SessionRef",
    "StructuredReference",
    "canonical",
    "check",
    "check_all",
    "digest",
    "is_canonical",
    "parse",
    "try_parse",
]

_plain = re.compile(PLAIN).fullmatch
_canonical_name = SHORT_NAMES.get
_KEEP: Any = object()
_hash: Any = None


class _Names(Protocol):
    """What a registry knows of names."""

    def canonical_name(self, name: str, /) -> str: ...


class StructuredReference(TypedDict):
    """A reference as manifests carry it: its parts, all raw; `ref` is a raw ref."""

    agent: str
    namespace: NotRequired[str]
    sessionId: str
    ref: NotRequired[str]


class _SessionKeyFields:
    __slots__ = ("agent", "namespace", "session_id")
    agent: str
    namespace: str | None
    session_id: str


@final
class SessionKey(_SessionKeyFields, Value):
    """What identifies a session: agent, namespace, session ID (ASR-050).

    `agent` is held by its canonical name, the short one where the built-in registry has one, so
    equal keys are equal field by field. `namespace` is None for none. Ordered by these fields, a
    key without a namespace before one with. Raises `InvalidReference` for parts that make no key.
    """

    __slots__ = ()
    __match_args__ = ("agent", "namespace", "session_id")

    def __new__(cls, agent: str, namespace: str | None, session_id: str) -> SessionKey:
        """From raw parts."""
        agent, namespace, session_id = _raw_parts(agent, namespace, session_id)
        return _make_key(_canonical_name(agent, agent), namespace, session_id)

    def canonical(self) -> str:
        """The canonical form: what is hashed and stored. It never holds a ``#`` part."""
        if self.namespace is None:
            return f"{self.agent}:{encode(self.session_id)}"
        return f"{self.agent}:{encode(self.namespace)}:{encode(self.session_id)}"

    def digest(self) -> str:
        """``sha256:`` and the lower-case hex SHA-256 of the canonical form's UTF-8 octets."""
        return _sha256(self.canonical())

    def file_stem(self) -> str:
        """A file name without extension that no two sessions share.

        The agent's name and the whole digest: a reference is no path (ASR-053), and a shortened ID
        is no identity.
        """
        return f"{self.agent}-{self.digest().removeprefix('sha256:')}"

    def at(self, ref: AnyRef | None = None) -> SessionRef:
        """A reference to this session, or to what `ref` names in it."""
        return SessionRef(self.agent, self.namespace, self.session_id, ref)

    def order(self) -> tuple[Any, ...]:
        """What equality, hash and order compare."""
        return (self.agent, self.namespace is not None, self.namespace or "", self.session_id)

    def __str__(self) -> str:
        return self.canonical()

    def __repr__(self) -> str:
        return f"SessionKey({self.agent!r}, {self.namespace!r}, {self.session_id!r})"

    def __reduce__(self) -> tuple[Callable[..., SessionKey], tuple[Any, ...]]:
        # Not the class: it would give the agent its name in the built-in registry again.
        return (_make_key, (self.agent, self.namespace, self.session_id))


class _SessionRefFields:
    __slots__ = ("agent", "namespace", "ref", "session_id")
    agent: str
    namespace: str | None
    session_id: str
    ref: AnyRef | None


@final
class SessionRef(_SessionRefFields, Value):
    """A reference to a session, or to a record, entity or turn in it (ASR-061).

    All parts are decoded; `agent` is the name as it was given, `namespace` and `ref` are None where
    absent. The constructor takes raw parts and builds exactly what `parse` accepts; it raises
    `InvalidReference`, and `TypeError` for what is no text. Equality, hash and order go by `key`
    and `ref`, not by spelling.
    """

    __slots__ = ()
    __match_args__ = ("agent", "namespace", "session_id", "ref")

    def __new__(
        cls, agent: str, namespace: str | None, session_id: str, ref: AnyRef | None = None
    ) -> SessionRef:
        """From raw parts."""
        agent, namespace, session_id = _raw_parts(agent, namespace, session_id)
        if ref is not None:
            if not isinstance(ref, Ref):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"ref is a Ref, not {type(ref).__name__}")
            ref.fragment()  # refuses what has no encoded form
        return _make_ref(agent, namespace, session_id, ref)

    @property
    def key(self) -> SessionKey:
        """The session's key under the built-in registry."""
        agent = self.agent
        return _make_key(_canonical_name(agent, agent), self.namespace, self.session_id)

    def key_under(self, registry: _Names) -> SessionKey:
        """The session's key with the agent's name as `registry` has it (ASR-058)."""
        return _make_key(registry.canonical_name(self.agent), self.namespace, self.session_id)

    def at(self, ref: AnyRef | None) -> SessionRef:
        """The same session, another ``#`` part, or none."""
        return SessionRef(self.agent, self.namespace, self.session_id, ref)

    def replace(
        self,
        *,
        agent: str = _KEEP,
        namespace: str | None = _KEEP,
        session_id: str = _KEEP,
        ref: AnyRef | None = _KEEP,
    ) -> SessionRef:
        """A reference with some parts replaced by other raw parts."""
        return SessionRef(
            self.agent if agent is _KEEP else agent,
            self.namespace if namespace is _KEEP else namespace,
            self.session_id if session_id is _KEEP else session_id,
            self.ref if ref is _KEEP else ref,
        )

    __replace__ = replace

    @classmethod
    def from_structured(cls, parts: Mapping[str, object]) -> SessionRef:
        """The reference whose parts are the members of `parts`, as manifests carry it.

        A null namespace or ref is an absent one. Raises `InvalidReference`; its code is
        ``bad-member`` for a member that is missing, unknown or no string.
        """
        for name in parts:
            if name not in _MEMBERS:
                raise _bad_member(str(name), "unknown member")
        agent, namespace, session_id, ref = (
            _member(parts, name, required) for name, required in _MEMBERS.items()
        )
        return cls(
            agent or "",
            namespace,
            session_id or "",
            None if ref is None else Ref.from_raw(ref),
        )

    def to_structured(self) -> StructuredReference:
        """The parts as manifests carry them, all raw; absent ones are left out."""
        parts = StructuredReference(agent=self.agent, sessionId=self.session_id)
        if self.namespace is not None:
            parts["namespace"] = self.namespace
        if self.ref is not None:
            parts["ref"] = self.ref.raw()
        return parts

    def order(self) -> tuple[Any, ...]:
        """What equality, hash and order compare."""
        agent, namespace, ref = self.agent, self.namespace, self.ref
        return (
            _canonical_name(agent, agent),
            namespace is not None,
            namespace or "",
            self.session_id,
            () if ref is None else ref.order(),
        )

    def __str__(self) -> str:
        text = f"{self.agent}:{encode(self.session_id)}"
        if self.namespace is not None:
            text = f"{self.agent}:{encode(self.namespace)}:{encode(self.session_id)}"
        return text if self.ref is None else f"{text}#{self.ref.fragment()}"

    def __repr__(self) -> str:
        ref = "" if self.ref is None else f", {self.ref!r}"
        return f"SessionRef({self.agent!r}, {self.namespace!r}, {self.session_id!r}{ref})"

    def __reduce__(self) -> tuple[Callable[[str], SessionRef], tuple[str]]:
        return (parse, (str(self),))


def _make_key(agent: str, namespace: str | None, session_id: str) -> SessionKey:
    made: Any = _SessionKeyFields()
    made.agent = agent
    made.namespace = namespace
    made.session_id = session_id
    made.__class__ = SessionKey
    return made  # type: ignore[no-any-return]


def _make_ref(agent: str, namespace: str | None, session_id: str, ref: AnyRef | None) -> SessionRef:
    made: Any = _SessionRefFields()
    made.agent = agent
    made.namespace = namespace
    made.session_id = session_id
    made.ref = ref
    made.__class__ = SessionRef
    return made  # type: ignore[no-any-return]


def parse(text: str) -> SessionRef:
    """The reference that `text` is, its parts decoded.

    Raises `InvalidReference` where `text` does not match the grammar (ASR-061) or its octets are
    not valid UTF-8 (ASR-060); the error is the first of what `check` finds.
    """
    made: Any
    try:
        match = _plain(text)
    except TypeError:
        raise _no_text(text) from None
    if match is not None:
        made = _SessionRefFields()
        made.agent, first, second, key, value, record_id = match.groups()
        if second is None:
            made.namespace = None
            made.session_id = first
        else:
            made.namespace = first
            made.session_id = second
        if key is None and record_id is None:
            made.ref = None
        else:
            made.ref = build_ref(key, value, record_id)
        made.__class__ = SessionRef
        return made  # type: ignore[no-any-return]
    match = compiled(REFERENCE).fullmatch(text)
    if match is not None:
        try:
            return _decoded(match)
        except UnicodeDecodeError:
            pass
    raise next(diagnose(text))


def _decoded(match: re.Match[str]) -> SessionRef:
    agent, first, second, key, value, record_id = match.groups()
    ref = None if key is None and record_id is None else build_ref(key, value, record_id)
    if second is None:
        return _make_ref(agent, None, decode(first), ref)
    return _make_ref(agent, decode(first), decode(second), ref)


def try_parse(text: str) -> SessionRef | None:
    """What `parse` returns, or None where it would raise `InvalidReference`."""
    try:
        match = _plain(text) or compiled(REFERENCE).fullmatch(text)
    except TypeError:
        raise _no_text(text) from None
    if match is None:
        return None
    try:
        return _decoded(match)
    except UnicodeDecodeError:
        return None


def check(text: str) -> tuple[InvalidReference, ...]:
    """All that is wrong with `text` as a reference; empty when it is one."""
    return () if try_parse(text) is not None else tuple(diagnose(text))


def check_all(texts: Iterable[str]) -> Iterator[tuple[int, InvalidReference]]:
    """What `check` finds in each of `texts`, with the index of the text (from 0)."""
    for index, text in enumerate(texts):
        if try_parse(text) is None:
            for error in diagnose(text):
                yield index, error


def is_canonical(text: str) -> bool:
    """Whether `text` is the canonical form of a session key: exactly when `canonical(text)` is it.

    Never raises for a text; one that is no reference is not canonical.
    """
    try:
        match = compiled(CANONICAL).fullmatch(text)
    except TypeError:
        raise _no_text(text) from None
    return match is not None and text.partition(":")[0] not in SHORT_NAMES


def canonical(text: str) -> str:
    """The canonical form of the session that the reference `text` names.

    Without its ``#`` part. Raises as `parse` does.
    """
    try:
        match = _plain(text)
    except TypeError:
        raise _no_text(text) from None
    if match is not None and match[1] not in SHORT_NAMES:
        return plain_text(text, "a reference").partition("#")[0]
    if is_canonical(text):
        return plain_text(text, "a reference")
    return parse(text).key.canonical()


def digest(text: str) -> str:
    """``sha256:`` and the hex SHA-256 of `canonical(text)`. Raises as `parse` does."""
    return _sha256(canonical(text))


def _no_text(value: object) -> TypeError:
    return TypeError(f"a reference is a str, not {type(value).__name__}")


def _sha256(text: str) -> str:
    global _hash  # noqa: PLW0603 - whoever hashes nothing does not pay for importing hashlib
    if _hash is None:
        from hashlib import sha256  # noqa: PLC0415

        _hash = sha256
    return f"sha256:{_hash(text.encode()).hexdigest()}"


def _raw_parts(agent: str, namespace: str | None, session_id: str) -> tuple[str, str | None, str]:
    """The three parts of a key, refused where no reference could hold them."""
    agent = plain_text(agent, "agent")
    if compiled(AGENT_NAME).fullmatch(agent) is None:
        raise next(diagnose_agent(agent, agent))
    if namespace is not None:
        namespace = _raw_component(namespace, "namespace", "ASR-054")
    return agent, namespace, _raw_component(session_id, "session-id", "ASR-051")


def _raw_component(raw: str, component: str, rule: str) -> str:
    raw = plain_text(raw, component)
    if not raw:
        raise InvalidReference(
            "empty-component", rule, component, (0, 0), raw, f"empty {component}"
        )
    refuse_surrogates(raw, component)
    return raw


#: The members of the structured form, and whether they are required.
_MEMBERS = {"agent": True, "namespace": False, "sessionId": True, "ref": False}


def _member(parts: Mapping[str, object], name: str, required: bool) -> str | None:
    value = parts.get(name)
    if value is None:
        if required:
            raise _bad_member(name, "missing member")
        return None
    if not isinstance(value, str):
        raise _bad_member(name, "member that is no string")
    return value


def _bad_member(name: str, what: str) -> InvalidReference:
    return InvalidReference(
        "bad-member", "ASR-061", "reference", (0, len(name)), name, f"{what} {name!r}"
    )
