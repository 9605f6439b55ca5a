"""Percent-encoding of the components of a reference (ASR-059, 060).

One fixed set of characters is encoded, and whatever is encoded is decoded, once.

`encode` takes raw text and `decode` takes encoded text. No function takes both, and neither looks
at its argument to find out which it was given.
"""

from __future__ import annotations

import re

from sessionref._compiled import MUST_ENCODE, PCT_RUN
from sessionref._recognizers import compiled

__all__ = ["decode", "encode"]

_needs_encoding = re.compile(MUST_ENCODE).search


def _octets(character: str) -> str:
    return "".join(f"%{octet:02X}" for octet in character.encode())


#: What ASR-059 requires to encode, each with its octets in upper-case hex: the visible ones, with
#: "%" before those whose encoding holds it, and the controls.
_VISIBLE = [(c, _octets(c)) for c in sorted("%:# ", key="%".__ne__)]
_CONTROLS = {
    code: _octets(chr(code))
    for code in range(0xA0)
    if _needs_encoding(chr(code)) and not chr(code).isprintable()
}

#: The ASCII characters by their two hexadecimal digits, in every case of these.
_ASCII = {digits: chr(code) for code in range(0x80) for digits in {f"{code:02X}", f"{code:02x}"}}


def encode(raw: str) -> str:
    """`raw` with exactly the characters that ASR-059 requires percent-encoded, in upper-case hex.

    Nothing else is changed. A surrogate code point, which has no octets, is left as it is: the
    constructors of values have refused it already.
    """
    if not _needs_encoding(raw):
        return raw
    for character, octets in _VISIBLE:
        raw = raw.replace(character, octets)
    return raw if raw.isprintable() else raw.translate(_CONTROLS)


def decode(encoded: str) -> str:
    """`encoded` with every ``%HH`` replaced by what its octets say, once (ASR-060).

    `encoded` must match the grammar of a component. Octets that are not valid UTF-8 raise
    `UnicodeDecodeError`; callers turn it into an `InvalidReference` with its place.
    """
    if "%" not in encoded:
        return encoded
    first, *rest = encoded.split("%")
    try:
        return first + "".join([_ASCII[part[:2]] + part[2:] for part in rest])
    except KeyError:  # an octet of a longer sequence
        return compiled(PCT_RUN).sub(_decode_run, encoded)


def _decode_run(run: re.Match[str]) -> str:
    # A character that stands raw is complete, so each run must be valid UTF-8 by itself.
    return bytes.fromhex(run[0].replace("%", "")).decode("utf-8")
