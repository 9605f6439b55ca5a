"""``python -m bench``: measure, print, and with ``--write`` replace results.md."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bench import lineage, processes, references, scopes, streams
from bench.measure import Settings
from bench.report import line, machine, markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.measure import Row

#: What can be measured, by name.
SUITES: dict[str, Callable[[Settings], Iterator[Row]]] = {
    "parse": references.parse,
    "canonical": references.canonical,
    "bulk": references.bulk,
    "values": references.values,
    "start": processes.start,
    "stdin": processes.stdin,
    "index": streams.index,
    "resolve": streams.resolve,
    "scope": scopes.scope,
    "check": scopes.check,
    "usage": lineage.usage,
    "lineage": lineage.lineage,
}

_FULL = Settings(rounds=25, process_rounds=31, sample=0.02, scale=1)
_QUICK = Settings(rounds=5, process_rounds=5, sample=0.002, scale=10)


def main() -> None:
    """Run the suites that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=SUITES, action="append", help="run only this suite")
    parser.add_argument("--quick", action="store_true", help="little data, few rounds: to try out")
    parser.add_argument("--write", action="store_true", help="write bench/results.md")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("results.md holds one run of everything: --write takes no --only")
    settings = _QUICK if options.quick else _FULL
    load = os.getloadavg()[0]
    print(machine())
    rows: list[Row] = []
    for name in options.only or SUITES:
        for row in SUITES[name](settings):
            print(line(row), flush=True)
            rows.append(row)
    if options.write:
        text = markdown(rows, settings, quick=options.quick, load=load)
        Path(__file__).with_name("results.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
