"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# No deadline: a busy machine is no failure. `long` is for `HYPOTHESIS_PROFILE=long`.
settings.register_profile("default", deadline=None)
settings.register_profile("long", deadline=None, max_examples=20_000)
# `properties` is for tools/properties.py, which runs them again and again.
settings.register_profile("properties", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


#: Variables of the user that change what commands print. Tests that are about one set it.
_VARIABLES = (
    "COLUMNS",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "SESSIONREF_REGISTRY",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)


@pytest.fixture(autouse=True, scope="session")
def _variables() -> Iterator[None]:
    """No variable of the user changes what a test sees, or a process that a test starts."""
    with pytest.MonkeyPatch.context() as environment:
        for name in _VARIABLES:
            environment.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real logs beside the checkout; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("SESSIONREF_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "corpus").is_dir():
        pytest.skip("the folder of real logs is not here")
    return folder
