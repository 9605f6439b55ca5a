"""`copiedFrom`: the mark of a copied record, and the proofs it rests on (ASR-413, 414)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import msgspec

from sessionref.lineage.facets import read_raw_ref, read_session
from sessionref.refs import EntityRef, RecordRef, TurnRef

if TYPE_CHECKING:
    from sessionref.lineage.places import Faults
    from sessionref.reference import SessionRef

__all__ = ["PROOFS", "CopiedFrom", "Proof", "read_copied_from"]

#: What a mark of a copy rests on (ASR-414).
Proof = Literal["native_id", "native_field", "prefix_contract"]
PROOFS: frozenset[str] = frozenset(get_args(Proof))

_AnyRef: TypeAlias = RecordRef | EntityRef | TurnRef


class CopiedFrom(msgspec.Struct, frozen=True):
    """Where a record was copied from; None stands for what is absent or cannot be used.

    Without `session` the original stands in the same stream, at a lower `seq`. Without `record`
    the source session is known and the record in it is not.
    """

    session: SessionRef | None = None
    record: _AnyRef | None = None
    proof: Proof | None = None


def read_copied_from(value: Any, faults: Faults) -> CopiedFrom:
    """What a member `copiedFrom` says.

    A record that has the member claims to be a copy, however little of it can be read, so it is
    never original (ASR-416). Wrong shapes are noted under ASR-413.
    """
    if not isinstance(value, dict):
        faults.note("ASR-413", "bad-copied-from", "copiedFrom is no object", "$.copiedFrom")
        return CopiedFrom()
    members: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
    proof: Any = members.get("proof")
    if not (isinstance(proof, str) and proof in PROOFS):
        message = f"proof is one of {', '.join(sorted(PROOFS))}"
        faults.note("ASR-413", "bad-proof", message, "$.copiedFrom.proof")
        proof = None
    session = record = None
    if members.get("session") is not None:
        session = read_session(members["session"], faults, "ASR-413", "$.copiedFrom.session")
    if members.get("record") is not None:
        record = read_raw_ref(members["record"], faults, "ASR-413", "$.copiedFrom.record")
    if members.get("session") is None and members.get("record") is None:
        message = "copiedFrom names neither a session nor a record"
        faults.note("ASR-413", "copied-from-nowhere", message, "$.copiedFrom")
    return CopiedFrom(session, record, proof)
