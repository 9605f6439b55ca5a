"""What the records of sessions report of use, one by one, where sessions compete for it.

Most sessions have nothing to do with others, and are added column by column. Reports are made of
those whose turns another session ran, that ran another's, or that an aggregate includes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from sessionref.lineage.calls import amounts, bucket_of, call_key, day_of, model_of, same
from sessionref.usage import GROUPS, Sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.aggregates import Item
    from sessionref.lineage.calls import Bucket, CallIdentity, CallKey, Settled
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.usage import Group

__all__ = ["Fate", "Report", "Reports", "once"]

#: ``covered``: another report counts in its place. ``doubtful``: another may, so it stands in its
#: session's row only.
Fate = Literal["counts", "covered", "doubtful"]


class Report(msgspec.Struct, eq=False):
    """The tokens or the cost of a model call, or of an aggregate.

    `measured` is False for a call that states no tokens. `fate` and `bucket` change while it is
    decided what counts. `positions` are those of a call among the calls of its account. `rest` is
    what of an aggregate counts beside what it includes, None where that is all.
    """

    session: int
    group: Group
    turn: str | None
    bucket: Bucket
    sum: Sum
    model: str | None = None
    day: str | None = None
    measured: bool = True
    key: CallKey | None = None
    account: AccountLineage | None = None
    positions: tuple[int, ...] = ()
    item: Item | None = None
    fate: Fate = "counts"
    rest: Sum | None = None

    @property
    def is_call(self) -> bool:
        """Whether it is a model call, and no aggregate."""
        return self.item is None


class Reports:
    """The reports of sessions that count unless others compete with them; copies are not here."""

    def __init__(
        self,
        sessions: Sequence[SessionLineage],
        identities: Sequence[CallIdentity],
        settled: Mapping[AccountLineage, Settled],
        items: Mapping[AccountLineage, Sequence[Item]],
    ) -> None:
        self._sessions = sessions
        self._identities = identities
        self._settled = settled
        self._items = items
        self._made: dict[int, dict[Group, list[Report]]] = {}
        self._of_call: dict[tuple[AccountLineage, int], list[Report]] = {}

    @property
    def made(self) -> Iterable[int]:
        """The numbers of the sessions that were asked for."""
        return self._made

    def of(self, session: int, group: Group) -> list[Report]:
        """The reports of a session."""
        made = self._made.get(session)
        if made is None:
            made = self._made[session] = {name: [] for name in GROUPS}
            for account in self._sessions[session].accounts:
                for report in self._reports(session, account):
                    made[report.group].append(report)
        return made[group]

    def name(self, session: int) -> str | None:
        """The canonical key of a session."""
        return self._sessions[session].session

    def items(self, session: int) -> list[Item]:
        """What the aggregates of a session say, also those that do not count."""
        return [item for one in self._sessions[session].accounts for item in self._items[one]]

    def of_call(self, account: AccountLineage, position: int) -> list[Report]:
        """The reports of the model call that a record tells of."""
        return self._of_call.get((account, position), [])

    def _reports(self, session: int, account: AccountLineage) -> Iterator[Report]:
        settled = self._settled[account]
        for at in settled.plain:
            bucket = bucket_of(account, at)
            if bucket != "copied":
                yield from self._call(session, account, (at,), bucket)
        for one in settled.disputed:
            if one.bucket != "copied":
                yield from self._call(session, account, one.positions, one.bucket, one.sum)
        for item in self._items[account]:
            if item.counts:
                yield Report(
                    session, item.group, item.turn, item.bucket, item.sum, day=item.day, item=item
                )

    def _call(
        self,
        session: int,
        account: AccountLineage,
        positions: tuple[int, ...],
        bucket: Bucket,
        total: Sum | None = None,
    ) -> Iterator[Report]:
        calls, at = account.gathered.calls, positions[0]
        total = amounts(calls, at) if total is None else total
        agent = self._sessions[session].agent
        found = self._of_call[account, at] = []
        for group in GROUPS:
            measured = at not in calls.unmeasured if group == "tokens" else bool(total.cost)
            if group == "cost" and not measured:
                continue
            report = Report(
                session,
                group,
                account.index.turns[calls.rows[at]],
                bucket,
                total.only(group),
                same(model_of(account, one) for one in positions),
                same(day_of(account, one) for one in positions),
                measured,
                call_key(account, at, agent, self._identities[session]),
                account,
                positions,
            )
            found.append(report)
            yield report


def once(reports: Iterable[Report]) -> Sum:
    """The sum of some reports, each model call by its identity."""
    total = Sum()
    seen: set[CallKey] = set()
    for report in reports:
        if report.key is not None:
            if report.key in seen:
                continue
            seen.add(report.key)
        total.add_sum(report.sum)
    return total
