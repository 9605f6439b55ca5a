"""Every code that a finding of `check` can carry, with how grave it is and what it means."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sessionref.checks.book import Code, book
from sessionref.streams.chains import LINK_FAULTS
from sessionref.streams.decode import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OTHER_CODES", "all_codes"]

#: Codes that stand under no rule of the pages, or under one of a page that we do not have; and
#: those of native logs, which their readers report.
OTHER_CODES: dict[str, Code] = {
    **{code: Code(severity, meaning) for code, (severity, meaning) in FAULTS.items()},
    **{
        code: Code(severity, meaning)
        for code, (severity, rule, meaning) in LINK_FAULTS.items()
        if rule is None
    },
    "duplicate-id": Code("warning", "two records have one record ID; both are kept (ASR-017)"),
    "lineage-cycle": Code("warning", "sessions are each other's ancestors"),
    "unreadable": Code("error", "an input cannot be read"),
    "unknown-format": Code("error", "an input that was named is no known kind of log"),
    "special-file": Code("notice", "neither a file nor a folder, passed over"),
    "corrupt-compression": Code("error", "compressed data are damaged"),
    "truncated-compression": Code("error", "compressed data end before their end"),
    "record-id-conflict": Code(
        "warning", "a native log has a record ID again with other content; both are kept (ASR-017)"
    ),
    "no-session": Code("warning", "a native log names no session, so it is none (ASR-051)"),
    "no-namespace": Code(
        "warning", "a native log names no container of an ID that is known to repeat (ASR-054)"
    ),
    "unmapped-boundary": Code(
        "notice", "a boundary in a native log maps to no one row, so there is none (ASR-409)"
    ),
}


@cache
def all_codes() -> Mapping[str, Code]:
    """All codes, those of rules included."""
    return {code: said for rule in book().rules.values() for code, said in rule.codes.items()} | (
        OTHER_CODES
    )
