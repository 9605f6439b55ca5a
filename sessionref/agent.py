"""What an entry of the agent identity registry states, as types.

An entry is read from a TOML file (`sessionref/data/agents/`, `docs/registry.md`). Whatever it
states is a fact with its source; what is not established says ``"unknown"``. A member that an
entry leaves out is None: an overlay may give no more than the two names.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from sessionref._compiled import AGENT_NAME, SHORT_NAME
from sessionref.errors import RegistryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "Agent",
    "Claim",
    "ComparisonFacts",
    "Confidence",
    "CopyContract",
    "DerivedId",
    "Destination",
    "Fact",
    "Format",
    "IdFacts",
    "InferenceFacts",
    "LineageField",
    "LookAlike",
    "Name",
    "NamespaceFacts",
    "OrdinalFacts",
    "Rule",
    "SessionIdFacts",
    "Source",
    "Sourced",
    "TreeFacts",
    "UsageFacts",
    "is_agent_name",
    "name_kind",
    "read_agent",
]

T = TypeVar("T")

#: Where a fact comes from: the pages of the specification (in an overlay: the agent's maintainer),
#: public evidence, or nobody but us.
Source: TypeAlias = Literal["stated", "evidence", "assumed"]

#: How far evidence goes: seen in a public log, read in the agent's own code, told by somebody
#: else's parser, test or issue, or inferred.
Confidence: TypeAlias = Literal["seen", "code", "report", "guess"]

_Text: TypeAlias = Annotated[str, Meta(min_length=1)]
_Texts: TypeAlias = Annotated[tuple[_Text, ...], Meta(min_length=1)]

_short_name = re.compile(SHORT_NAME).fullmatch
_agent_name = re.compile(AGENT_NAME).fullmatch


def name_kind(name: str) -> Literal["short", "reverse-dns"] | None:
    """Which of the two forms of ASR-056 `name` has, or None if it is not an agent name."""
    if _short_name(name):
        return "short"
    return "reverse-dns" if _agent_name(name) else None


def is_agent_name(name: str) -> bool:
    """Whether `name` has one of the two forms of ASR-056, registered or not."""
    return name_kind(name) is not None


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of an entry. Unknown members are errors, and absent members are not written."""


class Sourced(_Strict, frozen=True, kw_only=True):
    """Something that an entry states, with where it comes from.

    `where` names public repositories, paths or issues, and stands with `confidence` beside the
    source ``evidence`` and nowhere else. Raises ValueError where that does not hold.
    """

    source: Source | None = None
    where: _Texts | None = None
    confidence: Confidence | None = None
    note: _Text | None = None

    def __post_init__(self) -> None:
        # These are the words of msgspec's own errors, so that both kinds get the same code.
        if self._is_open() != (self.source is None):
            raise ValueError((_UNKNOWN if self.source else _MISSING).format("source"))
        for member, value in (("where", self.where), ("confidence", self.confidence)):
            if (value is not None) != (self.source == "evidence"):
                raise ValueError((_MISSING if value is None else _UNKNOWN).format(member))

    def _is_open(self) -> bool:
        """Whether this says only that something is not known, for which there is no source."""
        return False


class Fact(Sourced, Generic[T], frozen=True, kw_only=True):
    """A value and its source. The value ``"unknown"`` stands alone: nobody has established it."""

    value: T

    @property
    def known(self) -> bool:
        """Whether the fact is established or assumed, rather than ``"unknown"``."""
        return not self._is_open()

    def _is_open(self) -> bool:
        return self.value == "unknown"


class Name(Sourced, frozen=True, kw_only=True):
    """A name of the agent and its source."""

    value: _Text


_Said: TypeAlias = Fact[_Text]
_Truth: TypeAlias = Fact[Literal["yes", "no", "unknown"]]
_List: TypeAlias = Fact[tuple[_Text, ...] | Literal["unknown"]]
_Need: TypeAlias = Literal["never", "always", "rule", "unknown"]
_Cached: TypeAlias = Literal["yes", "no", "varies", "unknown"]


class SessionIdFacts(_Strict, frozen=True, kw_only=True):
    """Which native value is the session ID, of each kind of session (ASR-051, 052)."""

    main: _Said | None = None
    subagent: _Said | None = None
    fork: _Said | None = None
    continuation: _Said | None = None


class NamespaceFacts(_Strict, frozen=True, kw_only=True):
    """Whether session IDs need a namespace, and how it is obtained (ASR-054, 055).

    `needed` is ``never``, ``always``, ``rule`` or ``unknown``. With ``rule`` the session IDs that
    match one of the patterns `ids` need one, and the entry's rule named `rule` says why. In a
    pattern ``*``, ``?`` and ``[…]`` mean what they mean in file names (`fnmatch`). `nested` says
    how a container namespace is written where the scope of an installation is needed as well.
    """

    needed: Fact[_Need]
    ids: _Texts | None = None
    obtained: _Said | None = None
    rule: _Text | None = None
    nested: _Said | None = None


class IdFacts(_Strict, frozen=True, kw_only=True):
    """Which native values are the record ID, message ID, call ID and turn ID."""

    record: _Said | None = None
    message: _Said | None = None
    call: _Said | None = None
    turn: _Said | None = None


class InferenceFacts(_Strict, frozen=True, kw_only=True):
    """Which native value is the inference ID (ASR-073), and whether it is globally unique.

    `with_request_id` is ``yes`` where it is unique only together with the ID of the request.
    """

    id: _Said
    globally_unique: _Truth
    with_request_id: _Truth | None = None


class TreeFacts(_Strict, frozen=True, kw_only=True):
    """The pointers of a source that stores a tree of records rather than a list."""

    stored: _Truth
    parent: _Said | None = None
    response_group: _Said | None = None
    active_leaf: _Said | None = None


class LineageField(Sourced, frozen=True, kw_only=True):
    """A native field or structure that says how sessions or records are related."""

    native: _Text
    facet: Literal[
        "root",
        "spawnedBy",
        "forkedFrom",
        "continues",
        "inherits",
        "executedBy",
        "relatedUnknown",
        "role",
        "scope",
        "copiedFrom",
        "subagent",
        "conversation",
        "none",
    ]
    meaning: _Text


class Claim(_Strict, frozen=True, kw_only=True):
    """Whether something may be claimed of a session at all, and on what native evidence."""

    possible: _Truth
    when: _Said | None = None


class CopyContract(Sourced, frozen=True, kw_only=True):
    """A prefix that the source itself documents as copied history (proof ``prefix_contract``)."""

    name: _Text
    version: _Text
    description: _Text


class Rule(Sourced, frozen=True, kw_only=True):
    """A published rule by which a reader derives something that the source does not spell out.

    `about` names the fields that it fills, `yields` the evidence that they then carry (ASR-404),
    or ``namespace``, for a rule of identity.
    """

    name: _Text
    version: _Text
    about: _Texts
    yields: Literal["native_field", "native_structure", "converter_inference", "namespace"]
    description: _Text


class UsageFacts(_Strict, frozen=True, kw_only=True):
    """How the source counts tokens: whether input includes cached input, calls, aggregates.

    `uncounted` names the types of records that tell of model calls that no record counts.
    """

    input_includes_cached: Fact[_Cached]
    calls: _Said | None = None
    aggregates: _Said | None = None
    uncounted: _List | None = None


class ComparisonFacts(_Strict, frozen=True, kw_only=True):
    """What is left out when native records are compared.

    `written_again`: members left out when asking whether a record is written a second time in one
    file. `copied_prefix`: members left out when comparing a fork's leading records with its
    parent's. `passed_over`: kinds of records that this second comparison skips.
    """

    written_again: _List | None = None
    copied_prefix: _List | None = None
    passed_over: _List | None = None


class OrdinalFacts(_Strict, frozen=True, kw_only=True):
    """The source's own record positions, and how they map across files (ASR-079, 407, 409)."""

    native: _Said
    boundary: _Said | None = None
    segments: _Said | None = None


class Format(Sourced, frozen=True, kw_only=True):
    """A native format: its name for ``producer.source.format`` and what it is.

    `input_includes_cached` stands here where the formats of one agent differ in it.
    """

    name: _Text
    description: _Text
    input_includes_cached: Fact[Literal["yes", "no", "unknown"]] | None = None


class LookAlike(Sourced, frozen=True, kw_only=True):
    """Another program whose logs look like this agent's, and what tells its rows.

    `members` are members of a row that this agent never writes; ``message.parts`` is the member
    `parts` of the member `message`.
    """

    name: _Text
    members: _Texts


class DerivedId(Sourced, frozen=True, kw_only=True):
    """A tuple of native values that is stable and unique for an item (ASR-068)."""

    item: _Text
    values: _Texts
    scope: Literal["session", "capture"]


class Destination(Sourced, frozen=True, kw_only=True):
    """Where a native fact without a standard field goes: a ``_meta`` key or a vendor type."""

    fact: _Text
    kind: Literal["meta", "record"]
    to: _Text


class Agent(_Strict, frozen=True, kw_only=True):
    """All that the registry knows of one agent. Frozen, hashable, picklable.

    `replaces` stands only in an overlay and names the entry that this one takes the place of.
    """

    short_name: Name
    reverse_dns_name: Name
    replaces: _Text | None = None
    title: _Text | None = None
    session_id: SessionIdFacts | None = None
    namespace: NamespaceFacts | None = None
    ids: IdFacts | None = None
    inference: InferenceFacts | None = None
    tree: TreeFacts | None = None
    root: Claim | None = None
    inherits_none: Claim | None = None
    mirror: Claim | None = None
    usage: UsageFacts | None = None
    comparison: ComparisonFacts | None = None
    ordinals: OrdinalFacts | None = None
    lineage: tuple[LineageField, ...] | None = None
    copy_contracts: tuple[CopyContract, ...] | None = None
    rules: tuple[Rule, ...] | None = None
    look_alikes: tuple[LookAlike, ...] | None = None
    formats: tuple[Format, ...] | None = None
    derived_ids: tuple[DerivedId, ...] | None = None
    destinations: tuple[Destination, ...] | None = None

    @property
    def short(self) -> str:
        """The short name, which stands in canonical forms."""
        return self.short_name.value

    @property
    def reverse_dns(self) -> str:
        """The reverse-DNS name, the agent's identity (ASR-058)."""
        return self.reverse_dns_name.value

    def rule(self, name: str) -> Rule | None:
        """The published rule of that name, or None."""
        return next((rule for rule in self.rules or () if rule.name == name), None)

    def format(self, name: str) -> Format | None:
        """The native format of that name, or None."""
        return next((known for known in self.formats or () if known.name == name), None)

    def needs_namespace(self, session_id: str) -> bool | None:
        """Whether this session ID is not unique without a namespace (ASR-054); None if unknown."""
        facts = self.namespace
        if facts is None:
            return None
        if facts.needed.value == "rule":
            return _matcher(facts.ids or ())(session_id) is not None
        return {"always": True, "never": False}.get(facts.needed.value)

    def left_out(
        self, comparison: Literal["written_again", "copied_prefix", "passed_over"]
    ) -> tuple[str, ...]:
        """What a comparison of native records leaves out; nothing if the entry does not say."""
        fact = None if self.comparison is None else getattr(self.comparison, comparison)
        return () if fact is None or not fact.known else fact.value

    @property
    def may_inherit_none(self) -> bool:
        """Whether a reader may claim that a session of this agent inherits nothing (ASR-409)."""
        return self.inherits_none is not None and self.inherits_none.possible.value == "yes"

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The types of records that tell of model calls that no record counts."""
        fact = None if self.usage is None else self.usage.uncounted
        return () if fact is None or not fact.known else tuple(fact.value)

    def input_includes_cached(self, format_name: str | None = None) -> bool | None:
        """Whether input tokens include cached ones, in that native format; None where unknown."""
        known = None if format_name is None else self.format(format_name)
        if known is not None and known.input_includes_cached is not None:
            said: str = known.input_includes_cached.value
        elif self.usage is not None:
            said = self.usage.input_includes_cached.value
        else:
            return None
        return {"yes": True, "no": False}.get(said)


@cache
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], object]:
    """Matches what one of the patterns matches as a whole; without patterns, nothing."""
    return re.compile("|".join(map(translate, patterns)) or r"(?!)").match


_MISSING = "Object missing required field `{}`"
_UNKNOWN = "Object contains unknown field `{}`"

#: How a complaint of msgspec begins, and the code that it gets.
_CODES = (
    ("Object missing required field", "missing-member"),
    ("Object contains unknown field", "unknown-member"),
    ("Invalid enum value", "bad-value"),
    ("Expected `str` of length", "bad-value"),
    ("Expected `array` of length", "bad-value"),
)


def read_agent(entry: Agent | Mapping[str, Any]) -> Agent:
    """The agent that `entry` states: an `Agent`, or what a TOML reader makes of an entry.

    Accepts exactly what ``data/agent.schema.json`` accepts. Raises `RegistryError` with the code
    ``missing-member``, ``unknown-member``, ``wrong-type``, ``bad-value`` or, for a name that
    ASR-056 does not allow, ``bad-name``.
    """
    # msgspec does not check the arguments of a constructor, so an Agent is checked here too.
    plain = msgspec.to_builtins(entry) if isinstance(entry, Agent) else entry
    try:
        agent = msgspec.convert(plain, Agent)
    except msgspec.ValidationError as error:
        message = str(error)
        code = next((code for start, code in _CODES if message.startswith(start)), "wrong-type")
        raise RegistryError(code, message) from None
    for name, kind in ((agent.short, "short"), (agent.reverse_dns, "reverse-dns")):
        if name_kind(name) != kind:
            raise RegistryError("bad-name", f"{name!r} is not a valid {kind} agent name (ASR-056)")
    return agent
