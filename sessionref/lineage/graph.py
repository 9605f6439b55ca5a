"""Walks over graphs of sessions, iterative and linear however deep or tangled they are."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

__all__ = ["components", "reach", "strong_components"]

N = TypeVar("N", bound="Hashable")


def reach(start: N, onward: Callable[[N], Iterable[N]]) -> Iterator[N]:
    """Every node that can be reached from `start`, nearest first, each once, without `start`."""
    seen = {start}
    queue = deque([start])
    while queue:
        for node in onward(queue.popleft()):
            if node not in seen:
                seen.add(node)
                queue.append(node)
                yield node


def components(nodes: Iterable[N], neighbours: Callable[[N], Iterable[N]]) -> list[list[N]]:
    """The sets of nodes that hang together, in the order of `nodes`."""
    found: list[list[N]] = []
    seen: set[N] = set()
    for node in nodes:
        if node not in seen:
            group = [node, *reach(node, neighbours)]
            seen.update(group)
            found.append(group)
    return found


def strong_components(nodes: Iterable[N], onward: Callable[[N], Iterable[N]]) -> list[list[N]]:
    """The sets of nodes that all reach each other (Tarjan); what a node reaches comes first."""
    number: dict[N, int] = {}
    low: dict[N, int] = {}
    open_nodes: list[N] = []
    is_open: set[N] = set()
    found: list[list[N]] = []
    for start in nodes:
        if start in number:
            continue
        work: list[tuple[N, Iterator[N]]] = []
        enter: N | None = start
        while True:
            if enter is not None:
                number[enter] = low[enter] = len(number)
                open_nodes.append(enter)
                is_open.add(enter)
                work.append((enter, iter(list(onward(enter)))))
                enter = None
            if not work:
                break
            node, following = work[-1]
            for other in following:
                if other not in number:
                    enter = other
                    break
                if other in is_open:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    group: list[N] = []
                    while not group or group[-1] != node:
                        group.append(open_nodes.pop())
                    is_open.difference_update(group)
                    found.append(group)
    return found
