"""The generated regexes, each compiled when it is first needed.

Compiling the whole grammar takes milliseconds, and most programs meet only references without any
percent-encoding, for which a smaller regex does.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["compiled"]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """`pattern` as a recognizer."""
    return re.compile(pattern)
