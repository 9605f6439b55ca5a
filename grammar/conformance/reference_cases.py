"""The cases, by topic. Written by hand from the pages; each invalid one has exactly one fault."""

from __future__ import annotations

from typing import Any

__all__ = ["TOPICS"]

Case = dict[str, Any]


def _valid(
    about: str,
    text: str,
    parts: tuple[str, str | None, str],
    ref: Case | None = None,
    *,
    written: str | None = None,
) -> Case:
    """A reference with its decoded parts, and how it is written anew with minimal encoding."""
    agent, namespace, session_id = parts
    return {
        "about": about,
        "input": text,
        "agent": agent,
        "namespace": namespace,
        "sessionId": session_id,
        "ref": ref,
        "minimal": text if written is None else written,
    }


def _record(record_id: str) -> Case:
    return {"kind": "record", "recordId": record_id}


def _entity(key: str, value: str) -> Case:
    return {"kind": "entity", "key": key, "value": value}


def _turn(value: str) -> Case:
    return {"kind": "turn", "value": value}


def _invalid(
    about: str, text: str, code: str, rule: int, component: str, start: int, end: int
) -> Case:
    return {
        "about": about,
        "input": text,
        "code": code,
        "rule": f"ASR-{rule:03}",
        "component": component,
        "span": [start, end],
    }


def _canonical(about: str, text: str, canonical: str) -> Case:
    return {
        "about": about,
        "input": text,
        "canonical": canonical,
        "isCanonical": text == canonical,
    }


def _pair(about: str, left: str, right: str, *, session: bool, reference: bool) -> Case:
    return {
        "about": about,
        "left": left,
        "right": right,
        "sameSession": session,
        "sameReference": reference,
    }


VALID: list[Case] = [
    _valid("one component is the session ID", "acme:s-1", ("acme", None, "s-1")),
    _valid("two are namespace and session ID", "acme:lab:s-1", ("acme", "lab", "s-1")),
    _valid("the shortest", "0:0", ("0", None, "0")),
    _valid("a name that begins with a digit", "7z:q", ("7z", None, "q")),
    _valid("a hyphenated short name", "a-1-b:q", ("a-1-b", None, "q")),
    _valid("a reverse-DNS name", "org.example.my-bot:q", ("org.example.my-bot", None, "q")),
    _valid(
        "all that must be encoded",
        "acme:%25%3A%23%20%00%1F%7F%C2%80%C2%9F",
        ("acme", None, "%:# \x00\x1f\x7f\x80\x9f"),
    ),
    _valid("lower-case digits", "acme:x%3ay", ("acme", None, "x:y"), written="acme:x%3Ay"),
    _valid("mixed-case digits", "acme:%e2%82%aC", ("acme", None, "€"), written="acme:€"),
    _valid("more encoded than need be", "acme:%41%2d", ("acme", None, "A-"), written="acme:A-"),
    _valid("decoded once, not twice", "acme:%2541", ("acme", None, "%41")),
    _valid("an encoded percent before digits", "acme:a%253Ab", ("acme", None, "a%3Ab")),
    _valid("a namespace that holds a colon", "acme:a%3Ab:c", ("acme", "a:b", "c")),
    _valid("a session ID that holds a colon", "acme:a:b%3Ac", ("acme", "a", "b:c")),
    _valid("two-octet character", "acme:%C3%A9", ("acme", None, "é"), written="acme:é"),
    _valid("four-octet character", "acme:%F0%9F%A7%AD", ("acme", None, "🧭"), written="acme:🧭"),
    _valid("no normalization: decomposed", "acme:e\u0301", ("acme", None, "e\u0301")),
    _valid("no case folding", "acme:SS-ß", ("acme", None, "SS-ß")),
    _valid(
        "no trimming of what looks like space",
        "acme:\u00a0x\u3000",
        ("acme", None, "\u00a0x\u3000"),
    ),
    _valid("the first raw character after C1", "acme:\u00a0", ("acme", None, "\u00a0")),
    _valid("a noncharacter is a character here", "acme:\ufffe", ("acme", None, "\ufffe")),
    _valid("the replacement character", "acme:\ufffd", ("acme", None, "\ufffd")),
    _valid("the last code point", "acme:\U0010ffff", ("acme", None, "\U0010ffff")),
    _valid("around the surrogates", "acme:\ud7ff\ue000", ("acme", None, "\ud7ff\ue000")),
    _valid("line separator is raw", "acme:\u2028", ("acme", None, "\u2028")),
    _valid("path marks are raw", "acme:a/b?c=d&e", ("acme", None, "a/b?c=d&e")),
    _valid("plus is plus", "acme:a+b", ("acme", None, "a+b")),
    _valid("quotes and backslash", 'acme:"\\', ("acme", None, '"\\')),
    _valid("dots are no path", "acme:../..", ("acme", None, "../..")),
    _valid("equals in a session ID", "acme:k=v", ("acme", None, "k=v")),
    _valid("a record ref", "acme:s#r-9", ("acme", None, "s"), _record("r-9")),
    _valid("a record ID with path marks", "acme:s#a/b.c", ("acme", None, "s"), _record("a/b.c")),
    _valid("a record ID beyond ASCII", "acme:s#é", ("acme", None, "s"), _record("é")),
    _valid(
        "a key without '=' is a record ID", "acme:s#callId", ("acme", None, "s"), _record("callId")
    ),
    _valid(
        "a record ID that begins with a key",
        "acme:s#callIdn",
        ("acme", None, "s"),
        _record("callIdn"),
    ),
    _valid("the turn key as record ID", "acme:s#turnId", ("acme", None, "s"), _record("turnId")),
    _valid("a turn ref", "acme:s#turnId=t1", ("acme", None, "s"), _turn("t1")),
    *(
        _valid(
            f"an entity ref by {key}", f"acme:n:s#{key}=v", ("acme", "n", "s"), _entity(key, "v")
        )
        for key in (
            "messageId",
            "callId",
            "inferenceId",
            "terminalId",
            "planId",
            "compactionId",
            "requestId",
        )
    ),
    _valid(
        "split at the first '='", "acme:s#callId=a=b", ("acme", None, "s"), _entity("callId", "a=b")
    ),
    _valid("a value of '=' alone", "acme:s#callId==", ("acme", None, "s"), _entity("callId", "=")),
    _valid(
        "an encoded value",
        "acme:s#callId=edit%3A7",
        ("acme", None, "s"),
        _entity("callId", "edit:7"),
    ),
    _valid(
        "an encoded '=' in a value",
        "acme:s#planId=a%3Db",
        ("acme", None, "s"),
        _entity("planId", "a=b"),
        written="acme:s#planId=a=b",
    ),
    _valid("an encoded '#' in a value", "acme:s#turnId=%23", ("acme", None, "s"), _turn("#")),
]

INVALID: list[Case] = [
    _invalid("nothing", "", "empty", 61, "reference", 0, 0),
    _invalid("a name alone", "acme", "missing-session-id", 61, "session-id", 4, 4),
    _invalid("'#' before any ':'", "acme#r", "missing-session-id", 61, "session-id", 4, 4),
    _invalid("no name", ":s", "bad-agent-name", 56, "agent", 0, 0),
    _invalid("upper case in a name", "aCme:s", "bad-agent-name", 56, "agent", 1, 2),
    _invalid("underscore in a name", "ac_me:s", "bad-agent-name", 56, "agent", 2, 3),
    _invalid("a name that begins with a hyphen", "-a:s", "bad-agent-name", 56, "agent", 0, 1),
    _invalid("a name that ends with a hyphen", "a-:s", "bad-agent-name", 56, "agent", 1, 2),
    _invalid("two hyphens", "a--b:s", "bad-agent-name", 56, "agent", 1, 2),
    _invalid("an empty label", "org..x:s", "bad-agent-name", 56, "agent", 3, 4),
    _invalid("a label that begins with a hyphen", "org.-x:s", "bad-agent-name", 56, "agent", 3, 4),
    _invalid("a name that ends with a dot", "org.x.:s", "bad-agent-name", 56, "agent", 5, 6),
    _invalid("a digit beyond ASCII", "a\u0661:s", "bad-agent-name", 56, "agent", 1, 2),
    _invalid("a letter beyond ASCII", "\u0430cme:s", "bad-agent-name", 56, "agent", 0, 1),
    _invalid("names are not percent-encoded", "a%62:s", "bad-agent-name", 56, "agent", 1, 2),
    _invalid("space before the name", " a:s", "bad-agent-name", 56, "agent", 0, 1),
    _invalid("a byte-order mark", "\ufeffa:s", "bad-agent-name", 56, "agent", 0, 1),
    _invalid("no session ID", "acme:", "empty-component", 61, "session-id", 5, 5),
    _invalid("an empty namespace", "acme::s", "empty-component", 61, "namespace", 5, 5),
    _invalid("a namespace and no session ID", "acme:n:", "empty-component", 61, "session-id", 7, 7),
    _invalid("no session ID before '#'", "acme:#r", "empty-component", 61, "session-id", 5, 5),
    _invalid("three components", "acme:a:b:c", "too-many-components", 61, "reference", 8, 9),
    _invalid("a space", "acme:a b", "forbidden-character", 59, "session-id", 6, 7),
    _invalid("a line feed at the end", "acme:s\n", "forbidden-character", 59, "session-id", 6, 7),
    _invalid("a tab", "acme:\ts", "forbidden-character", 59, "session-id", 5, 6),
    _invalid("a zero octet", "acme:\x00", "forbidden-character", 59, "session-id", 5, 6),
    _invalid("the last of C0", "acme:n\x1f:s", "forbidden-character", 59, "namespace", 6, 7),
    _invalid("delete", "acme:\x7f", "forbidden-character", 59, "session-id", 5, 6),
    _invalid("the first of C1", "acme:\x80", "forbidden-character", 59, "session-id", 5, 6),
    _invalid("the last of C1", "acme:\x9f", "forbidden-character", 59, "session-id", 5, 6),
    _invalid(
        "a control in a value", "acme:s#callId=\x1b", "forbidden-character", 59, "value", 14, 15
    ),
    _invalid("a colon in a value", "acme:s#callId=a:b", "forbidden-character", 59, "value", 15, 16),
    _invalid("a second '#'", "acme:s#turnId=a#b", "forbidden-character", 59, "value", 15, 16),
    _invalid("a colon in a record ID", "acme:s#r:9", "forbidden-character", 59, "record-id", 8, 9),
    _invalid("a space in a record ID", "acme:s#r 9", "forbidden-character", 59, "record-id", 8, 9),
    _invalid(
        "an escape in a record ID", "acme:s#r%3A", "unencodable-record-id", 59, "record-id", 8, 9
    ),
    _invalid("a lone percent", "acme:%", "bad-percent-encoding", 61, "session-id", 5, 6),
    _invalid("one digit", "acme:%4", "bad-percent-encoding", 61, "session-id", 5, 7),
    _invalid("no digits", "acme:%zz", "bad-percent-encoding", 61, "session-id", 5, 8),
    _invalid("a digit and a letter", "acme:%4g", "bad-percent-encoding", 61, "session-id", 5, 8),
    _invalid(
        "full-width digits", "acme:%\uff14\uff11", "bad-percent-encoding", 61, "session-id", 5, 8
    ),
    _invalid(
        "broken in the namespace", "acme:%x1:s", "bad-percent-encoding", 61, "namespace", 5, 8
    ),
    _invalid("broken in a value", "acme:s#callId=%", "bad-percent-encoding", 61, "value", 14, 15),
    _invalid("a lead octet alone", "acme:%C3", "invalid-utf8", 60, "session-id", 5, 8),
    _invalid(
        "a lead octet before a raw character", "acme:%C3é", "invalid-utf8", 60, "session-id", 5, 8
    ),
    _invalid("a tail octet alone", "acme:a%80", "invalid-utf8", 60, "session-id", 6, 9),
    _invalid("an octet that never occurs", "acme:%FF", "invalid-utf8", 60, "session-id", 5, 8),
    _invalid("an overlong form", "acme:%C0", "invalid-utf8", 60, "session-id", 5, 8),
    _invalid(
        "a truncated three-octet form", "acme:%E2%82", "invalid-utf8", 60, "session-id", 5, 11
    ),
    _invalid(
        "a truncated four-octet form", "acme:%F0%9F%A7", "invalid-utf8", 60, "session-id", 5, 14
    ),
    _invalid("beyond the last code point", "acme:%F5", "invalid-utf8", 60, "session-id", 5, 8),
    _invalid("invalid in the namespace", "acme:%FE:s", "invalid-utf8", 60, "namespace", 5, 8),
    _invalid("invalid in a value", "acme:s#planId=%F8", "invalid-utf8", 60, "value", 14, 17),
    _invalid("a high surrogate", "acme:\ud800", "surrogate", 60, "session-id", 5, 6),
    _invalid("a low surrogate", "acme:a\udfffb", "surrogate", 60, "session-id", 6, 7),
    _invalid("a surrogate in a record ID", "acme:s#\udc80", "surrogate", 60, "record-id", 7, 8),
    _invalid("nothing after '#'", "acme:s#", "empty-ref", 61, "ref", 7, 7),
    _invalid("an unknown key", "acme:s#toolId=x", "unknown-entity-key", 61, "key", 7, 13),
    _invalid("a key in other letters", "acme:s#callid=x", "unknown-entity-key", 61, "key", 7, 13),
    _invalid(
        "a key with more at its end", "acme:s#callIds=x", "unknown-entity-key", 61, "key", 7, 14
    ),
    _invalid("no key before '='", "acme:s#=x", "unknown-entity-key", 61, "key", 7, 7),
    _invalid("no value", "acme:s#callId=", "empty-value", 61, "value", 14, 14),
    _invalid("no turn", "acme:s#turnId=", "empty-value", 61, "value", 14, 14),
]

CANONICAL: list[Case] = [
    _canonical("already canonical", "org.example.bot:n:s", "org.example.bot:n:s"),
    _canonical("the ref is left out", "org.example.bot:s#callId=c", "org.example.bot:s"),
    _canonical("needless escapes go", "org.example.bot:%73%2D1", "org.example.bot:s-1"),
    _canonical("digits in upper case", "org.example.bot:a%3ab", "org.example.bot:a%3Ab"),
    _canonical(
        "escapes that must stay", "org.example.bot:a%3Ab%25%23%20", "org.example.bot:a%3Ab%25%23%20"
    ),
    _canonical("controls stay encoded", "org.example.bot:%0a%c2%85", "org.example.bot:%0A%C2%85"),
    _canonical("beyond ASCII is raw", "org.example.bot:%C3%A9%E2%82%AC", "org.example.bot:é€"),
    _canonical("just after C1 is raw", "org.example.bot:%C2%A0", "org.example.bot:\u00a0"),
    _canonical("delete stays, tilde does not", "org.example.bot:%7E%7F", "org.example.bot:~%7F"),
    _canonical("an encoded percent stays one", "org.example.bot:%2525", "org.example.bot:%2525"),
    _canonical("equals is raw", "org.example.bot:a%3Db", "org.example.bot:a=b"),
    _canonical("both components", "org.example.bot:%6e%3a:%53", "org.example.bot:n%3A:S"),
    _canonical("an unregistered short name stays", "no-such-agent-1:s", "no-such-agent-1:s"),
    _canonical("not normalized", "org.example.bot:e%CC%81", "org.example.bot:e\u0301"),
]

EQUALITY: list[Case] = [
    _pair("spelling does not count", "x.y:a%3Ab", "x.y:a%3ab", session=True, reference=True),
    _pair(
        "nor needless escapes", "x.y:%61#callId=%62", "x.y:a#callId=b", session=True, reference=True
    ),
    _pair("another ref", "x.y:a#callId=b", "x.y:a#callId=c", session=True, reference=False),
    _pair("a ref or none", "x.y:a#r", "x.y:a", session=True, reference=False),
    _pair(
        "one value under two keys (ASR-066)",
        "x.y:a#callId=b",
        "x.y:a#planId=b",
        session=True,
        reference=False,
    ),
    _pair("entity and turn", "x.y:a#callId=b", "x.y:a#turnId=b", session=True, reference=False),
    _pair("where the colon was", "x.y:a:b%3Ac", "x.y:a%3Ab:c", session=False, reference=False),
    _pair("namespace or none", "x.y:a:b", "x.y:a%3Ab", session=False, reference=False),
    _pair("another namespace", "x.y:a:s", "x.y:b:s", session=False, reference=False),
    _pair("upper and lower case", "x.y:A", "x.y:a", session=False, reference=False),
    _pair("composed and decomposed", "x.y:\u00e9", "x.y:e\u0301", session=False, reference=False),
    _pair("encoded once and twice", "x.y:%2541", "x.y:%41", session=False, reference=False),
    _pair("another agent", "x.y:a", "x.z:a", session=False, reference=False),
    _pair("a no-break space is no space", "x.y:\u00a0", "x.y:%20", session=False, reference=False),
]

_REGISTRY = [
    {"shortName": "codex", "reverseDnsName": "com.openai.codex"},
    {"shortName": "claude-code", "reverseDnsName": "com.anthropic.claude-code"},
]

REGISTERED: list[Case] = [
    _canonical("the short name stands", "com.openai.codex:s", "codex:s"),
    _canonical("a short name stays", "codex:s", "codex:s"),
    _canonical("with a hyphen", "com.anthropic.claude-code:n:s", "claude-code:n:s"),
    _canonical("name and escapes", "com.openai.codex:%41#r", "codex:A"),
    _canonical("a longer name is another", "com.openai.codex.x:s", "com.openai.codex.x:s"),
    _pair("two names of one agent", "codex:s", "com.openai.codex:s", session=True, reference=True),
    _pair("two agents", "codex:s", "claude-code:s", session=False, reference=False),
]


def _raw(about: str, text: str, ref: Case | str, fragment: str | None = None) -> Case:
    """A raw ref of JSON: what it is and how it stands after '#', or the code of its error."""
    if isinstance(ref, str):
        return {"about": about, "input": text, "code": ref, "rule": "ASR-062"}
    return {"about": about, "input": text, "ref": ref, "fragment": fragment}


RAW_REFS: list[Case] = [
    _raw("a record ID", "r-9", _record("r-9"), "r-9"),
    _raw("an entity", "callId=c1", _entity("callId", "c1"), "callId=c1"),
    _raw("a turn", "turnId=t 1", _turn("t 1"), "turnId=t%201"),
    _raw("nothing is decoded", "callId=a%3Ab", _entity("callId", "a%3Ab"), "callId=a%253Ab"),
    _raw("nothing need be encoded", "callId=a:b#c", _entity("callId", "a:b#c"), "callId=a%3Ab%23c"),
    _raw("split at the first '='", "planId==", _entity("planId", "="), "planId=="),
    _raw("controls", "messageId=\x00\x85", _entity("messageId", "\x00\x85"), "messageId=%00%C2%85"),
    _raw("a key alone is a record ID", "callId", _record("callId"), "callId"),
    _raw("a record ID that no reference can hold: colon", "a:b", _record("a:b")),
    _raw("a record ID that no reference can hold: space", "a b", _record("a b")),
    _raw("a record ID that no reference can hold: percent", "100%", _record("100%")),
    _raw("a record ID that looks encoded", "a%3Ab", _record("a%3Ab")),
    _raw("nothing", "", "empty-ref"),
    _raw("an unknown key", "toolId=x", "unknown-entity-key"),
    _raw("a key in other letters", "CallId=x", "unknown-entity-key"),
    _raw("no key", "=x", "unknown-entity-key"),
    _raw("no value", "requestId=", "empty-value"),
    _raw("no turn", "turnId=", "empty-value"),
]

TOPICS: dict[str, dict[str, Any]] = {
    "core/valid": {
        "operation": "parse",
        "about": "References, their decoded parts, and the minimally encoded form.",
        "cases": VALID,
    },
    "core/invalid": {
        "operation": "parse",
        "about": "Texts that are no reference, each with its one fault.",
        "cases": INVALID,
    },
    "core/canonical": {
        "operation": "canonical",
        "about": "Canonical form and digest, under a registry that holds none of these agents.",
        "cases": CANONICAL,
    },
    "core/equality": {
        "operation": "equal",
        "about": "Which two references name the same session, and the same thing in it.",
        "cases": EQUALITY,
    },
    "core/raw-refs": {
        "operation": "raw-ref",
        "about": "Refs as they stand in JSON. A null fragment: no session reference can hold it.",
        "cases": RAW_REFS,
    },
    "registry/agents": {
        "operation": "registry",
        "about": "What depends on registered names, under a registry that holds these.",
        "registry": _REGISTRY,
        "cases": REGISTERED,
    },
}
