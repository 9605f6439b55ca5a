"""The facets of a lineage object, typed; what has the wrong shape becomes a finding.

Each facet is an independent claim with its own evidence (ASR-400, 403). What cannot be read of one
costs that one, and never another.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import msgspec

from sessionref.lineage.shapes import is_array, is_object
from sessionref.scope.fields import FieldTable
from sessionref.scope.values import AnyRef  # noqa: TC001 - the structs below need it

if TYPE_CHECKING:
    from sessionref.lineage.places import Faults
    from sessionref.reference import SessionRef

__all__ = [
    "EVIDENCE",
    "FACETS",
    "MODES",
    "PARENT_FACETS",
    "REASONS",
    "Continues",
    "Evidence",
    "ExecutedBy",
    "Facet",
    "FacetName",
    "Facets",
    "ForkedFrom",
    "Inherits",
    "Mode",
    "RelatedUnknown",
    "SpawnedBy",
    "read_facets",
    "root_conflicts",
]

#: What a facet rests on (ASR-404).
Evidence = Literal["native_field", "native_structure", "converter_inference"]
EVIDENCE: frozenset[str] = frozenset(get_args(Evidence))

#: How an ancestor's records are part of a session's context (ASR-409).
Mode = Literal["copied", "referenced", "rendered", "none", "unknown"]
MODES: frozenset[str] = frozenset(get_args(Mode))
_MODES_WITH_ANCESTOR = frozenset({"copied", "referenced", "rendered"})

#: The reasons of `continues` that need no vendor's namespace (ASR-408).
REASONS: frozenset[str] = frozenset(
    {
        "compaction",
        "reset",
        "resume",
        "daily",
        "idle",
        "rollover",
        "rewind",
        "switch",
        "recovery",
        "other",
    }
)
_VENDOR_SEPARATORS = frozenset(".:/")

FacetName = Literal[
    "root",
    "spawnedBy",
    "forkedFrom",
    "continues",
    "inherits",
    "executedBy",
    "relatedUnknown",
    "role",
]
FACETS: tuple[FacetName, ...] = get_args(FacetName)

#: The facets that name a parent, in whatever sense. `executedBy` names none.
PARENT_FACETS: tuple[FacetName, ...] = (
    "spawnedBy",
    "forkedFrom",
    "continues",
    "inherits",
    "relatedUnknown",
)


class Facet(msgspec.Struct, frozen=True, kw_only=True):
    """What every facet that names a session has; None stands for what cannot be used."""

    session: SessionRef | None = None
    evidence: Evidence | None = None


class SpawnedBy(Facet, frozen=True, kw_only=True):
    """The delegation that created the session; `record` is in the parent's ID space."""

    record: AnyRef | None = None


class ForkedFrom(Facet, frozen=True, kw_only=True):
    """What the session diverged from, and the last record that both share (ASR-407)."""

    record: AnyRef | None = None
    ordinal: int | None = None


class Continues(Facet, frozen=True, kw_only=True):
    """The session that this one continues, and why (ASR-408)."""

    reason: str | None = None


class RelatedUnknown(Facet, frozen=True, kw_only=True):
    """A parent pointer whose meaning the source does not record (ASR-405)."""


class ExecutedBy(Facet, frozen=True, kw_only=True):
    """A session that ran this session's turns (ASR-420, 421)."""


class Inherits(Facet, frozen=True, kw_only=True):
    """Whether an ancestor's records are part of the context, and present (ASR-409).

    `session` is the member `from`.
    """

    mode: Mode | None = None
    through_id: str | None = None
    through_ordinal: int | None = None
    local_through_id: str | None = None


#: The facets that one lineage object carries, by name. None marks one that is carried and cannot
#: be used: it replaces an earlier one all the same, and then nothing is known.
Facets: TypeAlias = dict[FacetName, Any]


def read_facets(lineage: Any, faults: Faults) -> Facets:
    """The facets that the value of a member `lineage` carries.

    Wrong shapes are noted in `faults`: ASR-400, 402, 404, 407, 408, 409 and 420. Members with
    other names are passed over.
    """
    facets: Facets = {}
    if lineage is None:
        return facets
    if not is_object(lineage):
        faults.misplaced("lineage.spawnedBy.session", "$.lineage", "wrong-shape")
        return facets
    for name in FACETS:
        if name in lineage:
            facets[name] = _READERS[name](lineage[name], faults, f"$.lineage.{name}")
    return facets


def root_conflicts(facets: Facets) -> tuple[FacetName, ...]:
    """The facets that `root: true` must not stand beside (ASR-402), in the order of the page."""
    if facets.get("root") is not True:
        return ()
    return tuple(
        name
        for name in PARENT_FACETS
        if name in facets
        and (
            name != "inherits"
            or (facets[name] is not None and facets[name].mode in _MODES_WITH_ANCESTOR)
        )
    )


def _facet_object(value: Any, faults: Faults, path: str, field: str) -> dict[str, Any] | None:
    """The facet that `value` is; `field` is the row of the session that it names."""
    if is_object(value):
        return value
    if value is None:
        faults.note("ASR-400", "bad-facet", "a facet must not be null", path)
    else:
        faults.misplaced(field, path, "wrong-shape")
    return None


def _evidence(facet: dict[str, Any], faults: Faults, path: str) -> Any:
    if "evidence" not in facet:
        faults.note("ASR-400", "missing-evidence", "the facet has no evidence", path)
        return None
    evidence = facet["evidence"]
    if isinstance(evidence, str) and evidence in EVIDENCE:
        return evidence
    message = f"evidence is one of {', '.join(sorted(EVIDENCE))}"
    faults.note("ASR-404", "bad-evidence", message, f"{path}.evidence")
    return None


def _session(facet: dict[str, Any], name: str, faults: Faults, path: str) -> SessionRef | None:
    field, at = _field(path, name), f"{path}.{name}"
    if facet.get(name) is None:
        rule = FieldTable.standard().at(field).rule
        faults.note(rule, "bad-session-reference", "the facet names no session", at)
        return None
    session: SessionRef | None = faults.read(field, facet[name], at)
    return session


def _member(facet: dict[str, Any], name: str, faults: Faults, path: str) -> Any:
    """A ref or an ordinal, None where it is absent or cannot be used."""
    if facet.get(name) is None:
        return None
    return faults.read(_field(path, name), facet[name], f"{path}.{name}")


def _record_id(facet: dict[str, Any], name: str, faults: Faults, path: str) -> str | None:
    """A record ID. What no ref can hold is kept: it names a record that cannot be found."""
    _member(facet, name, faults, path)
    value = facet.get(name)
    return value if isinstance(value, str) and value else None


def _field(path: str, name: str) -> str:
    """The row of a facet's member in the table of reference fields."""
    return f"{_index('.*', path[2:])}.{name}"


_index = re.compile(r"\[[0-9]+\]").sub


def _root(value: Any, faults: Faults, path: str) -> bool | None:
    if value is True:
        return True
    faults.note("ASR-402", "bad-root", "root is true or absent", path)
    return None


def _role(value: Any, faults: Faults, path: str) -> str | None:
    if isinstance(value, str):
        return value
    faults.note("ASR-400", "bad-facet", "role is no string", path)
    return None


def _spawned_by(value: Any, faults: Faults, path: str) -> SpawnedBy | None:
    facet = _facet_object(value, faults, path, _field(path, "session"))
    if facet is None:
        return None
    return SpawnedBy(
        session=_session(facet, "session", faults, path),
        evidence=_evidence(facet, faults, path),
        record=_member(facet, "record", faults, path),
    )


def _forked_from(value: Any, faults: Faults, path: str) -> ForkedFrom | None:
    facet = _facet_object(value, faults, path, _field(path, "session"))
    if facet is None:
        return None
    record = _member(facet, "record", faults, path)
    ordinal = _member(facet, "ordinal", faults, path)
    if facet.get("record") is not None and facet.get("ordinal") is not None:
        message = "forkedFrom has a record and an ordinal; neither is taken"
        faults.note("ASR-407", "two-fork-points", message, path)
        record = ordinal = None
    return ForkedFrom(
        session=_session(facet, "session", faults, path),
        evidence=_evidence(facet, faults, path),
        record=record,
        ordinal=ordinal,
    )


def _continues(value: Any, faults: Faults, path: str) -> Continues | None:
    facet = _facet_object(value, faults, path, _field(path, "session"))
    if facet is None:
        return None
    reason = facet.get("reason")
    if not (
        isinstance(reason, str) and (reason in REASONS or not _VENDOR_SEPARATORS.isdisjoint(reason))
    ):
        message = "the reason is no value of the page and holds no vendor's namespace"
        faults.note("ASR-408", "bad-reason", message, f"{path}.reason")
        reason = None
    return Continues(
        session=_session(facet, "session", faults, path),
        evidence=_evidence(facet, faults, path),
        reason=reason,
    )


def _related_unknown(value: Any, faults: Faults, path: str) -> RelatedUnknown | None:
    facet = _facet_object(value, faults, path, _field(path, "session"))
    if facet is None:
        return None
    return RelatedUnknown(
        session=_session(facet, "session", faults, path), evidence=_evidence(facet, faults, path)
    )


def _mode(facet: dict[str, Any], faults: Faults, path: str) -> Any:
    mode = facet.get("mode")
    if isinstance(mode, str) and mode in MODES:
        return mode
    message = f"mode is one of {', '.join(sorted(MODES))}"
    faults.note("ASR-409", "bad-mode", message, f"{path}.mode")
    return None


def _inherits(value: Any, faults: Faults, path: str) -> Inherits | None:
    facet = _facet_object(value, faults, path, _field(path, "from"))
    if facet is None:
        return None
    mode = _mode(facet, faults, path)
    ancestor = None
    if facet.get("from") is not None or mode in _MODES_WITH_ANCESTOR:
        ancestor = _session(facet, "from", faults, path)
    through_id = _record_id(facet, "throughId", faults, path)
    through_ordinal = _member(facet, "throughOrdinal", faults, path)
    if facet.get("throughId") is not None and facet.get("throughOrdinal") is not None:
        message = "inherits has throughId and throughOrdinal; neither is taken"
        faults.note("ASR-409", "two-boundaries", message, path)
        through_id = through_ordinal = None
    local = _record_id(facet, "localThroughId", faults, path)
    if local is not None and mode is not None and mode != "copied":
        faults.misplaced(_field(path, "localThroughId"), f"{path}.localThroughId", "out-of-place")
        local = None
    return Inherits(
        session=ancestor,
        evidence=_evidence(facet, faults, path),
        mode=mode,
        through_id=through_id,
        through_ordinal=through_ordinal,
        local_through_id=local,
    )


def _executed_by(value: Any, faults: Faults, path: str) -> tuple[ExecutedBy, ...]:
    if not is_array(value):
        if value is None:
            faults.note("ASR-420", "bad-facet", "a facet must not be null", path)
        else:
            faults.misplaced("lineage.executedBy.*.session", path, "wrong-shape")
        return ()
    entries: list[ExecutedBy] = []
    for number, item in enumerate(value):
        place = f"{path}[{number}]"
        facet = _facet_object(item, faults, place, _field(place, "session"))
        if facet is not None:
            entries.append(
                ExecutedBy(
                    session=_session(facet, "session", faults, place),
                    evidence=_evidence(facet, faults, place),
                )
            )
    return tuple(entries)


_READERS: dict[FacetName, Any] = {
    "root": _root,
    "spawnedBy": _spawned_by,
    "forkedFrom": _forked_from,
    "continues": _continues,
    "inherits": _inherits,
    "executedBy": _executed_by,
    "relatedUnknown": _related_unknown,
    "role": _role,
}
