"""Readers of other agents: a further line in `READERS`, or an entry point of another package."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import made_up_agent
import pytest
from click.testing import CliRunner
from made_up_agent import AGENT, READER, Robo
from native_rows import jsonl, user

from sessionref.api import Scope, scope_of
from sessionref.cli._app import program
from sessionref.errors import StreamError
from sessionref.native import convert, detect, read, readers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sessionref.native import Head, LogFile, NativeRecord, NativeStream

LOGS = {
    "1.jsonl": [
        {"robo": "start", "session": "s1", "at": "2026-03-04T09:00:00Z"},
        {"robo": "say", "id": "m1", "text": "Hello."},
        {"robo": "call", "id": "c1", "in": 12, "out": 3},
    ],
    "2.jsonl": [
        {"robo": "start", "session": "s2", "parent": "s1"},
        {"robo": "call", "id": "c2", "in": 1, "out": 1},
    ],
}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Readers are looked for once in a process: here anew for each test."""
    readers.cache_clear()
    yield
    readers.cache_clear()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "robo" / "logs"
    folder.mkdir(parents=True)
    for name, rows in LOGS.items():
        (folder / name).write_bytes(jsonl(*rows))
    return folder


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Registers readers as an installed package does, by entry points."""

    def registered(*entries: str, **objects: Any) -> None:
        for name, value in objects.items():
            monkeypatch.setattr(made_up_agent, name, value, raising=False)
        installed = tmp_path / "installed" / "robo-1.0.dist-info"
        installed.mkdir(parents=True)
        (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: robo\nVersion: 1.0\n")
        lines = "\n".join(entries)
        (installed / "entry_points.txt").write_text(f"[sessionref.readers]\n{lines}\n")
        monkeypatch.syspath_prepend(installed.parent)

    return registered


def sessions(scope: Scope) -> set[str]:
    return {str(capture.index.session) for capture in scope.captures}


def answers(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that reads logs reads those of the made-up agent."""
    scope = Scope.read([logs])
    assert sessions(scope) == {f"{AGENT}:s1", f"{AGENT}:s2"}
    assert [(edge.facet, edge.evidence) for edge in scope.forest().edges] == [
        ("spawnedBy", "native_field")
    ]
    lean = scope_of([logs], references=False)
    assert lean.totals().by("agent") == scope.totals().by("agent")
    assert [json.loads(line)["type"] for line in convert([logs], pytest.fail)] == [
        "session",
        "org.example.robo.row",
        "message",
        "inference",
        "session",
        "org.example.robo.row",
        "inference",
    ]
    monkeypatch.setenv("ROBO_HOME", str(logs.parent))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(variable, str(logs / "none"))
    shown = CliRunner().invoke(program, ["usage", "--json"])
    assert shown.exit_code == 0
    assert f'"{AGENT}' in shown.stdout


def test_a_further_agent_is_a_line_in_the_list_of_readers(
    logs: Path, monkeypatch: pytest.MonkeyPatch
):
    """Kinds of logs, default folders, streams and relations all follow from it."""
    module = sys.modules["sessionref.native.readers"]
    monkeypatch.setattr(module, "READERS", (*module.READERS, READER))
    answers(logs, monkeypatch)


def test_a_further_agent_is_registered_by_another_package(
    logs: Path, monkeypatch: pytest.MonkeyPatch, register: Callable[..., None]
):
    """An entry point does the same."""
    register("robo = made_up_agent:READER")
    answers(logs, monkeypatch)


def test_without_its_reader_a_log_is_unknown(logs: Path):
    """No reader of the package takes it."""
    assert detect((logs / "1.jsonl").read_bytes()) is None


class Greedy(Robo):
    """Claims every row of any log."""

    agent = "org.example.greedy"

    def recognises(self, row: Head) -> bool | None:  # noqa: ARG002
        return True


def test_of_two_readers_that_claim_a_log_none_is_chosen(register: Callable[..., None]):
    """No order decides what a log is."""
    register("greedy = made_up_agent:GREEDY", GREEDY=Greedy())
    assert detect(jsonl({"x": 1})) == "org.example.greedy"
    assert detect(jsonl(user("u1"))) is None


class Fails(Robo):
    """Fails where it is told to."""

    at = ""

    def recognises(self, row: Head) -> bool | None:
        return self._fail("recognises") or super().recognises(row)

    def survey(self, *given: Any) -> made_up_agent.Survey:
        self._fail("survey")
        return super().survey(*given)

    def relate(self, logs: Sequence[LogFile[made_up_agent.Survey]]) -> None:
        self._fail("relate")
        super().relate(logs)

    def streams(self, *given: Any, **named: Any) -> Iterator[NativeStream]:
        self._fail("streams")
        for stream in super().streams(*given, **named):
            stream.records = self._records(stream.records)
            yield stream

    def _records(self, records: Iterator[NativeRecord]) -> Iterator[NativeRecord]:
        self._fail("records")
        yield from records

    def _fail(self, here: str) -> None:
        if here == self.at:
            raise KeyError(here)


NAME = "the registered reader robo (made_up_agent:BAD)"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (None, f"{NAME} is not used: AttributeError: "),
        (7, f"{NAME} is not used: it does not offer what sessionref.native.Reader asks for"),
        ("X Y", f"{NAME} is not used: 'X Y' is not an agent name"),
        ("codex", f"{NAME} is not used: there is a reader of codex already"),
    ],
)
def test_a_reader_that_cannot_be_used_gives_a_finding(
    bad: Any, message: str, tmp_path: Path, register: Callable[..., None]
):
    """The other readers work, and one finding says what is wrong with this one."""
    if isinstance(bad, str):
        name, bad = bad, Robo()
        bad.agent = name
    register("robo = made_up_agent:BAD", **({} if bad is None else {"BAD": bad}))
    log = tmp_path / "x.jsonl"
    log.write_bytes(jsonl(user("u1")))
    for references in (True, False):
        scope = scope_of([log, log], references=references)
        (finding,) = scope.findings
        assert (finding.code, finding.severity) == ("broken-reader", "warning")
        assert finding.message.startswith(message)
        assert len(sessions(scope)) == 1


@pytest.mark.parametrize("at", ["recognises", "survey", "relate", "streams", "records"])
@pytest.mark.parametrize("columns", [True, False])
def test_a_reader_that_fails_costs_its_own_logs_only(
    at: str, columns: bool, logs: Path, register: Callable[..., None]
):
    """An error in the code of another package never ends the program."""
    bad = Fails()
    bad.at = at
    register("robo = made_up_agent:BAD", BAD=bad)
    (logs / "3.jsonl").write_bytes(jsonl(user("u1")))
    scope = scope_of([logs], references=not columns)
    said = [finding for finding in scope.findings if "KeyError: " in finding.message]
    assert said
    assert all(finding.message.startswith(NAME) for finding in said)
    assert len(sessions(scope)) == (3 if at == "relate" else 1)


def test_a_log_that_cannot_be_read_any_more_is_no_fault_of_the_reader(
    logs: Path, register: Callable[..., None]
):
    """What a reader passes on of the input stays what it is."""

    class Loses(Robo):
        def survey(self, *given: Any) -> made_up_agent.Survey:  # noqa: ARG002
            raise StreamError("unreadable", "gone", "1.jsonl")

    register("robo = made_up_agent:BAD", BAD=Loses())
    findings: list[Any] = []
    assert list(read(logs / "1.jsonl", findings.append)) == []
    assert [(finding.code, finding.message) for finding in findings] == [("unreadable", "gone")]
