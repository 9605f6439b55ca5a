"""What an observer keeps of a stream is the same however the stream comes to it."""

from __future__ import annotations

from lineage_streams import Stream, lineage_of, none, total, usage

import sessionref as sr
from sessionref.lineage.gather import Gathered

COLUMNS = ("rows", "tokens", "requests", "costs", "unmeasured", "derived", "faulty")


def gathered(stream):
    (session,) = lineage_of(stream).sessions
    return session.accounts[0].gathered


def names(found):
    """The models and the days of calls."""
    calls = found.calls
    return (
        [None if at < 0 else found.model_names[at] for at in calls.models],
        [None if at < 0 else found.day_names[at] for at in calls.days],
    )


def test_a_call_from_values_is_as_one_from_a_record():
    """Tokens, model, day, request and whether its ID is derived; what is not known is absent."""
    rows = [
        ((1, 2, 3, 4), "m", "2026-05-01T10:00:00Z", "q", False),
        ((0, 0, 0, 0), "m", "2026-05-01T23:00:00Z", None, True),
        ((None, None, None, 5), "n", "2026-05-01T23:00:00-02:00", "", False),
        ((6, None, 0, None), None, None, "q", True),
        ((None, None, None, None), "n", "2026-05-02T10:00:00Z", None, False),
        ((None, 7, None, None), "m", "yesterday", None, False),
        ((None, None, 8, None), "m", "2026-05-02", None, False),
    ]
    stream, observer = Stream("a", none()), Gathered()
    for row, (tokens, model, ts, request, derived) in enumerate(rows, 1):
        members = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
        said = {name: n for name, n in zip(members, tokens, strict=True) if n is not None}
        stream.call(
            request=request,
            usage=said or None,
            model=model and {"id": model},
            ts=ts,
            idSource="derived" if derived else None,
        )
        observer.add_call(row, tokens, model, ts, request, derived=derived)
    expected = gathered(stream)
    for column in COLUMNS:
        assert getattr(observer.calls, column) == getattr(expected.calls, column), column
    assert names(observer) == names(expected)
    assert names(observer)[1] == ["2026-05-01"] * 2 + ["2026-05-02", None, "2026-05-02", None, None]


def test_a_time_with_an_offset_says_nothing_of_times_in_utc():
    """Both may begin with the same date and be of different days, whichever comes first."""
    stream, observer = Stream("a", none()), Gathered()
    for row, ts in enumerate(("2026-05-01T23:00:00-02:00", "2026-05-01T10:00:00Z"), 1):
        stream.call(ts=ts)
        observer.add_call(row, (1, 1, 1, 1), None, ts, None, derived=False)
    for found in (observer, gathered(stream)):
        assert names(found)[1] == ["2026-05-02", "2026-05-01"]


def test_an_observer_goes_on_with_what_another_has_seen():
    """Nothing of either is lost."""
    header, rest = gathered(Stream("a", none())), Stream("a", none())
    rest.call(5, model={"id": "m"}, ts="2026-05-01T10:00:00Z", native={"repeats": "r9"})
    rest.copy()
    rest.subagent("b")
    rest.add("state", turnId="t", executedBy="codex:b")
    rest.add("usage", covers="session", usage=usage(1))
    seen, both = gathered(rest), gathered(rest)
    assert all((seen.copied, seen.repeats, seen.announced, seen.executed, seen.aggregates))
    both.declared = [*header.declared, *seen.declared]
    header.adopt(seen)
    kept = ("declared", "copied", "repeats", "announced", "executed", "aggregates")
    for name in kept:
        assert getattr(header, name) == getattr(both, name), name
    assert names(header) == (["m"], ["2026-05-01"])
    assert header.calls.tokens == both.calls.tokens


def test_calls_in_a_long_stream_all_count():
    """Also where nothing else stands near them."""
    stream = Stream("a", none())
    for _ in range(1500):
        stream.call(1)
    assert total(lineage_of(stream)) == (1500, 0, 0)


def test_joined_captures_keep_all_that_is_known_of_a_call():
    """Requests, costs, and calls that are derived, without counts or unreadable; -1 leaves one out."""
    stream = Stream("a", none())
    stream.call(request="q", cost=[{"amount": "1.5", "currency": "USD"}], idSource="derived")
    stream.call(usage=None)
    stream.call(usage={"inputTokens": "many"})
    one = gathered(stream)
    same = Gathered.joined([(one, range(4))])
    for column in COLUMNS:
        assert getattr(same.calls, column) == getattr(one.calls, column), column
    assert all(getattr(one.calls, column) for column in COLUMNS)
    assert list(Gathered.joined([(one, [0, -1, 1, -1])]).calls.rows) == [1]


def test_a_currency_without_a_utf8_form_is_named_by_what_is_wrong():
    """Octets that are not UTF-8, and a lone surrogate, are two faults."""
    for text, code in ((b"\xff", "bad-utf8"), (b"\\ud800", "lone-surrogate")):
        stream = Stream("a", none())
        stream.call(cost=[{"amount": "1", "currency": "€URO"}])
        content = stream.text().replace("€URO".encode(), text).replace(b"\\u20acURO", text)
        found = list(sr.Scope.read([[content]]).check())
        assert [(f.code, f.path) for f in found if f.severity == "error"] == [
            (code, "$.cost[0].currency")
        ]
