"""Every error that a user can cause: what is wrong, where, and the way out."""

from __future__ import annotations


class WindrowError(Exception):
    """The root of all errors that Windrow raises on purpose. `code` is a name for programs: it stays as it is."""

    code = "WINDROW"


class FilledText(str):
    """A text into which values were filled: mistakes in it are shown where they stand in what was `written`.

    `pieces` are where each part begins in this text, and where it begins and ends in the other.
    """

    written: str
    pieces: tuple[tuple[int, int, int], ...]

    def place(self, at: int, end: int) -> tuple[int, int]:
        """Where in `written` a part of this text stands; a value is all of what it was filled in for."""
        return self._written(at)[0], max(self._written(max(at, end - 1))[1], self._written(at)[0] + 1)

    def _written(self, at: int) -> tuple[int, int]:
        following = [(begin, written, stop) for begin, written, stop in self.pieces if begin <= at]
        begin, written, stop = following[-1]
        others = [piece[0] for piece in self.pieces if piece[0] > at]
        plain = stop - written == (others[0] if others else len(self)) - begin
        return (written + at - begin, written + at - begin + 1) if plain else (written, stop)


class QueryError(WindrowError):
    """A mistake in a text, shown with its line, its column and the words underlined.

    >>> raise QueryError("unknown stream 'trips'", text="SELECT 1\\nFROM trips", at=14, end=19,
    ...                  hint="known streams: taxi_trips, zones")
    Traceback (most recent call last):
    windrow.errors.QueryError: unknown stream 'trips' (line 2, column 6)
      FROM trips
           ^^^^^
    hint: known streams: taxi_trips, zones
    """

    code = "QUERY"

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        at: int | None = None,
        end: int | None = None,
        hint: str | None = None,
    ) -> None:
        end = end if end is not None else (None if at is None else at + 1)
        if isinstance(text, FilledText) and at is not None and end is not None:
            (at, end), text = text.place(at, end), text.written
        self.message, self.text, self.at, self.end, self.hint = message, text, at, end, hint
        super().__init__(self._rendered())

    @property
    def line(self) -> int | None:
        """The line of the mistake, counted from 1."""
        return None if self.text is None or self.at is None else self.text.count("\n", 0, self.at) + 1

    @property
    def column(self) -> int | None:
        """The column of the mistake, counted from 1."""
        if self.text is None or self.at is None:
            return None
        return self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1

    def _rendered(self) -> str:
        lines = [self.message]
        if self.text is not None and self.at is not None and self.end is not None:
            lines[0] += f" (line {self.line}, column {self.column})"
            begin = self.text.rfind("\n", 0, self.at) + 1
            stop = self.text.find("\n", begin)
            shown = self.text[begin : len(self.text) if stop < 0 else stop].replace("\t", " ")
            shown = shown.encode(errors="replace").decode()  # half a character cannot be printed
            width = max(1, min(self.end - self.at, len(shown) - (self.at - begin)))
            lines += [f"  {shown}", "  " + " " * (self.at - begin) + "^" * width]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class NotSupportedYet(QueryError):
    """The language has it, this version does not run it."""

    code = "NOT_SUPPORTED"


class SettingsError(WindrowError):
    """A Spark setting, an option or an argument that Windrow cannot work with.

    `concerns` is the value of an option that it is about, where one is: a script underlines it.
    """

    code = "SETTINGS"

    def __init__(self, message: str = "", *, concerns: str | None = None) -> None:
        super().__init__(message)
        self.concerns = concerns


class StateError(WindrowError):
    """State in a checkpoint that this version cannot read."""

    code = "STATE"


class MemoryLimitError(WindrowError):
    """A window that has to be in memory and is larger than what a shard may use."""

    code = "MEMORY_LIMIT"


class StorageError(WindrowError):
    """A block that cannot be written or read, or a place for blocks that cannot be used."""

    code = "STORAGE"


class AggregateError(WindrowError):
    """An aggregate that cannot take the arguments it was given."""

    code = "AGGREGATE"


class FunctionError(WindrowError):
    """A user's stream function that failed, or gave what it may not give."""

    code = "FUNCTION"


class ClusteringError(WindrowError):
    """A clustering that is not known, or cannot work with its parameters or columns."""

    code = "CLUSTERING"


class AskError(WindrowError):
    """Something asked of a running job, or of its answers, that cannot be told; `missing` where there is no such."""

    code = "ASK"

    def __init__(self, message: str, *, missing: bool = False) -> None:
        self.missing = missing
        super().__init__(message)


class ChangeError(WindrowError):
    """A change to a running job that cannot be made; the job goes on as it was."""

    code = "CHANGE"


class JobError(WindrowError):
    """What has stopped a job."""

    code = "JOB"


class StoppedQueriesError(JobError):
    """Queries that have stopped while the others of their job went on; `queries` has what stopped each."""

    code = "STOPPED"

    def __init__(self, queries: dict[str, str]) -> None:
        self.queries = dict(queries)
        told = [f"query {name!r} has stopped: {error}" for name, error in queries.items()]
        super().__init__("\n".join(told) + "\nhint: mend it, and bring it back with windrow resume or job.resume")
