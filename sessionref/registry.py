"""The agent identity registry: which names are the same agent, and what is known of it.

A `Registry` never changes. `Registry.default` is the built-in one; overlay files and
`Registry.with_agent` make new ones. The equality of references and session keys follows the
built-in registry alone, so that a hash means the same in every process; an overlay acts where a
registry is passed or named.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

import msgspec

from sessionref.agent import (
    Agent,
    Name,
    is_agent_name,
    name_kind,
    read_agent,
)
from sessionref.errors import RegistryError
from sessionref.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from importlib.resources.abc import Traversable

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "Agent",
    "NameChange",
    "Registry",
    "is_agent_name",
    "name_kind",
    "needs_namespace",
]

#: Names overlay files, separated as the system separates paths.
ENVIRONMENT_VARIABLE = "SESSIONREF_REGISTRY"

#: How many hexadecimal digits of the overlay's digest a version shows. These 64 bits are enough
#: to tell overlays apart.
_VERSION_DIGITS = 16


class NameChange(msgspec.Struct, frozen=True, order=True):
    """An agent name whose canonical form differs between two registries."""

    name: str
    before: str
    after: str


@final
class Registry(Mapping[str, Agent]):
    """Agents by short name, in the order of their names. Immutable, hashable, picklable.

    `Registry(agents, version=...)` holds these agents and no others; raises `RegistryError` for an
    agent that cannot be read (see `read_agent`) and, with the code ``name-taken``, for a name that
    two of them use.
    """

    __slots__ = ("_agents", "_base", "_declared", "_names", "_version")

    _agents: dict[str, Agent]
    _base: dict[str, Agent]
    _declared: str
    _names: dict[str, Agent]
    _version: str

    def __init__(self, agents: Iterable[Agent] = (), *, version: str = "0") -> None:
        self._fill([read_agent(agent) for agent in agents], version, None)

    def _fill(
        self, agents: Iterable[Agent], declared: str, base: Mapping[str, Agent] | None
    ) -> None:
        names: dict[str, Agent] = {}
        by_short: dict[str, Agent] = {}
        for agent in sorted(agents, key=_short):
            # A short name never equals a reverse-DNS name, which holds a dot, so one table of
            # names serves both.
            for name in (agent.short, agent.reverse_dns):
                if name in names:
                    message = f"the name {name!r} already belongs to {names[name].short}"
                    raise RegistryError("name-taken", message)
            by_short[agent.short] = names[agent.short] = names[agent.reverse_dns] = agent
        put = object.__setattr__
        put(self, "_agents", by_short)
        put(self, "_names", names)
        put(self, "_declared", declared)
        put(self, "_base", by_short if base is None else base)
        put(self, "_version", declared + _overlay_mark(self._base, by_short))

    @classmethod
    def _over(cls, base: Mapping[str, Agent], declared: str, agents: Iterable[Agent]) -> Registry:
        """A registry of `agents`, whose version says how it differs from `base`."""
        registry = cls.__new__(cls)
        registry._fill(agents, declared, base)  # noqa: SLF001 - its own class
        return registry

    # Where registries come from

    @staticmethod
    def default() -> Registry:
        """The built-in registry, read once when it is first asked for."""
        return _default()

    @classmethod
    def load(cls, *files: str | os.PathLike[str]) -> Registry:
        """The built-in registry with the entries of these TOML files laid over it, in order.

        A file holds one entry, or several under ``[[agent]]``. Raises `RegistryError`, which
        names the file: ``unreadable``, ``not-toml``, ``name-taken``, ``nothing-to-replace``, or
        what `read_agent` finds wrong with an entry.
        """
        registry = cls.default()
        for file in files:
            path = Path(file)
            try:
                for entry in _entries(_read_toml(path)):
                    registry = registry.with_agent(entry)
            except RegistryError as error:
                raise RegistryError(error.code, error.message, os.fspath(file)) from error
        return registry

    @classmethod
    def from_environment(
        cls,
        *files: str | os.PathLike[str],
        environ: Mapping[str, str] | None = None,
    ) -> Registry:
        """As `load`, with the files that ``SESSIONREF_REGISTRY`` names before the given ones."""
        named = (os.environ if environ is None else environ).get(ENVIRONMENT_VARIABLE, "")
        return cls.load(*(file for file in named.split(os.pathsep) if file), *files)

    @classmethod
    def published(cls, version: str) -> Registry:
        """The names that the built-in registry held at that version, to compare with `changes`.

        The current version gives the current registry, an older one the names and nothing else.
        Raises `RegistryError` with the code ``unknown-version``.
        """
        current = cls.default()
        if version == current.version:
            return current
        for known in _published():
            if known.version == version:
                return cls((_named(*pair) for pair in known.names.items()), version=version)
        raise RegistryError(
            "unknown-version", f"unknown version of the built-in registry: {version!r}"
        )

    def with_agent(self, agent: Agent | Mapping[str, Any]) -> Registry:
        """A new registry that also holds `agent`, an `Agent` or a mapping in the shape of a file.

        An entry of this registry is replaced only if `agent` names it under ``replaces``.
        Raises `RegistryError` as `load` does.
        """
        entry = read_agent(agent)
        remaining = dict(self._agents)
        if entry.replaces is not None:
            replaced = self.agent(entry.replaces)
            if replaced is None:
                message = f"'replaces' names {entry.replaces!r}, which is not registered"
                raise RegistryError("nothing-to-replace", message)
            del remaining[replaced.short]
            entry = msgspec.structs.replace(entry, replaces=None)
        return self._over(self._base, self._declared, [*remaining.values(), entry])

    # Names

    @property
    def version(self) -> str:
        """The version of the registry. Store it with digests of canonical forms.

        It is the declared version, followed, if overlays changed anything, by ``+`` and a digest
        of the changes. The order of the overlays does not matter.
        """
        return self._version

    def agent(self, name: str) -> Agent | None:
        """The agent of that short or reverse-DNS name, or None where it is not registered."""
        return self._names.get(name)

    def canonical_name(self, name: str) -> str:
        """The name as it stands in canonical forms: short when registered, else as given."""
        agent = self._names.get(name)
        return name if agent is None else agent.short

    def identity(self, name: str) -> str:
        """The name by which agents are compared (ASR-058): reverse-DNS when registered."""
        agent = self._names.get(name)
        return name if agent is None else agent.reverse_dns

    def same_agent(self, one: str, other: str) -> bool:
        """Whether two names resolve to the same agent (ASR-050, 058)."""
        return self.identity(one) == self.identity(other)

    def producer_finding(self, name: str) -> Finding | None:
        """Why a producer may not write `name` as an agent name, or None where it may.

        ``bad-agent-name`` where ASR-056 does not allow the text, ``unregistered-agent-name`` for a
        short name without an entry (ASR-057). A reverse-DNS name may be written: who controls its
        domain, no reader can see.
        """
        kind = name_kind(name)
        if kind is None:
            return Finding(
                code="bad-agent-name",
                severity="error",
                rule="ASR-056",
                message=f"{name!r} is neither a short name nor a reverse-DNS name",
            )
        if kind == "short" and name not in self._agents:
            return Finding(
                code="unregistered-agent-name",
                severity="error",
                rule="ASR-057",
                message=f"the short name {name!r} is not registered; write a reverse-DNS name",
            )
        return None

    def may_produce(self, name: str) -> bool:
        """Whether a producer may write `name` as an agent name (ASR-056, 057)."""
        return self.producer_finding(name) is None

    # From one registry to another

    def changes(self, other: Registry) -> tuple[NameChange, ...]:
        """The agent names whose canonical form differs from this registry to `other`, sorted.

        A name is followed by its identity: what this registry reads it as, and what `other` writes
        for that. Every canonical form whose agent is not among the names stays as it is.
        """
        return tuple(
            NameChange(name, before, after)
            for name in sorted(self._names.keys() | other._names.keys())
            if (before := self.canonical_name(name)) != (after := self._moved(name, other))
        )

    def migrate(self, canonical: str, other: Registry) -> str:
        """The canonical form of a session under `other`, given its canonical form under this one.

        It equals `canonical` exactly if the digest does not change. The text is not checked; a
        text without ``:`` is returned as it is.
        """
        name, colon, rest = canonical.partition(":")
        return self._moved(name, other) + colon + rest if colon else canonical

    def _moved(self, name: str, other: Registry) -> str:
        return other.canonical_name(self.identity(name))

    # The data model

    def __getitem__(self, short_name: str) -> Agent:
        return self._agents[short_name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Registry):
            return NotImplemented
        return self._version == other._version and self._agents == other._agents

    def __hash__(self) -> int:
        return hash((self._version, *self._agents))

    def __repr__(self) -> str:
        return f"<Registry {self._version}: {', '.join(self._agents)}>"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a registry cannot be changed; with_agent makes a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a registry cannot be changed; with_agent makes a new one")

    def __reduce__(self) -> tuple[Callable[..., Registry], tuple[object, ...]]:
        return (Registry._over, (self._base, self._declared, tuple(self._agents.values())))


def needs_namespace(agent: str, session_id: str, registry: Registry | None = None) -> bool | None:
    """Whether a session ID of an agent is not unique without a namespace (ASR-054).

    `agent` is a short or reverse-DNS name. The answer is the registry's: the built-in one's, or
    that of `registry`. None where it does not know the agent, or does not say.
    """
    entry = (Registry.default() if registry is None else registry).agent(agent)
    return None if entry is None else entry.needs_namespace(session_id)


class _Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A version of the built-in registry: the reverse-DNS name of each short name."""

    version: str
    names: dict[str, str]


class _Versions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    versions: tuple[_Published, ...]


def _short(agent: Agent) -> str:
    return agent.short


def _named(short_name: str, reverse_dns_name: str) -> Agent:
    note = "Known by name only."
    return Agent(
        short_name=Name(value=short_name, source="assumed", note=note),
        reverse_dns_name=Name(value=reverse_dns_name, source="assumed", note=note),
    )


def _overlay_mark(base: Mapping[str, Agent], agents: Mapping[str, Agent]) -> str:
    """``+`` and a digest of where `agents` differs from `base`; nothing where it does not."""
    differing = [
        (name, agents.get(name))
        for name in sorted(base.keys() | agents.keys())
        if base.get(name) != agents.get(name)
    ]
    if not differing:
        return ""
    content = msgspec.json.encode(differing, order="sorted")
    return "+" + hashlib.sha256(content).hexdigest()[:_VERSION_DIGITS]


def _data() -> Traversable:
    return resources.files("sessionref") / "data"


@cache
def _published() -> tuple[_Published, ...]:
    text = (_data() / "registry.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Versions).versions


@cache
def _default() -> Registry:
    files = [file for file in (_data() / "agents").iterdir() if file.name.endswith(".toml")]
    agents = [read_agent(tomllib.loads(file.read_text(encoding="utf-8"))) for file in files]
    return Registry(agents, version=_published()[-1].version)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RegistryError("unreadable", f"cannot be read: {error.strerror}") from error
    except ValueError as error:  # a NUL in the name
        raise RegistryError("unreadable", f"cannot be read: {error}") from error
    try:
        return tomllib.loads(content.decode("utf-8"))
    except RecursionError as error:
        raise RegistryError("not-toml", "nested too deeply") from error
    except ValueError as error:  # both of the syntax and of the encoding
        raise RegistryError("not-toml", f"not valid TOML: {error}") from error


def _entries(document: dict[str, Any]) -> list[Any]:
    """The entries of an overlay file: those under ``agent``, or the document as a whole."""
    if "agent" not in document:
        return [document]
    several = document["agent"]
    if len(document) > 1:
        raise RegistryError("unknown-member", "a file with [[agent]] can have no other member")
    if not isinstance(several, list):
        raise RegistryError("wrong-type", "'agent' must be an array of tables, [[agent]]")
    return several  # pyright: ignore[reportUnknownVariableType] - read_agent looks at each
