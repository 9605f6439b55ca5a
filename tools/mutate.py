"""Breaks the code in small ways and says which breaks no test notices.

    python tools/mutate.py [--package NAME]... [--module NAME]... [--sample N] [--seed N] [--list]
                           [--longest SECONDS] [--least PERCENT] [-- TEST...]

A mutant is one change inside one function: a comparison turned, a condition negated, a constant
changed, a statement or a returned value taken out. The tests are collected once and run once
unbroken, to learn which of them come to which lines. For each mutant the process forks, the
function's code is replaced, and the tests that come to the changed statement run until the first
fails, those first that killed most in the least time. A mutant that no test notices has survived.
One that makes a test run for ever, or fill the memory, counts as killed.

Texts with a space in them are left alone, since messages are no part of the API; so are tables at
the level of modules, which the vectors cover row by row, functions that only run while modules are
imported, and what asserts: `assert`, and `strict=True` of a `zip`. `--sample` takes that many
mutants by chance, the same for the same `--seed`; `--longest` leaves out tests that need more
processor time, which can only lower the score. The exit code is 1 where less than `--least` percent
are killed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import pkgutil
import random
import resource
import signal
import sys
import time
import types
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).parents[1]
#: The packages whose code is changed, and the tests that run on each; all run for several.
PACKAGES = {
    "sessionref.checks": ("tests/checks", "tests/scope"),
    "sessionref.scope": ("tests/checks", "tests/scope"),
    "sessionref.lineage": ("tests/lineage",),
    "sessionref.streams": ("tests/streams", "tests/checks"),
    "sessionref.native": ("tests/native",),
}

#: Seconds of the processor that a test may take beyond ten times what it takes unbroken; how many
#: times that may pass on the clock.
_PATIENCE = 3.0
_BUSY = 10
#: Bytes that a test may hold.
_MEMORY = 4 << 30
_NOTICED, _IMPOSSIBLE = 1, 2

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


class Mutant(NamedTuple):
    """One change: where it is, what it changes, the lines of its statement, and what makes it."""

    module: str
    function: str
    line: int
    change: str
    lines: range
    tree: ast.Module
    make: Callable[[], None]


def main(arguments: list[str]) -> int:
    """Make the mutants, run the tests on each, print those that survive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--package", action="append", choices=PACKAGES, metavar="NAME")
    parser.add_argument("--module", action="append", default=[], metavar="NAME")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=float("inf"), metavar="SECONDS")
    parser.add_argument("--least", type=float, default=0.0, metavar="PERCENT")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("tests", nargs="*")
    chosen = parser.parse_args(arguments)
    os.chdir(ROOT)
    packages = chosen.package or list(PACKAGES)
    tests = dict.fromkeys(test for package in packages for test in PACKAGES[package])
    found = [
        mutant
        for name in modules(packages)
        if not chosen.module or name in chosen.module
        for mutant in mutants(name)
    ]
    if chosen.sample is not None and chosen.sample < len(found):
        picked = random.Random(chosen.seed).sample(range(len(found)), chosen.sample)  # noqa: S311
        found = [found[number] for number in sorted(picked)]
    if chosen.list:
        for mutant in found:
            print(shown(mutant))
        return 0
    trial = Trial(found, chosen.longest)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "-x"]
    pytest.main([*options, *(chosen.tests or tests)], plugins=[trial])
    return trial.report(chosen.least)


def modules(packages: Iterable[str]) -> Iterator[str]:
    """The modules of packages, whose code is changed."""
    for package in packages:
        folder = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(folder, f"{package}."):
            yield module.name


def shown(mutant: Mutant) -> str:
    """A mutant on one line."""
    return f"{mutant.module.replace('.', '/')}.py:{mutant.line}: {mutant.function}: {mutant.change}"


# -- Making mutants -----------------------------------------------------------------------------


def mutants(name: str) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(_file(name).read_text(encoding="utf-8"))
    for qualified, function in functions(tree):
        for node in inside(function):
            for change, apply in changes(node):
                line = getattr(node, "lineno", function.lineno)
                yield Mutant(
                    name,
                    qualified,
                    line,
                    change,
                    statement(function, line),
                    tree,
                    partial(apply, node),
                )


def _file(name: str) -> Path:
    path = ROOT / name.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def statement(function: ast.FunctionDef, line: int) -> range:
    """The lines of the statement that a line is in, without those of statements inside it."""
    found = range(function.lineno, (function.end_lineno or line) + 1)
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function:
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or line
            lines = range(node.lineno, max(node.lineno, last) + 1)
            if line in lines and len(lines) <= len(found):
                found = lines
    return found


def mutated_code(mutant: Mutant) -> types.CodeType | None:
    """The code of the function with the change; None where that makes no program.

    The tree stays changed: there is one such change in a process.
    """
    mutant.make()
    ast.fix_missing_locations(mutant.tree)
    try:
        code = compile(mutant.tree, str(_file(mutant.module)), "exec")
    except (SyntaxError, ValueError):
        return None
    return code_of(code, mutant.function)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, with their qualified names.

    Without those that are called while the module is imported: they have done their work by then.
    """
    called = called_on_import(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if node.name not in called:
                yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name != "__repr__":
                    yield f"{node.name}.{inner.name}", inner


def called_on_import(tree: ast.Module) -> set[str]:
    """The names of what is called outside of functions, in decorators too."""
    outside: list[ast.AST] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            outside += node.decorator_list
        elif not isinstance(node, ast.ClassDef):
            outside.append(node)
    return {
        call.func.id
        for part in outside
        for call in ast.walk(part)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }


def inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body that can be changed."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # the docstring
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr | ast.Assert):
            continue
        yield node
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.AnnAssign):
            children = [] if node.value is None else [node.value]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "cast":
            children = node.args[1:]  # the first is a type
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            children = []
        waiting.extend(reversed(children))


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """What can be changed at a node: a description, and what does it to the node."""
    text = ast.unparse(node).split("\n", maxsplit=1)[0] if hasattr(node, "lineno") else ""
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            for other in _COMPARISONS.get(type(operator), ()):
                change = f"{text}: {type(operator).__name__} -> {other.__name__}"
                yield change, _setter("ops", other(), number)
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"{text}: and <-> or", _setter("op", other_op)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"{text}: without not", _setter("op", ast.UAdd(), None, bool_of=True)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        other_operation = _OPERATIONS[type(node.op)]
        yield f"{text}: {other_operation.__name__}", _setter("op", other_operation())
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        if not isinstance(node.test, ast.Compare | ast.UnaryOp):
            test = ast.UnaryOp(ast.Not(), copy.deepcopy(node.test))
            yield f"{text}: condition negated", _setter("test", test)
    elif isinstance(node, ast.comprehension):
        for number, test in enumerate(node.ifs):
            negated = ast.UnaryOp(ast.Not(), copy.deepcopy(test))
            yield f"if {ast.unparse(test)}: negated", _setter("ifs", negated, number)
    elif isinstance(node, ast.Constant):
        for value in other_values(node.value):
            yield f"{node.value!r} -> {value!r}", _setter("value", value)
    elif isinstance(node, ast.Return) and not (
        node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    ):
        yield f"{text}: returns None", _setter("value", ast.Constant(None))
    elif isinstance(node, ast.Continue | ast.Break):
        yield f"{text}: the other one", _becomes_other_jump
    elif isinstance(node, ast.Expr | ast.AugAssign) and text != "...":
        yield f"{text}: taken out", _becomes_nothing


def other_values(value: object) -> tuple[object, ...]:
    """What a constant may become."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return (value + 1,)
    if isinstance(value, str) and " " not in value:
        return (value + "_",)
    if isinstance(value, bytes):
        return (value + b"_",)
    return ()


def _setter(
    name: str, value: Any, number: int | None = None, *, bool_of: bool = False
) -> Callable[[Any], None]:
    def apply(node: Any) -> None:
        if bool_of:
            node.op = ast.Not()
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        elif number is None:
            setattr(node, name, value)
        else:
            getattr(node, name)[number] = value

    return apply


def _becomes_other_jump(node: Any) -> None:
    node.__class__ = ast.Break if isinstance(node, ast.Continue) else ast.Continue


def _becomes_nothing(node: Any) -> None:
    yields = isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom)
    if yields:
        # What is left has to be a generator still.
        node.value = ast.YieldFrom(ast.Tuple([], ast.Load()))
    else:
        node.__class__ = ast.Pass
        node._fields = ()


def code_of(module: types.CodeType, qualified: str) -> types.CodeType | None:
    """The code of a function in the code of its module."""
    waiting = [module]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == qualified:
            return code
        waiting += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return None


# -- Trying them --------------------------------------------------------------------------------


def function_of(mutant: Mutant) -> types.FunctionType | None:
    """The function that a mutant changes, found in the module that is imported."""
    here: Any = sys.modules.get(mutant.module)
    for step in mutant.function.split("."):
        here = vars(here).get(step) if here is not None else None
    for name in ("fget", "func", "__func__", "__wrapped__"):
        inner = getattr(here, name, None)
        here = here if inner is None else inner
    return here if isinstance(here, types.FunctionType) else None


def apply(mutant: Mutant) -> bool:
    """Put the code of a mutant in place; False where that cannot be."""
    function, code = function_of(mutant), mutated_code(mutant)
    if function is None or code is None or function.__code__.co_freevars != code.co_freevars:
        return False
    function.__code__ = code
    _forget()
    return True


def _forget() -> None:
    """Empty the caches, which would answer for the code, and what streams leave to the next."""
    kinds: Any = sys.modules.get("sessionref.streams.kinds")
    if kinds is not None:
        vars(kinds)["_handed_on"].clear()
    for name in list(sys.modules):
        if name.startswith(tuple(PACKAGES)):
            for value in list(vars(sys.modules[name]).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


class Trial:
    """A plugin of pytest that runs the collected tests once for each mutant."""

    def __init__(self, found: list[Mutant], longest: float) -> None:
        self._mutants = found
        self._longest = longest
        self._kills: Counter[tuple[str, int]] = Counter()
        self._seconds: list[float] = []
        self._reached: dict[tuple[str, int], list[int]] = {}
        self._imported: set[tuple[str, int]] = set()
        self._watching = Coverage(
            data_file=None,
            config_file=False,
            include=[str(_file(name)) for name in sorted({mutant.module for mutant in found})],
        )
        self.survivors: list[Mutant] = []
        self.killed = 0
        self.slow = 0
        self.ran = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Property tests shall try little and always the same."""
        from hypothesis import settings  # noqa: PLC0415 - only after the conftest

        settings.register_profile(
            "mutation", max_examples=25, derandomize=True, deadline=None, database=None
        )
        settings.load_profile("mutation")
        self._watching.start()

    def pytest_collection_finish(self) -> None:
        """All is imported now that the tests come to."""
        self._watching.stop()
        self._imported = {(module, line) for module, line, _ in self._lines()}

    def _lines(self) -> Iterator[tuple[str, int, list[str]]]:
        """Lines that ran while they were watched, and in which contexts."""
        data = self._watching.get_data()
        for module in {mutant.module for mutant in self._mutants}:
            for line, contexts in data.contexts_by_lineno(str(_file(module))).items():
                yield module, line, contexts

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests on each mutant instead of once."""
        items = session.items
        failed = self._baseline(items)
        if failed is not None:
            print(f"\nwithout any change, {items[failed].nodeid} fails")
            return True
        self.ran = True
        total = sum(self._seconds)
        print(f"\n{len(items)} tests in {total:.1f} s, {len(self._mutants)} mutants")
        for item, took in zip(items, self._seconds, strict=True):
            if took > self._longest:
                print(f"left out, with {took:.1f} s: {item.nodeid}")
        for number, mutant in enumerate(self._mutants, 1):
            order = self._order(mutant)
            only_imported = not order and any(
                (mutant.module, line) in self._imported for line in mutant.lines
            )
            if function_of(mutant) is not None and not only_imported:
                self._try(mutant, items, order)
            if number % 50 == 0:
                print(f"{number}: {len(self.survivors)} survived", flush=True)
        return True

    def _baseline(self, items: list[pytest.Item]) -> int | None:
        """The first test that fails unbroken; learns how long each takes and what it reaches."""
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.close(read)
            _silence()
            told = json.dumps(self._observed(items))
            with os.fdopen(write, "w") as telling:
                telling.write(told)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as telling:
            failed, self._seconds, reached = json.load(telling)
        os.waitpid(child, 0)
        self._reached = {(module, line): tests for module, line, tests in reached}
        return failed

    def _observed(
        self, items: list[pytest.Item]
    ) -> tuple[int | None, list[float], list[tuple[str, int, list[int]]]]:
        """What running the tests unbroken shows: the first that fails, seconds, tests by lines."""
        seconds: list[float] = []
        first = None
        self._watching.erase()
        self._watching.start()
        for number, item in enumerate(items):
            self._watching.switch_context(str(number))
            _forget()
            start = time.process_time()
            if _fails(item) and first is None:
                first = number
            seconds.append(time.process_time() - start)
        self._watching.stop()
        reached = [
            (name, line, [int(number) for number in contexts if number])
            for name, line, contexts in self._lines()
        ]
        return first, seconds, reached

    def _order(self, mutant: Mutant) -> list[int]:
        """The tests that come to a mutant, the most promising for their time first."""
        reached = {
            number
            for line in mutant.lines
            for number in self._reached.get((mutant.module, line), ())
            if self._seconds[number] <= self._longest
        }
        near = f"{mutant.module}.{mutant.function}"
        return sorted(
            reached,
            key=lambda n: (
                -(1 + 9 * self._kills[near, n] + self._kills[mutant.module, n])
                / (self._seconds[n] + 0.01)
            ),
        )

    def _try(self, mutant: Mutant, items: list[pytest.Item], order: list[int]) -> None:
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.close(read)
            os.setpgid(0, 0)
            _silence()
            resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
            if not apply(mutant):
                os._exit(_IMPOSSIBLE)
            for number in order:
                _forget()
                patience = _PATIENCE + 10 * self._seconds[number]
                signal.setitimer(signal.ITIMER_PROF, patience)
                signal.setitimer(signal.ITIMER_REAL, _BUSY * patience)
                if _fails(items[number]):
                    os.write(write, str(number).encode())
                    os._exit(_NOTICED)
            os._exit(0)
        os.close(write)
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what tests have started
        killer = os.read(read, 16)
        os.close(read)
        self.slow += os.WIFSIGNALED(status)
        if killer:
            self._kills[mutant.module, int(killer)] += 1
            self._kills[f"{mutant.module}.{mutant.function}", int(killer)] += 1
        if status == 0:
            self.survivors.append(mutant)
            print(f"{shown(mutant)}{'' if order else ' (reached by no test)'}", flush=True)
        elif os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) != _IMPOSSIBLE:
            self.killed += 1

    def report(self, least: float) -> int:
        """Print the score, and where mutants survived: each was printed when it had."""
        if not self.ran:
            return 1
        tried = self.killed + len(self.survivors)
        score = 100 * self.killed / tried if tried else 100.0
        stopped = f"{self.slow} by time or memory"
        print(f"{tried} mutants, {self.killed} killed ({stopped}), {score:.1f} percent")
        by_module = Counter(mutant.module for mutant in self.survivors)
        for name, count in sorted(by_module.items()):
            print(f"  {name}: {count} survived")
        return int(score < least)


def _fails(item: pytest.Item) -> bool:
    from _pytest.runner import runtestprotocol  # noqa: PLC0415 - what pytest's own loop calls

    reports = runtestprotocol(item, log=False, nextitem=None)
    return any(report.failed for report in reports)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
