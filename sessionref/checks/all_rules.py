"""Imports every module that registers rules."""

from __future__ import annotations

from sessionref.checks import (
    actors,
    derived,
    identity,
    references,
    refs,
    resolution,
    turns,
)

__all__ = ["actors", "derived", "identity", "references", "refs", "resolution", "turns"]
