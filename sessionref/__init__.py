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
    from sessionref.api import Scope as Scope
    from sessionref.errors import CODES as CODES
    from sessionref.errors import InvalidReference as InvalidReference
    from sessionref.errors import RegistryError as RegistryError
    from sessionref.errors import SessionrefError as SessionrefError
    from sessionref.errors import StreamError as StreamError
    from sessionref.findings import Finding as Finding
    from sessionref.reference import SessionKey as SessionKey
    from sessionref.reference import SessionRef as SessionRef
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
    from sessionref.registry import Registry as Registry
    from sessionref.registry import needs_namespace as needs_namespace
    from sessionref.scope.actors import Actor as Actor
    from sessionref.scope.derived import Derivation as Derivation
    from sessionref.scope.fields import ReferenceField as ReferenceField
    from sessionref.scope.resolve import Resolution as Resolution
    from sessionref.streams.index import StreamIndex as StreamIndex
    from sessionref.streams.outcomes import Ambiguous as Ambiguous
    from sessionref.streams.outcomes import Hit as Hit
    from sessionref.streams.outcomes import Resolved as Resolved
    from sessionref.streams.outcomes import Unresolved as Unresolved

__version__ = "0.2.0"

#: Where each public name comes from. `grammar` is a module and stands for itself.
_HOME = {
    "CODES": "errors",
    "InvalidReference": "errors",
    "RegistryError": "errors",
    "SessionrefError": "errors",
    "StreamError": "errors",
    "Finding": "findings",
    "SessionKey": "reference",
    "SessionRef": "reference",
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
    "Registry": "registry",
    "needs_namespace": "registry",
    "Scope": "api",
    "Actor": "scope.actors",
    "Derivation": "scope.derived",
    "ReferenceField": "scope.fields",
    "Resolution": "scope.resolve",
    "StreamIndex": "streams.index",
    "Ambiguous": "streams.outcomes",
    "Hit": "streams.outcomes",
    "Resolved": "streams.outcomes",
    "Unresolved": "streams.outcomes",
    "grammar": "",
}

__all__ = [
    "CODES",
    "ENTITY_KEYS",
    "Actor",
    "Ambiguous",
    "Derivation",
    "EntityRef",
    "Finding",
    "Hit",
    "InvalidReference",
    "RecordRef",
    "Ref",
    "ReferenceField",
    "Registry",
    "RegistryError",
    "Resolution",
    "Resolved",
    "Scope",
    "SessionKey",
    "SessionRef",
    "SessionrefError",
    "StreamError",
    "StreamIndex",
    "TurnRef",
    "Unresolved",
    "canonical",
    "check",
    "check_all",
    "digest",
    "grammar",
    "is_canonical",
    "needs_namespace",
    "parse",
    "try_parse",
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
