"""`copiedFrom`: the mark of a copied record, and the proofs it rests on (ASR-413, 414)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from sessionref.lineage.shapes import is_object
from sessionref.scope.values import AnyRef  # noqa: TC001 - the struct below needs it

if TYPE_CHECKING:
    from sessionref.lineage.places import Faults
    from sessionref.reference import SessionRef

__all__ = ["PROOFS", "CopiedFrom", "Proof", "read_copied_from"]

#: What a mark of a copy rests on (ASR-414).
Proof = Literal["native_id", "native_field", "prefix_contract"]
PROOFS: frozenset[str] = frozenset(get_args(Proof))


class CopiedFrom(msgspec.Struct, frozen=True):
    """Where a record was copied from; None stands for what is absent or cannot be used.

    Without `session` the original stands in the same stream, at a lower `seq`. Without `record`
    the source session is known and the record in it is not.
    """

    session: SessionRef | None = None
    record: AnyRef | None = None
    proof: Proof | None = None


def read_copied_from(value: Any, faults: Faults) -> CopiedFrom:
    """What a member `copiedFrom` says.

    A record that has the member claims to be a copy, however little of it can be read, so it is
    never original (ASR-416). Wrong shapes are noted under ASR-413.
    """
    if not is_object(value):
        faults.misplaced("copiedFrom.session", "$.copiedFrom", "wrong-shape")
        return CopiedFrom()
    proof = _proof(value.get("proof"), faults)
    session = record = None
    if value.get("session") is not None:
        session = faults.read("copiedFrom.session", value["session"], "$.copiedFrom.session")
    if value.get("record") is not None:
        record = faults.read("copiedFrom.record", value["record"], "$.copiedFrom.record")
    if value.get("session") is None and value.get("record") is None:
        message = "copiedFrom names neither a session nor a record"
        faults.note("ASR-413", "copied-from-nowhere", message, "$.copiedFrom")
    return CopiedFrom(session, record, proof)


def _proof(value: Any, faults: Faults) -> Any:
    if isinstance(value, str) and value in PROOFS:
        return value
    message = f"proof is one of {', '.join(sorted(PROOFS))}"
    faults.note("ASR-413", "bad-proof", message, "$.copiedFrom.proof")
    return None
