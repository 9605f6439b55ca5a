"""A slow model of what counts, over records as parsed JSON, without any code of the package.

It decides one group at a time (output tokens, or money in one currency) with sums that are plain
numbers. A stream is a list of records; each is a session of its own. The model follows the reading
sentence by sentence and does not care how long it takes. It knows what the worlds of `worlds.py`
write: plain IDs, unbroken revision chains, one stream for each session.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

EVIDENCE = {"native_field", "native_structure", "converter_inference"}
#: Agents whose providers' call IDs are globally unique; with True only beside a request ID.
UNIQUE = {"codex": False, "claude-code": True}
#: The part of a session that no turn with a name of its own is.
REST = "\0rest"


@dataclass(eq=False)
class Report:
    """A model call, or an aggregate over a turn or over the session, of one group."""

    session: str
    kind: str
    turn: str | None
    bucket: str
    value: Any
    key: tuple[Any, ...] | None = None
    call: str | None = None
    children: bool | None = False
    where: tuple[str, str] = ("", "")
    includes: set[Report] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)
    loose: bool = False

    @property
    def gathers(self) -> bool:
        """Whether others' work is in it, or may be."""
        return self.children is not False or bool(self.includes)


@dataclass
class Count:
    """What counts, by originality, and whether a note has to say that it is a lower bound."""

    original: Any = 0
    unknown: Any = 0
    copied: Any = 0
    lower: set[str] = field(default_factory=set)

    @property
    def once(self) -> Any:
        return self.original + self.unknown


def session_of(reference: Any) -> tuple[str, str | None] | None:
    """Session and turn of a reference; None for what is none."""
    if not isinstance(reference, str) or ":" not in reference:
        return None
    name, hash_, ref = reference.partition("#")
    return name, ref.removeprefix("turnId=") if hash_ else None


class Session:
    """One stream: its claims, and the originality of its records."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        header = records[0]
        self.agent = header["agent"]["name"]
        space = header.get("namespace")
        self.name = ":".join([self.agent, *([space] if space else []), header["sessionId"]])
        self.records = records
        self.mirror = header.get("authority") == "mirror"
        self.lineage: dict[str, Any] = {}
        self.executed: set[str] = set()
        for one in sorted(records, key=lambda one: one["seq"]):
            if one["type"] in {"session", "declaration"} and not (
                one["type"] == "declaration" and one.get("copiedFrom")
            ):
                for name, facet in (one.get("lineage") or {}).items():
                    if name == "executedBy":
                        self.executed |= {e["session"] for e in facet if e.get("evidence")}
                    else:
                        self.lineage[name] = facet
        self.superseded = {one["supersedes"] for one in records if one.get("supersedes")}
        self.live = [one for one in records if one["id"] not in self.superseded]

    def claim(self, name: str) -> dict[str, Any]:
        facet = self.lineage.get(name)
        return facet if facet and facet.get("evidence") in EVIDENCE else {}

    def originality(self, record: dict[str, Any]) -> str:
        """The four conditions of the page."""
        mark = record.get("copiedFrom")
        if mark:
            local = mark.get("session") in {None, self.name}
            names = {record["id"], f"inferenceId={record.get('inferenceId')}"}
            itself = local and mark.get("record") in {None, *names}
            return "unknown" if itself else "copied"
        inherits = self.lineage.get("inherits") or {}
        mode = inherits.get("mode")
        if self.mirror:
            return "unknown"
        if mode == "copied":
            ends = [r["seq"] for r in self.records if r["id"] == inherits.get("localThroughId")]
            if len(ends) == 1 and record["seq"] <= ends[0]:
                return "copied"
            return "original" if len(ends) == 1 and self.claim("inherits") else "unknown"
        if not self.claim("inherits"):
            return "unknown"
        return "original" if mode in {"none", "referenced", "rendered"} else "unknown"

    def own_records(self) -> list[dict[str, Any]]:
        return [
            one
            for one in self.records
            if one["type"] not in {"session", "declaration"} and self.originality(one) != "copied"
        ]

    def has_copies(self) -> bool:
        return any(
            self.originality(one) == "copied"
            for one in self.records
            if one["type"] not in {"session", "declaration"}
        )

    def states(self) -> dict[str, list[tuple[str, str | None]]]:
        """Who ran which turn, as the states say that are not copies."""
        found: dict[str, list[tuple[str, str | None]]] = {}
        for one in self.live:
            named = one.get("executedBy")
            if one["type"] != "state" or named is None or one.get("turnId") is None:
                continue
            if self.originality(one) == "copied":
                continue
            refs = [session_of(text) for text in named]
            good = [ref for ref in refs if ref is not None]
            if good or not refs:
                several = found.setdefault(one["turnId"], [])
                several += [ref for ref in good if ref[0] != self.name and ref not in several]
        return found

    def announced(self) -> dict[str, set[str | None]]:
        """The children that are announced here, with the turns of the announcements."""
        by_id = {one["id"]: one for one in self.records}
        found: dict[str, set[str | None]] = {}
        for one in self.live:
            if one["type"] == "subagent" and one.get("childSession"):
                if self.originality(one) == "copied":
                    continue
                first = one
                while first.get("supersedes"):
                    first = by_id[first["supersedes"]]
                found.setdefault(one["childSession"], set()).add(first.get("turnId"))
        return found

    def reports(self, group: str) -> list[Report]:
        """Calls and aggregates that have numbers of the group, copies among them."""
        found = []
        for one in self.live:
            value = amount(one, group)
            if value is None or one["type"] not in {"inference", "usage"}:
                continue
            bucket = self.originality(one)
            if one["type"] == "inference":
                source = one.get("inferenceIdSource", one.get("idSource"))
                call = one.get("inferenceId")
                key = None
                if call and source != "derived" and self.agent in UNIQUE:
                    request = one.get("requestId") if UNIQUE[self.agent] else None
                    if request or not UNIQUE[self.agent]:
                        key = (self.agent, call, request)
                found.append(Report(self.name, "call", one.get("turnId"), bucket, value, key, call))
                continue
            covers = one.get("covers")
            turn = one.get("turnId") if covers == "turn" else None
            if covers == "session" or turn is not None:
                includes = one.get("includesChildren")
                found.append(Report(self.name, covers, turn, bucket, value, children=includes))
        # A copy of a call gives way to the call in the same session.
        own = {one.call for one in found if one.kind == "call" and one.bucket != "copied"} - {None}
        return [
            one
            for one in found
            if not (one.kind == "call" and one.bucket == "copied" and one.call in own)
        ]


def amount(record: dict[str, Any], group: str) -> Any:
    if group == "tokens":
        return (record.get("usage") or {}).get("outputTokens")
    cost = record.get("cost")
    return None if cost is None else sum(Fraction(one["amount"]) for one in cost)


class Model:
    """What counts in a scope of streams, in one group."""

    def __init__(self, streams: list[list[dict[str, Any]]], group: str = "tokens") -> None:
        sessions = [Session(one) for one in streams]
        self.sessions = {one.name: one for one in sessions}
        self.states = {one.name: one.states() for one in sessions}
        self.count = Count()
        self.own: dict[str, list[Report]] = {}
        self.copies: dict[str, list[Report]] = {}
        for one in sessions:
            reports = one.reports(group)
            self.copies[one.name] = [r for r in reports if r.bucket == "copied"]
            self.own[one.name] = [r for r in reports if r.bucket != "copied"]
            self.count.copied += sum(r.value for r in self.copies[one.name])
        self.standing: list[Report] = []
        self.left_out: list[tuple[Report, list[Report]]] = []
        for one in sessions:
            self.compete(one)
        self.name_nodes()
        self.gone: set[tuple[str, str]] = set()
        self.kept: set[Report] = set()
        self.dubious: set[tuple[str, str]] = set()
        self.mutual()
        self.wrappers()
        self.rests()
        self.counting = [
            one for one in self.standing if one.where not in self.gone or one in self.kept
        ]
        self.children()
        self.add()

    # -- Within a session -------------------------------------------------------------------

    def compete(self, session: Session) -> None:
        """Aggregates stand where what counts has no calls, and no narrower aggregates."""
        own = self.own[session.name]
        calls = [one for one in own if one.kind == "call"]
        turns = [one for one in own if one.kind == "turn"]
        for one in own:
            place: list[Report] = []
            if one.kind == "turn":
                place = [call for call in calls if call.turn in {None, one.turn}]
            elif one.kind == "session":
                place = calls or turns
                if session.has_copies():
                    one.bucket = "unknown"
            if one.kind != "call" and one.children is not False:
                one.bucket = "unknown"
            if place:
                self.left_out.append((one, place))
            else:
                self.standing.append(one)

    # -- Wrappers ---------------------------------------------------------------------------

    def name_nodes(self) -> None:
        """A turn that a state speaks of is a node; all else of a session is one more."""
        self.named: set[tuple[str, str]] = set()
        #: The turns of which some state says that they ran another session's.
        self.taken: set[tuple[str, str]] = set()
        self.held: dict[tuple[str, str], list[set[tuple[str, str]] | None]] = {}
        for name, turns in self.states.items():
            if self.sessions[name].mirror:
                continue
            for turn, refs in turns.items():
                self.named.add((name, turn))
                self.taken |= {(other, at) for other, at in refs if at is not None}
        # What a copied turn was copied from is named too.
        for turns in self.states.values():
            for refs in turns.values():
                for other, at in refs:
                    self.taken |= self.sources(other, at)
        self.named |= self.taken
        for one in self.standing:
            node = (one.session, one.turn or REST)
            one.where = node if node in self.named else (one.session, REST)

    def reported(self, session: str, node: str) -> list[Report]:
        return [one for one in self.standing if one.where == (session, node)]

    def sources(self, session: str, turn: str | None) -> set[tuple[str, str]]:
        """Turns of other sessions of which a turn holds copies, and of theirs."""
        found: set[tuple[str, str]] = set()
        open_ = [(session, turn)]
        seen = set(open_)
        while open_:
            name, at = open_.pop()
            one = self.sessions.get(name)
            if one is None:
                continue
            for record in one.records:
                if record["type"] in {"session", "declaration"}:
                    continue
                if one.originality(record) != "copied" or (
                    at is not None and record.get("turnId") != at
                ):
                    continue
                source = (record.get("copiedFrom") or {}).get("session")
                source = source or one.claim("inherits").get("from")
                if source and source != name and (source, at) not in seen:
                    seen.add((source, at))
                    open_.append((source, at))
                    if at is not None:
                        found.add((source, at))
        return found

    def holders(
        self, session: str, turn: str | None, seen: frozenset[Any] = frozenset()
    ) -> set[tuple[str, str]] | None:
        """The nodes that have numbers for what a reference names; None where nothing has."""
        if session not in self.sessions or (session, turn) in seen:
            return None
        seen |= {(session, turn)}
        node = (session, turn or REST)
        if turn is None:
            free = {one.where for one in self.standing if one.session == session}
            for at, refs in self.states[session].items():
                if refs and None not in [self.holders(*ref, seen) for ref in refs]:
                    free.add((session, at))
            free -= self.taken
            if free:
                return free
        elif self.reported(*node):
            return {node}
        if turn is not None:
            refs = self.states[session].get(turn, [])
            below = [self.holders(*ref, seen) for ref in refs]
            if below and None not in below:
                return {node}
            if any(one.turn is None for one in self.reported(session, REST)):
                return {(session, REST)}
        elif any(self.holders(other, None, seen) for other in self.sessions[session].executed):
            return {node}
        found: set[tuple[str, str]] = set()
        for source in self.copied_from(session, turn):
            found |= self.holders(source, turn, seen) or set()
        return found or None

    def copied_from(self, session: str, turn: str | None) -> set[str]:
        one = self.sessions[session]
        found = set()
        for record in one.records:
            if record["type"] in {"session", "declaration"}:
                continue
            if turn is not None and record.get("turnId") != turn:
                continue
            if one.originality(record) == "copied":
                mark = record.get("copiedFrom") or {}
                found.add(mark.get("session") or one.claim("inherits").get("from"))
        return found - {None, session}

    def onward(self, node: tuple[str, str]) -> set[tuple[str, str]]:
        """What ran a node, as far as it is in scope."""
        name, turn = node
        if name not in self.sessions:
            return set()
        if turn != REST:
            found = set()
            for ref in self.states[name].get(turn, []):
                found |= self.holders(*ref) or set()
            return found - {node}
        return {(other, REST) for other in self.backing(name)}

    def backing(self, name: str) -> set[str]:
        """The sessions in scope that ran turns of one."""
        found = set(self.sessions[name].executed)
        for refs in self.states[name].values():
            found |= {other for other, _ in refs}
        return (found & set(self.sessions)) - {name}

    def mutual(self) -> None:
        """Sides that name each other: the one with calls counts, else the larger, once."""
        nodes = {one.where for one in self.standing}
        nodes |= {(name, REST) for name in self.sessions} | self.named
        reach = {node: self.reach(node) for node in nodes}
        done: set[tuple[str, str]] = set()
        self.tied: set[tuple[str, str]] = set()
        for node in sorted(nodes):
            if node in done or node not in reach[node]:
                continue
            group = {other for other in reach[node] if node in reach.get(other, set())}
            done |= group
            self.tied |= group
            sides: dict[str, list[Report]] = {}
            for name, turn in group:
                sides.setdefault(name, []).extend(self.reported(name, turn))
            with_calls = [n for n, rs in sides.items() if any(r.kind == "call" for r in rs)]
            if len(with_calls) == 1:
                winner = with_calls[0]
            else:
                winner = max(sorted(sides), key=lambda n: sum(r.value for r in sides[n]))
                for one in sides[winner]:
                    one.bucket = "unknown"
                self.count.lower.add("mutual")
            self.gone |= {other for other in group if other[0] != winner}

    def reach(self, node: tuple[str, str]) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        open_ = [node]
        while open_:
            for other in self.onward(open_.pop()):
                if other not in found:
                    found.add(other)
                    open_.append(other)
        return found

    def wrappers(self) -> None:
        """Of what a wrapper reports for a turn and what ran it exactly one side counts."""
        turns = {}
        for name, states in self.states.items():
            if self.sessions[name].mirror:
                continue
            for turn, refs in states.items():
                node = (name, turn)
                if refs and node not in self.tied and self.reported(*node):
                    turns[node] = [self.holders(*ref) for ref in refs]
        wins = {node for node, held in turns.items() if None in held}
        self.rivals(wins)
        while True:
            for node in wins:
                lost = {other for held in turns[node] for other in held or ()}
                for other in lost:
                    self.drop(other)
                mine = self.reported(*node)
                theirs = [one for other in lost for one in self.under(other)]
                if once(theirs) > once(mine):
                    self.count.lower.add("backing larger")
            more = {
                node
                for node, held in turns.items()
                if node not in wins
                and node not in self.gone
                and any(one in self.gone for some in held for one in some)
            }
            if not more:
                break
            wins |= more
        for node, held in turns.items():
            if node in wins or None in held:
                continue
            self.gone.add(node)
            nodes = set().union(*held)
            self.keep_own_calls(node, nodes)
            self.left_out += [
                (one, [r for other in nodes for r in self.under(other)])
                for one in self.reported(*node)
                if one not in self.kept
            ]

    def under(self, node: tuple[str, str]) -> list[Report]:
        """What a node reports, and what ran it."""
        found = list(self.reported(*node))
        for other in self.reach(node):
            found += self.reported(*other)
        return found

    def drop(self, node: tuple[str, str]) -> None:
        """A backing turn of a wrapper that counts, and what ran that."""
        for one in {node, *self.reach(node)}:
            if one[1] == REST and self.reported(*one):
                self.count.lower.add("rest dropped")
            self.gone.add(one)

    def rivals(self, wins: set[tuple[str, str]]) -> None:
        """Two wrappers that count for one backing turn: one of them, the larger."""
        by_ref: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for name, turn in wins:
            for ref in self.states[name][turn]:
                if ref[1] is not None:
                    by_ref.setdefault(ref, set()).add((name, turn))
        for nodes in by_ref.values():
            sums: dict[str, Any] = {}
            for node in nodes:
                sums[node[0]] = sums.get(node[0], 0) + sum(r.value for r in self.reported(*node))
            if len(sums) < 2:
                continue

            def rank(name: str, nodes: Any = nodes, sums: Any = sums) -> Any:
                own = [r for node in nodes if node[0] == name for r in self.reported(*node)]
                return sums[name], all(r.bucket == "original" for r in own)

            winner = max(sorted(sums), key=rank)
            if len(set(sums.values())) > 1:
                self.count.lower.add("rivals")
            for node in nodes:
                if node[0] != winner:
                    self.gone.add(node)
                    wins.discard(node)
                elif len(set(sums.values())) > 1:
                    for one in self.reported(*node):
                        one.bucket = "unknown"

    def keep_own_calls(self, node: tuple[str, str], others: set[tuple[str, str]]) -> None:
        """A call whose ID is unique everywhere, and that no backing session holds, counts."""
        held = [one for other in others for one in self.under(other)]
        if not all(one.kind == "call" and one.key for one in held):
            return
        ids = {
            one.get("inferenceId")
            for name, _ in others
            for one in self.sessions[name].records
            if one["type"] == "inference"
        }
        self.kept |= {one for one in self.reported(*node) if one.key and one.call not in ids}

    def rests(self) -> None:
        """Without a state: where a backing session has numbers left, the wrapper's do not count."""
        for name, session in self.sessions.items():
            node = (name, REST)
            mine = self.reported(*node)
            if not mine or node in self.tied:
                continue
            others: set[tuple[str, str]] = set()
            for other in self.backing(name):
                if session.mirror:
                    sources = {other, *(s for s, _ in self.sources_of(other))}
                    others |= {one.where for s in sources for one in self.own_standing(s)}
                else:
                    others |= self.holders(other, None) or set()
            others.discard(node)
            if self.states_all(session) and all(one.kind == "session" for one in mine):
                others = set()
            if others:
                self.gone.add(node)
                self.dubious.add(node)
                self.keep_own_calls(node, others)
                if any(one not in self.kept for one in mine):
                    self.count.lower.add("wrapper or backing")

    def states_all(self, session: Session) -> bool:
        """Whether a state says of every turn of a session in which session's turn it ran."""
        states = self.states[session.name]
        turns = {one.get("turnId") for one in session.own_records()} - {None}
        refs = [ref for several in states.values() for ref in several]
        return (
            not session.mirror
            and bool(turns)
            and turns <= set(states)
            and all(turn is not None for _, turn in refs)
        )

    def sources_of(self, name: str) -> set[tuple[str, None]]:
        found: set[tuple[str, None]] = set()
        open_ = [name]
        while open_:
            at = open_.pop()
            for source in self.copied_from(at, None) if at in self.sessions else ():
                if (source, None) not in found:
                    found.add((source, None))
                    open_.append(source)
        return found

    def own_standing(self, name: str) -> list[Report]:
        return [one for one in self.standing if one.session == name]

    # -- Children ---------------------------------------------------------------------------

    def parents(self) -> dict[str, dict[str, set[str | None]]]:
        """The children of each session, in scope or not, and the turns that they belong to."""
        found: dict[str, dict[str, set[str | None]]] = {}
        spawners = {
            name: one.claim("spawnedBy").get("session") for name, one in self.sessions.items()
        }
        for name, one in self.sessions.items():
            for child, turns in one.announced().items():
                if spawners.get(child) in {None, name}:
                    found.setdefault(name, {}).setdefault(child, set()).update(turns)
        for child, parent in spawners.items():
            if parent is not None:
                found.setdefault(parent, {}).setdefault(child, set())
        for children in found.values():
            for child, turns in children.items():
                if not turns or None in turns:
                    children[child] = {None}
        return found

    def included(self, report: Report, family: Any) -> tuple[set[Report], set[str]]:
        """What else counts that an aggregate includes; and backing sessions of no named turn."""
        places: set[tuple[str, str | None]] = set()
        unclear: set[str] = set()
        loose: set[Report] = set()
        open_: list[tuple[str, str | None, bool]] = [
            (report.session, report.turn, report.children is not False)
        ]
        seen = set(open_)

        def enter(item: tuple[str, str | None, bool]) -> None:
            if item not in seen:
                seen.add(item)
                open_.append(item)

        while open_:
            name, turn, with_children = open_.pop()
            places.add((name, turn))
            if with_children:
                for child, turns in family.get(name, {}).items():
                    if turn is None or turns & {None, turn}:
                        enter((child, None, True))
            states = self.states.get(name, {})
            for at, refs in states.items():
                if turn not in {None, at}:
                    continue
                for other, named in refs:
                    if named is None:
                        unclear.add(other)
                    elif not self.reported(other, named) and not self.states.get(other, {}).get(
                        named
                    ):
                        # What it used in the turn is in what it reports of no turn.
                        loose |= {
                            one
                            for held in self.holders(other, named) or ()
                            for one in self.reported(*held)
                        }
                    enter((other, named, with_children))
            if turn is None and name in self.sessions and name != report.session:
                clear = {other for refs in states.values() for other, _ in refs}
                for other in self.sessions[name].executed - clear:
                    unclear.add(other)
                    enter((other, None, with_children))
        found = {
            one
            for one in self.counting
            if one.session != report.session
            and ((one.session, None) in places or (one.session, one.turn) in places)
        }
        found |= {one for one in loose if one in self.counting and one.session != report.session}
        report.loose = bool(loose & found)
        return found, {name for name in unclear if any(one.session == name for one in found)}

    def children(self) -> None:
        """What children used is taken away once from the aggregates that include them."""
        family = self.family = self.parents()
        gatherers = []
        for one in self.counting:
            if one.kind == "call":
                continue
            if one.children is not False or one.kind == "session":
                one.includes, one.unclear = self.included(one, family)
                if not any(other.value for other in one.includes):
                    one.includes = set()
                if one.gathers:
                    one.bucket = "unknown"
                    gatherers.append(one)
        groups: list[set[Report]] = [{one} for one in gatherers]

        def nested(one: Report, other: Report) -> bool:
            return one in other.includes or other in one.includes

        def join(mine: set[Report], others: set[Report]) -> bool:
            return any(
                (a in b.includes and b in a.includes)
                or (not nested(a, b) and bool(a.includes & b.includes))
                for a in mine
                for b in others
            ) or (
                any(a in b.includes for a in mine for b in others)
                and any(b in a.includes for a in mine for b in others)
            )

        merged = True
        while merged:
            merged = False
            for mine in groups:
                for others in groups:
                    if mine is not others and join(mine, others):
                        mine |= others
                        groups.remove(others)
                        merged = True
                        break
                if merged:
                    break
        left = {id(group): None for group in groups}
        rest: dict[int, Any] = {}
        while left:
            for group in groups:
                below = [
                    other
                    for other in groups
                    if other is not group and any(b in a.includes for a in group for b in other)
                ]
                if id(group) in left and all(id(other) in rest for other in below):
                    rest[id(group)] = self.rest_of(group, below, rest)
                    del left[id(group)]
                    break
            else:
                raise AssertionError("pools include each other")
        self.rest = sum(rest.values())

    def rest_of(self, group: set[Report], below: list[set[Report]], rest: dict[int, Any]) -> Any:
        tops = [one for one in group if not any(one in other.includes for other in group)]
        whole = sum(one.value for one in tops)
        if not tops:
            whole = max(one.value for one in group)
        includes = set().union(*(one.includes for one in group)) - group
        inner = set().union(*below)
        single = includes - inner
        used = once(single) + sum(rest[id(other)] for other in below)
        if any(
            one.session == other.session
            and other not in self.counting
            and other.turn != one.turn
            and self.included(other, self.family)[0] & one.includes
            for one in group
            for other in self.own[one.session]
            if other.kind == "turn" and other.children is not False
        ):
            self.count.lower.add("another aggregate may include it")
        if used and any(one.children is None for one in group):
            self.count.lower.add("may not include")
        if any(one.loose for one in group):
            self.count.lower.add("turns not told apart")
        elif used > whole > 0:
            self.count.lower.add("larger than what includes it")
            for one in single:
                one.bucket = "unknown"
        for name in {name for one in group for name in one.unclear}:
            self.count.lower.add("no named turns")
            for one in single:
                if one.session == name:
                    one.bucket = "unknown"
        return max(0, whole - used)

    # -- Sums -------------------------------------------------------------------------------

    def add(self) -> None:
        calls: dict[Any, list[Report]] = {}
        self.count.unknown += self.rest
        for one in self.counting:
            if one.kind != "call" and one.gathers:
                continue
            calls.setdefault(one.key or id(one), []).append(one)
        for several in calls.values():
            own = [one for one in several if one.bucket == "original"] or several
            values = {one.value for one in own}
            value = values.pop() if len(values) == 1 else 0
            setattr(self.count, own[0].bucket, getattr(self.count, own[0].bucket) + value)
        for report, place in self.left_out:
            counts = set(place) & set(self.counting)
            if counts and report.value > once(counts) + self.below(report, counts):
                self.count.lower.add("aggregate larger")

    def below(self, report: Report, place: set[Report]) -> Any:
        """What counts of the children that an aggregate includes that does not stand."""
        if report.children is False:
            return 0
        found, _ = self.included(report, self.parents())
        return once(found - place)


def once(reports: Any) -> Any:
    """The sum, each call by its identity."""
    found = {}
    for one in reports:
        found[one.key or id(one)] = one.value
    return sum(found.values())


def count(streams: list[list[dict[str, Any]]], group: str = "tokens") -> Count:
    """What counts of some streams in one group."""
    return Model(streams, group).count
