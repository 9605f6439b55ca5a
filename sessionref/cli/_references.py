"""A reference taken apart, as `parse` and `build` show it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sessionref import grammar
from sessionref.cli._common import to_json
from sessionref.cli._lines import TOO_LONG, PlainLines, complain, translate
from sessionref.cli._text import shown
from sessionref.diagnosis import diagnose
from sessionref.refs import EntityRef, RecordRef

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessionref.cli._lines import Lines
    from sessionref.errors import InvalidReference
    from sessionref.reference import SessionKey, SessionRef
    from sessionref.refs import TurnRef
    from sessionref.registry import Registry

__all__ = [
    "JsonLines",
    "PartsLines",
    "error_object",
    "key_under",
    "parts_object",
    "parts_text",
    "run_lines",
    "tree_object",
    "tree_text",
]

#: How many faults of one reference are told to people.
_FAULTS = 10


def key_under(reference: SessionRef, registry: Registry | None) -> SessionKey:
    """The session key under an overlay, or under the built-in registry where there is none."""
    return reference.key if registry is None else reference.key_under(registry)


def parts_object(text: str, reference: SessionRef, registry: Registry | None) -> dict[str, Any]:
    """The decoded parts, the canonical form and the digest, as JSON objects say them."""
    key = key_under(reference, registry)
    return {
        "text": text,
        "agent": reference.agent,
        "namespace": reference.namespace,
        "sessionId": reference.session_id,
        "ref": _ref_object(reference.ref),
        "reference": str(reference),
        "canonical": key.canonical(),
        "digest": key.digest(),
    }


def _ref_object(ref: RecordRef | EntityRef | TurnRef | None) -> dict[str, str] | None:
    if ref is None:
        return None
    if isinstance(ref, RecordRef):
        return {"kind": ref.kind, "value": ref.record_id}
    if isinstance(ref, EntityRef):
        return {"kind": ref.kind, "key": ref.key, "value": ref.value}
    return {"kind": ref.kind, "value": ref.turn_id}


def error_object(text: str, error: InvalidReference) -> dict[str, Any]:
    """Why `text` is no reference, as JSON objects say it.

    A text with no UTF-8 form is null, beside its escaped form; there the span counts in that.
    """
    said: dict[str, Any] = {"text": text}
    try:
        text.encode()
    except UnicodeEncodeError:
        escaped = error.text.encode("utf-8", "backslashreplace").decode()
        said = {"text": None, "escapedText": escaped}
    said["error"] = {
        "code": error.code,
        "rule": error.rule,
        "component": error.component,
        "start": error.span[0],
        "end": error.span[1],
        "message": error.message,
    }
    return said


def parts_text(text: str, reference: SessionRef, registry: Registry | None) -> str:
    """The same for people, one part a line."""
    key = key_under(reference, registry)
    parts = [("agent", reference.agent)]
    if reference.namespace is not None:
        parts.append(("namespace", reference.namespace))
    parts.append(("session ID", reference.session_id))
    ref = reference.ref
    if isinstance(ref, RecordRef):
        parts.append(("record", ref.record_id))
    elif isinstance(ref, EntityRef):
        parts.append((ref.key, ref.value))
    elif ref is not None:
        parts.append(("turnId", ref.turn_id))
    if str(reference) != text:
        parts.append(("reference", str(reference)))
    parts += [("canonical", key.canonical()), ("digest", key.digest())]
    return "\n".join([shown(text), *(f"  {name:<12} {shown(value)}" for name, value in parts)])


def tree_text(text: str) -> str:
    """The parse tree of a reference, one node a line under the name that the ABNF has for it."""
    lines: list[str] = []
    for depth, node in grammar.tree(text).walk():
        indent = "  " * depth
        if node.value is None:
            lines.append(indent + node.name)
        elif node.value == node.text:
            lines.append(f"{indent}{node.name}  {shown(node.text)}")
        else:
            lines.append(f"{indent}{node.name}  {shown(node.text)}  = {shown(node.value)}")
    return "\n".join(lines)


def tree_object(text: str) -> dict[str, Any]:
    """The parse tree as JSON objects say it: its nodes in the order of the text, with depths."""
    nodes = [
        {
            "name": node.name,
            "depth": depth,
            "text": node.text,
            "start": node.span[0],
            "end": node.span[1],
            "value": node.value,
        }
        for depth, node in grammar.tree(text).walk()
    ]
    return {"text": text, "nodes": nodes}


class JsonLines:
    """A JSON object for each reference, one with the error for what is none."""

    def __init__(self, members: Callable[[str], dict[str, Any]]) -> None:
        self._members = members

    def good(self, text: str) -> str:
        """The object of a reference."""
        return to_json(self._members(text))

    def bad(self, place: str, text: str, error: InvalidReference) -> str:  # noqa: ARG002
        """The object with the error."""
        return to_json(error_object(text, error))

    def unread(self, place: str) -> str:  # noqa: ARG002
        """An object that says that the line was too long."""
        error = {
            "code": "line-too-long",
            "rule": None,
            "component": "reference",
            "start": 0,
            "end": 0,
            "message": TOO_LONG,
        }
        return to_json({"text": None, "error": error})


class PartsLines:
    """The parts of each reference on lines of their own; all that is wrong with what is none."""

    def __init__(self, good: Callable[[str], str]) -> None:
        self.good = good

    def bad(self, place: str, text: str, error: InvalidReference) -> None:
        """Nothing on stdout; on stderr each fault under its place in the text."""
        faults = [error]
        if error.code != "invalid-utf8" or error.component != "reference":
            faults = list(islice(diagnose(text), _FAULTS))
        for fault in faults:
            complain(f"{place}: {fault}")

    def unread(self, place: str) -> None:
        """Nothing on stdout."""
        complain(f"{place}: {TOO_LONG}")


def run_lines(
    references: Sequence[str], member: str, good: Callable[[str], str], *, as_json: bool
) -> NoReturn:
    """Run a command that makes one text of each reference; `member` is its name in JSON."""
    lines: Lines = PlainLines(good)
    if as_json:
        lines = JsonLines(lambda text: {"text": text, member: good(text)})
    raise click.exceptions.Exit(translate(references, lines))
