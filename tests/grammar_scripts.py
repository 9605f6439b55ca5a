"""Makes the scripts of the grammar folder importable; they are no part of the package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

GRAMMAR = Path(__file__).parents[1] / "grammar"
CONFORMANCE = GRAMMAR / "conformance"

if str(GRAMMAR) not in sys.path:
    sys.path[:0] = [str(GRAMMAR)]


def load_script(path: Path) -> ModuleType:
    """A script as a module, under a name that hides no other module."""
    spec = importlib.util.spec_from_file_location(f"grammar_script_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
