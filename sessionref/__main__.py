"""``python -m sessionref`` is the command `sessionref`."""

from __future__ import annotations

import sys

from sessionref.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
