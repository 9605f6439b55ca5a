"""What shape a JSON value has, told so that type checkers understand."""

from __future__ import annotations

from typing import Any, TypeGuard

__all__ = ["is_array", "is_object"]


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether the value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether the value is an array."""
    return isinstance(value, list)
