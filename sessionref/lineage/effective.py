"""The effective lineage at the end of a stream (ASR-401, 402, 420, 422)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from sessionref.findings import Finding
from sessionref.lineage.facets import (
    read_facets,
    root_conflicts,
)
from sessionref.lineage.places import Faults
from sessionref.streams.json import convert

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionref.findings import Place
    from sessionref.lineage.facets import (
        Continues,
        ExecutedBy,
        FacetName,
        Facets,
        ForkedFrom,
        Inherits,
        RelatedUnknown,
        SpawnedBy,
    )

__all__ = ["Claim", "Declared", "Effective", "effective_lineage"]


class Declared(NamedTuple):
    """What of the header or a declaration the lineage is made from: members as they were read."""

    place: Place
    lineage: Any = None
    authority: str | None = None
    scope: str | None = None
    producer: Any = None


class Claim(msgspec.Struct, frozen=True):
    """A facet that is in force, and the record that claims it."""

    facet: FacetName
    value: Any
    place: Place
    path: str


class Effective(msgspec.Struct, frozen=True):
    """The facets in force at the end of a stream; what is not here is unknown (ASR-401).

    `claims` holds one entry per facet, and per session for `executedBy`. `scope` says primary or
    subagent and follows from no facet (ASR-410). `lossy` is the producer's list of what it left
    out.
    """

    claims: tuple[Claim, ...] = ()
    authority: str | None = None
    scope: str | None = None
    lossy: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def claim(self, facet: FacetName) -> Claim | None:
        """The claim of `facet`, None where there is none (of `executedBy`: the first)."""
        for claim in self.claims:
            if claim.facet == facet:
                return claim
        return None

    def _value(self, facet: FacetName) -> Any:
        claim = self.claim(facet)
        return None if claim is None else claim.value

    @property
    def root(self) -> bool | None:
        """True only where it is claimed and nothing contradicts it (ASR-401, 402); never False."""
        facets: Facets = {claim.facet: claim.value for claim in self.claims}
        return True if self._value("root") is True and not root_conflicts(facets) else None

    @property
    def role(self) -> str | None:
        """The session's role as the source names it."""
        value: str | None = self._value("role")
        return value

    @property
    def spawned_by(self) -> SpawnedBy | None:
        """The facet `spawnedBy`."""
        value: SpawnedBy | None = self._value("spawnedBy")
        return value

    @property
    def forked_from(self) -> ForkedFrom | None:
        """The facet `forkedFrom`."""
        value: ForkedFrom | None = self._value("forkedFrom")
        return value

    @property
    def continues(self) -> Continues | None:
        """The facet `continues`."""
        value: Continues | None = self._value("continues")
        return value

    @property
    def inherits(self) -> Inherits | None:
        """The facet `inherits`."""
        value: Inherits | None = self._value("inherits")
        return value

    @property
    def related_unknown(self) -> RelatedUnknown | None:
        """The facet `relatedUnknown`."""
        value: RelatedUnknown | None = self._value("relatedUnknown")
        return value

    @property
    def executed_by(self) -> tuple[ExecutedBy, ...]:
        """The facet `executedBy`: one entry per session."""
        return tuple(claim.value for claim in self.claims if claim.facet == "executedBy")

    @property
    def is_mirror(self) -> bool:
        """Whether the whole stream is another program's copy of a session (ASR-422, 423)."""
        return self.authority == "mirror"

    @property
    def lineage_is_lossy(self) -> bool:
        """Whether the producer declares that it lost lineage (ASR-412)."""
        return any(item == "lineage" or item.startswith("lineage.") for item in self.lossy)


def effective_lineage(declared: Iterable[Declared]) -> Effective:
    """The effective lineage of a stream with these header and declarations, in the order of `seq`.

    A facet that a declaration carries replaces the earlier one, also where it cannot be read: then
    nothing is known any more. `executedBy` is a union by session key; of the entries of one session
    the first with evidence counts, else the first (ASR-420). Findings: those of `read_facets`,
    `root` beside what excludes it (ASR-402), a mirror that does not name exactly one session
    (ASR-422).
    """
    in_force: dict[FacetName, Claim] = {}
    executed: dict[Any, Claim] = {}
    authority: str | None = None
    mirror: Place | None = None
    scope: str | None = None
    lossy: tuple[str, ...] = ()
    findings: list[Finding] = []
    reported: tuple[FacetName, ...] = ()
    for item in declared:
        faults = Faults(item.place)
        facets = read_facets(item.lineage, faults)
        entries: Iterable[ExecutedBy] = facets.pop("executedBy", ())
        for number, entry in enumerate(entries):
            # An entry whose session cannot be read is still an entry, of a session not known.
            session: Any = object() if entry.session is None else entry.session.key
            path = f"$.lineage.executedBy[{number}]"
            known = executed.get(session)
            if known is None or (known.value.evidence is None and entry.evidence is not None):
                executed[session] = Claim("executedBy", entry, item.place, path)
        for name, value in facets.items():
            in_force[name] = Claim(name, value, item.place, f"$.lineage.{name}")
        conflicts = root_conflicts({name: claim.value for name, claim in in_force.items()})
        if conflicts and conflicts != reported:
            message = f"root: true stands with {', '.join(conflicts)}"
            faults.note("ASR-402", "root-with-parent", message, "$.lineage.root")
        reported = conflicts
        findings += faults.found
        if item.authority is not None:
            authority = item.authority
            mirror = item.place if authority == "mirror" else None
        scope = scope if item.scope is None else item.scope
        lossy = _lossy(item.producer) or lossy
    if mirror is not None and len(executed) != 1:
        message = f"a mirror names the one session that it copies; executedBy has {len(executed)}"
        findings.append(Finding.at(mirror, "ASR-422", "mirror-of-many", message, "$.authority"))
    return Effective(
        (*in_force.values(), *executed.values()), authority, scope, lossy, tuple(findings)
    )


class _Producer(msgspec.Struct):
    lossy: list[Any] = []


def _lossy(producer: Any) -> tuple[str, ...]:
    try:
        items = convert(producer, _Producer).lossy
    except msgspec.ValidationError:
        return ()
    return tuple(item for item in items if isinstance(item, str))
