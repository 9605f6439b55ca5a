"""Which findings are wanted: by rule, by the beginning of a rule's number, or by code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from sessionref.checks.codes import all_codes
from sessionref.cli._text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessionref.checks.book import Rule
    from sessionref.findings import Finding

__all__ = ["Selection"]


#: Rules of other pages that findings may be under.
_OTHER_RULES = ("ASR-017",)


class _Chosen(NamedTuple):
    """Beginnings of rule numbers, and codes."""

    rules: tuple[str, ...]
    codes: frozenset[str]

    def has(self, finding: Finding) -> bool:
        rule = finding.rule
        return finding.code in self.codes or (rule is not None and rule.startswith(self.rules))


class Selection(NamedTuple):
    """What is selected, None for everything, and what of it is ignored."""

    selected: _Chosen | None
    ignored: _Chosen

    @classmethod
    def of(
        cls, select: Iterable[str], ignore: Iterable[str], rules: Mapping[str, Rule]
    ) -> Selection:
        """The selection that two options make; wrong usage where a name stands for nothing."""
        selected = _chosen("--select", select, rules)
        is_open = not (selected.rules or selected.codes)
        return cls(None if is_open else selected, _chosen("--ignore", ignore, rules))

    def takes(self, finding: Finding) -> bool:
        """Whether the finding is wanted."""
        if self.selected is not None and not self.selected.has(finding):
            return False
        return not self.ignored.has(finding)


def _chosen(option: str, texts: Iterable[str], rules: Mapping[str, Rule]) -> _Chosen:
    numbers: list[str] = []
    codes: set[str] = set()
    known = all_codes()
    for name in (part.strip() for text in texts for part in text.split(",")):
        if not name:
            continue
        if name in known:
            codes.add(name)
        elif any(number.startswith(name.upper()) for number in (*rules, *_OTHER_RULES)):
            numbers.append(name.upper())
        else:
            raise click.BadParameter(
                f"unknown rule, rule prefix or code: {shown(name)}",
                param_hint=option,
            )
    return _Chosen(tuple(numbers), frozenset(codes))
