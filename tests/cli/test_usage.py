"""`usage`: what counts once, how much of it is certain, and how that is said."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from cli_logs import claude_log, codex_log
from click.testing import CliRunner
from lineage_streams import NF, Stream, copied, named, none, usage

from sessionref.cli._app import program

EXAMPLES = Path(__file__).parents[2] / "examples"
needs_examples = pytest.mark.skipif(not EXAMPLES.exists(), reason="needs the checkout")
MEASURE = {
    "inputTokens": 0,
    "cacheReadTokens": 0,
    "cacheWriteTokens": 0,
    "outputTokens": 0,
    "reasoningTokens": 0,
    "calls": 0,
}


def run(*arguments: object, stdin: bytes | None = None, **env: str | None):
    env = {"COLUMNS": None, "NO_COLOR": None, **env}
    return CliRunner().invoke(program, ["usage", *map(str, arguments)], input=stdin, env=env)


def told(*streams: Stream | bytes, options: tuple[object, ...] = (), **env: str | None):
    texts = [one if isinstance(one, bytes) else one.text() for one in streams]
    return run(*options, "-", stdin=b"".join(texts), **env)


def document(*streams: Stream | bytes, options: tuple[object, ...] = ()):
    return json.loads(told(*streams, options=("--json", *options)).stdout)


def measure(out: int, calls: int, **more: object) -> dict[str, object]:
    return MEASURE | {"outputTokens": out, "calls": calls} | more


def family() -> list[Stream]:
    """An original session, a fork that begins with its copy, and one that does not say."""
    parent = Stream("p", none())
    parent.call(100, model={"id": "m-1"}, ts="2026-10-26T18:00:00Z")
    fork = Stream("fork", copied("r1", "p", forkedFrom=named("p")))
    fork.call(100, inferenceId="codex:p/1", model={"id": "m-1"}, ts="2026-10-26T18:00:00Z")
    fork.call(20, model={"id": "m-2"}, ts="2026-10-27T18:00:00Z")
    unclear = Stream("pi:x")
    unclear.call(3, model={"id": "m-2"})
    return [parent, fork, unclear]


class TestText:
    def test_what_counts_once_leads_and_what_is_certain_ends(self):
        """First the number, then each session and family, then all measures, then sentences."""
        assert told(*family()).stdout.splitlines() == [
            "123 tokens in 3 model calls, counted once",
            "",
            "session                 counted once  original   copied  unknown",
            "codex:fork                    20 (1)    20 (1)  100 (1)        -",
            "codex:p                      100 (1)   100 (1)        -        -",
            "  family of 2 sessions       120 (2)   120 (2)  100 (1)        -",
            "pi:x                           3 (1)         -        -    3 (1)",
            "tokens (model calls)",
            "",
            "total",
            "                     counted once  original  copied  unknown",
            "  calls                         3         2       1        1",
            "  input                         0         0       0        0",
            "  cache read                    0         0       0        0",
            "  cache write                   0         0       0        0",
            "  output                      123       120     100        3",
            "    of it reasoning             0         0       0        0",
            "",
            "What limits these numbers:",
            "- pi:x: 1 record(s) may be copies: the session does not say what it inherits",
            "",
            "Counted once: 123 tokens in 3 model calls.",
            (
                "Of these 120 tokens in 2 model calls are proven original (97%); 3 tokens in 1 model call "
                "may include copies."
            ),
            "In addition, 100 tokens in 1 model call are proven copies, which do not count.",
        ]

    def test_all_certain(self):
        """Nothing may be a copy: said so, and no limits."""
        said = told(*family()[:2]).stdout
        assert "All of it is proven original.\n" in said
        assert "limits" not in said

    def test_nothing_certain(self):
        """Never a column of zeros as if nothing had been used."""
        said = told(family()[2]).stdout
        assert said.startswith("3 tokens in 1 model call, counted once\n")
        assert said.endswith("None of it is proven original; any of it may be copies.\n")

    def test_a_small_part_is_not_nothing(self):
        """Shares are rounded down, and never to zero."""
        original, unclear = Stream("o", none()), Stream("u")
        original.call(1)
        unclear.call(10_000)
        assert (
            "1 token in 1 model call are proven original (less than 1%)"
            in told(original, unclear).stdout
        )
        original, unclear = Stream("o", none()), Stream("u")
        original.call(0)
        unclear.call(0)
        assert (
            "0 tokens in 1 model call are proven original; 0 tokens"
            in told(original, unclear).stdout
        )

    def test_no_use_and_no_sessions(self, tmp_path):
        """Both are said, and are no error."""
        result = told(Stream("a"))
        assert result.exit_code == 0
        assert result.stdout.endswith("The input reports no usage of its own.\n")
        assert "codex:a             -         -       -        -\n" in result.stdout
        result = run(tmp_path)
        assert (result.exit_code, result.stdout) == (0, "0 tokens in 0 model calls, counted once\n")

    def test_copies_alone_are_not_lost(self):
        """A session of copies counts nothing, and says how much it holds."""
        said = told(family()[1]).stdout
        assert "20 tokens in 1 model call, counted once" in said
        only = Stream("c", none())
        only.copy("inference", inferenceId="i", usage=usage(7))
        said = told(only).stdout
        assert "The input reports no usage of its own.\n" in said
        assert "In addition, 7 tokens in 1 model call are proven copies" in said

    def test_costs_stand_by_currency(self):
        """Exact amounts, each currency in a row of its own."""
        one, other = Stream("a", none()), Stream("b", none())
        one.call(1, cost=[{"amount": "0.10", "currency": "USD"}])
        other.call(1, cost=[{"amount": "2", "currency": "EUR"}])
        said = told(one, other).stdout
        assert said.startswith("2 tokens in 2 model calls, 2 EUR, 0.1 USD, counted once\n")
        assert re.search(r"\n  cost EUR +2 +2 +0 +0\n  cost USD +0.1 +0.1 +0 +0\n", said)

    def test_details_give_every_measure_of_every_row(self):
        """With three columns each, and what counts once."""
        said = told(*family(), options=("--details",)).stdout
        assert said.count("    of it reasoning") == 5
        assert re.search(r"\ncodex:fork\n.*\n  calls +1 +1 +1 +0\n", said)
        assert "tokens (model calls)" not in said
        wide = told(Stream("a" * 90), options=("--details",), COLUMNS="60").stdout
        assert re.search("\ncodex:a+…a+\n", wide)

    def test_names_are_shortened_in_their_middle(self):
        """The numbers never are."""
        stream = Stream("a" * 90 + "tail", none())
        stream.call(10)
        row = told(stream, COLUMNS="70").stdout.splitlines()[3]
        assert len(row) == 70
        assert re.fullmatch(r"codex:a+…a+tail +10 \(1\) +10 \(1\) +- +-", row)

    @pytest.mark.parametrize(
        ("by", "rows"),
        [
            ("family", ["codex:p", "pi:x"]),
            ("agent", ["codex", "pi"]),
            ("day", ["2026-10-26", "2026-10-27", "(day not known)"]),
            ("model", ["m-1", "m-2"]),
        ],
    )
    def test_rows_by(self, by, rows):
        """Families, agents, days and models; what is not known is said."""
        said = told(*family(), options=("--by", by)).stdout.splitlines()
        assert said[2].startswith(by)
        assert [re.split("  +", line)[0] for line in said[3 : 3 + len(rows)]] == rows

    def test_L_04_a_call_that_several_sessions_hold_counts_once(self):
        """Rows can add up to more, and that is said."""
        streams = []
        for name in "ab":
            stream = Stream(f"claude-code:{name}")
            stream.call(10, request="req_1", inferenceId="msg_1")
            streams.append(stream)
        said = told(*streams).stdout
        assert said.startswith("10 tokens in 1 model call, counted once\n")
        assert (
            "A model call in several rows is shown in each and counted once in the total." in said
        )
        assert "A call that several" not in told(*streams, options=("--by", "day")).stdout

    def test_notes_that_say_the_same_are_shown_for_the_first_sessions(self):
        """The others are counted; JSON has all."""
        streams = []
        for n in range(9):
            streams.append(Stream(f"s{n}"))
            streams[-1].call(n)
        said = told(*streams).stdout
        assert said.count("may be copies:") == 3
        assert "  and 6 more of this kind (--json shows all)\n" in said
        assert len(document(*streams)["notes"]) == 9

    def test_what_comes_from_logs_is_safe_for_a_terminal(self, monkeypatch):
        """Names, models and currencies, as text and as CSV on a terminal."""
        stream = Stream("bi\u202edi")
        stream.call(1, model={"id": "m\x1b[31m"}, cost=[{"amount": "1", "currency": "\x9b\u202e"}])
        bad = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
        for by in ("session", "model"):
            assert not bad.search(told(stream, options=("--by", by)).output)
        monkeypatch.setattr(
            "click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False
        )
        monkeypatch.setenv("TERM", "dumb")
        assert not bad.search(told(stream, options=("--by", "model", "--format", "csv")).stdout)

    def test_R_17_sessions_without_a_reference_count_too(self):
        """Under their escaped ID or their file."""
        bad = Stream("x", none())
        bad.call(5)
        text = bad.text().replace(b'"sessionId": "x"', b'"sessionId": "x\\ud800"')
        absent = bad.text().replace(b'"sessionId": "x"', b'"other": "x"').replace(b"/1", b"/2")
        result = told(text, absent)
        assert result.exit_code == 1
        assert "10 tokens in 2 model calls" in result.stdout
        assert "\n(no reference) x\\ud800 " in result.stdout
        assert "\n(no reference) - " in result.stdout
        rows = document(text, absent)["sessions"]
        assert [(row["session"], row.get("escapedId")) for row in rows] == [
            (None, "x\\ud800"),
            (None, None),
        ]


class TestJson:
    def test_members_are_those_that_were_promised(self):
        """The shape that programs rely on, member by member."""
        assert document(*family()) == {
            "format": 1,
            "sessions": [
                {
                    "session": "codex:fork",
                    "original": measure(20, 1),
                    "copied": measure(100, 1),
                    "unknown": MEASURE,
                },
                {
                    "session": "codex:p",
                    "original": measure(100, 1),
                    "copied": MEASURE,
                    "unknown": MEASURE,
                },
                {
                    "session": "pi:x",
                    "original": MEASURE,
                    "copied": MEASURE,
                    "unknown": measure(3, 1),
                },
            ],
            "total": {
                "countedOnce": measure(123, 3),
                "original": measure(120, 2),
                "copied": measure(100, 1),
                "unknown": measure(3, 1),
            },
            "mayIncludeCopies": True,
            "notes": [
                {
                    "code": "no-inherits",
                    "session": "pi:x",
                    "message": "1 record(s) may be copies: the session does not say what it "
                    "inherits",
                }
            ],
        }

    def test_nothing_may_be_a_copy(self):
        """Then the document says so."""
        said = document(*family()[:2])
        assert (said["mayIncludeCopies"], said["notes"]) == (False, [])

    def test_groups_stand_beside_the_sessions(self):
        """With their names, null where these are not known."""
        said = document(*family(), options=("--by", "day"))
        assert said["by"] == "day"
        assert [(one["name"], one["countedOnce"]["outputTokens"]) for one in said["groups"]] == [
            ("2026-10-26", 100),
            ("2026-10-27", 20),
            (None, 3),
        ]
        assert set(said["groups"][0]) == {"name", "countedOnce", "original", "copied", "unknown"}
        assert len(said["sessions"]) == 3

    def test_costs_are_exact(self):
        """As decimal strings, by currency."""
        stream = Stream("a", none())
        stream.call(1, cost=[{"amount": "0.1", "currency": "USD"}])
        stream.call(1, cost=[{"amount": "0.2", "currency": "USD"}])
        assert document(stream)["total"]["original"]["cost"] == [
            {"amount": "0.3", "currency": "USD"}
        ]


class TestCsv:
    def rows(self, *options: object, streams: list[Stream] | None = None):
        result = told(*(streams or family()), options=("--format", "csv", *options))
        return list(csv.DictReader(io.StringIO(result.stdout)))

    def test_a_row_for_each_group_and_the_total(self):
        """What is counted, measure by measure, under the names of JSON."""
        rows = self.rows()
        assert [(row["row"], row["name"]) for row in rows] == [
            ("session", "codex:fork"),
            ("session", "codex:p"),
            ("session", "pi:x"),
            ("total", ""),
        ]
        assert rows[-1]["countedOnce.outputTokens"] == "123"
        assert rows[0]["copied.calls"] == "1"
        assert rows[0]["copied.cost"] == ""
        assert len(rows[0]) == 2 + 4 * 7

    def test_other_groups(self):
        """An empty name is what is not known."""
        assert [row["name"] for row in self.rows("--by", "day")] == [
            "2026-10-26",
            "2026-10-27",
            "",
            "",
        ]

    def test_names_are_quoted(self):
        """Commas, quotes and line breaks in a model's name stay in their cell."""
        stream = Stream("a", none())
        stream.call(1, model={"id": 'x,"y"\nz'}, cost=[{"amount": "1", "currency": "A"}] * 2)
        row, total = self.rows("--by", "model", streams=[stream])
        assert row["name"] == 'x,"y"\nz'
        assert total["original.cost"] == "2 A"


class TestInputs:
    def test_streams_native_logs_folders_and_stdin(self, tmp_path):
        """One total of all of them."""
        (tmp_path / "codex.jsonl").write_bytes(codex_log())
        (tmp_path / "claude.jsonl").write_bytes(claude_log())
        stream = Stream("a", none())
        stream.call(2)
        said = json.loads(run("--json", tmp_path, "-", stdin=stream.text()).stdout)
        assert len(said["sessions"]) == 3
        assert said["total"]["countedOnce"] == measure(7, 2, inputTokens=3)

    def test_known_places(self, tmp_path):
        """With no PATH the logs of this machine; wrong usage where there are none."""
        env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": None, "CODEX_HOME": None}
        assert run(**env).exit_code == 2
        (tmp_path / ".claude/projects/p").mkdir(parents=True)
        (tmp_path / ".claude/projects/p/x.jsonl").write_bytes(claude_log())
        assert run(**env).stdout.startswith("8 tokens in 1 model call, counted once\n")

    def test_exit_codes(self, tmp_path):
        """1 where a finding is an error, 3 where something could not be read, 2 for wrong usage."""
        bad = Stream("a", {"spawnedBy": {"session": "codex:p"}}).text()
        result = told(bad)
        assert (result.exit_code, result.stderr) == (
            1,
            "1 error not shown; run `sessionref check`\n",
        )
        assert run(tmp_path / "gone", "-", stdin=bad).exit_code == 3
        assert told(bad, options=("--by", "moon")).exit_code == 2

    def test_a_wrapper_and_its_backing_session_count_once(self):
        """ASR-425: the backing session's calls win where they are in scope."""
        backing = Stream("b", none())
        backing.call(50, turnId="t1")
        wrapper = Stream("t3-code:w", none(executedBy=[named("b")]))
        wrapper.add("state", turnId="w1", executedBy=["codex:b#turnId=t1"])
        wrapper.add("usage", covers="turn", turnId="w1", usage=usage(50))
        said = document(backing, wrapper)
        assert said["total"]["countedOnce"] == measure(50, 1)
        assert [note["code"] for note in said["notes"]] == ["aggregate-covered"]
        assert document(wrapper)["total"]["countedOnce"]["outputTokens"] == 50

    def test_facets_without_use_have_families_too(self):
        """A family that reports nothing has a subtotal of nothing."""
        said = told(Stream("a"), Stream("b", {"spawnedBy": named("a")})).stdout
        assert re.search(r"\n  family of 2 sessions +- +- +- +-\n", said)
        assert NF


@needs_examples
def test_the_examples_are_counted_once():
    """A fork's copies and a wrapper's report count nowhere; a missing parent leaves unknown."""
    folders = [EXAMPLES / name for name in ("claude-code", "codex", "t3-code")]
    said = json.loads(run("--json", *folders).stdout)
    total = said["total"]
    assert total["countedOnce"]["calls"] == 13
    assert (total["original"]["calls"], total["copied"]["calls"]) == (7, 2)
    assert said["mayIncludeCopies"] is True


@pytest.mark.parametrize("by", ["model", "day"])
def test_a_table_of_nothing(by: str):
    """Where nothing reports any use the table is empty."""
    result = told(Stream("a"), options=("--by", by))
    assert (result.exit_code, result.exception) == (0, None)
