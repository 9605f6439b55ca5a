"""The types that the members of a record must have, as far as this package reads them.

The table is a type: msgspec checks a record against it at once, and a member that does not fit is
then found by trying each. Which values a member may have is a matter of the rules; null counts as
absent here, and where it means something, the rule that says so looks at it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from sessionref.streams.json import convert
from sessionref.streams.record import Record
from sessionref.usage import Amount, Usage, misfit  # noqa: TC001 - the struct needs the types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.findings import Fault

__all__ = ["fits", "misfits", "reads"]

_Text: TypeAlias = str | None
_Object: TypeAlias = dict[str, Any] | None
_Array: TypeAlias = list[Any] | None


class _Source(msgspec.Struct, rename="camel"):
    format: _Text = None
    format_version: _Text = None


class _Producer(msgspec.Struct, rename="camel"):
    name: _Text = None
    version: _Text = None
    method: _Text = None
    instance: _Text = None
    source: _Source | None = None
    lossy: list[str] | None = None


class _Root(msgspec.Struct):
    id: _Text = None
    path: _Text = None


class _Workspace(msgspec.Struct):
    roots: list[_Root] | None = None


class _Shape(msgspec.Struct, rename="camel"):
    """A record of any type."""

    type: str
    seq: int
    id: str
    ts: _Text = None
    turn_id: _Text = None
    supersedes: _Text = None
    id_source: _Text = None
    id_scope: _Text = None
    call_id_source: _Text = None
    copied_from: _Object = None
    message_id: _Text = None
    call_id: _Text = None
    inference_id: _Text = None
    terminal_id: _Text = None
    plan_id: _Text = None
    compaction_id: _Text = None
    request_id: _Text = None
    namespace: _Text = None
    session_id: _Text = None
    producer: _Producer | None = None
    authority: _Text = None
    scope: _Text = None
    lineage: _Object = None
    participants: _Array = None
    workspace: _Workspace | None = None
    conversation: _Object = None
    branches_from: _Object = None
    insert_at: _Object = None
    replaces: _Object = None
    retains: _Array = None
    targets: _Array = None
    child_session: _Text = None
    capture: _Object = None
    usage: Usage | None = None
    cost: list[Amount] | None = None
    includes_children: bool | None = None
    executed_by: _Array = None
    #: Members whose type depends on the record's; the table below says how.
    agent: dict[str, Any] | str | None = None
    derived_from: dict[str, Any] | list[Any] | None = None


#: Members of single record types.
_OF_TYPE: dict[str, dict[str, Any]] = {
    "session": {"agent": _Object, "derivedFrom": _Object},
    "declaration": {"agent": _Object},
    "subagent": {"agent": _Text, "status": _Text},
    "message": {"derivedFrom": _Array},
    "rewind": {"to": _Text},
    "session_info": {"heads": _Array},
    "state": {"continuationOf": _Text},
    "usage": {"covers": _Text},
}
_DEPENDENT = frozenset(name for members in _OF_TYPE.values() for name in members)

_ABSENT: Any = object()
_first_name = re.compile(r"\$\.(?P<name>\w+)").match
_Records: TypeAlias = list[_Shape]


def fits(records: list[Any]) -> bool:
    """Whether all of `records` are as they should be, which costs little."""
    try:
        convert(records, _Records)
    except msgspec.ValidationError:
        return False
    return not any(
        kind in _OF_TYPE and not _DEPENDENT.isdisjoint(record) and any(misfits(record))
        for record in records
        for kind in (record["type"],)
    )


def misfits(record: dict[str, Any]) -> Iterator[Fault]:
    """Each member of `record` that has a value of the wrong type."""
    for name, wanted in _members(_text(record.get("type"))).items():
        value = record.get(name, _ABSENT)
        found = None if value is _ABSENT else misfit(name, value, wanted)
        if found is not None:
            yield found


def reads(path: str) -> bool:
    """Whether the top-level member that the JSON path leads through is one that has a table row."""
    first = _first_name(path)
    return first is not None and first["name"] in _READ


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=64)
def _members(kind: str) -> dict[str, Any]:
    """The type of each member of a record of that type, by its name in JSON."""
    members = {field.encode_name: field.type for field in msgspec.structs.fields(_Shape)}
    return members | _OF_TYPE.get(kind, {})


#: Every member that this package reads, whatever its type.
_READ = (
    frozenset(_members(""))
    | _DEPENDENT
    | {field.encode_name for field in msgspec.structs.fields(Record)}
)
