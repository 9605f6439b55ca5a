"""What the values of this package have in common: they never change, and they have an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing import Any, TypeGuard

__all__ = ["Value", "plain_text"]


class Value:
    """An immutable value: equality, hash and order all follow from `order()`, so they agree.

    The slots of a value stand in a base class whose instances can still be filled. A value is made
    by filling such an instance and then setting its ``__class__``. That is cheaper than calling
    ``object.__setattr__`` for each slot. A frozen `msgspec.Struct` would be cheaper still, but
    importing msgspec takes longer than all of `import sessionref` does now.
    """

    __slots__ = ()

    def order(self) -> tuple[Any, ...]:
        """What equality, hash and order compare."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.order() == other.order()

    def __hash__(self) -> int:
        return hash(self.order())

    def _has_order_with(self, other: object) -> TypeGuard[Value]:
        """Whether `other` is a value of a kind that this one is sorted with."""
        return type(other) is type(self)

    def __lt__(self, other: object) -> bool:
        if not self._has_order_with(other):
            return NotImplemented
        return self.order() < other.order()

    def __le__(self, other: object) -> bool:
        if not self._has_order_with(other):
            return NotImplemented
        return self.order() <= other.order()

    def __gt__(self, other: object) -> bool:
        if not self._has_order_with(other):
            return NotImplemented
        return self.order() > other.order()

    def __ge__(self, other: object) -> bool:
        if not self._has_order_with(other):
            return NotImplemented
        return self.order() >= other.order()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __copy__(self) -> Value:
        return self

    def __deepcopy__(self, memo: object) -> Value:
        return self


def plain_text(value: object, what: str) -> str:
    """`value` as an exact `str`; a `TypeError` that names `what` for anything else."""
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{what} is a str, not {type(value).__name__}")
