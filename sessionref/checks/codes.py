"""Every code that a finding of `check` can carry, with how grave it is and what it means."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sessionref.checks.rules import Code, rules
from sessionref.streams.chains import LINK_FAULTS
from sessionref.streams.decode import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OTHER_CODES", "all_codes"]

#: Codes that stand under no rule of the pages, or under one of a page that we do not have.
OTHER_CODES: dict[str, Code] = {
    **{code: Code(severity, meaning) for code, (severity, meaning) in FAULTS.items()},
    **{
        code: Code(severity, meaning)
        for code, (severity, rule, meaning) in LINK_FAULTS.items()
        if rule is None
    },
    "duplicate-id": Code("warning", "two records have one record ID; both are kept (ASR-017)"),
    "unreadable": Code("error", "an input cannot be read"),
    "unknown-format": Code("error", "an input that was named is no known kind of log"),
    "special-file": Code("notice", "neither a file nor a folder, passed over"),
    "corrupt-compression": Code("error", "compressed data are damaged"),
    "truncated-compression": Code("error", "compressed data end before their end"),
}


@cache
def all_codes() -> Mapping[str, Code]:
    """All codes, those of rules included."""
    return {code: said for rule in rules().values() for code, said in rule.codes.items()} | (
        OTHER_CODES
    )
