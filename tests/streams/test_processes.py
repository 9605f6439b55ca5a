"""How many processes are of use to read files."""

from __future__ import annotations

from sessionref.streams.processes import worth_while


def test_files_that_are_gone_need_no_process():
    """What cannot be looked at has no size; there is always one process."""
    assert worth_while(["", "no/such/file", "a\0b"], 4) == 1
