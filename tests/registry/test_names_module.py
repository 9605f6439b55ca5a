"""The module of names that parsing uses, against the data that it is made from."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from sessionref import _names
from sessionref.registry import Registry, _published

SCRIPT = Path(__file__).parents[2] / "tools" / "compile_names.py"


@pytest.fixture(scope="module")
def compiler():
    spec = importlib.util.spec_from_file_location("compile_names", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_names_agree_with_the_registry():
    """Parsing knows exactly the names of the built-in registry."""
    default = Registry.default()
    assert {one.reverse_dns: one.short for one in default.values()} == _names.SHORT_NAMES
    assert set(default) == set(_names.SHORT_NAMES.values())


def test_the_last_published_version_holds_the_names():
    """A change of names needs a new version in registry.toml."""
    latest = _published()[-1]
    assert latest.names == {one.short: one.reverse_dns for one in Registry.default().values()}
    versions = [known.version for known in _published()]
    assert len(versions) == len(set(versions))
    assert not any("+" in version for version in versions)


def test_the_module_is_not_stale(compiler):
    """What stands in the module is what its generator writes now."""
    assert compiler.render() == Path(_names.__file__).read_text(encoding="utf-8")


def test_the_generator_writes_and_checks(compiler, tmp_path, monkeypatch, capsys):
    """The generator writes the module, says when it is stale, and then writes nothing."""
    target = tmp_path / "_names.py"
    monkeypatch.setattr(compiler, "TARGET", target)
    assert compiler.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert not target.exists()
    assert compiler.main([]) == 0
    assert compiler.main(["--check"]) == 0
    target.write_text("", encoding="utf-8")
    assert compiler.main(["--check"]) == 1


def test_names_need_a_version(compiler, tmp_path, monkeypatch):
    """Names that no version holds are not compiled."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "registry.toml").write_text(
        '[[versions]]\nversion = "1"\n[versions.names]\na = "b.c"\n', encoding="utf-8"
    )
    monkeypatch.setattr(compiler, "DATA", tmp_path)
    with pytest.raises(SystemExit):
        compiler.render()


def test_the_module_imports_nothing():
    """Importing the names costs next to nothing: the module holds literals only."""
    tree = ast.parse(Path(_names.__file__).read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
