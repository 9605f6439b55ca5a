"""Names, identity and versions under a registry."""

from __future__ import annotations

import pickle
import string
import types

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionref.agent import Agent, Name
from sessionref.errors import RegistryError
from sessionref.registry import (
    NameChange,
    Registry,
    is_agent_name,
    name_kind,
)

DEFAULT = Registry.default()


def agent(short: str, reverse: str, **members) -> Agent:
    return Agent(
        short_name=Name(value=short, source="stated"),
        reverse_dns_name=Name(value=reverse, source="stated"),
        **members,
    )


ACME = agent("acme-bot", "com.acme.bot")
OTHER = agent("other-bot", "com.other.bot")

_alphabet = string.ascii_lowercase + string.digits
labels = st.lists(st.text(_alphabet, min_size=1, max_size=4), min_size=1, max_size=2).map("-".join)
short_names = labels
reverse_dns_names = st.lists(labels, min_size=2, max_size=4).map(".".join)
agents = st.builds(agent, short_names, reverse_dns_names)
registries = st.lists(
    agents, max_size=4, unique_by=(lambda one: one.short, lambda one: one.reverse_dns)
).map(lambda known: extended(*known))
names = st.one_of(
    short_names,
    reverse_dns_names,
    st.sampled_from([name for one in DEFAULT.values() for name in (one.short, one.reverse_dns)]),
    st.text(max_size=6),
)


def extended(*known: Agent) -> Registry:
    registry = DEFAULT
    for one in known:
        if registry.agent(one.short) is None and registry.agent(one.reverse_dns) is None:
            registry = registry.with_agent(one)
    return registry


def test_complaint_35_the_registry_can_be_iterated():
    """A registry is a mapping of short names to agents, in the order of the names."""
    assert list(DEFAULT) == sorted(DEFAULT)
    assert len(DEFAULT) == 12
    assert DEFAULT["codex"] is DEFAULT.agent("com.openai.codex")
    assert "com.openai.codex" not in DEFAULT
    assert all(DEFAULT[name].short == name for name in DEFAULT)
    assert DEFAULT.get("nobody") is None


def test_complaint_27_two_names_of_one_agent():
    """The short and the reverse-DNS name are the same agent (ASR-050, 058)."""
    assert DEFAULT.same_agent("codex", "com.openai.codex")
    assert not DEFAULT.same_agent("codex", "claude-code")
    assert DEFAULT.canonical_name("com.openai.codex") == "codex"
    assert DEFAULT.identity("codex") == "com.openai.codex"


def test_an_unregistered_name_stands_for_itself():
    """A name without an entry is neither changed nor refused, and equals only itself."""
    assert DEFAULT.canonical_name("com.acme.bot") == "com.acme.bot"
    assert DEFAULT.identity("acme-bot") == "acme-bot"
    assert DEFAULT.agent("acme-bot") is None
    assert not DEFAULT.same_agent("acme-bot", "com.acme.bot")
    assert not DEFAULT.same_agent("codex", "Codex")


def test_the_default_registry_is_read_once():
    """Asked twice, the default registry is the same object."""
    assert Registry.default() is Registry.default()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("codex", "short"),
        ("claude-code", "short"),
        ("0", "short"),
        ("com.openai.codex", "reverse-dns"),
        ("a.b", "reverse-dns"),
        ("", None),
        ("Codex", None),
        ("-a", None),
        ("a-", None),
        ("a--b", None),
        ("a..b", None),
        (".a", None),
        ("a.", None),
        ("codex\n", None),
        ("com.openai\n", None),
        ("a_b", None),
        ("ä", None),
        ("a:b", None),
        ("٣", None),
    ],
)
def test_complaint_19_the_forms_of_an_agent_name(name, kind):
    """ASR-056 allows two forms, over the whole text: a final line feed is no part of one."""
    assert name_kind(name) == kind
    assert is_agent_name(name) == (kind is not None)


def test_a_long_name_is_no_burden():
    """A name of ten million characters is judged like any other."""
    name = "a-" * 5_000_000
    assert name_kind(name) is None
    assert name_kind(name + "a") == "short"


def test_what_a_producer_may_write():
    """A producer writes registered names and reverse-DNS names, no other short names (ASR-057)."""
    for name in ("codex", "com.openai.codex", "com.acme.bot", "org.agent-session.acp.zed"):
        assert DEFAULT.may_produce(name)
        assert DEFAULT.producer_finding(name) is None
    finding = DEFAULT.producer_finding("acme-bot")
    assert finding is not None
    assert (finding.rule, finding.code) == ("ASR-057", "unregistered-agent-name")
    assert DEFAULT.with_agent(ACME).may_produce("acme-bot")
    finding = DEFAULT.producer_finding("Codex")
    assert finding is not None
    assert (finding.rule, finding.code) == ("ASR-056", "bad-agent-name")
    assert not DEFAULT.may_produce("Codex")


def test_a_registry_never_changes():
    """Adding an agent gives a new registry and leaves the old one; nothing can be set."""
    more = DEFAULT.with_agent(ACME)
    assert "acme-bot" in more
    assert "acme-bot" not in DEFAULT
    with pytest.raises(AttributeError):
        DEFAULT._version = "x"
    with pytest.raises(AttributeError):
        del DEFAULT._version


def test_equality_hash_and_pickle():
    """Registries with the same content are equal, whichever way they came about."""
    one = DEFAULT.with_agent(ACME).with_agent(OTHER)
    other = DEFAULT.with_agent(OTHER).with_agent(ACME)
    assert one == other
    assert hash(one) == hash(other)
    assert one != DEFAULT
    assert dict(DEFAULT) != DEFAULT
    for registry in (one, DEFAULT, Registry()):
        again = pickle.loads(pickle.dumps(registry))
        assert again == registry
        assert again.version == registry.version
        assert pickle.dumps(again) == pickle.dumps(pickle.loads(pickle.dumps(again)))
    assert repr(Registry([ACME], version="7")) == "<Registry 7: acme-bot>"


def test_the_version_tells_overlays_apart():
    """The version is the declared one, and behind it a digest of what an overlay changed."""
    assert DEFAULT.version == "1"
    one, other = DEFAULT.with_agent(ACME), DEFAULT.with_agent(OTHER)
    assert one.version.startswith("1+")
    assert one.version != other.version
    assert one.with_agent(OTHER).version == other.with_agent(ACME).version
    assert one.version == DEFAULT.with_agent(ACME).version
    titled = DEFAULT.with_agent(agent("acme-bot", "com.acme.bot", title="Acme"))
    assert titled.version != one.version


def test_an_entry_replaced_by_its_equal_leaves_the_version():
    """What counts is the content: replacing an entry by the same entry changes nothing."""
    same = DEFAULT.with_agent({**msgspec.to_builtins(DEFAULT["codex"]), "replaces": "codex"})
    assert same == DEFAULT
    assert same.version == DEFAULT.version


@pytest.mark.parametrize(
    "new",
    [
        agent("codex", "com.acme.codex"),
        agent("acme-codex", "com.openai.codex"),
    ],
)
def test_a_name_taken_twice(new):
    """A name that an entry has cannot be given to another without saying so."""
    with pytest.raises(RegistryError) as caught:
        DEFAULT.with_agent(new)
    assert caught.value.code == "name-taken"
    with pytest.raises(RegistryError) as caught:
        Registry([*DEFAULT.values(), new])
    assert caught.value.code == "name-taken"


def test_replacing_needs_something_to_replace():
    """An entry cannot replace an agent that is not there."""
    with pytest.raises(RegistryError) as caught:
        DEFAULT.with_agent(agent("acme-bot", "com.acme.bot", replaces="acme"))
    assert caught.value.code == "nothing-to-replace"


def test_replacing_frees_the_names_of_the_old_entry():
    """An entry takes the place of the one it names, by either name, and is stored without that."""
    new = DEFAULT.with_agent(agent("codex", "org.codex.codex", replaces="com.openai.codex"))
    assert new.identity("codex") == "org.codex.codex"
    assert new.agent("com.openai.codex") is None
    assert new["codex"].replaces is None
    assert len(new) == len(DEFAULT)


def test_changes_of_a_replacement_follow_the_identity():
    """A stored name means what the old registry read it as, and is written as the new one does."""
    renamed = DEFAULT.with_agent(agent("codex-cli", "com.openai.codex", replaces="codex"))
    assert DEFAULT.changes(renamed) == (
        NameChange("codex", "codex", "codex-cli"),
        NameChange("com.openai.codex", "codex", "codex-cli"),
    )
    assert DEFAULT.migrate("codex:a:b", renamed) == "codex-cli:a:b"
    assert renamed.migrate("codex-cli:a:b", DEFAULT) == "codex:a:b"


def test_a_stored_canonical_form_is_migrated():
    """A name that is registered later changes the canonical forms that used it, and no other."""
    later = DEFAULT.with_agent(ACME)
    assert DEFAULT.migrate("com.acme.bot:x%3Ay", later) == "acme-bot:x%3Ay"
    assert DEFAULT.migrate("codex:x", later) == "codex:x"
    assert DEFAULT.migrate("com.acme.bot", later) == "com.acme.bot"


def test_published_versions():
    """The names of a released version can be had again, to compare stored digests with."""
    assert Registry.published("1") is DEFAULT
    with pytest.raises(RegistryError) as caught:
        Registry.published("1+0123456789abcdef")
    assert caught.value.code == "unknown-version"


def test_an_older_published_version_holds_names(monkeypatch):
    """An older version holds the names of its time and nothing else."""
    old = types.SimpleNamespace(version="0", names={"codex": "com.openai.codex"})
    monkeypatch.setattr("sessionref.registry._published", lambda: (old,))
    registry = Registry.published("0")
    assert list(registry) == ["codex"]
    assert registry.version == "0"
    changed = {change.name for change in registry.changes(DEFAULT)}
    assert changed == {one.reverse_dns for one in DEFAULT.values()} - {"com.openai.codex"}


@given(registries, names)
def test_resolving_is_idempotent(registry, name):
    """Resolving a name again changes nothing, and both ways lead to the same names."""
    canonical, identity = registry.canonical_name(name), registry.identity(name)
    assert registry.canonical_name(canonical) == canonical
    assert registry.identity(identity) == identity
    assert registry.canonical_name(identity) == canonical
    assert registry.identity(canonical) == identity


@given(registries, names, names, names)
def test_same_agent_is_an_equivalence(registry, one, two, three):
    """Being the same agent is reflexive, symmetric and transitive, and agrees with key names."""
    assert registry.same_agent(one, one)
    assert registry.same_agent(one, two) == registry.same_agent(two, one)
    if registry.same_agent(one, two) and registry.same_agent(two, three):
        assert registry.same_agent(one, three)
    same_form = registry.canonical_name(one) == registry.canonical_name(two)
    assert registry.same_agent(one, two) == same_form


@given(registries, agents)
def test_a_new_agent_changes_its_own_name_only(registry, new):
    """Registering an agent changes canonical forms of its reverse-DNS name and of no other."""
    if registry.agent(new.short) is not None or registry.agent(new.reverse_dns) is not None:
        return
    later = registry.with_agent(new)
    assert registry.changes(later) == (NameChange(new.reverse_dns, new.reverse_dns, new.short),)
    assert set(later.changes(registry)) == {
        NameChange(new.reverse_dns, new.short, new.reverse_dns),
        NameChange(new.short, new.short, new.reverse_dns),
    }
    assert registry.changes(registry) == ()
    assert registry.migrate(f"{new.reverse_dns}:s", later) == f"{new.short}:s"


@given(registries)
def test_a_registry_survives_its_pickle(registry):
    """A registry comes out of a pickle as it went in."""
    assert pickle.loads(pickle.dumps(registry)) == registry
