"""Walks over graphs of sessions, iterative and linear however deep or tangled they are."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

__all__ = ["components", "reach", "route", "routes", "strong_components"]

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


def route(start: N, end: N, onward: Callable[[N], Iterable[N]]) -> list[N] | None:
    """A shortest way from `start` to `end`, both included; None where there is none."""
    before: dict[N, N] = {}
    if start == end:
        return [start]
    seen = {start}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        for node in onward(at):
            if node in seen:
                continue
            seen.add(node)
            before[node] = at
            if node == end:
                way = [node]
                while node != start:
                    node = before[node]
                    way.append(node)
                return way[::-1]
            queue.append(node)
    return None


def routes(
    start: N, end: N, onward: Callable[[N], Iterable[N]], back: Callable[[N], Iterable[N]]
) -> Iterator[list[N]]:
    """Every way from `start` to `end` that passes no node twice, made as it is asked for.

    `back` is the reverse of `onward`: only nodes from which `end` can be reached are entered.
    """
    if start == end:
        yield [start]
        return
    useful = {end, *reach(end, back)}
    if start not in useful:
        return
    way = {start: None}  # ordered
    stack = [iter(list(onward(start)))]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            way.popitem()
        elif node == end:
            yield [*way, end]
        elif node in useful and node not in way:
            way[node] = None
            stack.append(iter(list(onward(node))))


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
