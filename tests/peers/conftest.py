"""Programs of other people. `make test-peers` sets them up; other runs skip these tests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def packages() -> Path:
    """The npm packages of package.json, in the versions that stand there."""
    folder = os.environ.get("SESSIONREF_PEERS")
    if folder is None:
        pytest.skip("only `make test-peers` runs the programs of other people")
    return Path(folder).absolute() / "node_modules"


@pytest.fixture(scope="session")
def node(packages: Path) -> str:  # noqa: ARG001 - skips where the packages do
    """Node, which the npm packages need."""
    found = shutil.which("node")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def dot() -> str:
    """Graphviz, where it is installed."""
    found = shutil.which("dot")
    if found is None:
        pytest.skip("needs Graphviz")
    return found
