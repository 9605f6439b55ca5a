"""The members of a record that this package reads, typed.

Readers of native logs write records of this shape; streams are not decoded into it. The table of
reference fields says which members are references, the specification what each member means.
"""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Record"]


class Record(msgspec.Struct, omit_defaults=True, rename="camel", gc=False):
    """One line of a stream: the envelope, the entity keys and what refers to something.

    Members whose shape is checked elsewhere (lineage facets, actors, usage) are left as plain JSON
    values, so that a wrong shape inside one of them costs a finding and not the record.
    """

    # Envelope (ASR-050, 063, 065, 067, 070, 075)
    type: str
    seq: int
    id: str
    ts: str | None = None
    turn_id: str | None = None
    supersedes: str | None = None
    id_source: str | None = None
    id_scope: str | None = None
    call_id_source: str | None = None
    copied_from: Any = None

    # Entity keys (ASR-064 to 066), each identity only on the types of its table row
    message_id: str | None = None
    call_id: str | None = None
    inference_id: str | None = None
    terminal_id: str | None = None
    plan_id: str | None = None
    compaction_id: str | None = None
    request_id: str | None = None

    # Header and declarations
    agent: Any = None
    namespace: str | None = None
    session_id: str | None = None
    producer: Any = None
    authority: str | None = None
    scope: str | None = None
    lineage: Any = None
    participants: Any = None
    workspace: Any = None
    conversation: Any = None

    # Members of single record types that hold references
    to: Any = None
    branches_from: Any = None
    heads: Any = None
    insert_at: Any = None
    replaces: Any = None
    retains: Any = None
    kind: str | None = None
    targets: Any = None
    derived_from: Any = None
    continuation_of: Any = None
    executed_by: Any = None
    child_session: str | None = None
    capture: Any = None
    root: Any = None
    status: str | None = None

    # Actors
    author_actor: Any = None
    resolved_by: Any = None
    answered_by: Any = None
    caused_by: Any = None

    # Model calls and aggregates
    model: Any = None
    usage: Any = None
    cost: Any = None
    covers: Any = None
    includes_children: bool | None = None
