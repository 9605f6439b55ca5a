"""Cases of rules beyond the two examples that each rule has in the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessionref.checks.examples import Example

#: By the number of the rule.
CASES: dict[str, tuple[Example, ...]] = {}
