"""`tree`: how sessions hang together, as text, JSON, graphs and a page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_logs import claude_log, codex_log
from click.testing import CliRunner
from graph_streams import HOSTILE, conflict, family, hostile
from lineage_streams import Stream, named, none

from sessionref.cli import _progress, _scope
from sessionref.cli._app import program
from sessionref.cli.render import lines as text
from sessionref.reference import parse

EXAMPLES = Path(__file__).parents[2] / "examples"
needs_examples = pytest.mark.skipif(not EXAMPLES.exists(), reason="needs the checkout")


def run(*arguments: object, stdin: bytes | None = None, **env: str | None):
    env = {"COLUMNS": None, "NO_COLOR": None, **env}
    return CliRunner().invoke(program, ["tree", *map(str, arguments)], input=stdin, env=env)


def tree(*streams: Stream | bytes, options: tuple[object, ...] = (), **env: str | None):
    """What `tree` says of streams on stdin."""
    texts = [one if isinstance(one, bytes) else one.text() for one in streams]
    return run(*options, "-", stdin=b"".join(texts), **env)


def drawn(*streams: Stream | bytes, options: tuple[object, ...] = (), **env: str | None):
    """The lines of the forest, without what stands below it."""
    result = tree(*streams, options=options, **env)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    lines = result.stdout.split("\n")
    end = next(n for n, line in enumerate(lines) if re.match(r"\d+ sessions? in", line))
    return lines[: end - 1]


def document(*streams: Stream | bytes, options: tuple[object, ...] = ()):
    return json.loads(tree(*streams, options=("--json", *options)).stdout)


class TestText:
    def test_every_kind_of_edge_has_its_mark_and_words(self):
        """Spawned, announced, forked, continued, inherited, unclear, executed: told apart."""
        assert drawn(*family()) == [
            "● t3-code:w  no records",
            "└─⇄ codex:p  executes it, root, primary, 2 original records",
            "   ├─▷≡ codex:fork  forked (exact: false), inherits copied, 2 records: 1 original, 1 copied",
            "   ├─◆◇ codex:kid  spawned, announced, role worker, 1 original record",
            "   ├─▼ codex:later  continues it: idle, no records",
            "   ├─≡ codex:reads  inherits referenced, no records",
            "   └─~ codex:unclear  related, how is unknown, no records",
        ]

    def test_L_07_a_fork_is_no_owned_child(self):
        """Each mark that is used is explained, and nothing at the margin is called a root."""
        said = tree(*family()).stdout.splitlines()
        assert said[-3:] == [
            "7 sessions in 1 family",
            "◆ spawned  ▷ forked  ▼ continues it  ≡ inherits  ~ related  ⇄ executes it  ◇ announced",
            "an unindented session is a root only if it is marked 'root'",
        ]

    def test_L_13_a_missing_parent_is_shown_as_such(self):
        """The child is valid; who is named and was not read stands there marked, exact: false."""
        said = tree(Stream("a", {"spawnedBy": named("gone"), "forkedFrom": named("gone")}))
        assert said.stdout.splitlines() == [
            "○ codex:gone  referenced, not loaded",
            "└─◆▷ codex:a  spawned, forked (unresolved, exact: false), no records",
            "",
            "1 session in 1 family, 1 referenced but not loaded",
            "◆ spawned  ▷ forked  ○ referenced, not loaded",
            "an unindented session is a root only if it is marked 'root'",
        ]
        assert (said.exit_code, said.stderr) == (0, "")

    def test_a_missing_child_is_shown_as_such(self):
        """An announcement names a child of which there is no log."""
        parent = Stream("p", none())
        parent.subagent("gone")
        parent.subagent("gone")
        assert drawn(parent)[1:] == [
            "└─◇ ○ codex:gone  announced (unresolved, exact: false), referenced, not loaded"
        ]
        parent = Stream("p")
        parent.subagent("gone")
        assert "announced (may be a copy, unresolved, exact: false)" in drawn(parent)[1]

    def test_a_conflict_is_shown_and_makes_edges_ambiguous(self):
        """Of captures that contradict each other none is preferred."""
        one, other = Stream("p"), Stream("p")
        one.message()
        other.message(role="user")
        said = tree(one, other, Stream("a", {"spawnedBy": named("p")})).stdout
        assert "◍ codex:p  conflict: 2 accounts contradict each other, 2 unknown records\n" in said
        assert "└─◆ codex:a  spawned (ambiguous, exact: false), no records\n" in said
        assert "2 sessions in 1 family, 1 in conflict\n" in said
        assert "◆ spawned  ◍ conflict\n" in said

    def test_what_a_session_lacks_besides_its_parents_is_said_too(self):
        """exact: false where a required reference does not resolve (ASR-080)."""
        stream = Stream("a")
        stream.message(supersedes="gone")
        assert drawn(stream) == ["● codex:a  1 unknown record, exact: false"]

    def test_a_session_with_several_parents_stands_in_full_once(self):
        """Elsewhere it is referred to, and what comes from it is not drawn again."""
        streams = [
            Stream("p1"),
            Stream("p2"),
            Stream("a", {"spawnedBy": named("p2"), "continues": named("p1")}),
            Stream("b", {"spawnedBy": named("a")}),
        ]
        assert drawn(*streams) == [
            "● codex:p1  no records",
            "└─▼ codex:a  continues it, shown under codex:p2",
            "● codex:p2  no records",
            "└─◆ codex:a  spawned, no records",
            "   └─◆ codex:b  spawned, no records",
        ]

    def test_L_14_another_spawner_than_the_child_names_is_only_a_reference(self):
        """The child's own claim says where it stands."""
        other = Stream("a", none())
        other.subagent("kid")
        streams = [other, Stream("z"), Stream("kid", {"spawnedBy": named("z")})]
        assert drawn(*streams) == [
            "● codex:a  1 original record",
            "└─◇ codex:kid  announced, shown under codex:z",
            "● codex:z  no records",
            "└─◆ codex:kid  spawned, no records",
        ]

    def test_E_11_a_circle_is_shown_once_and_said(self):
        """Sessions that are each other's ancestors, and one that is its own."""
        streams = [
            Stream("a", {"continues": named("b")}),
            Stream("b", {"continues": named("a")}),
            Stream("self", {"continues": named("self")}),
        ]
        result = tree(*streams)
        assert result.stdout.splitlines()[:6] == [
            "● codex:a  no records",
            "└─▼ codex:b  continues it, in a circle, no records",
            "   └─▼ codex:a  continues it, in a circle, shown unindented",
            "",
            "● codex:self  no records",
            "└─▼ codex:self  continues it, in a circle, shown unindented",
        ]
        assert result.stderr.count("lineage-cycle") == 2

    def test_families_stand_apart(self):
        """Sessions that hang together with none stand close together."""
        streams = [*map(Stream, "abxz"), Stream("c", {"spawnedBy": named("d")})]
        assert drawn(*streams) == [
            "● codex:a  no records",
            "● codex:b  no records",
            "",
            "○ codex:d  referenced, not loaded",
            "└─◆ codex:c  spawned (unresolved, exact: false), no records",
            "",
            "● codex:x  no records",
            "● codex:z  no records",
        ]

    def test_why_shows_what_each_edge_rests_on(self, tmp_path):
        """Evidence, record, file and line, under the edge."""
        file = tmp_path / "family.jsonl"
        file.write_bytes(b"".join(one.text() for one in family()))
        said = run("--why", file).stdout.replace(str(file), "F").splitlines()
        assert said[:9] == [
            "● t3-code:w  no records",
            "└─⇄ codex:p  executes it, root, primary, 2 original records",
            "   │  executedBy (native_field): record h $.lineage.executedBy[0], F:12",
            "   ├─▷≡ codex:fork  forked (exact: false), inherits copied, 2 records: 1 original, 1 copied",
            "   │     forkedFrom (native_field): record h $.lineage.forkedFrom, names ordinal 3, F:6",
            "   │     inherits (native_field): record h $.lineage.inherits, F:6",
            "   ├─◆◇ codex:kid  spawned, announced, role worker, 1 original record",
            "   │     spawnedBy (native_field): record h $.lineage.spawnedBy, names callId=c1, F:4",
            "   │     announces (record): record r2 $.childSession, names callId=c1, F:3",
        ]
        assert "record h $.lineage.inherits, through r1, F:" in "\n".join(said)

    def test_a_long_id_is_shortened_in_its_middle(self):
        """Lines fit where that can be; beginning and end stay; without a terminal all is shown."""
        name = "a" * 60 + "tail"
        assert drawn(Stream(name))[0] == f"● codex:{name}  no records"
        line = drawn(Stream(name), COLUMNS="50")[0]
        assert len(line) == 50
        assert re.fullmatch("● codex:a+…a+tail  no records", line)
        wide = drawn(Stream("日本語" * 20), COLUMNS="50")[0]
        assert text.cell_len(wide) in {49, 50}
        assert "…" in wide
        assert len(drawn(Stream(name), COLUMNS="10")[0]) == 24 + len("●   no records")

    @pytest.mark.parametrize("limit", range(8))
    def test_text_can_be_shortened_to_anything(self, limit):
        """Where there is no room, as much of the ellipsis as fits stands for it."""
        assert len(text.middle("abcdefgh", limit)) == (1 if limit == 2 else limit)
        assert text.middle("abc", 3) == "abc"
        assert text.middle("abcdefgh", 7, ellipsis="...") == "ab...gh"

    def test_depth_has_no_limit_and_lines_do(self):
        """Of deep sessions the level is told as a number; nothing recurses."""
        chain = [
            Stream(f"s{n:05}", {"continues": named(f"s{n - 1:05}")} if n else None)
            for n in range(600)
        ]
        lines = drawn(*chain, COLUMNS="60")
        assert len(lines) == 600
        assert lines[-1].lstrip().startswith("…589 ")
        assert max(map(len, lines)) < 100
        assert drawn(*chain[:40], options=("--why",))[-1].startswith("…15 ")

    def test_ids_are_safe_for_a_terminal(self):
        """Nothing from a log is obeyed."""
        streams = [
            Stream("bi\u202edi", {"continues": named("bi\u202edi", reason="x.y:\x1b[31m")}),
            Stream("esc\x1b[31m", {"role": "\x9b\u202e\n"}),
        ]
        streams[0].records[0]["id"] = "h\x07"
        said = tree(*streams, options=("--why",)).output
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)
        assert "codex:bi\\u202edi" in said
        assert "codex:esc%1B[31m  role \\x9b\\u202e\\n" in said

    def test_a_terminal_without_unicode_gets_ascii(self, monkeypatch):
        """Marks become letters."""
        monkeypatch.setattr(text, "takes_unicode", lambda: False)
        assert drawn(*family())[2:5] == [
            "   |-FI codex:fork  forked (exact: false), inherits copied, 2 records: 1 original, 1 copied",
            "   |-SA codex:kid  spawned, announced, role worker, 1 original record",
            "   |-C codex:later  continues it: idle, no records",
        ]

    @pytest.mark.parametrize(
        ("encoding", "takes"), [("utf-8", True), ("ascii", False), (None, False), ("none", False)]
    )
    def test_what_stdout_can_show(self, monkeypatch, encoding, takes):
        """Marks beyond ASCII where its encoding has them."""
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(encoding=encoding))
        assert text.takes_unicode() is takes

    def test_colour_only_where_a_terminal_has_it(self, monkeypatch):
        """NO_COLOR and dumb terminals are heeded."""
        terminal = "click.testing._NamedTextIOWrapper.isatty"
        assert "\x1b" not in tree(*family(), TERM="xterm").stdout
        monkeypatch.setattr(terminal, lambda _: True, raising=False)
        monkeypatch.setattr(_progress, "watched", lambda files, *_, **__: iter(files))
        assert "\x1b[32m◆\x1b[0m" in tree(*family(), TERM="xterm").stdout
        for env in ({"TERM": "dumb"}, {"TERM": None}, {"TERM": "xterm", "NO_COLOR": "1"}):
            assert "\x1b" not in tree(*family(), **env).stdout

    def test_nothing_gives_nothing(self, tmp_path):
        """A folder without sessions is no error."""
        result = run(tmp_path)
        assert (result.exit_code, result.output) == (0, "no sessions\n")
        said = json.loads(run("--json", tmp_path).stdout)
        assert said == {"format": 1, "sessions": [], "edges": [], "findings": []}

    def test_R_17_a_session_without_a_reference_is_shown_by_its_escaped_id(self):
        """An ID that has no UTF-8 form, and a header without one; everything else goes on."""
        bad = (
            b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"},"sessionId":"s\\ud800"}\n'
        )
        none_at_all = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"}}\n'
        result = tree(bad, none_at_all, Stream("a"))
        assert result.exit_code == 1
        assert result.stdout.splitlines()[:3] == [
            "● codex:a  no records",
            "● (no reference) s\\ud800  no records, exact: false",
            "● (no reference) -  no records, exact: false",
        ] or result.stdout.splitlines()[1:3] == [
            "● (no reference) s\\ud800  no records",
            "● (no reference) -  no records",
        ]
        rows = document(bad, none_at_all, Stream("a"))["sessions"]
        assert [(row["session"], row.get("escapedId")) for row in rows] == [
            ("codex:a", None),
            (None, "s\\ud800"),
            (None, None),
        ]
        assert "escapedId" not in rows[2]


class TestJson:
    def test_members_are_those_that_were_promised(self, tmp_path):
        """The shape that programs rely on, member by member."""
        file = tmp_path / "s.jsonl"
        child = Stream("a", {"forkedFrom": named("p", ordinal=7), "role": "r"}, scope="subagent")
        child.message()
        file.write_bytes(child.text() + Stream("r", {"root": True}).text())
        assert json.loads(run("--json", file).stdout) == {
            "format": 1,
            "sessions": [
                {
                    "session": "codex:a",
                    "agent": "codex",
                    "scope": "subagent",
                    "role": "r",
                    "files": [str(file)],
                    "records": 1,
                    "original": 0,
                    "copied": 0,
                    "unknown": 1,
                    "root": None,
                    "exact": True,
                },
                {
                    "session": "codex:r",
                    "agent": "codex",
                    "scope": None,
                    "role": None,
                    "files": [str(file)],
                    "records": 0,
                    "original": 0,
                    "copied": 0,
                    "unknown": 0,
                    "root": True,
                    "exact": True,
                },
            ],
            "edges": [
                {
                    "from": "codex:a",
                    "to": "codex:p",
                    "facet": "forkedFrom",
                    "evidence": "native_field",
                    "ordinal": 7,
                    "state": "unresolved",
                    "exact": False,
                }
            ],
            "findings": [],
        }

    def test_edges_run_from_the_claim_to_what_it_names(self):
        """An announcement is an edge of its own, beside the child's claim."""
        edges = document(*family())["edges"]
        assert [(edge["from"], edge["to"], edge["facet"]) for edge in edges] == [
            ("codex:fork", "codex:p", "forkedFrom"),
            ("codex:fork", "codex:p", "inherits"),
            ("codex:kid", "codex:p", "spawnedBy"),
            ("codex:later", "codex:p", "continues"),
            ("codex:p", "codex:kid", "announces"),
            ("codex:reads", "codex:p", "inherits"),
            ("codex:unclear", "codex:p", "relatedUnknown"),
            ("t3-code:w", "codex:p", "executedBy"),
        ]
        by_facet = {edge["facet"]: edge for edge in edges}
        assert by_facet["spawnedBy"]["record"] == "callId=c1"
        assert by_facet["continues"]["reason"] == "idle"
        assert (by_facet["inherits"]["mode"], by_facet["inherits"]["through"]) == (
            "referenced",
            "r1",
        )
        assert all(edge["evidence"] for edge in edges)

    def test_why_adds_the_place(self):
        """Record, path, file and line of each claim."""
        (edge,) = document(Stream("a", {"spawnedBy": named("p")}), options=("--why",))["edges"]
        assert edge["why"] == {
            "id": "h",
            "seq": 0,
            "path": "$.lineage.spawnedBy",
            "file": "-",
            "line": 1,
        }

    def test_a_conflict_is_one_row(self):
        """With conflict true."""
        one, other = Stream("p"), Stream("p")
        one.message()
        other.message(role="user")
        (row,) = document(one, other)["sessions"]
        assert (row["session"], row["conflict"], row["unknown"]) == ("codex:p", True, 2)

    def test_findings_stand_in_the_document(self):
        """Of reading and of lineage, in the shape of `check`; errors make the exit code 1."""
        stream = Stream("a", {"spawnedBy": {"session": "codex:p"}})
        result = tree(stream, b"{broken\n", options=("--json",))
        assert result.exit_code == 1
        found = json.loads(result.stdout)["findings"]
        assert {(one["severity"], one["rule"]) for one in found} >= {("error", "ASR-400")}
        assert {"code", "seq", "id", "path", "file", "line", "message"} <= set(found[0])
        assert "1 warning not shown" in result.stderr

    def test_text_without_a_utf_8_form_is_escaped(self):
        """A role that holds half a character breaks neither JSON nor anything else."""
        role = Stream("a", {"role": "x"}).text().replace(b'"x"', b'"\\ud800"')
        (row,) = document(role)["sessions"]
        assert row["role"] in {"\ud800", "\\ud800"}
        for form in ("text", "dot", "mermaid", "graphml", "html"):
            assert tree(role, options=("--format", form)).exit_code == 0

    def test_json_is_utf_8_whatever_the_locale(self, tmp_path):
        """Programs get what they can read."""
        (tmp_path / "s").write_bytes(Stream("é日本").text())
        done = subprocess.run(
            [sys.executable, "-m", "sessionref", "tree", "--json", str(tmp_path)],
            env={"PYTHONIOENCODING": "latin-1", "PATH": ""},
            capture_output=True,
            check=True,
        )
        assert json.loads(done.stdout.decode())["sessions"][0]["session"] == "codex:é日本"


class TestFilters:
    def names(self, *options: object, streams: list[Stream] | None = None):
        said = document(*(family() if streams is None else streams), options=options)
        return [row["session"].partition(":")[2] for row in said["sessions"]], [
            edge["facet"] for edge in said["edges"]
        ]

    def test_agent(self):
        """By either of its names; an edge is shown where its claim is."""
        assert self.names("--agent", "gg.ping.t3-code") == (["w"], ["executedBy"])
        assert drawn(*family(), options=("--agent", "t3-code")) == [
            "● t3-code:w  no records",
            "└─⇄ codex:p  executes it, root, primary, filtered out",
        ]
        assert self.names("--agent", "goose") == ([], [])

    def test_a_session_comes_with_ancestors_and_descendants(self):
        """And with nothing else of its family."""
        streams = [
            Stream("a"),
            Stream("b", {"spawnedBy": named("a")}),
            Stream("c", {"spawnedBy": named("b")}),
            Stream("d", {"spawnedBy": named("a")}),
        ]
        assert self.names("--session", "codex:b", streams=streams)[0] == ["a", "b", "c"]
        assert self.names(
            "--session", "codex:b", "--session", "com.openai.codex:d", streams=streams
        )[0] == ["a", "b", "c", "d"]

    def test_family(self):
        """All that hang together, in whatever way; a missing parent names one too."""
        streams = [*family(), Stream("else"), Stream("x", {"spawnedBy": named("gone")})]
        assert len(self.names("--family", "codex:kid", streams=streams)[0]) == 7
        assert self.names("--family", "codex:gone", streams=streams)[0] == ["x"]

    def test_facet(self):
        """Edges of these kinds, and the sessions at their ends."""
        assert self.names("--facet", "spawnedBy") == (["kid", "p"], ["spawnedBy"])
        assert self.names("--facet", "continues", "--facet", "executedBy") == (
            ["later", "p", "w"],
            ["continues", "executedBy"],
        )
        assert run("--facet", "root", "-", stdin=b"").exit_code == 2

    def test_filters_go_together(self):
        """A session is shown where every filter takes it."""
        assert self.names("--family", "codex:p", "--agent", "codex", "--facet", "executedBy") == (
            [],
            [],
        )

    def test_sessions_without_a_reference_belong_to_an_agent_alone(self):
        """They are in no family, and no other session names them."""
        bad = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"}}\n'
        assert document(bad, options=("--agent", "codex"))["sessions"] != []
        assert document(bad, options=("--agent", "pi"))["sessions"] == []
        assert document(bad, Stream("a"), options=("--family", "codex:a"))["sessions"] != []

    @pytest.mark.parametrize(
        ("option", "value", "said"),
        [
            ("--session", "codex:gone", "session neither in the input nor referenced there"),
            ("--family", "codex::x", "empty namespace"),
            ("--session", "codex:\udcff", "not valid UTF-8"),
        ],
    )
    def test_a_session_that_is_not_there(self, option, value, said):
        """It is said, nothing is shown, and the exit code is 1."""
        result = tree(Stream("a"), options=(option, value))
        assert (result.exit_code, result.stdout) == (1, "no sessions\n")
        assert said in result.stderr


def keys() -> set[str]:
    rows = document(*hostile())["sessions"]
    assert {parse(row["session"]).session_id for row in rows} == {"parent", *HOSTILE}
    return {row["session"] for row in rows}


def quiet(output: str) -> bool:
    """Whether a terminal that shows it obeys nothing."""
    return not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", output)


class TestGraphs:
    def test_dot_holds_every_session_and_edge_on_a_line(self):
        """Quoted, escaped and coloured by what they are; tests/peers asks Graphviz itself."""
        written = tree(*hostile(), *conflict(), *family(), options=("--format", "dot")).stdout
        assert quiet(written)
        text = r'"((?:[^"\\]|\\.)*)"'
        nodes = re.findall(rf"^  n\d+ \[label={text}(.*)\];$", written, re.MULTILINE)
        edges = re.findall(
            rf"^  n\d+ -> n\d+ \[label={text}, tooltip={text}", written, re.MULTILINE
        )
        assert len(nodes) == len({label for label, _ in nodes}) == len(keys()) + 2 + 1 + 7
        assert len(edges) == 2 * len(HOSTILE) + 1 + 8
        styles = {label.rpartition("\\n")[0]: style for label, style in nodes}
        assert styles["codex:conflict"] == ', color="#dc322f"'
        assert styles["codex:gone"] == ", style=dashed"
        assert styles["codex:p"] == ""
        assert 'codex:a\\"b' in styles
        assert "inherits copied, unresolved, exact: false" in {caption for caption, _ in edges}

    def test_mermaid_holds_nothing_but_plain_characters_in_labels(self):
        """Whatever could be markup stands as an entity."""
        written = tree(*hostile(), *conflict(), options=("--format", "mermaid")).stdout
        assert written.isascii()
        assert quiet(written)
        labels = re.findall(r'\["(.*)"\](?::::\w+)?$', written, re.MULTILINE)
        assert len(labels) == len(keys()) + 3
        for label in labels:
            assert re.fullmatch(r"(?:[\w :._/,()-]|#\d+;|<br/>)*", label)
        assert ":::conflict" in written
        assert ":::unread" in written

    def test_graphml_gives_the_exact_keys_back(self):
        """Any XML parser gives the very keys; what XML cannot hold is a reference to the same."""
        written = tree(*hostile(), options=("--format", "graphml")).stdout
        assert quiet(written)
        found = self.data(written, "node", "session")
        assert {parse(one).key.canonical() for one in found} == keys()
        assert sum(one not in keys() for one in found) == 1
        assert len(self.data(written, "edge", "why")) == 2 * len(HOSTILE)

    def test_graphml_says_what_is_known_and_nothing_else(self):
        """Unknown has no value; types are those of GraphML; edges join nodes."""
        bad = b'{"type":"session","seq":0,"id":"h","agent":{"name":"codex"}}\n'
        written = tree(*family(), bad, options=("--format", "graphml")).stdout
        assert self.data(written, "node", "root") == ["true"]
        assert set(self.data(written, "node", "scope")) == {"primary"}
        assert len(self.data(written, "node", "session")) == 7
        nodes = [one.get("id") for one in self.elements(written, "node")]
        ends = [(one.get("source"), one.get("target")) for one in self.elements(written, "edge")]
        assert (len({*nodes}), len(nodes), len(ends)) == (8, 8, 8)
        assert {node for pair in ends for node in pair} <= {*nodes}
        types = {one.get("id"): one.get("attr.type") for one in self.elements(written, "key")}
        values = {key: self.data(written, *key.split("-")) for key in types}
        assert {"true", "false"} >= {
            text for key, texts in values.items() if types[key] == "boolean" for text in texts
        }
        assert all(
            text.isdecimal()
            for key, texts in values.items()
            if types[key] == "long"
            for text in texts
        )

    def elements(self, written: str, kind: str) -> list[ET.Element]:
        document = ET.fromstring(written.encode())  # noqa: S314 - our own output
        return [*document.iter("{http://graphml.graphdrawing.org/xmlns}" + kind)]

    def data(self, written: str, domain: str, name: str) -> list[str | None]:
        found = self.elements(written, "data")
        return [one.text for one in found if one.get("key") == f"{domain}-{name}"]

    def test_a_missing_session_is_a_node_of_its_own(self):
        """In every format, marked."""
        stream = Stream("a", {"spawnedBy": named("gone")})
        for form, mark in (("dot", "dashed"), ("mermaid", ":::unread"), ("graphml", ">false<")):
            written = tree(stream, options=("--format", form)).stdout
            assert "codex:gone" in written
            assert mark in written


class TestPage:
    def test_it_is_one_page_that_asks_for_nothing(self):
        """The text with its colours; no markup of the data survives."""
        written = tree(*hostile(), options=("--format", "html")).stdout
        assert quiet(written)
        seen: list[str] = []
        words: list[str] = []

        class Reader(HTMLParser):
            def handle_starttag(self, tag, attrs):
                seen.append(tag)
                assert {name for name, _ in attrs} <= {
                    "lang",
                    "charset",
                    "class",
                    "http-equiv",
                    "content",
                }

            def handle_data(self, data):
                words.append(data)

        Reader().feed(written)
        assert set(seen) == {"html", "meta", "title", "style", "pre", "span"}
        assert "codex:<script>alert(1)</script>" in words
        assert "http" not in written.replace("http-equiv", "")


class TestInputs:
    def test_streams_native_logs_folders_and_stdin(self, tmp_path):
        """One scope of all of them."""
        (tmp_path / "codex.jsonl").write_bytes(codex_log())
        (tmp_path / "claude.jsonl").write_bytes(claude_log())
        (tmp_path / "other.txt").write_bytes(b"nothing")
        result = run("--json", tmp_path, "-", stdin=Stream("a").text())
        rows = json.loads(result.stdout)["sessions"]
        assert {row["agent"] for row in rows} == {"codex", "claude-code"}
        assert len(rows) == 3
        assert result.stderr == "skipped 1 file (not a known log format)\n"

    def test_known_places(self, tmp_path):
        """With no PATH the logs of this machine; wrong usage where there are none."""
        result = run(HOME=str(tmp_path), CLAUDE_CONFIG_DIR=None, CODEX_HOME=None)
        assert result.exit_code == 2
        (tmp_path / ".codex/sessions").mkdir(parents=True)
        (tmp_path / ".codex/sessions/x.jsonl").write_bytes(codex_log())
        result = run(HOME=str(tmp_path), CLAUDE_CONFIG_DIR=None, CODEX_HOME=None)
        assert result.exit_code == 0
        assert "1 session in 1 family" in result.stdout

    def test_what_cannot_be_read_is_exit_code_3(self, tmp_path):
        """And everything else is done; it wins over findings."""
        bad = Stream("a", {"spawnedBy": {"session": "codex:p"}})
        result = run(tmp_path / "gone", "-", stdin=bad.text())
        assert result.exit_code == 3
        assert "gone" in result.stderr
        assert "● codex:a" in result.stdout

    def test_errors_of_lineage_are_shown_and_many_are_counted(self):
        """The first ones with their place, of the others the number; exit code 1."""
        streams = [Stream(f"s{n:02}", {"spawnedBy": {"session": "codex:p"}}) for n in range(25)]
        result = tree(*streams)
        assert result.exit_code == 1
        assert result.stderr.count("ASR-400") == 20
        assert "5 errors not shown" in result.stderr

    def test_a_registry_says_which_agents_are_the_same(self, tmp_path):
        """An overlay's names hold for keys and filters."""
        overlay = tmp_path / "agents.toml"
        overlay.write_text(
            'title = "Mine"\n'
            'short_name = {value = "mine", source = "stated"}\n'
            'reverse_dns_name = {value = "com.example.mine", source = "stated"}\n'
        )
        stream = Stream("com.example.mine:a").text()
        result = run(
            "--registry", overlay, "--agent", "com.example.mine", "--json", "-", stdin=stream
        )
        assert json.loads(result.stdout)["sessions"][0]["session"] == "com.example.mine:a" or (
            json.loads(result.stdout)["sessions"][0]["session"] == "mine:a"
        )

    def test_a_bar_for_whoever_waits(self, monkeypatch, tmp_path):
        """Each stream moves it on, and it ends with the reading."""
        for name in "ab":
            (tmp_path / name).write_bytes(Stream(name).text())
        steps: list[str] = []

        def watched(files, total, *, shares_terminal):
            assert (total, shares_terminal) == (2, False)
            try:
                for file in files:
                    steps.append(Path(file.path).name)
                    yield file
            finally:
                steps.append("end")

        monkeypatch.setattr(_scope, "watched", watched)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        _scope.read_scope((str(tmp_path),), None, references=True)
        assert steps == ["a", "b", "end"]


@needs_examples
def test_the_examples_hang_together():
    """A Claude parent with a subagent, a Codex fork, a wrapper, and a parent that is missing."""
    folders = [EXAMPLES / name for name in ("claude-code", "codex", "t3-code")]
    said = json.loads(run("--json", *folders).stdout)
    assert sorted(edge["facet"] for edge in said["edges"]) == [
        "announces",
        "executedBy",
        "forkedFrom",
        "forkedFrom",
        "inherits",
        "spawnedBy",
    ]
    assert sum(edge["state"] == "unresolved" for edge in said["edges"]) == 1


def test_every_folder_of_the_corpus(shared):
    """No traceback, no edge without evidence, and none in the negative cases."""
    for folder in [*sorted(shared.glob("corpus/claude-code/*")), *shared.glob("corpus/codex/*")]:
        result = run("--json", folder)
        assert result.exit_code in {0, 1}, folder
        said = json.loads(result.stdout)
        assert all(edge["evidence"] for edge in said["edges"])
        if folder.name.startswith("reset-") or folder.name == "two-sessions-same-cwd":
            assert said["edges"] == []
