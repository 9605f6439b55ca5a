"""`sessionref agents`: the agent identity registry, or all that it knows of one agent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from sessionref.cli._common import json_option, registry_option, to_json
from sessionref.cli._text import shown
from sessionref.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sessionref.agent import Agent, Fact

__all__ = ["command"]


@click.command(short_help="Show the registry of agents, or one agent.")
@click.argument("name", required=False)
@json_option
@registry_option
def command(name: str | None, *, as_json: bool, registry: Registry | None) -> None:
    """List the agents of the registry, or show everything it states about the agent NAME.

    NAME is a short name or a reverse-DNS name. Each fact is shown with its source: stated by the
    specification, supported by evidence (with a confidence), or assumed by this package. With
    --json, one object is printed for each agent, in the form of the registry's files.
    """
    known = Registry.default() if registry is None else registry
    agents = list(known.values())
    if name is not None:
        agent = known.agent(name)
        if agent is None:
            raise click.BadParameter(f"unknown agent: {shown(name)}", param_hint="NAME")
        agents = [agent]
    if as_json:
        for agent in agents:
            print(to_json({"registry": known.version, "agent": agent}))
    elif name is not None:
        for line in _entry(agents[0]):
            print(line)
    else:
        _table(known)


def _table(registry: Registry) -> None:
    from rich.console import Console  # noqa: PLC0415 - only where a table is drawn
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table("agent", "reverse-DNS name", "namespace", "session ID", box=None, pad_edge=False)
    for agent in registry.values():
        ids = agent.session_id
        table.add_row(
            *(
                Text(shown(cell))
                for cell in (
                    agent.short,
                    agent.reverse_dns,
                    _said(None if agent.namespace is None else agent.namespace.needed),
                    _said(None if ids is None else ids.main),
                )
            )
        )
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE)
    console.print(table)
    console.print(f"registry {registry.version}", style="dim", highlight=False)


#: Wide enough that no cell is broken where programs read the table.
_WIDE = 400


def _said(fact: Fact[Any] | None) -> str:
    return "unknown" if fact is None else str(fact.value)


def _entry(agent: Agent) -> Iterator[str]:
    """All that an entry states, one fact a line, with its source."""
    yield f"{agent.short}  {agent.reverse_dns}"
    for member, value in msgspec.to_builtins(agent).items():
        if isinstance(value, str):
            yield f"{member}: {shown(value)}"
        elif isinstance(value, tuple):
            yield f"{member}:" if value else f"{member}: none"
            for item in cast("tuple[dict[str, Any], ...]", value):
                yield from _fact("-", item, "  ")
        elif "value" in value:
            yield from _fact(f"{member}:", value, "")
        else:
            yield f"{member}:"
            for name, fact in value.items():
                yield from _fact(
                    f"{name}:", {"value": fact} if isinstance(fact, str | tuple) else fact, "  "
                )


#: The members that say where a fact comes from, and so stand behind it.
_SOURCE = ("source", "confidence", "where", "note")


def _fact(lead: str, fact: Mapping[str, Any], indent: str) -> Iterator[str]:
    """A fact: what it says, its source in brackets, and below them what else there is."""
    said = {name: value for name, value in fact.items() if name not in _SOURCE}
    first, *more = [_plain(value) for value in said.values()]
    mark = ", ".join(fact[name] for name in ("source", "confidence") if name in fact)
    yield f"{indent}{lead} {first}" + (f"  [{mark}]" if mark else "")
    for name, value in zip([*said][1:], more, strict=True):
        yield f"{indent}    {name}: {value}"
    if "note" in fact:
        yield f"{indent}    {shown(fact['note'])}"
    for place in fact.get("where", ()):
        yield f"{indent}    see {shown(place)}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return _plain(cast("dict[str, object]", value)["value"])
    if isinstance(value, tuple):
        return ", ".join(shown(str(item)) for item in cast("tuple[object, ...]", value))
    return shown(str(value))
