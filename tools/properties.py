"""Runs the property tests again and again, each round with a new random seed, for some minutes.

    python tools/properties.py [--minutes N] [TEST]...

A round that fails ends the run with exit code 1. Its seed is printed: with it,
`pytest -m hypothesis --hypothesis-seed=SEED` finds the same example again.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run rounds until the time is over or one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=30.0, metavar="N")
    parser.add_argument("--processes", default="2", metavar="N")
    parser.add_argument("tests", nargs="*", default=["tests"])
    chosen = parser.parse_args()
    end = time.monotonic() + 60 * chosen.minutes
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "properties"}
    rounds = 0
    while rounds == 0 or time.monotonic() < end:
        rounds += 1
        seed = secrets.randbelow(1 << 32)
        print(f"round {rounds}, seed {seed}", flush=True)
        options = ["-q", "-m", "hypothesis", "-n", chosen.processes, f"--hypothesis-seed={seed}"]
        command = [sys.executable, "-m", "pytest", *options, *chosen.tests]
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            print(f"round {rounds} fails with seed {seed}")
            return 1
    print(f"{rounds} rounds passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
