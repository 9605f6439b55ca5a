"""Records of type `usage`: sums over a turn or a session, which count where no calls are recorded.

Tokens and cost are looked at apart: a source can give one of calls and the other of sessions only,
and can include children in one and not in the other (ASR-419).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sessionref.usage import GROUPS, Sum, agreed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.calls import Bucket
    from sessionref.lineage.gather import Aggregate
    from sessionref.usage import Group

__all__ = ["LEFT_OUT", "Item", "items"]

#: Why an aggregate does not count, by code: the rule and a sentence.
LEFT_OUT: dict[str, tuple[str, str]] = {
    "no-coverage": ("ASR-321", "it does not say whether it covers a turn or a session"),
    "calls-recorded": ("ASR-321", "the calls that it sums up are recorded one by one"),
    "turns-reported": ("ASR-321", "the session's turns are reported one by one"),
    "covered": ("ASR-425", "the session that ran the turn reports it itself"),
}


class Item(msgspec.Struct):
    """The tokens or the cost of one aggregate, or of several that cover the same.

    `rows` are those of their records. `left_out` is a code of `LEFT_OUT`, None where the item
    counts. It is `doubtful` where another session may report the same: then it stands under
    unknown, and outside every total that has the other. With `with_children` it includes the work
    of children, or may (`includes_children` is None). `rest` is what of it counts beside what it
    includes, None where that is all.
    """

    group: Group
    covers: Any
    turn: str | None
    rows: list[int]
    sums: list[Sum]
    includes_children: bool | None
    day: str | None
    bucket: Bucket = "unknown"
    sum: Sum = msgspec.field(default_factory=Sum)
    exact: bool = True
    doubtful: bool = False
    rest: Sum | None = None
    left_out: str | None = None

    @property
    def counts(self) -> bool:
        """Whether it counts as anything but a copy, be it under unknown."""
        return self.left_out is None and self.bucket != "copied"

    @property
    def with_children(self) -> bool:
        """Whether children's work is in it, or may be."""
        return self.includes_children is not False


def items(account: AccountLineage) -> list[Item]:
    """What the aggregates of an account say, each with what becomes of it in its session."""
    found: dict[tuple[Group, Any, str | None], Item] = {}
    apart: list[Item] = []
    for aggregate in account.gathered.aggregates:
        if aggregate.row in account.superseded or aggregate.row in account.originality.repeated:
            continue
        for item in _parts(account, aggregate):
            if item.left_out is not None:
                apart.append(item)
                continue
            key = (item.group, item.covers, item.turn)
            first = found.setdefault(key, item)
            if first is not item:
                _merge(first, item)
    for item in found.values():
        item.sum, item.exact = agreed(item.sums)
        # Of what includes children it is not known how much is the session's own work.
        # And a sum over a session with copies may be one over these too.
        if item.bucket == "original" and (
            item.with_children
            or not item.exact
            or (item.covers == "session" and account.records.copied)
        ):
            item.bucket = "unknown"
    for group in GROUPS:
        _weigh(account, [i for i in found.values() if i.group == group], group)
    return [*found.values(), *apart]


def _parts(account: AccountLineage, aggregate: Aggregate) -> Iterator[Item]:
    turn = account.index.turns[aggregate.row] if aggregate.covers == "turn" else None
    unclear = aggregate.covers != "session" and turn is None
    day = None if aggregate.day < 0 else account.gathered.day_names[aggregate.day]
    for group in GROUPS:
        total = Sum()
        if group == "tokens" and aggregate.usage is not None:
            total.add([count or 0 for count in msgspec.structs.astuple(aggregate.usage)])
        elif group == "cost" and aggregate.cost is not None:
            total.add([0] * 5, aggregate.cost)
        else:
            continue
        yield Item(
            group,
            aggregate.covers if isinstance(aggregate.covers, str) else None,
            turn,
            [aggregate.row],
            [total],
            aggregate.includes_children,
            day,
            bucket=account.judge(aggregate.row).bucket,
            sum=total,
            left_out="no-coverage" if unclear else None,
        )


def _merge(first: Item, other: Item) -> None:
    """Let one item stand for two that cover the same, of which none supersedes the other.

    Copies give way. What is no copy is all original, or all unknown, in one account.
    """
    first.rows += other.rows
    if first.bucket == "copied" != other.bucket:
        first.sums, first.bucket = other.sums, other.bucket
        first.day, first.includes_children = other.day, other.includes_children
    elif first.bucket == other.bucket:
        first.sums += other.sums
        first.day = first.day if first.day == other.day else None
        if first.includes_children != other.includes_children:
            first.includes_children = None


def _weigh(account: AccountLineage, several: list[Item], group: Group) -> None:
    """Decide which of the items count: calls before turns, turns before the session.

    Copies compete with nothing.
    """
    own = [item for item in several if item.bucket != "copied"]
    if not own:
        return
    turns = _recorded(account, group)
    by_turn = any(item.covers == "turn" for item in own)
    for item in own:
        recorded = item.turn in turns or None in turns if item.covers == "turn" else bool(turns)
        if recorded:
            item.left_out = "calls-recorded"
        elif item.covers == "session" and by_turn:
            item.left_out = "turns-reported"


def _recorded(account: AccountLineage, group: Group) -> set[str | None]:
    """The turns with calls that have tokens, or a cost, and are no copies; None for no turn."""
    calls, turns = account.gathered.calls, account.index.turns
    return {
        turns[row]
        for at, row in enumerate(calls.rows)
        if (at not in calls.unmeasured if group == "tokens" else at in calls.costs)
        and row not in account.superseded
        and account.judge(row).value != "copy"
    }
