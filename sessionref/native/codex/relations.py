"""How the threads of Codex rollouts are related, and on what evidence.

Every claim rests on a native field or on a rule that the registry entry publishes (ASR-403, 404);
nothing else is claimed (ASR-401). No claim depends on the order of the files. If a file is missing,
less is known, but nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sessionref.native.codex.records import streams
from sessionref.native.codex.rows import AGENT, ignore, named_turn, rows
from sessionref.native.compare import comparable, is_beginning, last_record, none_if_unreadable
from sessionref.native.record import FIELD, INFERENCE, STRUCTURE, Segment
from sessionref.native.rows import NoRow
from sessionref.reference import SessionRef
from sessionref.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionref.native.codex.rows import Counts, Row
    from sessionref.native.codex.survey import Meta, Survey
    from sessionref.native.reader import Lines, LogFile

__all__ = ["relate"]


class _Thread(NamedTuple):
    """One file of a thread. `page` is its rollout's ID, `after` that of the page before it."""

    rollout: LogFile[Survey]
    survey: Survey
    meta: Meta
    page: str
    after: str | None

    @property
    def order(self) -> tuple[int, str]:
        """The fullest file first: one that was cut off says less, never other things."""
        return -self.survey.rows, self.rollout.path or ""


def relate(rollouts: Sequence[LogFile[Survey]]) -> None:
    """Fill in `lineage`, `segment` and `total_before` of every rollout."""
    _Scope(rollouts).fill()


class _Scope:
    """The threads of all rollouts, and the relations between them."""

    def __init__(self, rollouts: Sequence[LogFile[Survey]]) -> None:
        self.threads: dict[str, list[_Thread]] = defaultdict(list)
        #: All files of one rollout: a page, or the whole of a thread that has no pages.
        self.pages: dict[str, list[_Thread]] = defaultdict(list)
        named: dict[str, str] = {}
        for rollout in rollouts:
            meta = rollout.survey.meta
            if meta is not None:
                named[_rollout_of(rollout.path, meta)] = meta.thread_id
        for rollout in rollouts:
            survey, meta = rollout.survey, rollout.survey.meta
            if meta is None:
                continue
            page, after = _rollout_of(rollout.path, meta), None
            if _is_page(meta, named):
                after = meta.base
                if page == meta.thread_id:  # the name says nothing, and the first page has it
                    page = f"{meta.thread_id}/{survey.first_ordinal}"
            thread = _Thread(rollout, survey, meta, page, after)
            self.threads[meta.thread_id].append(thread)
            self.pages[page].append(thread)
        for found in (*self.threads.values(), *self.pages.values()):
            found.sort(key=lambda thread: thread.order)

    def fill(self) -> None:
        for threads in self.pages.values():
            for thread in threads:
                thread.survey.lineage = self._lineage(thread)
                if thread.survey.first_ordinal is not None:
                    start = thread.survey.first_ordinal
                    thread.survey.segment = Segment(thread.page, thread.after, start)
                thread.survey.total_before = self._total_before(thread)
            fullest = threads[0]
            for other in threads[1:]:
                if other.survey.lineage != fullest.survey.lineage and _begins_with(fullest, other):
                    other.survey.lineage = fullest.survey.lineage
        for threads in self.pages.values():
            for thread in threads:
                if thread.after is not None:
                    first = self._first_page(thread)
                    if first is None:
                        thread.survey.lineage.pop("inherits", None)
                    else:
                        thread.survey.lineage = first.survey.lineage

    # -- Facets --------------------------------------------------------------------------------

    def _lineage(self, thread: _Thread) -> dict[str, Any]:
        """The facets of a thread as one file of it shows them."""
        meta = thread.meta
        facets: dict[str, Any] = {}
        if len(meta.parents) == 1:
            (parent,) = meta.parents
            facets["spawnedBy"] = claim = {"session": _reference(parent), "evidence": FIELD}
            call = self._delegating_call(parent, meta.thread_id)
            if call is not None:
                claim["record"] = f"callId={call}"
        if meta.forked_from is not None and meta.forked_from != meta.thread_id:
            fork: dict[str, Any] = {"session": _reference(meta.forked_from), "evidence": FIELD}
            if meta.fork_end:  # exclusive: the last shared ordinal is one less
                fork["ordinal"] = meta.fork_end - 1
            facets["forkedFrom"] = fork
        inherits = self._inherits(thread)
        if inherits is not None:
            facets["inherits"] = inherits
        if meta.role is not None:
            facets["role"] = meta.role
        return facets

    @none_if_unreadable
    def _inherits(self, thread: _Thread) -> dict[str, Any] | None:
        meta = thread.meta
        source = meta.forked_from
        if thread.after is not None:
            return None  # as the first page says
        if meta.base is not None:
            ancestor = self._thread_of(meta.base)
            if ancestor is None and (meta.base == source or meta.base_end == meta.fork_end):
                ancestor = source
            if ancestor is None:
                return None
            inherits: dict[str, Any] = {
                "mode": "referenced",
                "from": _reference(ancestor),
                "evidence": FIELD,
            }
            if meta.base_end:
                inherits["throughOrdinal"] = meta.base_end - 1
            return inherits
        if meta.start_ordinal is not None:
            ancestor = source or next(iter(sorted(meta.parents)), None)
            return None if ancestor is None else _copied(thread, ancestor, FIELD)
        if source is not None:
            return self._copied_head(thread, source)
        is_main = not meta.parents and meta.scope != "subagent"
        if is_main and Registry.default()[AGENT].may_inherit_none and not thread.survey.other_metas:
            # The rule `unforked-single-meta`.
            return {"mode": "none", "evidence": STRUCTURE}
        return None

    def _copied_head(self, thread: _Thread, source: str) -> dict[str, Any] | None:
        """What a fork without `history_base` inherits (rule `legacy-fork-equal-head`).

        A subagent's forked context is a filtered copy, which the rule does not cover.
        """
        meta = thread.meta
        parents = self.threads.get(source, ())
        if meta.parents or meta.scope == "subagent" or not parents or source == meta.thread_id:
            return None
        parent = parents[0]
        if any(other.after is not None or other.page != parent.page for other in parents):
            return None
        if not all(_begins_with(parent, other) for other in parents[1:]):
            return None
        line = _equal_head(thread, parent)
        return None if line is None else _copied(thread, source, INFERENCE, line)

    def _delegating_call(self, parent: str, child: str) -> str | None:
        """The call by which the parent's own rows say that it spawned the child."""
        calls = {
            thread.survey.spawned[child]
            for thread in self.threads.get(parent, ())
            if child in thread.survey.spawned
        }
        return next(iter(calls)) if len(calls) == 1 else None

    # -- Pages ---------------------------------------------------------------------------------

    def _thread_of(self, rollout_id: str) -> str | None:
        """The thread that a rollout belongs to, if a file of it is in scope."""
        threads = {thread.meta.thread_id for thread in self.pages.get(rollout_id, ())}
        return next(iter(threads)) if len(threads) == 1 else None

    def _before(self, thread: _Thread) -> _Thread | None:
        """The file whose history comes before a page's or a fork's own, if it is in scope."""
        found = self.pages.get(thread.meta.base or "", ())
        return found[0] if found and self._thread_of(found[0].page) is not None else None

    def _first_page(self, thread: _Thread) -> _Thread | None:
        """The first page of the thread, if all pages up to this one are in scope."""
        seen: set[str] = set()
        page: _Thread | None = thread
        while page is not None and page.after is not None and page.page not in seen:
            seen.add(page.page)
            page = self._before(page)
        return None if page is None or page.after is not None else page

    @none_if_unreadable
    def _total_before(self, thread: _Thread) -> Counts | None:
        """The thread's total where the history of a page or of a fork by reference ends."""
        seen: set[str] = set()
        while thread.meta.base is not None and thread.page not in seen:
            seen.add(thread.page)
            end = thread.meta.base_end
            before = self._before(thread)
            if before is None or end is None:
                return None
            total = _last_total(before, end)
            if total is not None:
                return total
            thread = before
        return None


def _reference(thread_id: str) -> str:
    return str(SessionRef(AGENT, None, thread_id))


def _rollout_of(path: str | None, meta: Meta) -> str:
    """The ID of the file's rollout; the name of a later page is `rollout-…-<thread>_<rollout>`."""
    name = "" if path is None else Path(path).name
    _, mark, rest = name.partition(f"{meta.thread_id}_")
    rollout = rest.partition(".")[0]
    return rollout if mark and rollout else meta.thread_id


def _is_page(meta: Meta, named: dict[str, str]) -> bool:
    """Whether the file goes on from another one of its own thread.

    A fork names its source, and its base ends where the fork does. What has a base and is no fork
    is a page; so is a fork's file whose base ends elsewhere.
    """
    if meta.base is None:
        return False
    thread = meta.thread_id if meta.base == meta.thread_id else named.get(meta.base)
    if thread is not None:
        return thread == meta.thread_id
    if meta.forked_from is None:
        return True
    return meta.base != meta.forked_from and meta.fork_end not in {None, meta.base_end}


def _copied(
    thread: _Thread, ancestor: str, evidence: str, line: int | None = None
) -> dict[str, Any]:
    """A prefix of physical copies, up to the row in a line; without one it ends nowhere known."""
    inherits = {"mode": "copied", "from": _reference(ancestor), "evidence": evidence}
    last = thread.survey.copied_lines if line is None else line
    if last is not None:
        inherits["localThroughId"] = _last_record(thread, last)
    return inherits


def _last_record(thread: _Thread, line: int) -> str:
    with thread.rollout.open() as lines:
        (stream,) = streams(thread.survey, lines, "", ignore, content=False)
        return last_record(stream, line)


# -- Comparing files ------------------------------------------------------------------------------


@none_if_unreadable
def _begins_with(longer: _Thread, shorter: _Thread) -> bool:
    """Whether one file is the beginning of another one."""
    with longer.rollout.open() as ours, shorter.rollout.open() as theirs:
        return is_beginning(
            (data for _, data in ours(ignore)), (data for _, data in theirs(ignore))
        )


def _items(lines: Lines) -> Iterator[tuple[int, bytes, Row]]:
    """The rows that a comparison looks at."""
    passed_over = Registry.default()[AGENT].left_out("passed_over")
    for line, data in lines(ignore):
        try:
            row = rows.decode(data, ignore)
        except NoRow:
            continue
        if row.type not in passed_over:
            yield line, data, row


def _equal_head(fork: _Thread, parent: _Thread) -> int | None:
    """The line of the last of the fork's leading items that are the parent's, one for one.

    None if there is none, and if a later item carries a turn ID or call ID of the parent: then the
    end of the run is not the end of the copies.
    """
    last: int | None = None
    with fork.rollout.open() as ours, parent.rollout.open() as theirs:
        rest = _items(theirs)
        later = _items(ours)
        known: set[str] = set()
        broken: Row | None = None
        for line, data, row in later:
            other = next(rest, None)
            if other is None or not _same(data, other[1]):
                broken = row
                if other is not None:
                    known.update(_ids(other[2]))
                break
            known.update(_ids(row))
            last = line
        if last is None or broken is None:
            return last
        for _, _, row in rest:
            known.update(_ids(row))
        if not known.isdisjoint(_ids(broken)):
            return None
        return None if any(not known.isdisjoint(_ids(row)) for _, _, row in later) else last


def _same(data: bytes, other: bytes) -> bool:
    """Whether two items are equal.

    A fork writes its parent's items again with times of its own, so the entry of the registry says
    which members of a row are left out (`comparison.copied_prefix`).
    """
    left_out = Registry.default()[AGENT].left_out("copied_prefix")
    return comparable(data, left_out) == comparable(other, left_out)


def _ids(row: Row) -> Iterator[str]:
    """The turn ID and call ID that an item carries, each under its kind."""
    payload = row.payload
    if payload is not None:
        turn, call = named_turn(payload), payload.call_id or payload.call
        if turn:
            yield f"turn {turn}"
        if call:
            yield f"call {call}"


def _last_total(thread: _Thread, end: int) -> Counts | None:
    """The total of the last `token_count` below an ordinal."""
    total: Counts | None = None
    with thread.rollout.open() as lines:
        for _, _, row in _items(lines):
            info = None if row.payload is None else row.payload.info
            if info is not None and info.total_token_usage is not None:
                if row.ordinal is None or row.ordinal >= end:
                    break
                total = info.total_token_usage
    return total
