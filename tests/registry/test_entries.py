"""The entries of the built-in registry, their schema and their types."""

from __future__ import annotations

import copy
import json
import pickle
import tomllib
from importlib import resources
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionref.agent import Agent, Fact, Rule, Sourced, TreeFacts, read_agent
from sessionref.errors import RegistryError
from sessionref.registry import Registry, needs_namespace

DATA = resources.files("sessionref") / "data"
ENTRIES: dict[str, dict[str, Any]] = {
    file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8"))
    for file in sorted((DATA / "agents").iterdir(), key=lambda file: file.name)
    if file.name.endswith(".toml")
}
SCHEMA = json.loads((DATA / "agent.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

MINIMAL = {
    "short_name": {"value": "acme-bot", "source": "stated"},
    "reverse_dns_name": {"value": "com.acme.bot", "source": "stated"},
}


def code_of(entry: Any) -> str | None:
    """The code with which the loader refuses an entry, or None."""
    try:
        read_agent(entry)
    except RegistryError as error:
        return error.code
    return None


def structs(value: Any) -> list[Any]:
    """All structs in a value, itself included."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, msgspec.Struct):
            found.append(item)
            waiting += [getattr(item, name) for name in item.__struct_fields__]
        elif isinstance(item, tuple):
            waiting += item
    return found


def test_the_twelve_agents_are_there():
    """The registry holds the agents whose logs the package reads, each in a file of its name."""
    assert set(ENTRIES) == {
        "claude-code",
        "cline",
        "codex",
        "copilot-cli",
        "cursor",
        "gemini-cli",
        "goose",
        "kiro",
        "openclaw",
        "opencode",
        "pi",
        "t3-code",
    }
    assert all(entry["short_name"]["value"] == name for name, entry in ENTRIES.items())


def test_the_schema_is_one():
    """The published schema is a valid JSON Schema."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_follows_the_schema(name):
    """Every built-in entry is valid under the published schema."""
    VALIDATOR.validate(ENTRIES[name])


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_leaves_nothing_out(name):
    """A built-in entry states everything that it can, or says that it is not known."""
    agent = Registry.default()[name]
    optional = {"replaces", "rule", "ids", "nested", "note", "where", "confidence", "source"}
    optional.add("look_alikes")  # absent where no other logs are known to look like the agent's
    for struct in structs(agent):
        if isinstance(struct, Sourced):
            continue  # which of these members stand together is the schema's affair
        left_out = {
            member
            for member in struct.__struct_fields__
            if getattr(struct, member) is None and member not in optional
        }
        if isinstance(struct, TreeFacts) and struct.stored.value != "yes":
            left_out = set()
        if type(struct).__name__ == "NamespaceFacts" and struct.needed.value == "never":
            left_out -= {"obtained"}
        if type(struct).__name__ == "Claim" and struct.possible.value == "unknown":
            left_out -= {"when"}
        assert not left_out, type(struct).__name__


@pytest.mark.parametrize("name", ENTRIES)
def test_every_rule_has_a_name_of_its_own(name):
    """Rules and formats are found by name, so within an entry no name stands twice."""
    agent = Registry.default()[name]
    for named in (agent.rules, agent.formats, agent.copy_contracts):
        names = [item.name for item in named or ()]
        assert len(names) == len(set(names))


def test_the_namespace_rule_of_an_entry_is_published():
    """An entry whose namespace follows a rule names a rule that it publishes, and only then."""
    for agent in Registry.default().values():
        facts = agent.namespace
        assert facts is not None
        assert (facts.needed.value == "rule") == (facts.rule is not None) == (facts.ids is not None)
        if facts.rule is not None:
            rule = agent.rule(facts.rule)
            assert rule is not None
            assert rule.yields == "namespace"


@pytest.mark.parametrize("name", ENTRIES)
def test_no_rule_uses_time_and_reverse_dns_names_are_ours(name):
    """Time is never evidence; the pages give no reverse-DNS name, so each says `assumed`."""
    agent = Registry.default()[name]
    for rule in agent.rules or ():
        for word in ("time of", "timing", "seconds", "earlier than", "at the same time"):
            assert word not in rule.description
    assert agent.reverse_dns_name.source == "assumed"


@pytest.mark.parametrize("name", ENTRIES)
def test_a_meta_key_is_the_agents_own(name):
    """A `_meta` key of an entry stands under the agent's reverse-DNS name."""
    agent = Registry.default()[name]
    for destination in agent.destinations or ():
        assert destination.to.startswith(agent.reverse_dns + "/")


def test_what_the_pages_state():
    """The entries hold what the pages say of their agents, and call it stated."""
    agents = Registry.default()
    claude, codex, t3 = agents["claude-code"], agents["codex"], agents["t3-code"]
    assert claude.session_id is not None
    assert claude.session_id.subagent is not None
    assert claude.session_id.subagent.value == "agentId"
    for agent, name in (
        (claude, "claude-code-jsonl"),
        (codex, "codex-rollout"),
        (t3, "t3code-statev2-sqlite"),
    ):
        known = agent.format(name)
        assert known is not None
        assert known.source == "stated"
    assert ("threadId", "createdAt") in [derived.values for derived in codex.derived_ids or ()]
    for name in ("t3-code", "goose", "cline"):
        namespace = agents[name].namespace
        assert namespace is not None
        assert (namespace.needed.value, namespace.needed.source) == ("always", "stated")


@pytest.mark.parametrize(
    ("agent", "session_id", "needed"),
    [
        ("claude-code", "ab12cd3", True),
        ("com.anthropic.claude-code", "AB12CD", True),
        ("claude-code", "ab12c", False),
        ("claude-code", "ab12cd34e", False),
        ("claude-code", "acompact-\n", True),
        ("claude-code", "x-acompact-1", False),
        ("codex", "ab12cd3", False),
        ("goose", "20260304_2", True),
        ("kiro", "/home/user/projects", True),
        ("kiro", "C:\\projects", True),
        ("kiro", "6f1d2c3a-5b7e-4c21-9a0d-3e8f1b2c4d5e", False),
        ("example", "x", None),
    ],
)
def test_which_session_ids_need_a_namespace(agent, session_id, needed):
    """The entry says always, never, or for which IDs; of other agents it is not known (ASR-054)."""
    assert needs_namespace(agent, session_id) is needed


def test_an_entry_that_says_nothing_of_namespaces_answers_nothing():
    """An overlay may give the two names alone, or a rule without patterns, which matches nothing."""
    entry = {
        "short_name": {"value": "robo", "source": "stated"},
        "reverse_dns_name": {"value": "org.example.robo", "source": "stated"},
    }
    registry = Registry.default().with_agent(entry)
    assert needs_namespace("robo", "x", registry) is None
    rule = {"needed": {"value": "rule", "source": "stated"}}
    registry = Registry.default().with_agent({**entry, "namespace": rule})
    assert needs_namespace("robo", "x", registry) is False
    registry = registry.with_agent(
        {**entry, "replaces": "robo", "namespace": {**rule, "ids": ["x-?", "y*"]}}
    )
    assert [needs_namespace("robo", one, registry) for one in ("x-1", "x-12", "y", "zy")] == [
        True,
        False,
        True,
        False,
    ]


def test_root_is_claimed_where_the_registry_says_how():
    """Only T3 Code tells a root session positively (ASR-402)."""
    claimed = [
        name
        for name, agent in Registry.default().items()
        if agent.root is not None and agent.root.possible.value == "yes"
    ]
    assert claimed == ["t3-code"]


def test_input_tokens_by_agent_and_format():
    """Whether input tokens include cached ones is known by agent, or by format where it varies."""
    agents = Registry.default()
    assert agents["codex"].input_includes_cached() is True
    assert agents["codex"].input_includes_cached("codex-rollout") is True
    assert agents["claude-code"].input_includes_cached() is False
    assert agents["cline"].input_includes_cached() is None
    assert agents["cline"].input_includes_cached("cline-sdk-json") is True
    assert agents["cline"].input_includes_cached("cline-vscode-task") is False
    assert agents["cline"].input_includes_cached("no-such-format") is None
    assert agents["goose"].input_includes_cached() is None
    assert read_agent(MINIMAL).input_includes_cached() is None


def test_rules_and_formats_by_name():
    """A rule or format is found by its name; another name gives None, as in a bare entry."""
    claude = Registry.default()["claude-code"]
    rule = claude.rule("short-agent-id-container")
    assert isinstance(rule, Rule)
    assert rule.version == "1"
    assert claude.rule("x") is None
    assert claude.format("x") is None
    bare = read_agent(MINIMAL)
    assert bare.rule("x") is None
    assert bare.format("x") is None


def test_an_unknown_fact_says_so():
    """The value "unknown" has no source and is not known; any other value needs its source."""
    assert not Fact(value="unknown").known
    assert Fact(value="uuid", source="assumed").known
    with pytest.raises(ValueError, match="source"):
        Fact(value="uuid")
    with pytest.raises(ValueError, match="source"):
        Fact(value="unknown", source="assumed")


def test_an_agent_is_a_value():
    """Agents are frozen, hashable, equal by content, and come out of a pickle as they went in."""
    for agent in Registry.default().values():
        again = pickle.loads(pickle.dumps(agent))
        assert again == agent
        assert hash(again) == hash(agent)
        assert read_agent(agent) == agent
        with pytest.raises(AttributeError):
            agent.title = "x"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"short_name": None}, "missing-member"),
        ({"short_name": {"value": "acme"}}, "missing-member"),
        ({"colour": "red"}, "unknown-member"),
        ({"title": 7}, "wrong-type"),
        ({"title": ""}, "bad-value"),
        ({"rules": {}}, "wrong-type"),
        ({"tree": {"stored": {"value": "perhaps", "source": "assumed"}}}, "bad-value"),
        ({"tree": {"stored": {"value": "no", "source": "evidence"}}}, "missing-member"),
        (
            {"tree": {"stored": {"value": "no", "source": "assumed", "where": ["x"]}}},
            "unknown-member",
        ),
        (
            {
                "tree": {
                    "stored": {
                        "value": "no",
                        "source": "evidence",
                        "confidence": "seen",
                        "where": [],
                    }
                }
            },
            "bad-value",
        ),
        ({"tree": {"stored": {"value": "unknown", "source": "assumed"}}}, "unknown-member"),
        ({"short_name": {"value": "Acme", "source": "stated"}}, "bad-name"),
        ({"short_name": {"value": "acme\n", "source": "stated"}}, "bad-name"),
        ({"short_name": {"value": "com.acme", "source": "stated"}}, "bad-name"),
        ({"reverse_dns_name": {"value": "acme", "source": "stated"}}, "bad-name"),
    ],
)
def test_a_bad_entry_is_refused_with_its_code(change, code):
    """Each fault of an entry has its code, and the schema refuses the same entries."""
    entry = {name: value for name, value in {**MINIMAL, **change}.items() if value is not None}
    assert code_of(entry) == code
    assert not VALIDATOR.is_valid(entry)


def test_an_agent_built_by_hand_is_checked():
    """A constructor checks no types, so an Agent is checked where it enters a registry."""
    wrong: Any = 7
    agent = msgspec.structs.replace(read_agent(MINIMAL), title=wrong)
    assert code_of(agent) == "wrong-type"


def places(value: Any) -> list[tuple[Any, ...]]:
    """The paths to everything in a document."""
    found: list[tuple[Any, ...]] = []
    waiting: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        found.append(path)
        if isinstance(item, dict):
            waiting += [((*path, key), member) for key, member in item.items()]
        elif isinstance(item, list):
            waiting += [((*path, index), member) for index, member in enumerate(item)]
    return found


SCRAPS: list[Any] = [
    "",
    "unknown",
    "x",
    "yes",
    "varies",
    "rule",
    "stated",
    "evidence",
    "assumed",
    "seen",
    "acme",
    "com.acme",
    "a\n",
    0,
    1,
    1.0,
    True,
    [],
    {},
    ["x"],
    [""],
    [1],
    {"value": "x"},
    {"value": "unknown"},
    {"value": "yes", "source": "stated"},
    {"value": ["x"], "source": "assumed"},
    {"value": "x", "source": "evidence", "where": ["y"], "confidence": "code"},
]
MEMBERS = ["value", "source", "where", "confidence", "note", "title", "replaces", "rule", "x"]


@given(st.data())
def test_the_loader_accepts_what_the_schema_accepts(data):
    """Whatever is changed in an entry, the loader and the schema agree on it."""
    entry = copy.deepcopy(data.draw(st.sampled_from([*ENTRIES.values(), MINIMAL])))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([place for place in places(entry) if place]))
        parent: Any = entry
        for step in path[:-1]:
            parent = parent[step]
        what = data.draw(st.sampled_from(["remove", "replace", "add"]))
        if what == "remove":
            del parent[path[-1]]
            if not entry:
                break
        elif what == "replace" or not isinstance(parent, dict):
            parent[path[-1]] = copy.deepcopy(data.draw(st.sampled_from(SCRAPS)))
        else:
            parent[data.draw(st.sampled_from(MEMBERS))] = copy.deepcopy(
                data.draw(st.sampled_from(SCRAPS))
            )
    assert (code_of(entry) is None) == VALIDATOR.is_valid(entry)


def test_an_agent_says_nothing_of_what_it_leaves_out():
    """A bare entry holds the two names, and None for everything else."""
    agent = read_agent(MINIMAL)
    assert (agent.short, agent.reverse_dns) == ("acme-bot", "com.acme.bot")
    rest = set(Agent.__struct_fields__) - {"short_name", "reverse_dns_name"}
    assert all(getattr(agent, member) is None for member in rest)


def test_situation_T_05_a_rule_is_named_and_versioned_and_says_what_it_yields():
    """A rule that derives a relation has a name, a version and an evidence, so it can be cited."""
    rules = [rule for agent in Registry.default().values() for rule in agent.rules or ()]
    assert rules
    for rule in rules:
        assert rule.name
        assert rule.version
        assert rule.yields
        assert rule.description
