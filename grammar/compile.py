"""Compile the Lark grammar into the regexes of `sessionref/_compiled.py`.

    python grammar/compile.py           write the file
    python grammar/compile.py --check   exit with 1 when the file is not what would be written

The package uses the result with `re.fullmatch`, so that parsing needs no Lark. Nothing about
the language is stated here: sets of characters, keys and structure come from the grammar.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from proofs import regex
from proofs.charset import SURROGATES, CharSet
from proofs.expression import (
    NEVER,
    Alt,
    Chars,
    Group,
    Repeat,
    Seq,
    alt,
    literal,
    map_chars,
    optional,
    repeat,
    seq,
    without_groups,
)
from proofs.lark_grammar import LarkGrammar

if TYPE_CHECKING:
    from proofs.expression import (
        Expr,
    )

GRAMMAR = Path(__file__).with_name("session_reference.lark")
COMPILED = Path(__file__).parents[1] / "sessionref" / "_compiled.py"

#: What the groups of a match hold, in their order: an agent name, one or two components, then
#: the key and the value of an entity or turn ref, or else a record ID.
GROUPED = frozenset({"AGENT_NAME", "COMPONENT", "RECORD_ID", "KEY"})

_HEADER = '''\
"""Regexes for session references, for `re.fullmatch`.

Generated from grammar/session_reference.lark by `python grammar/compile.py`. Do not edit.
"""

from __future__ import annotations

__all__ = [
{names}
]
'''


def main(arguments: list[str]) -> int:
    """Write the file, or with `--check` compare it."""
    text = compiled(GRAMMAR.read_text(encoding="utf-8"))
    if arguments == ["--check"]:
        if COMPILED.exists() and COMPILED.read_text(encoding="utf-8") == text:
            return 0
        print(f"{COMPILED} is stale: run python {sys.argv[0]}", file=sys.stderr)
        return 1
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    COMPILED.write_text(text, encoding="utf-8")
    return 0


def compiled(grammar: str) -> str:
    """The text of the generated module for a grammar."""
    constants = compile_grammar(grammar)
    names = "\n".join(f'    "{name}",' for name in sorted(constants))
    blocks = [_HEADER.format(names=names)]
    for name, (comment, value) in constants.items():
        lines = "\n".join(f"#: {line}" for line in comment.splitlines())
        blocks.append(f"{lines}\n{name} = {_literal(value)}\n")
    return "\n".join(blocks)


def compile_grammar(grammar: str) -> dict[str, tuple[str, str | tuple[str, ...]]]:
    """Name of each constant -> a comment on it, and its value."""
    lark = LarkGrammar(grammar, "session_ref")
    terminals = lark.terminals
    component = terminals["COMPONENT"]
    key, turn_key = lark.definition("ENTITY_KEY"), lark.definition("TURN_KEY")
    for head, name in (("ENTITY_HEAD", key), ("TURN_HEAD", turn_key)):
        if lark.definition(head) != seq([name, literal("=")]):
            raise ValueError(f"{head} is not a key and '='")
        # A group holds the key, and the "=" that the terminal ends with stands after it.
        terminals[head] = seq([Group("KEY", name), literal("=")])

    raw = single_characters(component)
    must_encode = ~raw - SURROGATES
    escape = escapes_of(component, raw)
    reference = factored(lark.rule("session_ref", GROUPED))
    plain = map_chars(reference, lambda chars: chars & ASCII - CharSet.from_text("%"))
    canonical = map_components(
        factored(lark.rule("session_key", GROUPED)),
        repeat(alt([repeat(Chars(raw), 1, None), required_escapes(must_encode)]), 1, None),
    )
    write = regex.write
    return {
        "REFERENCE": (
            (
                "A session reference (ASR-061). Groups: agent, first component, second or None,\n"
                "key and value of an entity or turn ref, record ID."
            ),
            write(reference),
        ),
        "PLAIN": (
            "A session reference of ASCII characters without any percent-encoding. Same groups.",
            write(plain),
        ),
        "CANONICAL": (
            (
                "A session reference in canonical form, as far as the registry leaves it open:\n"
                "escapes where ASR-059 requires them and nowhere else, in uppercase, and no # part."
            ),
            write(without_groups(canonical)),
        ),
        "AGENT_NAME": ("An agent name (ASR-056).", write(terminals["AGENT_NAME"])),
        "SHORT_NAME": ("An agent's short name (ASR-056).", write(terminals["SHORT_NAME"])),
        "COMPONENT": (
            "A namespace, session ID, or value of a key, percent-encoded (ASR-059).",
            write(component),
        ),
        "RECORD_ID": ("A record ID that can stand after '#'.", write(terminals["RECORD_ID"])),
        "MUST_ENCODE": (
            "One character that ASR-059 requires to be percent-encoded.",
            write(Chars(must_encode)),
        ),
        "PCT_RUN": ("One or more percent-encoded octets.", write(repeat(escape, 1, None))),
        "ENTITY_KEYS": ("The keys of entity refs.", tuple(words(key))),
        "TURN_KEY": ("The key of turn refs.", next(iter(words(turn_key)))),
    }


ASCII = CharSet(((0, 0x7F),))


def single_characters(expr: Expr) -> CharSet:
    """The characters that are a word by themselves."""
    match expr:
        case Chars(chars):
            return chars
        case Alt(options):
            return CharSet.of(r for option in options for r in single_characters(option).ranges)
        case Repeat(body, low, _) if low <= 1:
            return single_characters(body)
        case Group(_, body):
            return single_characters(body)
    return CharSet(())


def escapes_of(component: Expr, raw: CharSet) -> Expr:
    """The one alternative inside a component that is no run of raw characters."""
    match component:
        case Repeat(Alt(options), 1, None):
            rest = [option for option in options if single_characters(option) != raw]
            if len(rest) == 1:
                return rest[0]
    raise ValueError("a component is not made of raw characters and one form of escape")


def required_escapes(must_encode: CharSet) -> Expr:
    """The escapes of the UTF-8 octets of each of these characters, in uppercase.

    Alternatives, each of which says of every place which characters can stand there.
    """
    escapes = ["".join(f"%{o:02X}" for o in chr(code).encode()) for code in must_encode]
    # Escapes that differ in the last digit alone make one class, and stems with one class too.
    classes: dict[str, CharSet] = {}
    for escape in escapes:
        known = classes.get(escape[:-1], CharSet(()))
        classes[escape[:-1]] = known | CharSet.from_text(escape[-1])
    stems: dict[tuple[str, CharSet], CharSet] = {}
    for stem, last in classes.items():
        known = stems.get((stem[:-1], last), CharSet(()))
        stems[stem[:-1], last] = known | CharSet.from_text(stem[-1])
    return alt(seq([literal(stem), Chars(mid), Chars(last)]) for (stem, last), mid in stems.items())


def map_components(expr: Expr, component: Expr) -> Expr:
    """The expression with another language in every group of a component."""
    match expr:
        case Group("COMPONENT", _):
            return Group("COMPONENT", component)
        case Seq(parts):
            return seq(map_components(part, component) for part in parts)
        case Alt(options):
            return alt(map_components(option, component) for option in options)
        case Repeat(body, low, high):
            return repeat(map_components(body, component), low, high)
    return expr


def factored(expr: Expr) -> Expr:
    """The same language with what alternatives have in common written once.

    Alternatives that begin alike, then those that end alike, are joined, so that no match has
    to go back. Groups of one name that stand side by side as alternatives become one.
    """
    match expr:
        case Seq(parts):
            return seq(factored(part) for part in parts)
        case Repeat(body, low, high):
            return repeat(factored(body), low, high)
        case Alt(options):
            flat = [factored(option) for option in options]
            return _joined(_merged(_merged(flat, front=True), front=False))
    return expr


def _merged(options: list[Expr], *, front: bool) -> list[Expr]:
    """Options grouped by a common first or last part; the rest of each becomes alternatives."""
    merged: list[Expr] = []
    end = 0 if front else -1
    for shared, run in itertools.groupby(options, key=lambda option: _parts(option)[end]):
        rests = [seq(_parts(o)[1:] if front else _parts(o)[:-1]) for o in run]
        if len(rests) == 1:
            merged.append(seq([*_parts(rests[0]), shared] if not front else [shared, rests[0]]))
            continue
        empty = Seq(()) in rests
        rest = factored(_joined([r for r in rests if r != Seq(())]))
        rest = optional(rest) if empty else rest
        merged.append(seq([shared, rest] if front else [rest, shared]))
    return merged


def _joined(options: list[Expr]) -> Expr:
    names = {option.name for option in options if isinstance(option, Group)}
    if len(names) == 1 and all(isinstance(option, Group) for option in options):
        bodies = alt(option.body for option in options if isinstance(option, Group))
        return Group(names.pop(), bodies)
    return alt(options) if options else NEVER


def _parts(expr: Expr) -> tuple[Expr, ...]:
    return expr.parts if isinstance(expr, Seq) else (expr,)


def words(expr: Expr) -> list[str]:
    """The words of a finite language, in the order written."""
    match expr:
        case Chars(chars):
            return [chr(code) for code in chars]
        case Seq(parts):
            return ["".join(each) for each in itertools.product(*(words(p) for p in parts))]
        case Alt(options):
            return [word for option in options for word in words(option)]
    raise ValueError("not a finite list of words")


def _literal(value: str | tuple[str, ...]) -> str:
    """Python source of a constant, a long regex broken before its groups."""
    if isinstance(value, tuple):
        return "(\n" + "".join(f'    "{each}",\n' for each in value) + ")"
    return (f'r"{value}"' if "\\" in value else f'"{value}"') if '"' not in value else f"r'{value}'"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
