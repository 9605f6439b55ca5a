"""The rule book: each ASR rule as data, in `sessionref/data/rules/`.

A rule binds those who write streams or those who read them, and only some rules can be seen in a
stream. So every rule is of one kind:

- ``checked``: a stream, alone or together with others, shows whether the rule was kept;
- ``reader``: it says how to read streams, so it binds this package;
- ``producer``: it says where a value has to come from, which no stream shows. The readers of native
  logs in this package keep it.

Nothing here looks at streams. `sessionref.checks.run` does that.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

__all__ = ["Book", "Case", "Change", "Kind", "Rule", "book"]

Kind: TypeAlias = Literal["checked", "reader", "producer"]
#: A conformance case, as `data/rule.schema.json` describes it.
Case: TypeAlias = "dict[str, Any]"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule, in our own words.

    `summary` is one line; `explanation` has one paragraph or more. `why` tells why no stream shows
    a reader or producer rule, and `bound` what in this package keeps the rule. `codes` are the
    codes of its findings, each with its meaning under this rule; their severities are in
    `data/codes.toml`. A reader rule has codes where a stream holds what every reader must refuse.
    The first of `cases` keeps the rule, the second breaks it or names the excluded answer.
    """

    number: str = msgspec.field(name="rule")
    kind: Kind
    summary: str
    explanation: tuple[str, ...]
    bound: str
    cases: tuple[Case, ...]
    why: str | None = None
    codes: dict[str, str] = {}

    def __post_init__(self) -> None:
        if (self.kind == "checked") == (self.why is not None):
            raise ValueError("a checked rule has no `why`, every other rule has one")
        if len(self.cases) < 2:  # noqa: PLR2004 - the good example and the bad one
            raise ValueError("a rule has at least two cases: a good example and a bad one")

    @property
    def text(self) -> str:
        """The explanation as one text, with an empty line between paragraphs."""
        return "\n\n".join(self.explanation)

    @property
    def good(self) -> Case:
        """The example that keeps the rule."""
        return self.cases[0]

    @property
    def bad(self) -> Case:
        """The example that breaks the rule, or that names the answer which the rule excludes."""
        return self.cases[1]


class Change(msgspec.Struct, frozen=True):
    """A version of the rule book, and the rules that it added or changed."""

    version: str
    about: str
    rules: tuple[str, ...]


class Book(msgspec.Struct, frozen=True):
    """All rules by number, in order, and the versions of the book, oldest first."""

    rules: Mapping[str, Rule]
    changes: tuple[Change, ...]

    @property
    def version(self) -> str:
        """The version of the book, which is that of its last change."""
        return self.changes[-1].version

    @classmethod
    def read(cls, folder: Path | Traversable) -> Book:
        """The rule book in `folder`: a file for each rule, and `index.json` with the changes.

        Raises ValueError with the name of the file that is not what it should be, and OSError where
        a file cannot be read.
        """
        rules: dict[str, Rule] = {}
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.startswith("ASR-"):
                rule = _decoded(file, Rule)
                if file.name != f"{rule.number}.json":
                    raise ValueError(f"{file}: the rule in this file is {rule.number}")
                rules[rule.number] = rule
        changes = _decoded(folder / "index.json", tuple[Change, ...])
        if not changes:
            raise ValueError(f"{folder / 'index.json'}: names no version")
        return cls(rules, changes)


def _decoded(file: Path | Traversable, kind: Any) -> Any:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: {error}") from None


@cache
def book() -> Book:
    """The built-in rule book."""
    return Book.read(resources.files("sessionref").joinpath("data/rules"))
