"""The suites about whole processes: start, and streaming from stdin."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from bench.measure import Row, interleave, once, ratios, spread
from bench.shapes import mixed
from sessionref import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.measure import Settings, Timed

__all__ = ["start", "stdin"]

#: Nothing in the environment changes what Python or the command does at its start.
_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("PYTHON", "COVERAGE", "SESSIONREF"))
}
_REFERENCE = "codex:019a3c2e-7b1f-7d40-9e2a-5c8b1d3f6e70#turnId=019a3c2f"
_COMMAND = Path(sys.executable).with_name("sessionref")

#: Runs a command with what follows its first argument as stdin, and prints its peak memory. The
#: peak of a process begins with that of the one that started it, so a small one has to.
_PEAK = """
import os, sys
os.dup2(os.open(sys.argv[1], os.O_RDONLY), 0)
os.dup2(os.open(os.devnull, os.O_WRONLY), 3)
process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, 3, 1)])
_, status, usage = os.wait4(process, 0)
sys.exit(status) if status else print(usage.ru_maxrss)
"""


def _process(arguments: Sequence[str | Path], folder: Path, source: Path | None = None) -> Timed:
    """A sampler of a process from start to end, in an empty folder, its output thrown away."""

    def sample() -> float:
        with (source or Path(os.devnull)).open("rb") as stdin:
            begin = perf_counter()
            subprocess.run(
                arguments,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd=folder,
                check=True,
            )
            return perf_counter() - begin

    return sample


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def start(settings: Settings) -> Iterator[Row]:
    """Importing the package, and the whole command, against the start of bare Python."""
    python = sys.executable
    bare = "`python -c pass`"
    importing = "import sessionref"
    programs = {
        importing: (importing, 3.0),
        "import sessionref, parse once": (
            f"import sessionref; sessionref.parse({_REFERENCE!r})",
            None,
        ),
        "import sessionref, use StreamIndex": ("import sessionref; sessionref.StreamIndex", None),
    }
    peers = ("urllib.parse", "can_ada", "yarl", "rfc3986", "hyperlink", "packageurl", "lark")
    command = "sessionref canonical REF"
    with _folder() as folder:
        processes = {
            bare: _process([python, "-c", "pass"], folder),
            command: _process([_COMMAND, "canonical", _REFERENCE], folder),
            "sessionref --help": _process([_COMMAND, "--help"], folder),
        }
        for name, (code, _) in programs.items():
            processes[name] = _process([python, "-c", code], folder)
        for peer in peers:
            processes[peer] = _process([python, "-c", f"import {peer}"], folder)
        times = interleave(processes, settings.process_rounds)

    def row(what: str, against: str, aim: float | None = None, note: str = "") -> Row:
        return Row(
            "start",
            f"`{what}`",
            against if against == bare else f"`import {against}`",
            spread(ratios(times[what], times[against])),
            ours=median(times[what]),
            aim=aim,
            named=f"`{what}`, whole process",
            note=note,
        )

    for name, (_, aim) in programs.items():
        yield row(name, bare, aim)
    yield Row(
        "start",
        "`import sessionref`, what it adds",
        "ten milliseconds",
        spread(
            1000 * (with_it - without)
            for with_it, without in zip(times[importing], times[bare], strict=True)
        ),
        aim=10.0,
        unit="ms",
        named="what `import sessionref` adds to the start",
        note="on this machine",
    )
    yield row(command, bare, 6.0)
    yield row("sessionref --help", bare, note="imports click; for orientation")
    for peer in peers:
        yield row("import sessionref, parse once", peer, note="theirs is imported only")


def stdin(settings: Settings) -> Iterator[Row]:
    """`sessionref canonical` from stdin, against `parse` in a loop; and its peak memory."""
    counts = 100_000 // settings.scale, 1_000_000 // settings.scale
    lines = mixed(counts[1])

    def loop() -> None:
        for line in lines:
            parse(line)

    with _folder() as folder:
        files: list[Path] = []
        for count in counts:
            file = folder / f"{count}.txt"
            file.write_text("".join(f"{line}\n" for line in lines[:count]), "utf-8")
            files.append(file)
        command = [_COMMAND, "canonical"]
        times = interleave(
            {"stdin": _process(command, folder, files[1]), "loop": once(loop)},
            max(3, settings.process_rounds // 4),
        )
        peaks = [[_peak(command, file) for file in files] for _ in range(3)]
    lengths = sum(map(len, lines)) // len(lines)
    yield Row(
        "stdin",
        f"`sessionref canonical` from stdin, {counts[1]:,} lines",
        "`parse` in a loop over the same lines in memory",
        spread(ratios(times["stdin"], times["loop"])),
        ours=median(times["stdin"]) / counts[1],
        aim=2.5,
        named="`sessionref canonical` from stdin",
        note=f"a file as stdin, start of the process included; {lengths} characters a line",
    )
    yield Row(
        "stdin",
        f"its peak memory at {counts[1]:,} lines",
        f"that at {counts[0]:,} lines",
        spread(many / few for few, many in peaks),
        aim=1.05,
        named="`sessionref canonical` from stdin, peak memory ten times the lines",
        note=f"{max(many for _, many in peaks) / 1024:.1f} MiB; constant, read as within 5%",
    )


def _peak(command: Sequence[str | Path], source: Path) -> int:
    """The peak resident memory of a process in KiB."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", _PEAK, source, *command],
        capture_output=True,
        env=_ENVIRONMENT,
        check=True,
    )
    return int(done.stdout)
