"""The members of a record that make the index, and the entity key of each record type."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

__all__ = ["ENTITY_KEY_OF_TYPE", "MEMBERS", "REQUIRED", "Envelope", "Text"]


def _entity_keys() -> dict[str, str]:
    text = (resources.files("sessionref") / "data" / "entity_keys.toml").read_text("utf-8")
    return {kind: row["key"] for row in tomllib.loads(text)["keys"] for kind in row["types"]}


#: The entity key that identifies records of a type (ASR-064 to 066), from `data/entity_keys.toml`,
#: so that the official table can replace it. A member of the same name on a record of another type
#: points at something; it is not an identity.
ENTITY_KEY_OF_TYPE: dict[str, str] = _entity_keys()

#: A member that is text or absent; null is absent, and told apart so that it can be written back.
Text: TypeAlias = str | UnsetType | None
Seq: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Envelope(msgspec.Struct, rename="camel", gc=False):
    """What of one record the index is built from."""

    type: str
    seq: Seq
    id: str
    turn_id: Text = UNSET
    supersedes: Text = UNSET
    message_id: Text = UNSET
    call_id: Text = UNSET
    inference_id: Text = UNSET
    terminal_id: Text = UNSET
    plan_id: Text = UNSET
    compaction_id: Text = UNSET
    request_id: Text = UNSET


#: The names of these members in JSON, with the names of the attributes.
MEMBERS: dict[str, str] = dict(
    zip(Envelope.__struct_encode_fields__, Envelope.__struct_fields__, strict=True)
)

#: The members without which a line is not a record.
REQUIRED = ("type", "seq", "id")
