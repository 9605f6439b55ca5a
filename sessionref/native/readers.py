"""The readers of native logs: those of this package, and those that other packages register."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, NamedTuple

from sessionref.agent import is_agent_name
from sessionref.findings import Finding
from sessionref.native import claude_code, codex

if TYPE_CHECKING:
    from sessionref.native.reader import AnyReader

__all__ = ["GROUP", "READERS", "Readers", "reader_of", "readers"]

#: The readers of this package. A further agent is a further line.
READERS: tuple[AnyReader, ...] = (
    claude_code.READER,
    codex.READER,
)

#: The group of entry points by which another package registers a reader.
GROUP = "sessionref.readers"

_NEEDED = ("recognises", "survey", "survey_with_columns", "relate", "streams")


class Readers(NamedTuple):
    """All readers, by the names of their agents, and what is wrong with registered ones."""

    by_agent: dict[str, AnyReader]
    findings: tuple[Finding, ...]


@cache
def readers() -> Readers:
    """All readers. Registered ones are loaded when a log is looked at for the first time."""
    by_agent = {reader.agent: reader for reader in READERS}
    findings: list[Finding] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            reader: Any = entry.load()
            wrong = _what_is_wrong(reader, by_agent)
            if wrong is None:
                by_agent[reader.agent] = reader
                continue
        except Exception as error:  # noqa: BLE001 - another package's code may raise anything
            wrong = f"{type(error).__name__}: {error}"
        message = f"the registered reader {entry.name} ({entry.value}) is not used: {wrong}"
        findings.append(Finding(code="broken-reader", severity="warning", message=message))
    return Readers(by_agent, tuple(findings))


def reader_of(kind: str | None) -> AnyReader | None:
    """The reader of logs of a kind; None of streams, and of what is no known kind of log."""
    return None if kind is None else readers().by_agent.get(kind)


def _what_is_wrong(reader: Any, known: dict[str, AnyReader]) -> str | None:
    missing = [name for name in _NEEDED if not callable(getattr(reader, name, None))]
    agent = getattr(reader, "agent", None)
    if missing or not isinstance(agent, str):
        return f"it has no {', '.join(missing) or 'agent'}"
    if not is_agent_name(agent):
        return f"{agent!r} is not an agent name"
    return f"there is a reader of {agent} already" if agent in known else None
