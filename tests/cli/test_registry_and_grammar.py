"""`agents` and `grammar`: what they show, for people and for programs."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import sessionref as sr
from sessionref.cli import grammar
from sessionref.cli._app import program

OVERLAY = """
short_name = {value = "mine", source = "stated"}
reverse_dns_name = {value = "com.example.mine", source = "stated"}
title = "Mine \\u001b[31m"
"""


def run(*arguments: str):
    return CliRunner().invoke(program, arguments)


@pytest.fixture
def overlay(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(OVERLAY)
    return str(file)


class TestAgents:
    def test_table_has_a_line_for_each_agent(self):
        """Each agent with both names, and the registry's version at the end."""
        lines = run("agents").stdout.splitlines()
        registry = sr.Registry.default()
        assert lines[-1] == f"registry {registry.version}"
        assert [line.split()[:2] for line in lines[1:-1]] == [
            [agent.short, agent.reverse_dns] for agent in registry.values()
        ]

    def test_json_has_an_object_for_each_agent(self):
        """The entries in the form of the registry's files, each with the registry's version."""
        objects = [json.loads(line) for line in run("agents", "--json").stdout.splitlines()]
        assert [said["agent"]["short_name"]["value"] for said in objects] == [
            *sr.Registry.default()
        ]
        assert {said["registry"] for said in objects} == {sr.Registry.default().version}

    @pytest.mark.parametrize("name", ["codex", "com.openai.codex"])
    def test_one_agent_with_the_source_of_each_fact(self, name):
        """All that the entry states, under either name, with where it comes from."""
        text = run("agents", name).stdout
        assert text.startswith("codex  com.openai.codex\n")
        assert "short_name: codex  [stated]\n" in text
        assert re.search(r"\n  main: payload\.id .*  \[evidence, seen\]\n", text)
        assert "reverse_dns_name: com.openai.codex  [assumed]\n" in text
        assert "copy_contracts: none\n" in text
        assert re.search(r"\n      see \S+", text)

    @pytest.mark.parametrize("name", [*sr.Registry.default()])
    def test_every_entry_can_be_shown(self, name):
        """No shape of an entry is left out or shown as a Python value."""
        result = run("agents", name)
        assert result.exit_code == 0
        assert not re.search(r"\{'|\('|None\b", result.stdout)
        assert run("agents", "--json", name).exit_code == 0

    def test_overlay_is_shown_escaped(self, overlay):
        """An overlay's entries stand among the others; nothing in them reaches a terminal raw."""
        text = run("agents", "--registry", overlay, "mine").stdout
        assert "title: Mine \\x1b[31m\n" in text
        assert "mine         com.example.mine" in run("agents", "--registry", overlay).stdout

    def test_unknown_name_is_wrong_usage(self):
        """An unknown name is exit code 2."""
        result = run("agents", "nobody")
        assert result.exit_code == 2
        assert "unknown agent: nobody" in result.stderr


class TestGrammar:
    def test_abnf_where_nothing_is_said(self):
        """The ABNF is what people get first."""
        assert run("grammar").stdout == sr.grammar.abnf_text()

    @pytest.mark.parametrize("form", ["abnf", "lark", "python", "re2", "ecmascript"])
    def test_each_form_is_that_of_the_library(self, form):
        """The command prints what `sr.grammar.export` gives."""
        text = sr.grammar.export(form).rstrip("\n")
        assert run("grammar", "--as", form).stdout == f"{text}\n"
        assert json.loads(run("grammar", "--as", form, "--json").stdout) == {
            "form": form,
            "grammar": text,
        }

    def test_railroad_needs_a_package(self, monkeypatch):
        """Without the drawing package the command says so, as wrong usage."""

        def export(_form):
            raise ModuleNotFoundError("a railroad diagram needs the package railroad-diagrams")

        monkeypatch.setattr(grammar.grammar, "export", export)
        result = run("grammar", "--as", "railroad")
        assert result.exit_code == 2
        assert "railroad-diagrams" in result.stderr

    def test_unknown_form_is_wrong_usage(self):
        """The forms are a closed list."""
        assert run("grammar", "--as", "yacc").exit_code == 2
