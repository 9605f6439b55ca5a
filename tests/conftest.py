"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: a busy machine is no failure. `long` is for `HYPOTHESIS_PROFILE=long`.
settings.register_profile("default", deadline=None)
settings.register_profile("long", deadline=None, max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real logs beside the checkout; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("SESSIONREF_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "corpus").is_dir():
        pytest.skip("the folder of real logs is not here")
    return folder
