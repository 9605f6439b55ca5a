"""Delegations as the parent announces them: `subagent` records and their revisions.

ASR-411, 412, 424. A child's own claim stands beside the announcement; neither replaces the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sessionref.findings import Finding
from sessionref.lineage.places import Faults
from sessionref.lineage.shapes import is_object
from sessionref.refs import EntityRef

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from sessionref.findings import Place
    from sessionref.lineage.account import AccountLineage
    from sessionref.lineage.originality import Verdict
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.reference import SessionRef

__all__ = ["Delegation", "agreement_findings", "delegations", "subagent_findings"]


class Delegation(msgspec.Struct, frozen=True):
    """The latest revision of one announcement.

    `child` is None where the source keeps no transcript of the child, or what names it cannot be
    read. `status` is as the source says; None is unknown (ASR-424). `originality` tells whether the
    announcement is the session's own: a copied one is no second delegation.
    """

    row: int
    child: SessionRef | None
    call_id: str | None
    status: str | None
    originality: Verdict


def delegations(account: AccountLineage) -> list[Delegation]:
    """The delegations that an account announces, each by its latest revision, in the order of rows.

    Two latest revisions of one announcement are both given, and so are two announcements of one
    child: nothing is chosen.
    """
    superseded = account.superseded if account.gathered.announced else ()
    found: list[Delegation] = []
    for announced in account.gathered.announced:
        if announced.row in superseded:
            continue
        child = None
        if announced.child is not None:
            ignored = Faults(account.place(announced.row))
            child = ignored.read("subagent.childSession", announced.child, "$.childSession")
        verdict = account.judge(announced.row)
        found.append(Delegation(announced.row, child, announced.call_id, announced.status, verdict))
    return found


def subagent_findings(account: AccountLineage) -> Iterator[Finding]:
    """What is wrong with the `subagent` records of an account by themselves (ASR-411, 424)."""
    for announced in account.gathered.announced:
        faults = Faults(account.place(announced.row))
        if announced.child is not None:
            faults.read("subagent.childSession", announced.child, "$.childSession")
        elif not _has_capture_state(announced.capture):
            message = "a subagent record names its child, or capture.childSession says why not"
            faults.note("ASR-411", "missing-child-session", message, "$.childSession")
        yield from faults.found
    yield from _second_announcements(account)


def _second_announcements(account: AccountLineage) -> Iterator[Finding]:
    """Announcements of a delegation that has been announced before, and supersede none (ASR-424).

    One delegation is one child and one call. A child without a transcript is known by its call
    alone; without either nothing says that two announcements are of the same. An announcement that
    names no call is of a child that was announced before, with whatever call. Two latest revisions
    of one announcement are a fork of its chain, which ASR-064 reports.
    """
    first: dict[tuple[Any, str | None], int] = {}
    chains: set[int] = set()
    for delegation in delegations(account):
        child = None if delegation.child is None else delegation.child.key
        if delegation.originality.value == "copy" or (child, delegation.call_id) == (None, None):
            continue
        chain = account.index.chain(delegation.row)[0]
        if chain in chains:
            continue
        chains.add(chain)
        before = first.setdefault((child, delegation.call_id), delegation.row)
        if child is not None:
            # By the child alone, for announcements that name no call.
            earlier = first.setdefault((child, None), delegation.row)
            if delegation.call_id is None:
                before = earlier
        if before != delegation.row:
            message = (
                f"the delegation is announced a second time, after record "
                f"{account.place(before).id!r}; a change of its state is a revision"
            )
            yield Finding.at(
                account.place(delegation.row),
                "ASR-424",
                "second-announcement",
                message,
                "$.supersedes",
            )


def agreement_findings(
    sessions: Mapping[str, SessionLineage], name_of: Callable[[SessionRef], str]
) -> Iterator[Finding]:
    """Where parent and child disagree about a delegation, or the parent is silent (ASR-412).

    `sessions` are those of a scope by canonical key, `name_of` gives the key that a reference means
    there. Warnings are about the child's claim, notices
    about the parent, one for each. One-sided evidence is no contradiction, and neither is an
    announcement that is a copy, or may be one.
    """
    announced: dict[str, list[tuple[SessionLineage, AccountLineage, Delegation]]] = {}
    #: By session, the calls whose child is announced without its name.
    unnamed: dict[str, set[str | None]] = {}
    for announcer in sessions.values():
        for account in announcer.accounts:
            for delegation in delegations(account):
                if delegation.child is None:
                    unnamed.setdefault(str(announcer.session), set()).add(delegation.call_id)
                else:
                    child = name_of(delegation.child)
                    announced.setdefault(child, []).append((announcer, account, delegation))
    silent: dict[str, SessionLineage] = {}
    for name, session in sessions.items():
        for claim in session.claims():
            if claim.facet != "spawnedBy" or claim.value is None or claim.value.session is None:
                continue
            parent = sessions.get(name_of(claim.value.session))
            by = announced.get(name, [])
            own = [delegation for announcer, _, delegation in by if announcer is parent]
            place = claim.place
            if (
                parent is not None
                and not own
                and not _is_lossy(parent)
                and not _announces_call(parent, claim.value.record, unnamed)
            ):
                silent.setdefault(str(parent.session), parent)
            yield from _other_spawners(by, parent, place)
            if parent is not None and own and claim.value.record is not None:
                yield from _other_calls(own, parent, claim.value.record, place)
    for parent in silent.values():
        yield Finding.at(
            parent.accounts[0].place(0),
            "ASR-412",
            "no-announcement",
            "a child in scope names this session as its spawner, and no record announces it",
            "$",
        )


def _other_spawners(
    by: Iterable[tuple[SessionLineage, AccountLineage, Delegation]],
    parent: SessionLineage | None,
    place: Place,
) -> Iterator[Finding]:
    for announcer, account, delegation in by:
        if announcer is not parent and delegation.originality.value == "original":
            message = (
                f"the child names another spawner than {announcer.session}, which announces it in "
                f"record {account.place(delegation.row).id!r}"
            )
            yield Finding.at(
                place,
                "ASR-412",
                "spawners-differ",
                message,
                "$.lineage.spawnedBy.session",
            )


def _other_calls(
    own: Iterable[Delegation], parent: SessionLineage, record: Any, place: Place
) -> Iterator[Finding]:
    """A warning where the child names another call than every announcement of its spawner."""
    calls = {one.call_id for one in own if one.originality.value != "copy"}
    if not calls or None in calls:
        return
    claimed = _call_of(parent, record)
    if claimed is None or claimed in calls:
        return
    named = ", ".join(sorted(repr(call) for call in calls if call is not None))
    message = f"the child names call {claimed!r} as its delegation, its spawner announces {named}"
    yield Finding.at(place, "ASR-412", "calls-differ", message, "$.lineage.spawnedBy.record")


def _announces_call(
    parent: SessionLineage, record: Any, unnamed: Mapping[str, Collection[str | None]]
) -> bool:
    """Whether a spawner announces the call that its child names, without naming the child."""
    calls = unnamed.get(str(parent.session))
    if record is None or not calls:
        return False
    called = _call_of(parent, record)
    return called is not None and called in calls


def _call_of(parent: SessionLineage, record: Any) -> str | None:
    """The call ID of the delegating call that `record` names; None where that is not known."""
    if isinstance(record, EntityRef):
        return record.value if record.key == "callId" else None
    for account in parent.accounts:
        outcome = account.index.resolve(record)
        if outcome.state == "resolved" and outcome.first.type == "tool_call":
            return account.index.values[account.index.row(outcome.first)]
    return None


def _has_capture_state(capture: Any) -> bool:
    return is_object(capture) and capture.get("childSession") is not None


def _is_lossy(session: SessionLineage) -> bool:
    return any(lineage.lineage_is_lossy for lineage in session.lineages)
