"""Names agent sessions and what is inside them, and says how sessions hang together.

    >>> import sessionref as sr
    >>> ref = sr.parse("codex:019a3c2e#turnId=t1")
    >>> ref.agent, ref.session_id, ref.ref
    ('codex', '019a3c2e', TurnRef('t1'))
    >>> ref.key.canonical()
    'codex:019a3c2e'

Every public name is imported when it is first used, so importing the package costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` for it would be most of what this import costs

if TYPE_CHECKING:
    from sessionref import grammar as grammar
    from sessionref import native as native
    from sessionref.agent import Agent as Agent
    from sessionref.api import Scope as Scope
    from sessionref.checks.book import Book as Book
    from sessionref.checks.book import Rule as Rule
    from sessionref.checks.book import book as book
    from sessionref.errors import CODES as CODES
    from sessionref.errors import InvalidReference as InvalidReference
    from sessionref.errors import RegistryError as RegistryError
    from sessionref.errors import SessionrefError as SessionrefError
    from sessionref.errors import StreamError as StreamError
    from sessionref.findings import Finding as Finding
    from sessionref.findings import Place as Place
    from sessionref.lineage.account import AccountLineage as AccountLineage
    from sessionref.lineage.account import RecordCounts as RecordCounts
    from sessionref.lineage.copies import CopiedFrom as CopiedFrom
    from sessionref.lineage.effective import Claim as Claim
    from sessionref.lineage.effective import Declared as Declared
    from sessionref.lineage.effective import Effective as Effective
    from sessionref.lineage.facets import Continues as Continues
    from sessionref.lineage.facets import ExecutedBy as ExecutedBy
    from sessionref.lineage.facets import Facet as Facet
    from sessionref.lineage.facets import ForkedFrom as ForkedFrom
    from sessionref.lineage.facets import Inherits as Inherits
    from sessionref.lineage.facets import RelatedUnknown as RelatedUnknown
    from sessionref.lineage.facets import SpawnedBy as SpawnedBy
    from sessionref.lineage.forest import Cycle as Cycle
    from sessionref.lineage.forest import Edge as Edge
    from sessionref.lineage.forest import Family as Family
    from sessionref.lineage.forest import Forest as Forest
    from sessionref.lineage.forest import Node as Node
    from sessionref.lineage.lineage import Lineage as Lineage
    from sessionref.lineage.notes import Note as Note
    from sessionref.lineage.originality import Originality as Originality
    from sessionref.lineage.originality import Verdict as Verdict
    from sessionref.lineage.sessions import SessionLineage as SessionLineage
    from sessionref.lineage.totals import GroupTotal as GroupTotal
    from sessionref.lineage.totals import SessionTotal as SessionTotal
    from sessionref.lineage.totals import Shared as Shared
    from sessionref.lineage.totals import Total as Total
    from sessionref.lineage.totals import Totals as Totals
    from sessionref.native.reader import Reader as Reader
    from sessionref.native.readers import known_places as known_places
    from sessionref.native.record import NativeRecord as NativeRecord
    from sessionref.native.record import NativeStream as NativeStream
    from sessionref.reference import SessionKey as SessionKey
    from sessionref.reference import SessionRef as SessionRef
    from sessionref.reference import StructuredReference as StructuredReference
    from sessionref.reference import canonical as canonical
    from sessionref.reference import check as check
    from sessionref.reference import check_all as check_all
    from sessionref.reference import digest as digest
    from sessionref.reference import is_canonical as is_canonical
    from sessionref.reference import parse as parse
    from sessionref.reference import try_parse as try_parse
    from sessionref.refs import ENTITY_KEYS as ENTITY_KEYS
    from sessionref.refs import EntityRef as EntityRef
    from sessionref.refs import RecordRef as RecordRef
    from sessionref.refs import Ref as Ref
    from sessionref.refs import TurnRef as TurnRef
    from sessionref.registry import NameChange as NameChange
    from sessionref.registry import Registry as Registry
    from sessionref.registry import needs_namespace as needs_namespace
    from sessionref.scope.actors import Actor as Actor
    from sessionref.scope.capture import Capture as Capture
    from sessionref.scope.derived import Derivation as Derivation
    from sessionref.scope.derived import Derived as Derived
    from sessionref.scope.fields import ReferenceField as ReferenceField
    from sessionref.scope.resolve import Resolution as Resolution
    from sessionref.scope.session import Account as Account
    from sessionref.scope.session import Session as Session
    from sessionref.streams.header import Header as Header
    from sessionref.streams.index import StreamIndex as StreamIndex
    from sessionref.streams.observe import Observer as Observer
    from sessionref.streams.outcomes import Ambiguous as Ambiguous
    from sessionref.streams.outcomes import Hit as Hit
    from sessionref.streams.outcomes import Outcome as Outcome
    from sessionref.streams.outcomes import Resolved as Resolved
    from sessionref.streams.outcomes import Unresolved as Unresolved
    from sessionref.streams.walk import Found as Found
    from sessionref.streams.walk import walk as walk
    from sessionref.usage import Measure as Measure

__version__ = "0.2.0"

#: Where each public name comes from. `grammar` and `native` are modules.
_HOME = {
    "Agent": "agent",
    "Scope": "api",
    "Book": "checks.book",
    "Rule": "checks.book",
    "book": "checks.book",
    "CODES": "errors",
    "InvalidReference": "errors",
    "RegistryError": "errors",
    "SessionrefError": "errors",
    "StreamError": "errors",
    "Finding": "findings",
    "Place": "findings",
    "AccountLineage": "lineage.account",
    "RecordCounts": "lineage.account",
    "CopiedFrom": "lineage.copies",
    "Claim": "lineage.effective",
    "Declared": "lineage.effective",
    "Effective": "lineage.effective",
    "Continues": "lineage.facets",
    "ExecutedBy": "lineage.facets",
    "Facet": "lineage.facets",
    "ForkedFrom": "lineage.facets",
    "Inherits": "lineage.facets",
    "RelatedUnknown": "lineage.facets",
    "SpawnedBy": "lineage.facets",
    "Cycle": "lineage.forest",
    "Edge": "lineage.forest",
    "Family": "lineage.forest",
    "Forest": "lineage.forest",
    "Node": "lineage.forest",
    "Lineage": "lineage.lineage",
    "Note": "lineage.notes",
    "Originality": "lineage.originality",
    "Verdict": "lineage.originality",
    "SessionLineage": "lineage.sessions",
    "GroupTotal": "lineage.totals",
    "SessionTotal": "lineage.totals",
    "Shared": "lineage.totals",
    "Total": "lineage.totals",
    "Totals": "lineage.totals",
    "Reader": "native.reader",
    "known_places": "native.readers",
    "NativeRecord": "native.record",
    "NativeStream": "native.record",
    "SessionKey": "reference",
    "SessionRef": "reference",
    "StructuredReference": "reference",
    "canonical": "reference",
    "check": "reference",
    "check_all": "reference",
    "digest": "reference",
    "is_canonical": "reference",
    "parse": "reference",
    "try_parse": "reference",
    "ENTITY_KEYS": "refs",
    "EntityRef": "refs",
    "RecordRef": "refs",
    "Ref": "refs",
    "TurnRef": "refs",
    "NameChange": "registry",
    "Registry": "registry",
    "needs_namespace": "registry",
    "Actor": "scope.actors",
    "Capture": "scope.capture",
    "Derivation": "scope.derived",
    "Derived": "scope.derived",
    "ReferenceField": "scope.fields",
    "Resolution": "scope.resolve",
    "Account": "scope.session",
    "Session": "scope.session",
    "Header": "streams.header",
    "StreamIndex": "streams.index",
    "Observer": "streams.observe",
    "Ambiguous": "streams.outcomes",
    "Hit": "streams.outcomes",
    "Outcome": "streams.outcomes",
    "Resolved": "streams.outcomes",
    "Unresolved": "streams.outcomes",
    "Found": "streams.walk",
    "walk": "streams.walk",
    "Measure": "usage",
    "grammar": "",
    "native": "",
}

__all__ = [
    "CODES",
    "ENTITY_KEYS",
    "Account",
    "AccountLineage",
    "Actor",
    "Agent",
    "Ambiguous",
    "Book",
    "Capture",
    "Claim",
    "Continues",
    "CopiedFrom",
    "Cycle",
    "Declared",
    "Derivation",
    "Derived",
    "Edge",
    "Effective",
    "EntityRef",
    "ExecutedBy",
    "Facet",
    "Family",
    "Finding",
    "Forest",
    "ForkedFrom",
    "Found",
    "GroupTotal",
    "Header",
    "Hit",
    "Inherits",
    "InvalidReference",
    "Lineage",
    "Measure",
    "NameChange",
    "NativeRecord",
    "NativeStream",
    "Node",
    "Note",
    "Observer",
    "Originality",
    "Outcome",
    "Place",
    "Reader",
    "RecordCounts",
    "RecordRef",
    "Ref",
    "ReferenceField",
    "Registry",
    "RegistryError",
    "RelatedUnknown",
    "Resolution",
    "Resolved",
    "Rule",
    "Scope",
    "Session",
    "SessionKey",
    "SessionLineage",
    "SessionRef",
    "SessionTotal",
    "SessionrefError",
    "Shared",
    "SpawnedBy",
    "StreamError",
    "StreamIndex",
    "StructuredReference",
    "Total",
    "Totals",
    "TurnRef",
    "Unresolved",
    "Verdict",
    "book",
    "canonical",
    "check",
    "check_all",
    "digest",
    "grammar",
    "is_canonical",
    "known_places",
    "native",
    "needs_namespace",
    "parse",
    "try_parse",
    "walk",
]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only for whoever asks for a name

    module = import_module(f"{__name__}.{home or name}")
    value = getattr(module, name) if home else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOME, *(name for name in globals() if name.startswith("__"))})
