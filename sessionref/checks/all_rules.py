"""Imports every module that registers rules."""

from __future__ import annotations

from sessionref.checks import (
    actors,
    ancestry,
    backing,
    copies,
    counting,
    delegations,
    derived,
    facets,
    identity,
    references,
    refs,
    resolution,
    turns,
)

__all__ = [
    "actors",
    "ancestry",
    "backing",
    "copies",
    "counting",
    "delegations",
    "derived",
    "facets",
    "identity",
    "references",
    "refs",
    "resolution",
    "turns",
]
