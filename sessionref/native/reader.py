"""What a reader of an agent's native logs must offer. `docs/adding-an-agent.md` shows how."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

from sessionref.native.rows import Head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from sessionref.native.columns import Records
    from sessionref.native.logs import Log
    from sessionref.native.record import NativeStream, Report

__all__ = ["AnyReader", "Folders", "Head", "Lines", "LogFile", "Reader"]

#: Gives the lines of a log with their numbers, from the start each time it is called.
Lines: TypeAlias = "Callable[[Report], Iterable[tuple[int, bytes]]]"

S = TypeVar("S")


class Folders(NamedTuple):
    """Where an agent keeps its logs by default.

    `variable` is the environment variable that moves the agent's folder. Without it the folder is
    one of `homes`, below the user's home folder. The logs are in the folders `below` that.
    """

    variable: str
    homes: tuple[str, ...]
    below: tuple[str, ...]


class LogFile(NamedTuple, Generic[S]):
    """A log that was surveyed: its survey, its path if it has one, and how to read it again."""

    survey: S
    path: str | None
    open: Callable[[], AbstractContextManager[Lines]]


@runtime_checkable
class Reader(Protocol[S]):
    """Reads the logs of one agent; `S` is what it keeps of a log between its two passes.

    A reader raises nothing on data. What is wrong with a log becomes a finding, given to `report`.
    """

    #: The registered short name of the agent, which is also the kind of its logs.
    agent: str
    folders: Sequence[Folders] = ()

    def recognises(self, row: Head) -> bool | None:
        """Whether a row near the start of a log tells that the log is this agent's.

        True: only this agent writes such rows. False: the row shows that another program wrote the
        log, however much the rest looks like this agent's. None: the row tells nothing.
        """
        ...

    def survey(self, lines: Lines, file: str, report: Report) -> S:
        """The first pass: what only the whole log shows. It must not grow with the log's text.

        `report` gets what is wrong with the lines, and `no-session` for a log without a session.
        """
        ...

    def survey_with_columns(self, log: Log, report: Report) -> tuple[S, Records | None]:
        """As `survey`, and the log's records as columns, if one pass is enough to know them.

        A reader that does not implement this gives none; they are then made from its streams.
        """
        return self.survey(log.lines, log.name, report), None

    def relate(self, logs: Sequence[LogFile[S]]) -> None:
        """Compare all logs of this agent, and note in each survey what the others show of it."""

    def keeps_columns(self, survey: S) -> bool:  # noqa: ARG002 - for those who need it
        """Whether the columns of `survey_with_columns` still hold, now that logs are related."""
        return True

    def streams(
        self, survey: S, lines: Lines, file: str, report: Report, *, content: bool
    ) -> Iterator[NativeStream]:
        """The second pass: the log's sessions as streams, in the order in which they begin.

        Without `content` the records carry identity, model calls, usage and relations only. The
        header must be there before any line is read.
        """
        ...


#: A reader whose surveys are its own business.
AnyReader = Reader[Any]
