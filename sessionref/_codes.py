"""The table of codes: `data/codes.toml`, read when the first code is looked up."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Code", "Severity", "codes"]

Severity = Literal["error", "warning", "notice"]


class Code(NamedTuple):
    """What the table says of one code.

    `in_findings` is False where no finding has the code. `also` is a second severity that findings
    with it may have. `rules` are the ASR numbers that they are under, ``none`` for no rule.
    `reference` tells that `InvalidReference` can have it.
    """

    severity: Severity
    meaning: str
    rules: tuple[str, ...]
    also: Severity | None
    reference: bool
    in_findings: bool

    @property
    def rule(self) -> str | None:
        """The only rule of findings with this code, None where they are under no rule."""
        return None if self.rules[0] == "none" else self.rules[0]


@cache
def codes() -> Mapping[str, Code]:
    """The whole table, by code."""
    text = (resources.files("sessionref") / "data" / "codes.toml").read_text("utf-8")
    return {
        code: Code(
            row.get("severity", "error"),
            row["meaning"],
            tuple(row.get("rules", ())),
            row.get("also"),
            row.get("reference", False),
            "severity" in row,
        )
        for code, row in tomllib.loads(text).items()
    }
