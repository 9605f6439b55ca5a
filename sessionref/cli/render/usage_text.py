"""Totals as text: what counts once first, a table, and in plain sentences what is certain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sessionref.cli._text import printable, shown
from sessionref.cli.render.lines import middle
from sessionref.cli.render.picture import escaped_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sessionref.api import Scope
    from sessionref.cli.render.lines import Line
    from sessionref.lineage.notes import Note
    from sessionref.lineage.sessions import SessionLineage
    from sessionref.lineage.totals import Grouping, Total, Totals
    from sessionref.usage import Measure

__all__ = ["usage_lines"]

_HEADS = ("counted once", "original", "copied", "unknown")
_STYLES = ("bold", "", "dim", "warn")
_NARROWEST = 24
#: How many notes of one kind are shown.
_NOTES = 3
_NUMBERS = re.compile("[0-9]+")


class _Entry(NamedTuple):
    """A line of the table: its name, how deep it stands, what it counts."""

    name: str
    total: Total
    subtotal: bool = False


def usage_lines(
    scope: Scope, by: Grouping, *, width: int | None = None, details: bool = False
) -> Iterator[Line]:
    """The totals of `scope`, line by line. `details` gives every measure of every row."""
    totals = scope.totals()
    total = totals.total
    yield [("bold", f"{_amount(total.counted_once)}, counted once")]
    if not scope.lineage.sessions:
        return
    yield []
    entries = list(_by_session(scope, totals) if by == "session" else _groups(totals, by))
    if details:
        for entry in entries:
            yield [("bold", _name(entry.name, width))]
            yield from _block(entry.total, indent="  ")
            yield []
    else:
        yield from _table(by, entries, width)
        yield []
    yield [("bold", "total")]
    yield from _block(total, indent="  ")
    yield []
    yield from _notes(totals.notes)
    if by in {"session", "family"} and any(len(call.entries) > 1 for call in totals.shared):
        yield [
            (
                "",
                "A model call in several rows is shown in each and counted once in the total.",
            )
        ]
        yield []
    for sentence in _certainty(total):
        yield [("", sentence)]


# -- Rows ----------------------------------------------------------------------------------------


def _by_session(scope: Scope, totals: Totals) -> Iterator[_Entry]:
    """Sessions, family by family; those of families of several with a subtotal."""
    of_family = {group.name: group.total for group in totals.by("family")}
    family_of = scope.forest().family_of
    rows = zip(scope.lineage.sessions, totals.by("session"), strict=True)
    families: dict[str | None, list[_Entry]] = {}
    for session, group in rows:
        family = None if session.session is None else family_of[session.session].name
        families.setdefault(family, []).append(_Entry(_called(session), group.total))
    for family, entries in families.items():
        yield from entries
        if family is not None and len(entries) > 1:
            # Of a family that reports no use there is no total.
            total = of_family.get(family, entries[0].total)
            yield _Entry(f"family of {len(entries)} sessions", total, subtotal=True)


def _called(session: SessionLineage) -> str:
    if session.session is not None:
        return session.session
    files = ", ".join(printable(file) for file in session.files)
    return f"(no reference) {escaped_id(session) or files or 'stdin'}"


def _groups(totals: Totals, by: Grouping) -> Iterator[_Entry]:
    for group in totals.by(by):
        yield _Entry(f"({by} not known)" if group.name is None else group.name, group.total)


def _name(name: str, width: int | None) -> str:
    return shown(name) if width is None else middle(name, width)


def _table(by: str, entries: Sequence[_Entry], width: int | None) -> Iterator[Line]:
    cells = [[_cell(measure) for measure in _columns(entry.total)] for entry in entries]
    widths = [max([len(head), *(len(row[at]) for row in cells)]) for at, head in enumerate(_HEADS)]
    names = [("  " if entry.subtotal else "") + shown(entry.name) for entry in entries]
    left = max(map(len, [by, *names]))
    if width is not None:
        left = min(left, max(_NARROWEST, width - sum(widths) - 2 * len(widths)))
    head = [by.ljust(left), *(f"  {head:>{w}}" for head, w in zip(_HEADS, widths, strict=True))]
    yield [("dim", "".join(head))]
    for entry, name, row in zip(entries, names, cells, strict=True):
        style = "dim" if entry.subtotal else ""
        line = [(style, middle(name, left).ljust(left))]
        line += [
            (own if cell != "-" else "dim", f"  {cell:>{w}}")
            for own, cell, w in zip(_STYLES, row, widths, strict=True)
        ]
        yield line
    yield [("dim", "tokens (model calls)")]


def _columns(total: Total) -> tuple[Measure, Measure, Measure, Measure]:
    return total.counted_once, total.original, total.copied, total.unknown


def _cell(measure: Measure) -> str:
    return f"{measure.tokens:,} ({measure.calls:,})" if measure else "-"


def _block(total: Total, *, indent: str) -> Iterator[Line]:
    """Every measure of a total, by originality."""
    columns = _columns(total)
    rows = [
        ("calls", [f"{one.calls:,}" for one in columns]),
        ("input", [f"{one.input_tokens:,}" for one in columns]),
        ("cache read", [f"{one.cache_read_tokens:,}" for one in columns]),
        ("cache write", [f"{one.cache_write_tokens:,}" for one in columns]),
        ("output", [f"{one.output_tokens:,}" for one in columns]),
        ("  of it reasoning", [f"{one.reasoning_tokens:,}" for one in columns]),
    ]
    for currency in sorted({cost.currency for one in columns for cost in one.cost}):
        amounts = [{cost.currency: cost.amount for cost in one.cost} for one in columns]
        rows.append((f"cost {shown(currency)}", [one.get(currency, "0") for one in amounts]))
    left = max(len(name) for name, _ in rows)
    widths = [
        max(len(head), *(len(cells[at]) for _, cells in rows)) for at, head in enumerate(_HEADS)
    ]
    heads = (f"  {head:>{w}}" for head, w in zip(_HEADS, widths, strict=True))
    yield [("dim", indent + " " * left + "".join(heads))]
    for name, cells in rows:
        yield [
            ("", indent + name.ljust(left)),
            *(
                (style if cell != "0" else "dim", f"  {cell:>{w}}")
                for style, cell, w in zip(_STYLES, cells, widths, strict=True)
            ),
        ]


# -- Sentences -----------------------------------------------------------------------------------


def _certainty(total: Total) -> Iterator[str]:
    """What is certain, and what is not."""
    whole, original, copied, unknown = _columns(total)
    if whole:
        yield f"Counted once: {_amount(whole)}."
        if not unknown:
            yield "All of it is proven original."
        elif not original:
            yield "None of it is proven original; any of it may be copies."
        else:
            yield (
                f"Of these {_amount(original)} are proven original{_share(original, whole)}; "
                f"{_amount(unknown)} may include copies."
            )
    else:
        yield "The input reports no usage of its own."
    if copied:
        yield f"In addition, {_amount(copied)} are proven copies, which do not count."


def _share(part: Measure, whole: Measure) -> str:
    """A share in percent, never rounded up."""
    if not whole.tokens:
        return ""
    share = 100 * part.tokens // whole.tokens
    return f" ({share}%)" if share or not part.tokens else " (less than 1%)"


def _amount(measure: Measure) -> str:
    calls = "call" if measure.calls == 1 else "calls"
    tokens = "token" if measure.tokens == 1 else "tokens"
    said = f"{measure.tokens:,} {tokens} in {measure.calls:,} model {calls}"
    return ", ".join([said, *(f"{cost.amount} {shown(cost.currency)}" for cost in measure.cost)])


def _notes(notes: Iterable[Note]) -> Iterator[Line]:
    """The notes; of those that say the same of many sessions the first ones."""
    alike: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        alike.setdefault((note.code, _NUMBERS.sub("0", note.message)), []).append(note)
    if not alike:
        return
    yield [("", "What limits these numbers:")]
    for several in alike.values():
        for note in several[:_NOTES]:
            yield [("", f"- {shown(str(note))}")]
        if len(several) > _NOTES:
            yield [("dim", f"  and {len(several) - _NOTES} more of this kind (--json shows all)")]
    yield []
