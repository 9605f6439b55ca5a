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
    from collections.abc import Iterable, Iterator

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.gather import Calls
    from sessionref.registry import Registry

__all__ = [
    "BUCKETS",
    "Bucket",
    "CallIdentity",
    "CallKey",
    "Disputed",
    "Settled",
    "amounts",
    "bucket_of",
    "call_key",
    "day_of",
    "model_of",
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


class Disputed(msgspec.Struct):
    """A call that several records tell of, none of which supersedes the others.

    `positions` are those of the records among the calls of their account. `sum` is what they agree
    on; `exact` says whether that is everything.
    """

    positions: tuple[int, ...]
    bucket: Bucket
    sum: Sum
    exact: bool
    key: CallKey | None


class Settled(msgspec.Struct):
    """The calls of an account, by the positions of their records among its calls.

    `plain` are records that each count as one call. `lost` are records without a request ID whose
    message ID several calls have: they belong to one of these, and nothing says to which.
    """

    plain: array[int]
    disputed: list[Disputed]
    lost: list[int]


def call_key(
    account: AccountLineage, at: int, agent: str | None, identity: CallIdentity
) -> CallKey | None:
    """What identifies the call at position `at` everywhere, None where nothing does.

    Two absent IDs are never equal, and a derived one is no identifier of the provider's.
    """
    calls = account.gathered.calls
    if not identity.everywhere or agent is None or at in calls.derived:
        return None
    call = account.index.values[calls.rows[at]]
    request = calls.requests.get(at) if identity.with_request else None
    if call is None or (identity.with_request and request is None):
        return None
    return agent, call, request


def amounts(calls: Calls, at: int) -> Sum:
    """What the record at position `at` says of one call."""
    total = Sum()
    total.add(calls.tokens[5 * at : 5 * at + 5], calls.costs.get(at), 1)
    return total


def bucket_of(account: AccountLineage, at: int) -> Bucket:
    """Where the record at position `at` counts by its originality."""
    return account.judge(account.gathered.calls.rows[at]).bucket


def model_of(account: AccountLineage, at: int) -> str | None:
    """The model of the call at position `at`."""
    model = account.gathered.calls.models[at]
    return None if model < 0 else account.gathered.model_names[model]


def day_of(account: AccountLineage, at: int) -> str | None:
    """The UTC day of the call at position `at`."""
    day = account.gathered.calls.days[at]
    return None if day < 0 else account.gathered.day_names[day]


def settle(account: AccountLineage, agent: str | None, identity: CallIdentity) -> Settled:
    """The calls of an account: each inference ID is one call, unless the registry asks for more.

    Superseded records do not count, and neither do records that the source wrote again. Where an
    ID is unique only with its request ID, each request ID is a call; a record without one joins
    the only call of its message ID.
    """
    rows = account.gathered.calls.rows
    live = array("q", range(len(rows)))
    if not live:
        return Settled(live, [], [])
    gone = account.superseded
    again = account.originality.repeated
    if gone or again:
        live = array(
            "q", [at for at, row in enumerate(rows) if row not in gone and row not in again]
        )
    values = account.index.values
    ids = [values[rows[at]] for at in live]
    if len(set(ids)) == len(ids):
        return Settled(live, [], [])
    settled = Settled(array("q"), [], [])
    groups: dict[str, list[int]] = {}
    for at, call in zip(live, ids, strict=True):
        if call is None:  # a call of its own
            settled.plain.append(at)
        else:
            groups.setdefault(call, []).append(at)
    for positions in groups.values():
        for one in _by_request(account, identity, positions, settled):
            _settle_one(account, agent, identity, one, settled)
    settled.plain = array("q", sorted(settled.plain))
    return settled


def _by_request(
    account: AccountLineage, identity: CallIdentity, positions: list[int], settled: Settled
) -> Iterator[list[int]]:
    """The records of one message ID, call by call."""
    if len(positions) == 1 or not identity.with_request:
        yield positions
        return
    calls: dict[str, list[int]] = {}
    without: list[int] = []
    for at in positions:
        request = account.gathered.calls.requests.get(at)
        if request is None:
            without.append(at)
        else:
            calls.setdefault(request, []).append(at)
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
    positions: list[int],
    settled: Settled,
) -> None:
    """One call, of which one record counts, or several that may differ."""
    if len(positions) > 1:
        # Copies give way: what they are copies of may be in this very stream.
        own = [at for at in positions if bucket_of(account, at) != "copied"]
        positions = own or positions
    if len(positions) == 1:
        settled.plain.append(positions[0])
        return
    buckets: set[Bucket] = {bucket_of(account, at) for at in positions}
    total, exact = agreed([amounts(account.gathered.calls, at) for at in positions])
    bucket: Bucket = "unknown"
    if buckets == {"copied"}:
        bucket = "copied"
    elif exact and buckets == {"original"}:
        bucket = "original"
    keys = {call_key(account, at, agent, identity) for at in positions} - {None}
    key = keys.pop() if len(keys) == 1 else None
    settled.disputed.append(Disputed(tuple(positions), bucket, total, exact, key))


def position(ascending: array[int], number: int) -> int | None:
    """Where `number` stands in an ascending column, None where it does not."""
    at = bisect_left(ascending, number)
    return at if at < len(ascending) and ascending[at] == number else None


def same(values: Iterable[str | None]) -> str | None:
    """The value that all have, None where they differ."""
    unique = set(values)
    return unique.pop() if len(unique) == 1 else None
