"""Stores what the commands answer, so that two versions of the program can be compared.

    python tools/freeze.py store FOLDER [--shared FOLDER]   # answers on examples, vectors and logs
    python tools/freeze.py compare BEFORE AFTER             # exits 1 where they differ

Each answer is one file: `check`, `tree --why`, `usage --by …`, `convert`, and what every session,
record, entity and turn resolves to. The inputs are `examples/`, the streams of each conformance
vector and, with `--shared`, each folder of native logs below it.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sessionref as sr
from sessionref.cli import main as command

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT / "sessionref" / "data" / "rules"
#: The folders of native logs, and how deep the cases lie that are read apart from each other.
CORPORA = {"corpus": 2, "corpus-large": 2, "corpus-2026": 1}
BY = ("session", "family", "agent", "day", "model")
#: The most lines of a difference that are shown.
SHOWN = 40


def ask(*arguments: str) -> str:
    """What the command writes to stdout and stderr, and its exit code."""
    written, said = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(file, encoding="utf-8") for file in (written, said))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command(list(arguments))
        out.flush()
        err.flush()
    texts = (file.getvalue().decode(errors="backslashreplace") for file in (written, said))
    return "\n-- stderr\n".join(texts) + f"\n-- exit code {code}\n"


def inputs(shared: Path | None) -> Iterator[tuple[str, Path]]:
    """A name and a folder for each input; relative to the working directory."""
    yield "examples", ROOT / "examples"
    for corpus, depth in CORPORA.items() if shared is not None else ():
        top = shared / corpus
        yield corpus, top
        for folder in sorted(top.glob("/".join("*" * depth))):
            if folder.is_dir():
                yield str(folder.relative_to(shared)), folder


def resolutions(folder: Path, streams: str) -> Iterator[str]:
    """What every ref of the converted `streams` means in `folder`."""
    scope = sr.Scope.read([folder])
    refs: dict[str, sr.SessionRef] = {}
    session = None
    for line in streams.splitlines():
        if not line.startswith("{"):
            continue
        record: dict[str, Any] = json.loads(line)
        if record["type"] == "session":
            session = _session(record)
            if session is not None:
                refs[str(session)] = session
        if session is None:
            continue
        named = [sr.RecordRef(record["id"])] if isinstance(record.get("id"), str) else []
        named += [
            sr.EntityRef(key, record[key])
            for key in sorted(sr.ENTITY_KEYS)
            if isinstance(record.get(key), str)
        ]
        if isinstance(record.get("turnId"), str):
            named.append(sr.TurnRef(record["turnId"]))
        for ref in named:
            with contextlib.suppress(sr.InvalidReference):
                at = session.at(ref)
                refs[str(at)] = at
    for text, ref in sorted(refs.items()):
        outcome = scope.resolve(ref)
        hits = getattr(outcome, "records", None) or getattr(outcome, "candidates", ())
        where = [[os.path.relpath(h.file or "", folder), h.line, h.seq, h.id] for h in hits]
        reason = getattr(outcome, "reason", None)
        yield json.dumps([text, type(outcome).__name__, reason, where], ensure_ascii=False)


def _session(header: dict[str, Any]) -> sr.SessionRef | None:
    try:
        return sr.SessionRef(header["agent"]["name"], header.get("namespace"), header["sessionId"])
    except (sr.InvalidReference, KeyError, TypeError):
        return None


def answers(folder: Path) -> Iterator[tuple[str, str]]:
    """Each answer about the logs in the working directory `folder`."""
    yield "check", ask("check", "--json", ".")
    yield "tree", ask("tree", "--json", "--jobs", "1", ".")
    yield "why", ask("tree", "--why", "--jobs", "1", ".")
    for by in BY:
        yield f"usage-{by}", ask("usage", "--json", "--jobs", "1", "--by", by, ".")
    yield "usage-text", ask("usage", "--details", "--jobs", "1", ".")
    streams = ask("convert", ".")
    yield "convert", streams
    yield "resolve", "\n".join(resolutions(folder, streams)) + "\n"


def of_vectors(into: Path) -> Iterator[tuple[str, Path]]:
    """The streams or logs of each conformance vector, written to files of a folder each."""
    for path in sorted(VECTORS.glob("ASR-*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")).get("cases", ()):
            folder = into / case["id"]
            folder.mkdir(parents=True)
            for number, text in enumerate(case.get("streams", ())):
                (folder / f"{number}.jsonl").write_text(text, encoding="utf-8")
            if "log" in case:
                (folder / "log.jsonl").write_text(case["log"], encoding="utf-8")
            yield f"vectors/{case['id']}", folder


def store(into: Path, shared: Path | None) -> None:
    """Write all answers below `into`."""
    into = into.resolve()
    with tempfile.TemporaryDirectory() as made:
        for name, folder in [*inputs(shared), *of_vectors(Path(made))]:
            os.chdir(folder)
            for answer, text in answers(Path()):
                file = into / name / answer
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")


def compare(before: Path, after: Path) -> int:
    """Print how the answers differ; 1 where they do."""
    names = {
        str(file.relative_to(top))
        for top in (before, after)
        for file in top.rglob("*")
        if file.is_file()
    }
    differing = 0
    for name in sorted(names):
        old, new = (
            file.read_text(encoding="utf-8").splitlines() if (file := top / name).exists() else []
            for top in (before, after)
        )
        if old == new:
            continue
        differing += 1
        print(f"== {name}")
        lines = list(difflib.unified_diff(old, new, "before", "after", n=0, lineterm=""))
        for line in lines[:SHOWN]:
            print(line[:400])
        if len(lines) > SHOWN:
            print(f"({len(lines) - SHOWN} more lines)")
    print(f"{differing} of {len(names)} answers differ")
    return int(differing > 0)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    verbs = parser.add_subparsers(dest="verb", required=True)
    storing = verbs.add_parser("store")
    storing.add_argument("into", type=Path)
    storing.add_argument("--shared", type=Path)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.verb == "store":
        store(given.into, given.shared and given.shared.resolve())
        return 0
    return compare(given.before, given.after)


if __name__ == "__main__":
    sys.exit(main())
