"""What holds of every family of sessions, and a slow model that says the same."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_streams import NF, Stream, lineage_of, none, usage

from sessionref.lineage.explain import explain

NAMES = ("claude-code:a", "claude-code:b", "claude-code:c", "goose:d")
MODES = (None, "none", "referenced", "rendered", "copied", "unknown")


@st.composite
def streams(draw, name):
    """A session of some records; IDs come from small pools, so that sessions share them."""
    mode = draw(st.sampled_from(MODES))
    lineage = {}
    if mode is not None:
        lineage["inherits"] = {"mode": mode, "evidence": NF}
        if mode in {"copied", "referenced", "rendered"}:
            lineage["inherits"]["from"] = draw(st.sampled_from(NAMES))
    if draw(st.booleans()):
        lineage["spawnedBy"] = {"session": draw(st.sampled_from(NAMES)), "evidence": NF}
    members = {}
    if draw(st.integers(0, 9)) == 0:
        members["authority"] = "mirror"
    stream = Stream(name, lineage, **members)
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["message", "inference", "inference", "inference", "subagent"]))
        copied_from = None
        if draw(st.integers(0, 4)) == 0:
            copied_from = {"session": draw(st.sampled_from(NAMES)), "proof": NF}
        if kind == "inference":
            call, request = draw(st.sampled_from("mn")), draw(st.sampled_from(["q", "r", None]))
            earlier = [
                one["id"]
                for one in stream.records
                if (one.get("inferenceId"), one.get("requestId")) == (call, request)
                and not any(other.get("supersedes") == one["id"] for other in stream.records)
            ]
            stream.call(
                draw(st.integers(1, 3)),
                inferenceId=call,
                request=request,
                copiedFrom=copied_from,
                supersedes=draw(st.sampled_from([None, *earlier])),
            )
        elif kind == "message":
            stream.message(copiedFrom=copied_from)
        else:
            stream.subagent(draw(st.sampled_from(NAMES)), copiedFrom=copied_from)
    if mode == "copied" and draw(st.booleans()):
        number = draw(st.integers(1, 7))
        lineage["inherits"]["localThroughId"] = f"r{number}"
    return stream


families = st.tuples(*(st.none() | streams(name) for name in NAMES)).map(
    lambda several: [one for one in several if one is not None]
)


# -- A slow model ------------------------------------------------------------------------------------


def slow_originality(stream):
    """The page's four conditions, record by record."""
    header = stream.records[0]
    inherits = header.get("lineage", {}).get("inherits", {})
    mode = inherits.get("mode")
    ends = [one["seq"] for one in stream.records if one["id"] == inherits.get("localThroughId")]
    prefix = ends[0] if mode == "copied" and ends and header.get("authority") != "mirror" else None
    found = []
    for record in stream.records:
        if record["type"] == "session":
            found.append(None)
        elif "copiedFrom" in record or (prefix is not None and record["seq"] <= prefix):
            found.append("copy")
        elif header.get("authority") != "mirror" and (
            mode in {"none", "referenced", "rendered"} or prefix is not None
        ):
            found.append("original")
        else:
            found.append("unknown")
    return found


def slow_calls(stream):
    """The calls of a session: key or None, bucket, amount or None where records differ."""
    everywhere = stream.name.startswith("claude-code:")
    originality = slow_originality(stream)
    superseded = {one.get("supersedes") for one in stream.records}
    live = [
        (one, value)
        for one, value in zip(stream.records, originality, strict=True)
        if one["type"] == "inference" and one["id"] not in superseded
    ]
    for call in sorted({one["inferenceId"] for one, _ in live}):
        records = [(one, value) for one, value in live if one["inferenceId"] == call]
        requests = {one.get("requestId") for one, _ in records} - {None}
        groups = [records]
        if everywhere and len(requests) > 1:
            groups = [
                [(one, value) for one, value in records if one.get("requestId") == request]
                for request in sorted(requests)
            ]
        for group in groups:
            own = [(one, value) for one, value in group if value != "copy"]
            counted = own or group
            values = {value for _, value in counted}
            amounts = {one["usage"]["outputTokens"] for one, _ in counted}
            bucket = "unknown"
            if not own:
                bucket = "copied"
            elif values == {"original"} and len(amounts) == 1:
                bucket = "original"
            keys = {(call, one["requestId"]) for one, _ in counted if "requestId" in one}
            key = keys.pop() if everywhere and len(keys) == 1 else None
            ids = {one["id"] for one, _ in counted}
            yield key, bucket, amounts, slow_earlier(stream, ids)


def slow_earlier(stream, ids):
    """The amounts of the revisions that lead to some records."""
    by_id = {one["id"]: one for one in stream.records}
    found, open_ = set(), list(ids)
    while open_:
        before = by_id[open_.pop()].get("supersedes")
        if before is not None:
            found.add(by_id[before]["usage"]["outputTokens"])
            open_.append(before)
    return found


def agreed(amounts):
    return next(iter(amounts)) if len(amounts) == 1 else 0


def slow_total(several):
    """Tokens and calls by bucket."""
    sums = {"original": [0, 0], "copied": [0, 0], "unknown": [0, 0]}
    shared = {}
    for stream in several:
        for key, bucket, amounts, earlier in slow_calls(stream):
            if key is not None and bucket != "copied":
                shared.setdefault(key, []).append((bucket, agreed(amounts), earlier))
            else:
                sums[bucket][0] += agreed(amounts)
                sums[bucket][1] += 1
    for holders in shared.values():
        own = [one for one in holders if one[0] == "original"] or holders
        if len({one[1] for one in own}) > 1:
            latest = [
                one
                for one in own
                if not any(other is not one and one[1] in other[2] for other in own)
            ]
            own = latest or own
        sums[own[0][0]][0] += agreed({one[1] for one in own})
        sums[own[0][0]][1] += 1
    return {name: tuple(values) for name, values in sums.items()}


def fast_total(lineage):
    total = lineage.totals.total
    return {
        name: (measure.output_tokens, measure.calls)
        for name, measure in (
            ("original", total.original),
            ("copied", total.copied),
            ("unknown", total.unknown),
        )
    }


def originality(lineage):
    return {
        session.session: [
            stream.verdict(row) and stream.verdict(row).value for row in range(len(stream.index))
        ]
        for session in lineage.sessions
        for stream in session.accounts
    }


# -- Properties --------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(families)
def test_originality_is_what_the_page_says(family):
    """Against the conditions, record by record; and the counts agree with the records."""
    lineage = lineage_of(*family)
    found = originality(lineage)
    for stream in family:
        expected = slow_originality(stream)
        assert found[stream.name] == expected
        assert lineage.by_key[stream.name].records == tuple(
            expected.count(value) for value in ("original", "copy", "unknown")
        )


@settings(max_examples=500)
@given(families)
def test_totals_are_what_the_slow_model_says(family):
    """Original, copied and unknown; tokens and calls."""
    assert fast_total(lineage_of(*family)) == slow_total(family)


@settings(max_examples=100)
@given(families)
def test_the_order_of_sessions_does_not_matter(family):
    """The same totals, rows, edges and notes."""
    first = lineage_of(*family)
    for order in itertools.islice(itertools.permutations(family), 1, 4):
        again = lineage_of(*order)
        assert again.totals.total == first.totals.total
        assert again.totals.sessions == first.totals.sessions
        assert again.totals.notes == first.totals.notes
        assert again.forest.edges == first.forest.edges
        assert again.forest.families == first.forest.families


@settings(max_examples=200)
@given(families, st.data())
def test_deleting_a_capture_never_turns_one_known_value_into_the_other(family, data):
    """Copy stays copy and original stays original, whatever else is in scope."""
    if not family:
        return
    gone = data.draw(st.sampled_from(family))
    conflict = data.draw(st.booleans())
    captures = list(family)
    if conflict:
        other = Stream(gone.name, none())
        other.message(role="other")
        captures.append(other)
    before = originality(lineage_of(*captures))
    after = originality(lineage_of(*(one for one in captures if one is not gone)))
    for name, values in after.items():
        if name != gone.name:
            assert before[name] == values


@settings(max_examples=100)
@given(families)
def test_a_capture_more_never_lowers_what_is_certain(family):
    """A total over more sessions has at least the original calls of each."""
    whole = lineage_of(*family).totals.total
    for stream in family:
        alone = lineage_of(stream).totals.total
        assert alone.original.calls <= whole.original.calls
        assert alone.counted_once.calls <= whole.counted_once.calls


@settings(max_examples=200)
@given(families)
def test_no_call_counts_twice(family):
    """Not more calls count than there are provider keys and unkeyed calls; groups add up."""
    lineage = lineage_of(*family)
    total = lineage.totals.total
    keys, others = set(), 0
    for stream in family:
        for key, bucket, _, _ in slow_calls(stream):
            if bucket != "copied":
                if key is None:
                    others += 1
                else:
                    keys.add(key)
    assert total.counted_once.calls == len(keys) + others
    for grouping in ("agent", "day", "model"):
        groups = lineage.totals.by(grouping)
        assert sum(one.total.counted_once.calls for one in groups) == total.counted_once.calls
    names = [session.session for session in lineage.sessions]
    assert lineage.totals.of(names) == total


@settings(max_examples=200)
@given(families)
def test_explanations_agree_with_the_totals(family):
    """Whatever is explained as counted is counted, in a scope of one session."""
    for stream in family:
        lineage = lineage_of(stream)
        (index,) = (one.index for one in lineage.sessions[0].accounts)
        found = [explain(lineage, hit) for hit in index]
        counted = [one for one in found if one.counts == "counted"]
        total = lineage.totals.total
        assert bool(counted) is bool(total.original.calls)
        assert len(counted) >= total.original.calls
        assert any(one.counts == "unknown" for one in found) is bool(total.unknown.calls)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8), st.integers(0, 60))
def test_children_and_aggregates_never_exceed_what_was_reported(links, size):
    """Nothing is added to an aggregate that includes it, in whatever graph of delegations."""
    several = []
    for number in range(6):
        stream = Stream(f"s{number}", none())
        for parent, child in links:
            if parent == number:
                stream.subagent(f"s{child}")
        if number % 2:
            stream.call(10)
        else:
            stream.add("usage", covers="session", includesChildren=True, usage=usage(size))
        several.append(stream)
    total = lineage_of(*several).totals.total
    # Children that used more than an aggregate that includes them are unknown, and count.
    assert total.original.output_tokens <= 30 <= total.counted_once.output_tokens
    assert total.counted_once.output_tokens <= 30 + 3 * size
