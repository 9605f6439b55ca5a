"""The codes of findings, as selections and pages name them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sessionref._codes import codes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessionref._codes import Code

__all__ = ["all_codes", "codes_without_rule"]


@cache
def all_codes() -> Mapping[str, Code]:
    """Every code that a finding can have."""
    return {code: row for code, row in codes().items() if row.in_findings}


@cache
def codes_without_rule() -> Mapping[str, Code]:
    """The codes of findings that are under no rule, and of those that can be."""
    return {code: row for code, row in all_codes().items() if "none" in row.rules}
