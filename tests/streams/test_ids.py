"""Record IDs that are derived, and the native ordinals that they derive from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionref.streams.ids import again, at_line, at_ordinal, of_part, ordinal_of

numbers = st.integers(min_value=0, max_value=2**63 - 1)


@given(numbers, st.integers(min_value=0), st.text(), numbers)
def test_an_ordinal_is_read_from_each_id_that_derives_from_it(ordinal, earlier, kind, number):
    """From the row's own ID, and from those of its further records."""
    record_id = at_ordinal(ordinal, earlier)
    assert ordinal_of(record_id) == (ordinal, str(earlier))
    if kind != "row":
        assert ordinal_of(of_part(record_id, kind, number)) == (ordinal, str(earlier))


@given(st.text(), st.integers(min_value=1), st.integers(min_value=1))
def test_ids_of_different_rows_differ(record_id, one, other):
    """Rows that have one native ID are told apart by how many came before."""
    assert again(record_id, 0) == record_id
    assert (again(record_id, one) == again(record_id, other)) == (one == other)


@pytest.mark.parametrize(
    "record_id",
    [
        at_line(7),
        "ordinal",
        "ordinal/",
        "ordinal/07",
        "ordinal/x",
        "ordinal/7x",
        "x/ordinal/7",
        "ordinal/" + "9" * 20,
    ],
)
def test_no_other_id_has_an_ordinal(record_id):
    """Neither an ID by line nor one that only looks like an ID by ordinal."""
    assert ordinal_of(record_id) is None
