"""The model calls of a session: which records are one call, and which of them counts.

The latest revision of a call counts whole. Where several records could be the one that counts,
none is chosen by its position: what they agree on counts, and the rest is left out and said.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from sessionref.usage import Sum, agreed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sessionref.lineage.gather import Calls
    from sessionref.lineage.sessions import AccountLineage
    from sessionref.lineage.stream import StreamLineage
    from sessionref.registry import Registry

__all__ = [
    "BUCKETS",
    "Bucket",
    "CallIdentity",
    "CallKey",
    "Disputed",
    "Place",
    "Settled",
    "amounts",
    "bucket_of",
    "call_key",
    "position",
    "same",
    "settle",
]

Bucket = Literal["original", "copied", "unknown"]
BUCKETS: tuple[Bucket, ...] = ("original", "copied", "unknown")

#: What identifies a call everywhere: agent, inference ID, request ID.
CallKey = tuple[str, str, str | None]


class CallIdentity(NamedTuple):
    """What the registry says of an agent's call IDs (ASR-073).

    `everywhere`: the provider issues them, and they are globally unique. `with_request`: only
    together with the request ID.
    """

    everywhere: bool = False
    with_request: bool = False

    @classmethod
    def of(cls, agent: str | None, registry: Registry) -> CallIdentity:
        """That of the agent named; of one that is not registered nothing is known."""
        entry = None if agent is None else registry.agent(agent)
        facts = None if entry is None else entry.inference
        if facts is None or facts.globally_unique.value != "yes":
            return cls()
        together = facts.with_request_id
        return cls(True, together is None or together.value != "no")


class Place(NamedTuple):
    """One `inference` record of an account: the segment, and the position among its calls."""

    segment: int
    at: int


class Disputed(msgspec.Struct):
    """A call that several records tell of, none of which supersedes the others.

    `sum` is what they agree on; `exact` says whether that is everything.
    """

    places: tuple[Place, ...]
    bucket: Bucket
    sum: Sum
    exact: bool
    key: CallKey | None


class Settled(msgspec.Struct):
    """The calls of an account.

    `plain` are, by segment, the positions of records that each count as one call. `lost` are
    records without a request ID whose message ID several calls have: they belong to one of these,
    and nothing says to which.
    """

    plain: list[array[int]]
    disputed: list[Disputed]
    lost: list[Place]


def call_key(
    stream: StreamLineage, at: int, agent: str | None, identity: CallIdentity
) -> CallKey | None:
    """What identifies the call at position `at` everywhere, None where nothing does.

    Two absent IDs are never equal, and a derived one is no identifier of the provider's.
    """
    calls = stream.gathered.calls
    if not identity.everywhere or agent is None or at in calls.derived:
        return None
    call = stream.index.values[calls.rows[at]]
    request = calls.requests.get(at) if identity.with_request else None
    if call is None or (identity.with_request and request is None):
        return None
    return agent, call, request


def amounts(calls: Calls, at: int) -> Sum:
    """What the record at position `at` says of one call."""
    total = Sum()
    total.add(calls.tokens[5 * at : 5 * at + 5], calls.costs.get(at), 1)
    return total


def bucket_of(stream: StreamLineage, at: int) -> Bucket:
    """Where the record at position `at` counts by its originality."""
    return stream.judge(stream.gathered.calls.rows[at]).bucket


def settle(account: AccountLineage, agent: str | None, identity: CallIdentity) -> Settled:
    """The calls of an account: each inference ID is one call, unless the registry asks for more.

    Superseded records do not count, and neither do records that the source wrote again. Where an
    ID is unique only with its request ID, each request ID is a call; a record without one joins
    the only call of its message ID.
    """
    live: list[array[int]] = []
    ids: list[list[str | None]] = []
    for stream in account.streams:
        rows = stream.gathered.calls.rows
        positions = array("q", range(len(rows)))
        if len(rows):
            gone = stream.superseded
            again = stream.originality.repeated
            if gone or again:
                positions = array(
                    "q", [at for at, row in enumerate(rows) if row not in gone and row not in again]
                )
        values = stream.index.values
        live.append(positions)
        ids.append([values[rows[at]] for at in positions])
    unique = set[str | None]().union(*ids)
    if len(unique) == sum(map(len, ids)):
        return Settled(live, [], [])
    return _settle_each(account, agent, identity, live, ids)


def _settle_each(
    account: AccountLineage,
    agent: str | None,
    identity: CallIdentity,
    live: Sequence[array[int]],
    ids: Sequence[Sequence[str | None]],
) -> Settled:
    settled = Settled([array("q") for _ in live], [], [])
    groups: dict[str, list[Place]] = {}
    for segment, positions in enumerate(live):
        for at, call in zip(positions, ids[segment], strict=True):
            if call is None:  # a call of its own
                settled.plain[segment].append(at)
            else:
                groups.setdefault(call, []).append(Place(segment, at))
    for places in groups.values():
        for one in _by_request(account, identity, places, settled):
            _settle_one(account, agent, identity, one, settled)
    settled.plain = [array("q", sorted(positions)) for positions in settled.plain]
    return settled


def _by_request(
    account: AccountLineage, identity: CallIdentity, places: list[Place], settled: Settled
) -> Iterator[list[Place]]:
    """The records of one message ID, call by call."""
    if len(places) == 1 or not identity.with_request:
        yield places
        return
    calls: dict[str, list[Place]] = {}
    without: list[Place] = []
    for place in places:
        request = account.streams[place.segment].gathered.calls.requests.get(place.at)
        if request is None:
            without.append(place)
        else:
            calls.setdefault(request, []).append(place)
    if not calls:
        yield without
    elif len(calls) == 1:
        (only,) = calls.values()
        yield sorted(only + without)
    else:
        settled.lost += without
        yield from calls.values()


def _settle_one(
    account: AccountLineage,
    agent: str | None,
    identity: CallIdentity,
    places: list[Place],
    settled: Settled,
) -> None:
    """One call, of which one record counts, or several that may differ."""
    if len(places) > 1:
        # Copies give way: what they are copies of may be in this very stream.
        buckets = [bucket_of(account.streams[segment], at) for segment, at in places]
        own = [place for place, bucket in zip(places, buckets, strict=True) if bucket != "copied"]
        places = own or places
    if len(places) == 1:
        settled.plain[places[0].segment].append(places[0].at)
        return
    streams = account.streams
    buckets = [bucket_of(streams[segment], at) for segment, at in places]
    total, exact = agreed([amounts(streams[s].gathered.calls, at) for s, at in places])
    bucket: Bucket = "unknown"
    if buckets.count("copied") == len(buckets):
        bucket = "copied"
    elif exact and buckets.count("original") == len(buckets):
        bucket = "original"
    keys = {call_key(streams[segment], at, agent, identity) for segment, at in places} - {None}
    key = keys.pop() if len(keys) == 1 else None
    settled.disputed.append(Disputed(tuple(places), bucket, total, exact, key))


def position(ascending: array[int], number: int) -> int | None:
    """Where `number` stands in an ascending column, None where it does not."""
    at = bisect_left(ascending, number)
    return at if at < len(ascending) and ascending[at] == number else None


def same(values: Iterable[str | None]) -> str | None:
    """The value that all have, None where they differ."""
    unique = set(values)
    return unique.pop() if len(unique) == 1 else None
