"""Worlds of sessions that really make model calls, and the streams that tell of them.

A world knows each call, who made it, in which turn, and who else may report it. It is then written
as streams that declare all of that, or a random part. `truth` is what a total over the files that
are there should be: each real call that some report in them covers, once.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

NF = "native_field"
#: Agents that run turns themselves, and agents that let others run them.
AGENTS = ("codex", "codex", "claude-code", "goose", "pi")
WRAPPERS = ("t3-code", "t3-code", "openclaw", "codex")


@dataclass(eq=False)
class Call:
    """A model call that was really made, once."""

    id: str
    request: str
    tokens: int
    cost: int | None
    derived: bool


@dataclass(eq=False)
class Turn:
    """A turn of a session: its calls, the children that it spawned, the turns that ran it."""

    id: str
    calls: list[Call] = field(default_factory=list)
    children: list[Session] = field(default_factory=list)
    ran: list[tuple[Session, Turn]] = field(default_factory=list)


@dataclass(eq=False)
class Session:
    """A session, how it began, and how its log tells of what it used."""

    agent: str
    name: str
    turns: list[Turn] = field(default_factory=list)
    spawner: Session | None = None
    origin: Session | None = None
    #: How many turns of `origin` the session begins with, and how these are stored.
    copied: int = 0
    copying: str = "none"
    #: calls, turns, session, or calls with turns or the session beside them.
    tells: str = "calls"
    includes: bool = False
    cumulative: bool = False
    costs: bool = False
    mirrors: Session | None = None

    @property
    def key(self) -> str:
        space = "e:" if self.agent == "t3-code" else ""
        return f"{self.agent}:{space}{self.name}"

    @property
    def wraps(self) -> list[Session]:
        """The sessions that ran turns of this one, each once."""
        found = [one for turn in self.turns for one, _ in turn.ran]
        return list(dict.fromkeys(found))


class World:
    """Sessions, and the calls that they made."""

    def __init__(self, random_: random.Random, untold: float = 0) -> None:
        self.random = random_
        self.untold = untold
        #: Whether all logs of this world state what calls cost, none does, or some do.
        self.costs = random_.choice(("all", "all", "none", "some"))
        self.sessions: list[Session] = []
        self._numbers = itertools.count(1)
        for _ in range(random_.choice((1, 1, 2, 3))):
            self._family()

    # -- What happens -----------------------------------------------------------------------

    def _family(self) -> None:
        draw = self.random.random()
        if draw < 0.35:
            top = self._plain(depth=0)
        elif draw < 0.8:
            top = self._wrapper(depth=0)
        else:
            top = self._mirrored()
        if self.random.random() < 0.4:
            fork = self._fork(top)
            if fork.turns and self.random.random() < 0.3:
                self._fork(fork)

    def _session(self, agent: str) -> Session:
        session = Session(agent, f"s{next(self._numbers)}")
        rng = self.random
        session.tells = rng.choice(("calls", "calls", "calls", "turns", "session", "both", "all"))
        session.includes = rng.random() < 0.4
        session.costs = self.costs == "all" or (self.costs == "some" and rng.random() < 0.5)
        self.sessions.append(session)
        return session

    def _call(self) -> Call:
        number = next(self._numbers)
        rng = self.random
        cost = rng.randint(1, 9) if rng.random() < 0.7 else None
        return Call(f"i{number}", f"q{number}", rng.randint(1, 99), cost, rng.random() < 0.15)

    def _turn(self, session: Session) -> Turn:
        turn = Turn(f"t{next(self._numbers)}")
        session.turns.append(turn)
        return turn

    def _plain(self, depth: int, agent: str | None = None) -> Session:
        rng = self.random
        session = self._session(agent or rng.choice(AGENTS))
        for _ in range(rng.randint(1, 3)):
            turn = self._turn(session)
            turn.calls += [self._call() for _ in range(rng.randint(0, 2))]
            self._spawn(session, turn, depth)
        return session

    def _spawn(self, session: Session, turn: Turn, depth: int) -> None:
        rng = self.random
        while depth < 2 and rng.random() < 0.25:
            child = self._wrapper(depth + 1) if rng.random() < 0.2 else self._plain(depth + 1)
            child.spawner = session
            turn.children.append(child)

    def _wrapper(self, depth: int) -> Session:
        """A thread whose turns others ran, but for some that it ran itself."""
        rng = self.random
        session = self._session(rng.choice(WRAPPERS))
        session.tells = rng.choice(("turns", "turns", "session", "none", "calls"))
        backing = [self._backing(depth) for _ in range(rng.choice((1, 1, 1, 2)))]
        for _ in range(rng.randint(1, 3)):
            turn = self._turn(session)
            draw = rng.random()
            if draw < 0.2:
                turn.calls += [self._call() for _ in range(rng.randint(1, 2))]
            else:
                for one in rng.sample(backing, len(backing) if draw > 0.9 else 1):
                    turn.ran.append((one, self._run(one, depth)))
            self._spawn(session, turn, max(depth, 1))
        for one in backing:
            if rng.random() < 0.25:
                self._run(one, depth)  # a person used it directly
        # What it did itself is told, and so is of which turn, where another wraps it.
        if session.tells == "none" and any(turn.calls for turn in session.turns):
            session.tells = "turns"
        return session

    def _backing(self, depth: int) -> Session:
        if depth < 2 and self.random.random() < 0.1:
            session = self._wrapper(depth + 2)
            session.tells = "turns" if session.tells == "session" else session.tells
            return session
        session = self._session(self.random.choice(("codex", "codex", "claude-code")))
        session.tells = self.random.choice(("calls", "calls", "calls", "turns", "both"))
        return session

    def _run(self, session: Session, depth: int) -> Turn:
        turn = self._turn(session)
        turn.calls += [self._call() for _ in range(self.random.randint(1, 2))]
        self._spawn(session, turn, depth + 1)
        return turn

    def _mirrored(self) -> Session:
        session = self._plain(depth=1, agent="codex")
        mirror = self._session("openclaw")
        mirror.mirrors = session
        mirror.tells = "calls"
        return session

    def _fork(self, origin: Session) -> Session:
        rng = self.random
        fork = self._session(origin.agent)
        fork.origin = origin
        fork.copied = rng.randint(1, len(origin.turns))
        fork.copying = rng.choice(("marks", "sessions", "prefix", "prefix", "referenced"))
        fork.tells = "calls" if origin.tells == "none" else origin.tells
        # Nothing says what a sum over a session with copies covers, so where it is all there is,
        # it covers the session's own work in a world in which everything is told.
        fork.cumulative = fork.copying != "referenced" and rng.random() < (
            0.5 if fork.tells == "all" else self.untold
        )
        fork.includes = origin.includes
        for _ in range(rng.randint(0, 2)):
            turn = self._turn(fork)
            turn.calls += [self._call() for _ in range(rng.randint(1, 2))]
            self._spawn(fork, turn, 1)
        if origin.wraps and rng.random() < 0.6:
            turn = self._turn(fork)
            backing = rng.choice(origin.wraps)
            if backing.tells != "none" and rng.random() < 0.5:
                resumed = self._fork_backing(backing)
                turn.ran.append((resumed, self._run(resumed, 2)))
            else:
                turn.ran.append((backing, self._run(backing, 2)))
        return fork

    def _fork_backing(self, origin: Session) -> Session:
        fork = self._session(origin.agent)
        fork.origin = origin
        fork.copied = len(origin.turns)
        fork.copying = "prefix"
        fork.tells = "calls"
        return fork

    # -- What is reported -------------------------------------------------------------------

    def below(self, turn: Turn) -> set[Call]:
        """All calls that were made for a turn, by whomever."""
        found: set[Call] = set()
        open_ = [turn]
        while open_:
            one = open_.pop()
            found.update(one.calls)
            open_ += [ran for _, ran in one.ran]
            open_ += [inner for child in one.children for inner in child.turns]
        return found

    def ran_for(self, turn: Turn) -> set[Call]:
        """The calls of a turn, without those of children."""
        found: set[Call] = set()
        open_ = [turn]
        while open_:
            one = open_.pop()
            found.update(one.calls)
            open_ += [ran for _, ran in one.ran]
        return found

    def sum_of(self, session: Session, turns: list[Turn]) -> set[Call]:
        """What an aggregate of a session over some of its turns sums up."""
        which = self.below if session.includes else self.ran_for
        return set().union(*(which(turn) for turn in turns))


@dataclass
class Written:
    """The streams of a world by session, and for each the calls that it reports."""

    streams: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    tokens: dict[str, set[Call]] = field(default_factory=dict)
    costs: dict[str, set[Call]] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)

    def truth(self, group: str = "tokens") -> int:
        """The sum over the calls that the files that are there report."""
        if group == "tokens":
            reported = set().union(*(self.tokens[name] for name in self.streams))
            return sum(one.tokens for one in reported)
        reported = set().union(*(self.costs[name] for name in self.streams))
        return sum(one.cost or 0 for one in reported)

    def files(self) -> list[list[dict[str, Any]]]:
        """The streams in the order of their names."""
        return [self.streams[name] for name in sorted(self.streams)]


class _Writer:
    """One stream; `seq` and IDs come by themselves."""

    def __init__(self, session: Session, lineage: dict[str, Any], **header: Any) -> None:
        self.records: list[dict[str, Any]] = []
        members: dict[str, Any] = {
            "agent": {"name": session.agent},
            "sessionId": session.name,
            "lineage": lineage,
            **header,
        }
        if session.agent == "t3-code":
            members["namespace"] = "e"
        self.add("session", id="h", **members)

    def add(self, kind: str, **members: Any) -> dict[str, Any]:
        seq = len(self.records)
        record = {"type": kind, "seq": seq, "id": f"r{seq}", **members}
        self.records.append({name: value for name, value in record.items() if value is not None})
        return self.records[-1]


def write(world: World) -> Written:
    """The streams of a world with everything declared."""
    written = Written()
    for session in world.sessions:
        _write(world, session, written)
    return written


def _facet(session: Session, **members: Any) -> dict[str, Any]:
    return {"session": session.key, "evidence": NF, **members}


def _write(world: World, session: Session, written: Written) -> None:
    lineage: dict[str, Any] = {"inherits": {"mode": "none", "evidence": NF}}
    header: dict[str, Any] = {}
    if session.spawner is not None:
        lineage["spawnedBy"] = _facet(session.spawner)
    wraps = session.wraps
    if session.mirrors is not None:
        wraps = [session.mirrors]
        header["authority"] = "mirror"
        del lineage["inherits"]
    if wraps:
        lineage["executedBy"] = [_facet(one) for one in wraps]
    stream = _Writer(session, lineage, **header)
    tokens: set[Call] = set()
    costs: set[Call] = set()
    if session.origin is not None:
        lineage["forkedFrom"] = _facet(session.origin)
        mode = "referenced" if session.copying == "referenced" else "copied"
        lineage["inherits"] = {"mode": mode, "from": session.origin.key, "evidence": NF}
        if mode == "copied":
            _copy(session, written, stream, lineage)
    if session.mirrors is not None:
        for turn in session.mirrors.turns:
            for call in turn.calls:
                _call(session, stream, turn, call, tokens, costs, other=session.mirrors)
    for turn in session.turns:
        _write_turn(world, session, stream, turn, tokens, costs)
    covers = session.turns
    if session.tells in {"session", "all"} and covers:
        turns = list(covers)
        if session.cumulative and session.origin is not None:
            turns += _history(session)
        summed = world.sum_of(session, turns)
        _aggregate(session, stream, None, summed)
        if session.tells == "session":
            tokens |= summed
            if not session.cumulative:
                costs |= {one for one in summed if session.costs and one.cost is not None}
    written.streams[session.key] = stream.records
    written.tokens[session.key] = tokens
    written.costs[session.key] = costs


def _history(session: Session) -> list[Turn]:
    """The turns that a session began with."""
    found: list[Turn] = []
    while session.origin is not None:
        found += session.origin.turns[: session.copied]
        session = session.origin
    return found


def _copy(session: Session, written: Written, stream: _Writer, lineage: dict[str, Any]) -> None:
    """Begin with the records of the origin up to the end of a turn."""
    origin = session.origin
    assert origin is not None
    turns = {turn.id for turn in origin.turns[: session.copied]}
    turns |= {turn.id for turn in _history(origin)}
    last = None
    for record in written.streams[origin.key][1:]:
        if record.get("turnId") not in turns:
            continue
        members = {k: v for k, v in record.items() if k not in {"seq", "id", "type", "copiedFrom"}}
        if "supersedes" in members:
            continue
        if session.copying in {"marks", "sessions"}:
            mark = {"session": origin.key, "proof": NF}
            if session.copying == "marks":
                mark["record"] = record["id"]
            members["copiedFrom"] = mark
        last = stream.add(record["type"], **members)["id"]
    if last is None or session.copying != "prefix":
        # Without copies there is a fresh context; marked ones end nowhere.
        if last is None:
            lineage["inherits"] = {"mode": "none", "evidence": NF}
        else:
            lineage["inherits"]["localThroughId"] = last
    else:
        lineage["inherits"]["localThroughId"] = last


def _write_turn(
    world: World,
    session: Session,
    stream: _Writer,
    turn: Turn,
    tokens: set[Call],
    costs: set[Call],
) -> None:
    stream.add("message", turnId=turn.id, messageId=f"m{len(stream.records)}")
    if session.wraps:
        refs = [f"{one.key}#turnId={ran.id}" for one, ran in turn.ran]
        stream.add("state", turnId=turn.id, executedBy=refs)
    for child in turn.children:
        first = stream.add("subagent", childSession=child.key, callId=child.name, turnId=turn.id)
        if world.random.random() < 0.3:
            stream.add(
                "subagent", childSession=child.key, callId=child.name, supersedes=first["id"]
            )
    if session.tells in {"calls", "both", "all"}:
        for call in turn.calls:
            _call(session, stream, turn, call, tokens, costs)
    if session.tells in {"turns", "both"}:
        summed = world.sum_of(session, [turn])
        if summed:
            _aggregate(session, stream, turn, summed)
            if session.tells == "turns":
                tokens |= summed
                costs |= {one for one in summed if session.costs and one.cost is not None}


def _call(
    session: Session,
    stream: _Writer,
    turn: Turn,
    call: Call,
    tokens: set[Call],
    costs: set[Call],
    other: Session | None = None,
) -> None:
    members: dict[str, Any] = {
        "turnId": turn.id,
        "inferenceId": f"{session.name}/{call.id}" if call.derived else call.id,
        "usage": {"outputTokens": call.tokens},
    }
    if call.derived:
        members["idSource"] = "derived"
    if session.agent == "claude-code" or (other is not None and other.agent == "claude-code"):
        members["requestId"] = call.request
    tokens.add(call)
    if session.costs and call.cost is not None:
        members["cost"] = _money(call.cost)
        costs.add(call)
    stream.add("inference", **members)


def _aggregate(session: Session, stream: _Writer, turn: Turn | None, summed: set[Call]) -> None:
    members: dict[str, Any] = {
        "covers": "session" if turn is None else "turn",
        "turnId": None if turn is None else turn.id,
        "includesChildren": session.includes,
        "usage": {"outputTokens": sum(one.tokens for one in summed)},
    }
    if session.costs and not (session.cumulative and turn is None):
        members["cost"] = _money(sum(one.cost or 0 for one in summed))
    stream.add("usage", **members)


def _money(amount: int) -> list[dict[str, str]]:
    return [{"amount": str(amount), "currency": "USD"}]


# -- What is lost ------------------------------------------------------------------------------------

#: What a source may not tell, and how often it is drawn.
LOSSES = {
    "a file": 6,
    "states": 3,
    "a state": 3,
    "the facet": 3,
    "the origin": 2,
    "the spawner": 3,
    "announcements": 3,
    "the turn of an announcement": 2,
    "the evidence": 1,
    "the boundary": 1,
    "whether children are included": 2,
    "the turns of calls": 1,
    "calls": 1,
}


def lose(written: Written, random_: random.Random, losses: int) -> None:
    """Take some of what is declared away, and never so that what is left is false."""
    for _ in range(losses):
        if not written.streams:
            return
        what = random_.choices(list(LOSSES), list(LOSSES.values()))[0]
        name = random_.choice(sorted(written.streams))
        if _lose(written, name, what, random_):
            written.dropped.append(f"{what} of {name}")


def _lose(written: Written, name: str, what: str, random_: random.Random) -> bool:
    records = written.streams[name]
    lineage = records[0].get("lineage") or {}
    if what == "a file":
        del written.streams[name]
        return True
    if what in {"states", "a state"}:
        states = [one for one in records if one["type"] == "state"]
        if not states:
            return False
        for one in states if what == "states" else [random_.choice(states)]:
            one.pop("executedBy", None)
        if not _says_who(records):  # what it inherits is not known either
            lineage.pop("inherits", None)
        return True
    if what == "the facet":
        if lineage.pop("executedBy", None) is None:
            return False
        records[0].pop("authority", None)
        if not _says_who(records):
            lineage.pop("inherits", None)
        return True
    if what == "the origin":
        return lineage.pop("inherits", None) is not None
    if what == "the spawner":
        return lineage.pop("spawnedBy", None) is not None
    if what == "announcements":
        found = [one for one in records if one["type"] == "subagent"]
        for one in found:
            one.pop("childSession", None)
            one["capture"] = {"childSession": "unavailable"}
        return bool(found)
    if what == "the turn of an announcement":
        found = [one for one in records if one["type"] == "subagent" and "turnId" in one]
        for one in found:
            del one["turnId"]
        return bool(found)
    if what == "the evidence":
        facets = [facet for facet in lineage.values() if isinstance(facet, dict)]
        facets = [facet for facet in facets if "evidence" in facet]
        for facet in facets:
            del facet["evidence"]
        return bool(facets)
    if what == "the boundary":
        return lineage.get("inherits", {}).pop("localThroughId", None) is not None
    if what == "whether children are included":
        found = [one for one in records if one.pop("includesChildren", None) is not None]
        return bool(found)
    if what == "the turns of calls":
        found = [one for one in records if one["type"] == "inference" and "turnId" in one]
        for one in found:
            del one["turnId"]
        return bool(found)
    return False


def _says_who(records: list[dict[str, Any]]) -> bool:
    """Whether anything is left that says who ran the turns."""
    lineage = records[0].get("lineage") or {}
    states = [one for one in records if one["type"] == "state"]
    ran = [one for one in states if one.get("executedBy")]
    return bool(lineage.get("executedBy") or ran or not states)


def world_of(seed: int) -> World:
    """The world of a seed."""
    return World(random.Random(seed))  # noqa: S311 - worlds are to come again


def partly(seed: int) -> Written:
    """The streams of a world of which part is lost."""
    rng = random.Random(seed)  # noqa: S311 - likewise
    written = write(World(rng, untold=0.1))
    lose(written, rng, rng.choice((1, 1, 1, 2, 2, 3)))
    return written


seeds = st.integers(0, 2**32 - 1)
worlds = seeds.map(world_of)
