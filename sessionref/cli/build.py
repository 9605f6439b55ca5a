"""`sessionref build`: a reference from raw parts."""

from __future__ import annotations

import sys

import click

from sessionref.cli._common import json_option, registry_option, to_json
from sessionref.cli._lines import complain
from sessionref.cli._references import error_object, key_under, parts_object
from sessionref.cli._text import shown
from sessionref.errors import InvalidReference
from sessionref.reference import SessionRef
from sessionref.refs import Ref
from sessionref.registry import Registry, needs_namespace

__all__ = ["command"]


@click.command(short_help="Build a reference from raw parts.")
@click.argument("agent")
@click.argument("session_id", metavar="ID")
@click.option("--namespace", metavar="N", help="The namespace, not encoded.")
@click.option("--ref", "raw_ref", metavar="R", help="A raw ref: a record ID, or KEY=VALUE.")
@click.option("--canonical", "form", flag_value="canonical", help="Print the canonical form.")
@click.option("--digest", "form", flag_value="digest", help="Print the digest.")
@json_option
@registry_option
def command(
    agent: str,
    session_id: str,
    namespace: str | None,
    raw_ref: str | None,
    form: str | None,
    *,
    as_json: bool,
    registry: Registry | None,
) -> None:
    """Print the reference to a session, or to the record, entity or turn R in it.

    Arguments are taken raw and encoded as needed. Write -- before an ID that begins with a dash. An
    agent's short name that is not registered gives a valid reference and a warning, because such
    names are reserved (ASR-057).
    """
    try:
        ref = None if raw_ref is None else Ref.from_raw(raw_ref)
        reference = SessionRef(agent, namespace, session_id, ref)
    except InvalidReference as error:
        if as_json:
            print(to_json(error_object(error.text, error)))
        else:
            complain(str(error))
        raise click.exceptions.Exit(1) from None
    names = Registry.default() if registry is None else registry
    finding = names.producer_finding(agent)
    if finding is not None:
        complain(shown(f"warning: {finding.message} ({finding.code}, {finding.rule})"))
    if namespace is None and needs_namespace(agent, session_id, names):
        message = f"this ID of {agent} is not unique without a namespace"
        complain(shown(f"warning: {message} (missing-namespace, ASR-054)"))
    if as_json:
        print(to_json(parts_object(str(reference), reference, registry)))
        return
    key = key_under(reference, registry)
    text = {"canonical": key.canonical, "digest": key.digest, None: reference.__str__}[form]()
    sys.stdout.buffer.write(f"{shown(text) if sys.stdout.isatty() else text}\n".encode())
