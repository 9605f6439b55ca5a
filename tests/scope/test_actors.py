"""Actor references as values (ASR-076 to 078)."""

from __future__ import annotations

import pickle

import pytest

import sessionref as sr


def test_an_actor_is_read_and_written_as_it_stands():
    """Members keep their values; members that the pages do not name are passed over."""
    value = {"session": "com.openai.codex:s", "address": " /lead/worker", "device": "D", "x": 1}
    actor = sr.Actor.from_json(value)
    assert (actor.participant, actor.address, actor.device) == (None, " /lead/worker", "D")
    assert actor.session == sr.parse("codex:s")
    del value["x"]
    assert actor.to_json() == value
    assert pickle.loads(pickle.dumps(actor)) == actor
    assert sr.Actor.from_json({"participant": "u"}).to_json() == {"participant": "u"}


@pytest.mark.parametrize("value", [{}, {"name": "x"}, {"participant": None}, 7, None, ["x"]])
def test_an_actor_names_somebody(value):
    """Without any of its members there is no actor."""
    with pytest.raises(ValueError):
        sr.Actor.from_json(value)


def test_an_actor_of_the_wrong_types_is_refused():
    """Every member is text."""
    with pytest.raises(ValueError):
        sr.Actor.from_json({"participant": 7})
    with pytest.raises(ValueError):
        sr.Actor()


def test_the_session_of_an_actor_has_no_ref():
    """A `#` part is refused with its place, and so is what is no reference."""
    with pytest.raises(sr.InvalidReference) as caught:
        sr.Actor.from_json({"session": "codex:s#r1"})
    assert (caught.value.code, caught.value.span) == ("unexpected-ref", (7, 10))
    assert (caught.value.rule, caught.value.component) == ("ASR-076", "ref")
    with pytest.raises(sr.InvalidReference):
        sr.Actor(session=sr.parse("codex:s#r1"))
    with pytest.raises(sr.InvalidReference):
        sr.Actor.from_json({"session": "codex"})


def test_the_members_of_an_actor_have_their_types():
    """The constructor takes a reference, not its text, and strings for the rest."""
    for wrong in ({"session": "codex:s"}, {"address": 5}, {"participant": b"u"}):
        with pytest.raises(TypeError):
            sr.Actor(**wrong)
