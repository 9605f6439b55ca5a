"""Whether one record counts, and by which rule; and how to label a record that may be a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from sessionref.lineage.aggregates import LEFT_OUT
from sessionref.lineage.calls import position

if TYPE_CHECKING:
    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.lineage import Lineage
    from sessionref.lineage.originality import Verdict
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.streams.outcomes import Hit

__all__ = ["LABELS", "Explanation", "explain", "label"]

Counts = Literal["counted", "not counted", "unknown"]

#: What displays put beside a record by its originality (ASR-417): nothing where it is original.
LABELS: dict[str, str] = {"copy": "copy", "unknown": "may be a copy"}


_DOUBTFUL = (
    "the sessions that ran the turns report calls, and nothing says of which turns; it stands "
    "under unknown in the session's row"
)


class Explanation(msgspec.Struct, frozen=True):
    """What becomes of one record in the totals of the scope.

    ``unknown`` is counted too, apart from what is proven original. `rule` and `reason` (a stable
    slug) say what decided; `originality` is the record's, None for header and declarations.
    """

    counts: Counts
    rule: str
    reason: str
    message: str
    originality: Verdict | None = None


def label(verdict: Verdict | None) -> str | None:
    """The label of a record with this originality in a search result or a display (ASR-417)."""
    return None if verdict is None else LABELS.get(verdict.value)


def explain(lineage: Lineage, hit: Hit) -> Explanation:
    """Whether the record `hit` counts in the totals of its scope, and why.

    Raises LookupError where the hit is not of the scope.
    """
    session, account, row = lineage.find(hit)
    verdict = account.verdict(row)
    if verdict is None:
        return Explanation(
            "not counted", "ASR-415", "declaration", "header and declarations are no work", None
        )
    if hit.type == "inference":
        found = _call(lineage, session, account, row, verdict)
    elif hit.type == "usage":
        found = _aggregate(lineage, account, row, verdict)
    else:
        found = Explanation("not counted", "ASR-417", "no-usage", "the record reports no use")
    return msgspec.structs.replace(found, originality=verdict)


def _call(
    lineage: Lineage,
    session: SessionLineage,
    account: AccountLineage,
    row: int,
    verdict: Verdict,
) -> Explanation:
    totals = lineage.totals
    if row in account.superseded:
        return Explanation(
            "not counted", "ASR-064", "superseded", "a later revision of the call counts whole"
        )
    if row in account.originality.repeated:
        return Explanation(
            "not counted", "ASR-417", "written-again", "the source wrote the same record again"
        )
    if verdict.value == "copy":
        return Explanation("not counted", "ASR-417", verdict.reason, verdict.message)
    settled = totals.settled(account)
    at = position(account.gathered.calls.rows, row) or 0
    fates = totals.fates(account, at)
    if fates == {"covered"}:
        return Explanation("not counted", "ASR-425", "covered", LEFT_OUT["covered"][1])
    if "doubtful" in fates:
        return Explanation("not counted", "ASR-425", "wrapper-or-backing", _DOUBTFUL)
    found = totals.shared_call(session, account, at)
    if found is not None and len(found[0].entries) > 1:
        shared, mine = found
        once = totals.once(shared)
        if once.bucket == "original" != mine.bucket:
            return Explanation(
                "not counted",
                "ASR-416",
                "original-elsewhere",
                "the call is original in another session, and counts there",
            )
        if once.bucket == "unknown":
            return Explanation(
                "unknown",
                "ASR-416",
                "shared",
                "several sessions hold the call; it counts once, and whose it is is unknown",
            )
    if at in settled.lost:
        return Explanation(
            "not counted",
            "ASR-064",
            "call-of-several",
            "the record belongs to one of several calls, and nothing says to which",
        )
    for disputed in settled.disputed:
        if at in disputed.positions and disputed.bucket == "unknown":
            return Explanation(
                "unknown",
                "ASR-064",
                "disputed",
                "several records tell of the call, and none supersedes the others",
            )
    if verdict.value == "unknown":
        return Explanation("unknown", verdict.rule, verdict.reason, verdict.message)
    return Explanation("counted", verdict.rule, verdict.reason, verdict.message)


def _aggregate(
    lineage: Lineage, account: AccountLineage, row: int, verdict: Verdict
) -> Explanation:
    if row in account.superseded:
        return Explanation(
            "not counted", "ASR-064", "superseded", "a later revision of the aggregate counts"
        )
    if verdict.value == "copy":
        return Explanation("not counted", "ASR-417", verdict.reason, verdict.message)
    items = [item for item in lineage.totals.items(account) if row in item.rows]
    counting = [item for item in items if item.left_out is None]
    left_out = [item.left_out for item in items if item.left_out is not None]
    if not items:
        return Explanation("not counted", "ASR-417", "no-usage", "the record reports no use")
    if not counting:
        rule, message = LEFT_OUT[left_out[0]]
        return Explanation("not counted", rule, left_out[0], message)
    if any(item.doubtful for item in counting):
        return Explanation("not counted", "ASR-425", "wrapper-or-backing", _DOUBTFUL)
    if any(item.with_children for item in counting):
        return Explanation(
            "unknown",
            "ASR-419",
            "includes-children",
            "the aggregate may include children's work; what is not counted there counts",
        )
    if any(item.bucket == "unknown" for item in counting):
        return Explanation("unknown", verdict.rule, verdict.reason, verdict.message)
    return Explanation("counted", verdict.rule, verdict.reason, verdict.message)
