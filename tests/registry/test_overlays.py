"""Overlay files and the environment variable that names them."""

from __future__ import annotations

import os

import pytest

from sessionref.errors import RegistryError
from sessionref.registry import ENVIRONMENT_VARIABLE, Registry

ACME = """
short_name = {value = "acme-bot", source = "stated"}
reverse_dns_name = {value = "com.acme.bot", source = "stated"}
"""

SEVERAL = """
[[agent]]
short_name = {value = "one-bot", source = "stated"}
reverse_dns_name = {value = "com.one.bot", source = "stated"}

[[agent]]
short_name = {value = "two-bot", source = "stated"}
reverse_dns_name = {value = "com.two.bot", source = "stated"}
"""


@pytest.fixture
def overlay(tmp_path):
    """Write an overlay file and give its path."""

    def write(content: str | bytes, name: str = "overlay.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def code_of(*files) -> str:
    with pytest.raises(RegistryError) as caught:
        Registry.load(*files)
    assert caught.value.file == str(files[-1])
    assert str(files[-1]) in str(caught.value)
    return caught.value.code


def test_without_files_it_is_the_built_in_registry():
    """Loading no overlay gives the default registry."""
    assert Registry.load() is Registry.default()


def test_an_overlay_holds_one_entry(overlay):
    """A file in the shape of a built-in one adds its agent; two names are enough."""
    registry = Registry.load(overlay(ACME))
    assert registry.identity("acme-bot") == "com.acme.bot"
    assert len(registry) == len(Registry.default()) + 1


def test_an_overlay_holds_several_entries(overlay):
    """Several entries stand under [[agent]]; files are laid one over the other."""
    registry = Registry.load(str(overlay(SEVERAL, "a.toml")), overlay(ACME, "b.toml"))
    assert {"one-bot", "two-bot", "acme-bot"} <= set(registry)


def test_an_overlay_replaces_an_entry_by_name(overlay):
    """An overlay takes the place of a built-in entry where it says so, a later one of that."""
    first = 'replaces = "codex"\n' + ACME.replace("acme-bot", "codex")
    second = 'replaces = "codex"\n' + ACME
    registry = Registry.load(overlay(first, "a.toml"), overlay(second, "b.toml"))
    assert "codex" not in registry
    assert registry.identity("acme-bot") == "com.acme.bot"


def test_the_order_of_overlays_does_not_show_in_the_version(overlay):
    """Two files in either order make the same registry of the same version."""
    a, b = overlay(SEVERAL, "a.toml"), overlay(ACME, "b.toml")
    assert Registry.load(a, b) == Registry.load(b, a)
    assert Registry.load(a, b).version == Registry.load(b, a).version


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (ACME.replace("acme-bot", "codex"), "name-taken"),
        (ACME.replace("com.acme.bot", "com.openai.codex"), "name-taken"),
        (SEVERAL.replace("two-bot", "one-bot"), "name-taken"),
        ('replaces = "nobody"\n' + ACME, "nothing-to-replace"),
        (ACME.replace("acme-bot", "Acme"), "bad-name"),
        (ACME.replace("com.acme.bot", "acme"), "bad-name"),
        (ACME + 'colour = "red"', "unknown-member"),
        (ACME + "title = 1979-05-27", "wrong-type"),
        ('title = "Acme"', "missing-member"),
        ("", "missing-member"),
        ("agent = 1", "wrong-type"),
        ("agent = [1]", "wrong-type"),
        ('title = "x"\n' + SEVERAL, "unknown-member"),
        ("short_name = ", "not-toml"),
        (b"\xff", "not-toml"),
        ("a = " + "[" * 100_000, "not-toml"),
    ],
)
def test_a_bad_overlay_is_refused_with_its_code(overlay, content, code):
    """Each fault of an overlay has its code, and the error names the file."""
    assert code_of(overlay(content)) == code


def test_an_unreadable_file(tmp_path):
    """A file that is not there, is a folder, or has no possible name is unreadable."""
    assert code_of(tmp_path / "absent.toml") == "unreadable"
    assert code_of(tmp_path) == "unreadable"
    assert code_of("a\0b") == "unreadable"


def test_the_environment_names_overlays(overlay):
    """SESSIONREF_REGISTRY names files as PATH does; given files are laid over those."""
    a, b = overlay(SEVERAL, "a.toml"), overlay(ACME, "b.toml")
    value = os.pathsep.join(["", str(a), str(b)])
    registry = Registry.from_environment(environ={ENVIRONMENT_VARIABLE: value})
    assert {"one-bot", "acme-bot"} <= set(registry)
    registry = Registry.from_environment(b, environ={ENVIRONMENT_VARIABLE: str(a)})
    assert {"one-bot", "acme-bot"} <= set(registry)
    assert Registry.from_environment(environ={}) is Registry.default()


def test_the_environment_of_the_process(overlay, monkeypatch):
    """Without a mapping the environment of the process is asked."""
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(overlay(ACME)))
    assert "acme-bot" in Registry.from_environment()
