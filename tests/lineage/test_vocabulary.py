"""`check` and `tree` name one fault alike, and read each reference once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

import sessionref.reference
from sessionref.cli._app import program
from sessionref.scope import values

NF = "native_field"
HEADER: dict[str, Any] = {
    "type": "session",
    "seq": 0,
    "id": "top",
    "agent": {"name": "codex"},
    "sessionId": "north",
}
#: Seven records' worth of faults: five in references, one of a type, one of a count.
FAULTY = (
    HEADER
    | {
        "lineage": {
            "spawnedBy": {"session": "codex:south#turnId=t", "evidence": NF},
            "inherits": {"mode": "copied", "from": ":west", "evidence": NF},
            "executedBy": [{"session": None, "evidence": NF}, {"session": [], "evidence": NF}],
        }
    },
    {
        "type": "hook",
        "seq": 1,
        "id": "one",
        "copiedFrom": {"session": "codex:%zz", "record": "plan=3", "proof": NF},
    },
    {"type": "subagent", "seq": 2, "id": "two", "childSession": "codex:east#one"},
    {"type": "inference", "seq": 3, "id": "three", "usage": {"outputTokens": -4}},
    {"type": "usage", "seq": 4, "id": "four", "cost": [{"amount": "1e3", "currency": "EUR"}]},
)
_SAME = ("rule", "code", "severity", "session", "seq", "id", "path", "line", "message")


def _told(text: str, path: Any, *command: str) -> list[dict[str, Any]]:
    path.write_text(text)
    out = CliRunner().invoke(program, [*command, "--json", str(path)]).stdout
    if command == ("tree",):
        found = json.loads(out)["findings"]
    else:
        found = [json.loads(line) for line in out.splitlines()]
    return [{name: one.get(name) for name in _SAME} for one in found]


def test_check_and_tree_name_each_fault_alike(tmp_path):
    """Rule, code, severity, place and words are the same; neither has a vocabulary of its own."""
    text = "".join(json.dumps(record) + "\n" for record in FAULTY)
    checked = _told(text, tmp_path / "f.jsonl", "check")
    told = _told(text, tmp_path / "f.jsonl", "tree")
    assert {one["code"] for one in told} == {
        "unexpected-ref",
        "bad-agent-name",
        "bad-session-reference",
        "bad-member",
        "bad-percent-encoding",
        "unknown-entity-key",
    }
    assert [one for one in told if one not in checked] == []
    places = {(one["line"], one["path"]) for one in told}
    assert sum((one["line"], one["path"]) in places for one in checked) == len(told) == 9


@pytest.mark.parametrize(
    ("record", "texts"),
    [
        ({"type": "subagent", "childSession": "codex:child"}, {"codex:child"}),
        (
            {"type": "hook", "copiedFrom": {"session": "codex:other", "record": "r", "proof": NF}},
            {"codex:other"},
        ),
        ({"type": "subagent", "childSession": "codex:child#broken"}, {"codex:child#broken"}),
        ({"type": "subagent", "childSession": "codex:%e9"}, {"codex:%e9"}),
    ],
)
def test_a_reference_in_a_record_is_parsed_once(tmp_path, monkeypatch, record, texts):
    """However many parts of a check ask for it."""
    values.session_of.cache_clear()
    parsed: list[str] = []

    def parse(text: str) -> Any:
        parsed.append(text)
        return sessionref.reference.parse(text)

    monkeypatch.setattr(values, "parse", parse)
    lines = [HEADER, {"seq": 1, "id": "one", **record}]
    _told("".join(json.dumps(line) + "\n" for line in lines), tmp_path / "f.jsonl", "check")
    assert sorted(parsed) == sorted(texts)
