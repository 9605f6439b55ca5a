"""References as they occur, of five shapes, many of each and no two alike.

Many, because a peer that keeps the last hundred results in a cache should not be measured on
looking them up. The same seed gives the same texts.
"""

# ruff: noqa: S311 - nothing here is secret

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COUNT", "SHAPES", "Shape", "mixed", "texts"]

#: How many references of each shape are made: more than the caches of any peer hold.
COUNT = 1000

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _hex(dice: random.Random, digits: int) -> str:
    return f"{dice.getrandbits(4 * digits):0{digits}x}"


def _uuid(dice: random.Random, version: int = 4) -> str:
    return "-".join(
        (
            _hex(dice, 8),
            _hex(dice, 4),
            f"{version}{_hex(dice, 3)}",
            f"{dice.choice('89ab')}{_hex(dice, 3)}",
            _hex(dice, 12),
        )
    )


def _native(dice: random.Random, prefix: str, length: int = 22) -> str:
    return prefix + "".join(dice.choices(_BASE62, k=length))


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of reference, and the equivalents for peers that have another notation.

    `purl` is a package URL of the same parts. `swhid` is a Software Heritage identifier, which has
    no such parts: its payload is a hash, and an origin fills it up to about the same length.
    """

    name: str
    reference: Callable[[random.Random], str]
    purl: Callable[[random.Random], str]
    swhid: Callable[[random.Random], str]


def _swhid(dice: random.Random, origin: str = "") -> str:
    core = f"swh:1:cnt:{_hex(dice, 40)}"
    return f"{core};origin=https://{origin}" if origin else core


def _office(dice: random.Random) -> str:
    return f"büro-プラハ-{_hex(dice, 4)}"


def _counter(dice: random.Random) -> str:
    return f"20260314_{_hex(dice, 3)}"


_ESCAPED = "thread%3Adelegated-task%3Acommand%253Amcp%253A"

SHAPES = (
    Shape(
        "session",
        lambda dice: f"codex:{_uuid(dice, 7)}",
        lambda dice: f"pkg:codex/{_uuid(dice, 7)}",
        _swhid,
    ),
    Shape(
        "entity",
        lambda dice: f"claude-code:{_uuid(dice)}#callId={_native(dice, 'toolu_01')}",
        lambda dice: f"pkg:claude-code/{_uuid(dice)}?callid={_native(dice, 'toolu_01')}",
        lambda dice: _swhid(dice, _hex(dice, 10)),
    ),
    Shape(
        "namespace, record",
        lambda dice: f"cline:laptop-{_hex(dice, 8)}:17{_hex(dice, 11)}#{_uuid(dice)}",
        lambda dice: f"pkg:cline/laptop-{_hex(dice, 8)}/17{_hex(dice, 11)}#{_uuid(dice)}",
        lambda dice: _swhid(dice, _hex(dice, 10)),
    ),
    Shape(
        "escaped",
        lambda dice: f"t3-code:{_uuid(dice)}:{_ESCAPED}{_hex(dice, 8)}",
        lambda dice: f"pkg:t3-code/{_uuid(dice)}/{_ESCAPED}{_hex(dice, 8)}",
        lambda dice: _swhid(dice, f"ex.org/a%3Bb%253Bc{_hex(dice, 8)}"),
    ),
    Shape(
        "not ASCII",
        lambda dice: f"goose:{_office(dice)}:{_counter(dice)}#turnId=façade-{_uuid(dice)}",
        lambda dice: f"pkg:goose/{_office(dice)}/{_counter(dice)}?turnid=façade-{_uuid(dice)}",
        lambda dice: _swhid(dice, f"büro-プラハ.example/{_hex(dice, 8)}"),
    ),
)


def texts(make: Callable[[random.Random], str], count: int = COUNT) -> list[str]:
    """So many texts of one kind."""
    dice = random.Random(7)
    return [make(dice) for _ in range(count)]


def mixed(count: int) -> list[str]:
    """So many references, of all shapes in turn."""
    dice = random.Random(11)
    return [SHAPES[number % len(SHAPES)].reference(dice) for number in range(count)]
