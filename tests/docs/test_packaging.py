"""What the source distribution holds."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="needs the checkout")
def test_the_source_distribution_holds_what_its_documents_speak_of(tmp_path):
    """Every file of the checkout that a page links to, that `make` reads, or that a test needs."""
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", tmp_path, ROOT]
    subprocess.run(build, capture_output=True, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
        readme = files.extractfile(archive.name.removesuffix(".tar.gz") + "/PKG-INFO")
        assert readme is not None
        assert b"Description-Content-Type: text/markdown" in readme.read()
    folders = {name.rpartition("/")[0] for name in names}
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            if ":" not in link:
                target = (page.parent / link).resolve().relative_to(ROOT).as_posix()
                assert target in names | folders, f"{page.name} links to {target}"
    for folder in ("bench", "docs", "examples", "grammar", "requirements", "tests", "tools"):
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and not {"__pycache__", ".hypothesis"} & {*file.parts}:
                assert file.relative_to(ROOT).as_posix() in names
    assert {".ci/run", "Makefile", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= names
