"""Sessions to draw: every kind of edge, a conflict, and names that may be markup."""

from __future__ import annotations

from lineage_streams import NF, Stream, copied, named, none

HOSTILE = (
    'a"b',
    "back\\slash\\n",
    "new\nline",
    "bi\u202edi",
    "<script>alert(1)</script>",
    "am&amp;p &lt;",
    "end",
    "|pipe|]}",
    "`md` **b**",
    "#35;",
    "日本語",
    "%%{init: x}%%",
    "-->",
    "\x1b[31m",
    "\uffff\ufffe\u2028",
    '"]:::x',
    "'; DROP",
)


def family() -> list[Stream]:
    """One session of every kind of edge."""
    parent = Stream("p", none(root=True), scope="primary")
    parent.add("tool_call", callId="c1")
    parent.subagent("kid", callId="c1")
    kid = Stream("kid", none(spawnedBy=named("p", record="callId=c1"), role="worker"))
    kid.message()
    fork = Stream("fork", copied("r1", "p", forkedFrom=named("p", ordinal=3)))
    fork.message()
    fork.message()
    later = Stream("later", {"continues": named("p", reason="idle")})
    unclear = Stream("unclear", {"relatedUnknown": named("p")})
    reads = Stream(
        "reads",
        {"inherits": {"mode": "referenced", "from": "codex:p", "throughId": "r1", "evidence": NF}},
    )
    wrapper = Stream("t3-code:w", {"executedBy": [named("p")]})
    return [parent, kid, fork, later, unclear, reads, wrapper]


def hostile() -> list[Stream]:
    parent = Stream("parent")
    streams = [parent]
    for number, name in enumerate(HOSTILE):
        lineage = {
            "spawnedBy": named("parent"),
            "continues": named("parent", reason=f"x.y:{name}"),
            "role": name,
        }
        stream = Stream("x", lineage)
        stream.records[0]["sessionId"] = name
        stream.records[0]["id"] = f"{name}{number}"
        streams.append(stream)
    return streams


def conflict() -> list[Stream]:
    """Two streams that contradict each other, and one that names a session that is not there."""
    one, other = Stream("conflict"), Stream("conflict")
    one.message()
    other.message(role="user")
    gone = Stream("y", {"inherits": {"mode": "copied", "from": "codex:gone", "evidence": NF}})
    return [one, other, gone]
