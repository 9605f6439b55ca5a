"""One stream as it was read, and what tells whether two streams hold the same records."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from sessionref.streams.header import HEADER_TYPE
from sessionref.streams.json import BadJson, canonical, convert, load_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessionref.reference import SessionKey
    from sessionref.scope.collect import References
    from sessionref.streams.envelope import Envelope
    from sessionref.streams.index import StreamIndex
    from sessionref.streams.observe import Observer

__all__ = ["Capture", "Fingerprint", "Segment"]


class Segment(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Which part of a session a capture is, as its header's member `segment` says (assumed).

    `after` is the ID of the segment that this one goes on from, None for the first. `first_ordinal`
    is the native ordinal of its first item, where the source counts them.
    """

    id: str
    after: str | None = None
    first_ordinal: int | None = None


class Capture:
    """One stream of the scope.

    `index` has its records, `references` what they refer to, `observed` what other observers made
    of them, by the name of their factory. `source` is what was read, `number` the place of the
    stream in it, from 0.
    """

    __slots__ = (
        "_fingerprint",
        "_references",
        "index",
        "number",
        "observed",
        "segment",
        "source",
    )

    def __init__(
        self,
        index: StreamIndex,
        source: Any,
        number: int,
        references: References | None,
        observed: Mapping[str, Observer],
        fingerprint: Fingerprint | None,
    ) -> None:
        self.index = index
        self.source = source
        self.number = number
        self._references = references
        self.observed = observed
        self.segment = _segment(index.header.content)
        self._fingerprint = fingerprint

    @property
    def key(self) -> SessionKey | None:
        """The key that the header gives, None where it gives none."""
        return self.index.key

    @property
    def has_references(self) -> bool:
        """Whether the scope was read with references."""
        return self._references is not None

    @property
    def references(self) -> References:
        """What the records refer to. Raises TypeError in a scope that was read without that."""
        if self._references is None:
            raise TypeError("the scope was read without references")
        return self._references

    @property
    def file(self) -> str | None:
        """The name of what was read."""
        return self.index.file

    @property
    def lines(self) -> tuple[int, int]:
        """The lines of the first and the last record; (1, 1) without any."""
        index = self.index
        return (index.hit(0).line, index.hit(len(index) - 1).line) if len(index) else (1, 1)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """What was gathered of an input that cannot be read twice."""
        return self._fingerprint

    @property
    def precedence(self) -> tuple[int, str, bytes]:
        """What decides whose header stands for captures of one session: the greatest of these.

        The number of records, then the time at which the session started, then the header itself,
        so that neither the names of files nor their order decide.
        """
        header = self.index.header.content
        started = _member(header, "startedAt")
        return (
            len(self.index),
            started if isinstance(started, str) else "",
            canonical(header.strip(), _keep_all),
        )

    @property
    def place(self) -> tuple[str, int]:
        """Sort key: the name of the file, then the position in it."""
        return (self.file or "", self.number)

    def __repr__(self) -> str:
        return f"<Capture {self.index.session} in {self.file}, {len(self.index)} records>"


def _segment(header: bytes) -> Segment | None:
    try:
        return convert(_member(header, "segment"), Segment)
    except msgspec.ValidationError:
        return None


def _member(header: bytes, name: str) -> Any:
    """A member of a header; None where it is absent or the header cannot be read."""
    if name.encode() not in header:
        return None
    try:
        return load_object(header).get(name)
    except BadJson:
        return None


class Fingerprint:
    """A digest of each beginning of a stream. An `Observer`.

    `exact` is over the bytes of the records. `alike` is over what they say: member order, white
    space and escapes do not count, and of the header only what it says about lineage: the same
    session can be exported again, by other versions and with other settings. Streams agree up to a
    record where the digests there are equal.
    """

    members: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.exact: list[bytes] = []
        self.alike: list[bytes] = []

    def see(
        self,
        row: int,  # noqa: ARG002
        types: Sequence[str],
        records: Sequence[Envelope],  # noqa: ARG002
        contents: Sequence[bytes],
    ) -> None:
        """Go on with some records."""
        for kind, content in zip(types, contents, strict=True):
            content = content.strip(b" \t\r\n")
            self.exact.append(_onward(self.exact, content))
            said = canonical(content, _keep_lineage if kind == HEADER_TYPE else _keep_all)
            self.alike.append(_onward(self.alike, said))


def _onward(digests: list[bytes], content: bytes) -> bytes:
    digest = blake2b(digests[-1] if digests else b"", digest_size=16)
    digest.update(content)
    return digest.digest()


def _keep_all(_record: dict[str, Any]) -> None:
    """All members of a record count."""


#: The members of a header that captures of one session must agree on; the key is equal already.
_COMPARED = frozenset({"type", "lineage", "authority", "segment"})


def _keep_lineage(header: dict[str, Any]) -> None:
    for name in header.keys() - _COMPARED:
        del header[name]
