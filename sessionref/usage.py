"""Tokens, calls and cost: the members of records that hold them, and how they are added.

The pages leave these members to the format of streams, whose page we do not have. This module is
the one table of them: readers of native logs write `Usage`, checks and totals read it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from sessionref.findings import Fault
from sessionref.streams.json import convert

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "GROUPS",
    "SPEND",
    "TOKENS",
    "Amount",
    "Cost",
    "Group",
    "Measure",
    "Sum",
    "Usage",
    "agreed",
    "misfit",
    "read_cost",
    "read_usage",
]

#: What is counted or left out as a whole: a source can know the tokens of something and not its
#: cost, and include others' work in one and not in the other.
Group = Literal["tokens", "cost"]
GROUPS: tuple[Group, ...] = ("tokens", "cost")

#: Sums of money are whole numbers of this part of the currency's unit, so that they are exact.
_DIGITS = 36
_AMOUNT = rf"[0-9]{{1,{_DIGITS}}}(?:\.[0-9]{{1,{_DIGITS}}})?"

#: A count of tokens. Greater ones fit into no column of a table.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Usage(msgspec.Struct, omit_defaults=True, rename="camel", gc=False, frozen=True):
    """The member `usage`: the tokens of a model call or an aggregate.

    `input_tokens` are those neither read from a cache nor written to one, `output_tokens` include
    `reasoning_tokens`. What the source does not say is absent, not zero.
    """

    input_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class Amount(msgspec.Struct, gc=False):
    """One entry of the member `cost`: an exact decimal amount, and the currency it is in."""

    amount: Annotated[str, msgspec.Meta(pattern=rf"\A{_AMOUNT}\Z")]
    currency: Annotated[str, msgspec.Meta(min_length=1)]


#: The types of the members that say what was used, by their names in JSON.
SPEND: dict[str, Any] = {"usage": Usage | None, "cost": list[Amount] | None}

#: The members of `usage`, in the order in which they are kept.
TOKENS: tuple[str, ...] = Usage.__struct_encode_fields__


class Cost(msgspec.Struct, frozen=True, gc=False):
    """An amount of money, as a decimal string, exactly."""

    amount: str
    currency: str


class Measure(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What was used: the tokens, the number of model calls, the cost by currency.

    `input_tokens` are those neither read from a cache nor written to one, `output_tokens` include
    `reasoning_tokens`. Amounts of money are exact.
    """

    # Zeros are written, so none of these has a default.
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    calls: int
    cost: tuple[Cost, ...] = ()

    @property
    def tokens(self) -> int:
        """All tokens together; reasoning tokens are part of the output."""
        return (
            self.input_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
            + self.output_tokens
        )

    def __bool__(self) -> bool:
        """Whether there is anything to count."""
        return bool(self.tokens or self.reasoning_tokens or self.calls or self.cost)


class Sum:
    """A `Measure` that grows: five token counts, the calls, and money by currency."""

    __slots__ = ("calls", "cost", "tokens")

    def __init__(self) -> None:
        self.tokens = [0, 0, 0, 0, 0]
        self.calls = 0
        self.cost: dict[str, int] = {}

    def add(
        self, tokens: Iterable[int], cost: Mapping[str, int] | None = None, calls: int = 0
    ) -> None:
        """Add five token counts, money and calls."""
        self.tokens = [one + other for one, other in zip(self.tokens, tokens, strict=True)]
        self.calls += calls
        if cost:
            for currency, amount in cost.items():
                self.cost[currency] = self.cost.get(currency, 0) + amount

    def add_sum(self, other: Sum) -> None:
        """Add what another has."""
        self.add(other.tokens, other.cost, other.calls)

    def less(self, other: Sum) -> Sum:
        """What is left when `other` is taken away, calls aside; nothing falls below zero."""
        left = Sum()
        left.calls = self.calls
        left.tokens = [max(0, a - b) for a, b in zip(self.tokens, other.tokens, strict=True)]
        left.cost = {
            currency: rest
            for currency, amount in self.cost.items()
            if (rest := max(0, amount - other.cost.get(currency, 0)))
        }
        return left

    def only(self, group: Group) -> Sum:
        """The tokens alone, with no calls, or the cost alone."""
        part = Sum()
        if group == "tokens":
            part.tokens = list(self.tokens)
        else:
            part.cost = dict(self.cost)
        return part

    def measure(self) -> Measure:
        """What has been added so far; currencies in their order as texts."""
        fresh, read, written, output, reasoning = self.tokens
        cost = tuple(Cost(_decimal(self.cost[name]), name) for name in sorted(self.cost))
        return Measure(fresh, read, written, output, reasoning, self.calls, cost)


_usage = msgspec.json.Decoder(Usage).decode
_cost = msgspec.json.Decoder(list[Amount]).decode


def read_usage(raw: bytes | msgspec.Raw) -> Usage | None:
    """The usage that is the JSON `raw`; None for what has a member of the wrong type."""
    try:
        return _usage(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_cost(raw: bytes | msgspec.Raw) -> dict[str, int] | None:
    """The money of a member `cost` by currency, None for what is no array of exact amounts."""
    try:
        entries = _cost(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    cost: dict[str, int] = {}
    for entry in entries:
        whole, _, fraction = entry.amount.partition(".")
        units = int(whole + fraction) * 10 ** (_DIGITS - len(fraction))
        cost[entry.currency] = cost.get(entry.currency, 0) + units
    return cost


_pattern = re.compile(r" matching regex .*?(?= - at |\Z)")
_place = re.compile(r" - at `\$(?P<path>[^`]*)`\Z").search


def misfit(name: str, value: Any, wanted: Any) -> Fault | None:
    """What keeps `value` from being the member `name` of the type `wanted`; None for nothing."""
    try:
        convert(value, wanted)
    except msgspec.ValidationError as error:
        complaint = _pattern.sub(" that holds a decimal number", str(error))
        place = _place(complaint)
        inner = "" if place is None else place["path"]
        said = complaint[: place.start()] if place else complaint
        return Fault("bad-member", f"$.{name}{inner}", said)
    return None


def agreed(sums: Sequence[Sum]) -> tuple[Sum, bool]:
    """What all of `sums` say alike, and whether that is everything; of calls the first's."""
    first = sums[0]
    result = Sum()
    result.calls = first.calls
    exact = True
    for at in range(len(TOKENS)):
        if all(one.tokens[at] == first.tokens[at] for one in sums):
            result.tokens[at] = first.tokens[at]
        else:
            exact = False
    currencies = {name for one in sums for name in one.cost}
    for name in currencies:
        amounts = {one.cost.get(name) for one in sums}
        amount = first.cost.get(name)
        if len(amounts) == 1 and amount is not None:
            result.cost[name] = amount
        else:
            exact = False
    return result, exact


def _decimal(units: int) -> str:
    whole, rest = divmod(units, 10**_DIGITS)
    fraction = f"{rest:0{_DIGITS}}".rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)
