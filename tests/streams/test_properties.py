"""Random streams against a slow model of what a ref means, written from the rules alone."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

import sessionref as sr

KEYS = {
    "message": "messageId",
    "tool_call": "callId",
    "permission": "requestId",
    "question": "requestId",
}

IDS = ["a", "b", "c", "d", "e"]

records = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from([*KEYS, "hook"]),
            "seq": st.integers(1, 6),
            "id": st.sampled_from(IDS),
        },
        optional={
            "messageId": st.sampled_from("xy"),
            "callId": st.sampled_from("xy"),
            "requestId": st.sampled_from("xy"),
            "turnId": st.sampled_from("tu"),
            "supersedes": st.sampled_from([*IDS, "z"]),
        },
    ),
    max_size=8,
)
#: Streams in which most links hold: each ID once, in the order of `seq`.
tidy = st.lists(
    st.tuples(st.sampled_from(["hook", "message"]), st.integers(0, 7), st.sampled_from("xy")),
    max_size=8,
).map(
    lambda rows: [
        {"type": kind, "seq": n, "id": f"r{n}", "messageId": value, "supersedes": f"r{back}"}
        for n, (kind, back, value) in enumerate(rows, 1)
    ]
)


def key_of(record):
    """Key and value of the entity that a record describes, or None."""
    name = KEYS.get(record["type"])
    return (name, record[name]) if name in record else None


def valid_links(records):
    """Pairs of rows (newer, older), by trying each broken shape on each link."""
    ids = [record["id"] for record in records]
    links = {}
    for row, record in enumerate(records):
        named = record.get("supersedes")
        if ids.count(named) == 1 and ids.index(named) != row:
            older = records[ids.index(named)]
            if older["type"] == record["type"] and key_of(older) == key_of(record):
                links[row] = ids.index(named)

    def leads_to_itself(row):
        at = links.get(row)
        for _ in records:
            if at == row:
                return True
            at = links.get(at)
        return False

    circular = {row for row in links if leads_to_itself(row)}
    return {
        (row, older)
        for row, older in links.items()
        if row not in circular and records[older]["seq"] < records[row]["seq"]
    }


def chains(records):
    """The maximal sets of rows joined by valid links, by merging until nothing changes."""
    sets = [{row} for row in range(len(records))]
    for newer, older in valid_links(records):
        joined = [one for one in sets if newer in one or older in one]
        sets = [one for one in sets if one not in joined] + [set().union(*joined)]
    return sets


def model(records, ref):
    """The rows that a ref means, and the state."""
    if isinstance(ref, sr.RecordRef):
        rows = [row for row, record in enumerate(records) if record["id"] == ref.record_id]
    elif isinstance(ref, sr.TurnRef):
        rows = [row for row, record in enumerate(records) if record.get("turnId") == ref.turn_id]
        return ("resolved" if rows else "unresolved"), set(rows)
    else:
        superseded = {older for _, older in valid_links(records)}
        rows = [
            row
            for chain in chains(records)
            if key_of(records[min(chain)]) == (ref.key, ref.value)
            for row in chain - superseded
        ]
    return ["unresolved", "resolved", "ambiguous"][min(len(rows), 2)], set(rows)


REFS = [
    *map(sr.RecordRef, [*IDS, "z", "r1", "r2", "r3"]),
    *(sr.EntityRef(key, value) for key in sorted(set(KEYS.values())) for value in "xyz"),
    *map(sr.TurnRef, "tuv"),
]


@given(records | tidy)
def test_a_stream_means_what_the_model_says(stream, given_records):
    """State and records of every ref, and every chain, are the model's."""
    read = sr.StreamIndex.from_chunks([stream(*given_records)])
    hits = list(read)[1:]
    for ref in REFS:
        outcome = read.resolve(ref)
        state, rows = model(given_records, ref)
        assert outcome.state == state
        found = {
            "resolved": getattr(outcome, "records", ()),
            "ambiguous": getattr(outcome, "candidates", ()),
            "unresolved": (),
        }[state]
        assert set(found) == {hits[row] for row in rows}
        assert list(found) == sorted(found, key=lambda hit: (hit.seq, hit.line))
    for chain in chains(given_records):
        for row in chain:
            assert set(read.revisions(hits[row])) == {hits[row] for row in chain}


@given(records, st.integers(1, 40), st.sampled_from(["\n", "\r\n", "\n\n", "\0\n"]))
def test_chunks_and_spacing_do_not_change_what_is_read(stream, given_records, size, ending):
    """The same records come of the same text, whatever its chunks and white space."""
    plain = sr.StreamIndex.from_chunks([stream(*given_records)])
    data = b"".join(
        json.dumps(record, ensure_ascii=False).encode() + ending.encode()
        for record in (json.loads(one) for one in stream(*given_records).splitlines())
    )
    cut = sr.StreamIndex.from_chunks(data[i : i + size] for i in range(0, len(data), size))
    whole = sr.StreamIndex.from_chunks([data])
    assert list(cut) == list(whole)
    assert cut.findings == whole.findings
    assert [(hit.id, hit.seq, hit.type) for hit in cut] == [
        (hit.id, hit.seq, hit.type) for hit in plain
    ]
    for ref in plain.refs():
        assert cut.resolve(ref).state == plain.resolve(ref).state
    for hit in whole:
        assert json.loads(data[hit.offset : hit.offset + hit.length])["id"] == hit.id
