"""Percent-encoding of the components of a reference: one fixed set out, everything in (ASR-059, 060).

`encode` takes raw text and `decode` takes encoded text. No function takes both, and neither looks
at its argument to find out which it was given.
"""

from __future__ import annotations

import re

from sessionref._compiled import MUST_ENCODE, PCT_RUN

__all__ = ["decode", "encode"]

_needs_encoding = re.compile(MUST_ENCODE).search
_run_of_octets = re.compile(PCT_RUN)

#: What ASR-059 requires to encode, each with its octets in upper-case hex.
_ENCODED: dict[int, str] = {
    code: "".join(f"%{octet:02X}" for octet in chr(code).encode())
    for code in range(0xA0)
    if _needs_encoding(chr(code))
}


def encode(raw: str) -> str:
    """`raw` with exactly the characters that ASR-059 requires percent-encoded, in upper-case hex.

    Nothing else is touched. A surrogate code point, which has no octets, is left where it stands:
    the constructors of values refuse it before.
    """
    return raw.translate(_ENCODED) if _needs_encoding(raw) else raw


def decode(encoded: str) -> str:
    """`encoded` with every ``%HH`` replaced by what its octets say, once (ASR-060).

    `encoded` must match the grammar of a component. Octets that are not valid UTF-8 raise
    `UnicodeDecodeError`; callers turn it into an `InvalidReference` with its place.
    """
    if "%" not in encoded:
        return encoded
    return _run_of_octets.sub(_decode_run, encoded)


def _decode_run(run: re.Match[str]) -> str:
    # A character that stands raw is complete, so each run must be valid UTF-8 by itself.
    return bytes.fromhex(run[0].replace("%", "")).decode("utf-8")
