"""Hypothesis strategies shared by the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

import sessionref as sr

#: Every Unicode scalar value, with what must be encoded drawn often.
MUST_ENCODE = [chr(c) for c in (*range(0x21), 0x23, 0x25, 0x3A, *range(0x7F, 0xA0))]
characters = st.one_of(
    st.sampled_from([*MUST_ENCODE, "a", "%", ":", "#", "=", "é", "\u0301", "\ufffe", "\U0010ffff"]),
    st.characters(exclude_categories=("Cs",)),
)
raw_components = st.text(characters, min_size=1, max_size=30)

labels = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True).filter(lambda s: len(s) < 30)
reverse_names = st.lists(labels, min_size=2, max_size=4).map(".".join)
registered_names = st.sampled_from(
    ["codex", "com.openai.codex", "claude-code", "com.anthropic.claude-code", "t3-code", "goose"]
)
agent_names = st.one_of(registered_names, labels, reverse_names)

record_ids = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="%:#= "),
    min_size=1,
    max_size=20,
)
refs = st.one_of(
    record_ids.map(sr.RecordRef),
    st.builds(sr.EntityRef, st.sampled_from(sr.ENTITY_KEYS), raw_components),
    raw_components.map(sr.TurnRef),
)
session_refs = st.builds(
    sr.SessionRef,
    agent_names,
    st.none() | raw_components,
    raw_components,
    st.none() | refs,
)
session_keys = st.builds(sr.SessionKey, agent_names, st.none() | raw_components, raw_components)

#: Texts near the edge of the language: pieces of references strung together.
near_references = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "codex",
                "com.openai.codex",
                ":",
                "#",
                "=",
                "%",
                "%41",
                "%3a",
                "%C3%A9",
                "%C3",
                "%ED%A0%80",
                "%F5",
                "%4",
                "callId",
                "callId=",
                "turnId=",
                "x",
                "-",
                ".",
                " ",
                "\n",
                "\x85",
                "\xa0",
                "\ud800",
                "é",
                "٣",
                "K",
            ]
        ),
        st.characters(),
    ),
    max_size=12,
).map("".join)


@st.composite
def spellings(draw: st.DrawFn, ref: sr.SessionRef) -> str:
    """Another text of the same reference: other agent name, other hex case, more encoded."""

    def encoded(raw: str) -> str:
        out: list[str] = []
        for character in raw:
            if character in MUST_ENCODE or draw(st.booleans()):
                octets = "".join(f"%{octet:02X}" for octet in character.encode())
                out.append(octets.lower() if draw(st.booleans()) else octets)
            else:
                out.append(character)
        return "".join(out)

    aliases = {
        "codex": "com.openai.codex",
        "com.openai.codex": "codex",
        "claude-code": "com.anthropic.claude-code",
        "com.anthropic.claude-code": "claude-code",
    }
    agent = draw(st.sampled_from([ref.agent, aliases.get(ref.agent, ref.agent)]))
    text = agent + ":"
    if ref.namespace is not None:
        text += encoded(ref.namespace) + ":"
    text += encoded(ref.session_id)
    match ref.ref:
        case None:
            return text
        case sr.RecordRef(record_id):
            return f"{text}#{record_id}"
        case sr.EntityRef(key, value):
            return f"{text}#{key}={encoded(value)}"
        case sr.TurnRef(turn_id):
            return f"{text}#turnId={encoded(turn_id)}"
