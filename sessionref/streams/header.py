"""The header of a stream: which session it is of (ASR-050, 051, 054, 056)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sessionref.errors import InvalidReference
from sessionref.findings import Finding
from sessionref.reference import SessionKey
from sessionref.streams.json import BadJson, Object, escaped, load_object

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HEADER_TYPE", "Header", "identify"]

#: The type of the record that begins a stream.
HEADER_TYPE = "session"

_ABSENT: Any = object()


class Header(msgspec.Struct, frozen=True):
    """What the header says of the session's identity.

    `key` is None where it gives none, and then a finding says why. The other parts are as the
    header has them, None where absent or of no use. `escaped_id` is the session ID where it has no
    UTF-8 form, with what is none escaped: it can be shown, but it is no reference. `content` is the
    whole record as it was read.
    """

    key: SessionKey | None = None
    agent: str | None = None
    namespace: str | None = None
    session_id: str | None = None
    escaped_id: str | None = None
    content: bytes = b""
    findings: tuple[Finding, ...] = ()

    @property
    def session(self) -> str | None:
        """The canonical form of the session's key, None where there is no key."""
        return None if self.key is None else self.key.canonical()


def identify(content: bytes, file: str | None, line: int) -> Header:
    """The header that is the JSON object `content`."""
    content = content.rstrip(b"\r\n")
    try:
        members = load_object(content)
    except BadJson as error:  # little room for calls was left
        finding = Finding(
            code=error.code,
            severity="error",
            message="the header cannot be read",
            file=file,
            line=line,
        )
        return Header(content=content, findings=(finding,))
    findings: list[Finding] = []
    parts: dict[str, str | None] = {}
    for name, path, rule, value in _parts(members):
        code, message = "", ""
        if value is _ABSENT or (value is None and name == "namespace"):
            parts[name] = None
            if name != "namespace":
                code, message = "missing-member", f"the header has no {path[2:]}"
        elif type(value) is not str:
            parts[name] = None
            code, message = "bad-member", f"{path[2:]} is no string"
        else:
            parts[name] = value
        if code:
            findings.append(_finding(code, message, rule, path, file, line))
    findings.extend(
        _finding("duplicate-member", f"{path[2:]} stands more than once", None, path, file, line)
        for path in _repeated(members)
    )
    agent, namespace, session_id = parts["agent"], parts["namespace"], parts["sessionId"]
    key: SessionKey | None = None
    usable = not any(finding.code in {"missing-member", "bad-member"} for finding in findings)
    for fault in _invalid(agent, namespace, session_id):
        usable = False
        component = fault.component
        path = _PATHS.get(component, "$.agent.name")
        finding = _finding(fault.code, fault.message, fault.rule, path, file, line)
        findings.append(msgspec.structs.replace(finding, component=component, span=fault.span))
    if usable:
        key = SessionKey(agent or "", namespace, session_id or "")
    shown = {
        name: escaped(part, bytes_too=members.bad_utf8)
        for name, part in parts.items()
        if part is not None
    }
    escaped_id = shown.get("sessionId")
    return Header(
        key=key,
        agent=agent if shown.get("agent") == agent else None,
        namespace=namespace if shown.get("namespace") == namespace else None,
        session_id=session_id if escaped_id == session_id else None,
        escaped_id=None if escaped_id == session_id else escaped_id,
        content=content,
        findings=tuple(findings),
    )


_PATHS = {"namespace": "$.namespace", "session-id": "$.sessionId"}


def _invalid(
    agent: str | None, namespace: str | None, session_id: str | None
) -> Iterator[InvalidReference]:
    """What is wrong with each part that is there, whatever the others are."""
    tries = ((agent, None, "x"), ("x", namespace, "x"), ("x", None, session_id))
    for name, container, own_id in tries:
        if name is None or own_id is None:
            continue
        try:
            SessionKey(name, container, own_id)
        except InvalidReference as error:
            yield error


def _parts(members: Object) -> Iterator[tuple[str, str, str, Any]]:
    """Name, JSON path, rule and value of the three parts of a key."""
    agent = members.get("agent", _ABSENT)
    if isinstance(agent, Object):
        agent = agent.get("name", _ABSENT)
    elif agent is not _ABSENT:
        agent = None  # no object, so there is a name, and it is no string
    yield "agent", "$.agent.name", "ASR-056", agent
    yield "namespace", "$.namespace", "ASR-054", members.get("namespace", _ABSENT)
    yield "sessionId", "$.sessionId", "ASR-051", members.get("sessionId", _ABSENT)


def _repeated(members: Object) -> Iterator[str]:
    for name in ("agent", "namespace", "sessionId"):
        if name in members.repeated:
            yield f"$.{name}"
    agent = members.get("agent")
    if isinstance(agent, Object) and "name" in agent.repeated:
        yield "$.agent.name"


def _finding(
    code: str, message: str, rule: str | None, path: str, file: str | None, line: int
) -> Finding:
    return Finding(
        code=code, severity="error", message=message, rule=rule, path=path, file=file, line=line
    )
