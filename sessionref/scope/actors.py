"""Actor references: who did something (ASR-076 to 078)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from sessionref._codes import codes
from sessionref.errors import InvalidReference
from sessionref.reference import SessionRef, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Actor", "actor_fault"]

_TEXTS = ("participant", "session", "address", "device")


class Actor(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who did something: one or more of a participant, a session, an address and a device.

    `address` and `device` are the source's own words, kept as they are; nothing is built from them
    or read out of them (ASR-078). Raises ValueError where all are absent (ASR-076), and TypeError
    where `session` is not a `SessionRef` or another one not a string.
    """

    participant: str | None = None
    session: SessionRef | None = None
    address: str | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            wanted = SessionRef if name == "session" else str
            value = getattr(self, name)
            if value is not None and not isinstance(value, wanted):
                raise TypeError(f"{name} is a {wanted.__name__}, not {type(value).__name__}")
        if all(getattr(self, name) is None for name in _TEXTS):
            raise ValueError("an actor names a participant, a session, an address or a device")
        if self.session is not None and self.session.ref is not None:
            raise _with_ref(str(self.session))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Actor:
        """The actor that stands as the object `value` in a stream.

        Members that the pages do not name are passed over. Raises ValueError for what is no actor,
        and `InvalidReference` for a `session` that is no session reference, or one with a ``#``
        part (code ``unexpected-ref``).
        """
        fault = actor_fault(value)
        if fault is not None:
            raise ValueError(codes()[fault].meaning)
        session = value.get("session")
        return cls(
            participant=value.get("participant"),
            session=None if session is None else parse(session),
            address=value.get("address"),
            device=value.get("device"),
        )

    def to_json(self) -> dict[str, str]:
        """The object that stands for this actor in a stream."""
        parts = {
            "participant": self.participant,
            "session": None if self.session is None else str(self.session),
            "address": self.address,
            "device": self.device,
        }
        return {name: part for name, part in parts.items() if part is not None}


def actor_fault(value: object) -> str | None:
    """The code of what is wrong with the shape of `value`, None for nothing."""
    if not isinstance(value, dict):
        return "bad-actor"
    members = cast("dict[str, object]", value)
    parts = [members.get(name) for name in _TEXTS]
    if all(part is None for part in parts):
        return "empty-actor"
    if all(part is None or isinstance(part, str) for part in parts):
        return None
    return "bad-actor"


def _with_ref(text: str) -> InvalidReference:
    place = text.index("#")
    return InvalidReference(
        "unexpected-ref",
        "ASR-076",
        "ref",
        (place, len(text)),
        text,
        "an actor's session has no '#' part",
    )
