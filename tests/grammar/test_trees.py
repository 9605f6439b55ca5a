"""The grammar as API: parse trees, values from them, and other notations."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

import sessionref as sr
from sessionref import grammar
from sessionref.grammar import FORMS, Node, export, transform, tree, values

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "acme.x:lab%3A1:s#callId=a%20b=c"


def test_tree_names_every_part_with_its_place_and_decoded_value() -> None:
    found = [(depth, n.name, n.span, n.value) for depth, n in tree(TEXT).walk()]
    assert found == [
        (0, "session-ref", (0, 31), None),
        (1, "session-key", (0, 16), None),
        (2, "agent-name", (0, 6), "acme.x"),
        (2, "namespace", (7, 14), "lab:1"),
        (2, "session-id", (15, 16), "s"),
        (1, "entity-ref", (17, 31), None),
        (2, "entity-key", (17, 23), "callId"),
        (2, "value", (24, 31), "a b=c"),
    ]


def test_the_text_of_a_node_is_what_stands_at_its_place() -> None:
    for _, node in tree(TEXT).walk():
        assert node.text == TEXT[slice(*node.span)]
        assert (node.value is None) == bool(node.children)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a:s", ["agent-name", "session-id"]),
        ("a:s#callId", ["agent-name", "session-id", "record-ref"]),
        ("a:s#callIdn", ["agent-name", "session-id", "record-ref"]),
        ("a:s#turnId=1", ["agent-name", "session-id", "turn-key", "value"]),
        ("a:n:s#planId==", ["agent-name", "namespace", "session-id", "entity-key", "value"]),
    ],
)
def test_leaves(text: str, names: list[str]) -> None:
    """One component is the session ID, and a key is one only before '='."""
    assert [node.name for _, node in tree(text).walk() if not node.children] == names


def test_find_gives_the_first_node_of_a_name() -> None:
    found = tree(TEXT).find("value")
    assert found is not None
    assert found.value == "a b=c"
    assert tree("a:s").find("namespace") is None


def test_transform_gives_the_value_of_every_node() -> None:
    assert [transform(node) for _, node in tree(TEXT).walk()] == [
        sr.parse(TEXT),
        sr.parse(TEXT).key,
        "acme.x",
        "lab:1",
        "s",
        sr.EntityRef("callId", "a b=c"),
        "callId",
        "a b=c",
    ]


@pytest.mark.parametrize(
    ("text", "ref"), [("a:s#r", sr.RecordRef("r")), ("a:s#turnId=t%3A", sr.TurnRef("t:"))]
)
def test_transform_gives_each_kind_of_ref(text: str, ref: sr.Ref) -> None:
    assert transform(tree(text).children[1]) == ref
    assert values(text) == sr.parse(text)


@pytest.mark.parametrize("text", ["", "a", "a:", "a:s#x=1", "a:s#", "a:%FF", "a:\ud800", "a:s\n"])
@pytest.mark.parametrize("function", [tree, values])
def test_a_bad_text_raises_what_parse_raises(text: str, function: type) -> None:
    """No error of Lark, and none of its names, reaches a user."""
    with pytest.raises(sr.InvalidReference) as expected:
        sr.parse(text)
    with pytest.raises(sr.InvalidReference) as caught:
        function(text)
    assert caught.value == expected.value
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_what_is_no_text_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        tree(b"a:s")  # type: ignore[arg-type]


def test_nodes_are_values() -> None:
    node = tree(TEXT)
    assert node == tree(TEXT)
    assert hash(node) == hash(tree(TEXT))
    assert pickle.loads(pickle.dumps(node)) == node
    assert all(type(each) is Node for _, each in node.walk())
    with pytest.raises(AttributeError):
        node.name = "x"  # type: ignore[misc]


@pytest.mark.parametrize("unit", ["a", "%41", "a%41", "€"])
def test_ten_megabytes_have_a_tree(unit: str) -> None:
    """Neither recursion nor memory for going back."""
    component = unit * (10_000_000 // len(unit))
    leaf = tree(f"a:{component}#r").find("session-id")
    assert leaf is not None
    assert leaf.text == component


def test_the_texts_are_the_files() -> None:
    assert "session-ref      = session-key" in grammar.abnf_text()
    assert "session_ref: session_key" in grammar.lark_text()
    assert export("abnf") == grammar.abnf_text()
    assert export("lark") == grammar.lark_text()


def test_an_installed_package_reads_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel holds the grammar among its data, and there is no checkout around it."""
    folder = tmp_path / "data" / "grammar"
    folder.mkdir(parents=True)
    (folder / "session-reference.abnf").write_text("packaged", encoding="utf-8")
    monkeypatch.setattr("sessionref.grammar.resources.files", lambda _: tmp_path)
    assert grammar.abnf_text() == "packaged"


def test_every_form_is_exported_and_no_other() -> None:
    assert FORMS == ("abnf", "lark", "python", "re2", "ecmascript", "railroad")
    with pytest.raises(ValueError, match="none of abnf"):
        export("ebnf")  # type: ignore[arg-type]


def test_exported_python_pattern_has_named_groups() -> None:
    import re  # noqa: PLC0415 - beside its one use

    match = re.fullmatch(export("python"), TEXT)
    assert match is not None
    assert match.groupdict() == {
        "agent": "acme.x",
        "first": "lab%3A1",
        "second": "s",
        "key": "callId",
        "value": "a%20b=c",
        "record": None,
    }


@pytest.mark.parametrize("form", ["python", "re2", "ecmascript"])
def test_exported_patterns_are_ascii_and_one_line(form: str) -> None:
    text = export(form)  # type: ignore[arg-type]
    assert text.isascii()
    assert text.isprintable()


def test_railroad_diagram_is_svg_with_every_rule() -> None:
    pytest.importorskip("railroad")
    root = ET.fromstring(export("railroad"))  # noqa: S314 - our own text
    texts = {"".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")}
    assert {"session-id", "namespace", "entity-ref", "turn-ref", "record-ref", ":", "#"} <= texts


def test_railroad_without_its_package_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "railroad", None)
    with pytest.raises(ModuleNotFoundError, match="railroad-diagrams"):
        export("railroad")


def test_parsing_and_importing_the_grammar_load_no_lark() -> None:
    """Lark is loaded for a tree, and for nothing else."""
    program = (
        "import sys, sessionref as sr; sr.parse('a:s'); sr.grammar.export('re2');"
        "assert 'lark' not in sys.modules; sr.grammar.tree('a:s'); assert 'lark' in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
