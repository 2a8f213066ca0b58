"""What sessions must be told, and when: gaps and islands in DuckDB, over exactly the rows that are not told yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from .judge import LAST_TIME, cursor, plain_rows
from .streams import Stream

ISLANDS = """
    CREATE OR REPLACE TEMP TABLE islands AS
    SELECT *, min(t) OVER w AS begins, max(t) OVER w + {gap} AS ends
    FROM (SELECT *, sum(apart) OVER (PARTITION BY {keys} ORDER BY t, seq) AS island
          FROM (SELECT *, CASE WHEN t - lag(t) OVER (PARTITION BY {keys} ORDER BY t, seq) <= {gap} THEN 0 ELSE 1 END
                AS apart FROM events WHERE seq IN (SELECT seq FROM waiting)))
    WINDOW w AS (PARTITION BY {keys}, island)
"""


class SessionsOracle:
    """The sessions of a stream, batch by batch: a row waits until its session has ended by the clock.

    `keys` are what rows are partitioned by; `select` is asked of each session, by the columns `group`.
    """

    def __init__(self, stream: Stream, gap_us: int, keys: Sequence[str], counted: str = "true") -> None:
        self._db, self._stream, self._gap, self._counted = cursor(), stream, gap_us, counted
        events = stream.events
        times = events["ts"].cast(pa.int64())
        events = events.append_column("t", times).append_column("seq", pa.array(range(events.num_rows), pa.int64()))
        self._db.register("given", events)
        self._db.execute("CREATE TEMP TABLE events AS SELECT * FROM given")
        self._db.execute("CREATE TEMP TABLE waiting (seq BIGINT)")
        self._keys = ", ".join(keys) or "1"
        self.late: list[int] = []

    def answers(self, select: str, group: Sequence[str], where: str) -> Iterator[list[dict]]:
        """For each batch the answers that it brings, and those of a flush; `late` tells how many rows came too late."""
        clock = newest = None
        for start, size in self._stream.bounds:
            timed = f"t IS NOT NULL AND {self._counted} AND seq BETWEEN {start} AND {start + size - 1}"
            self._db.execute(f"INSERT INTO waiting SELECT seq FROM events WHERE {timed}")
            self._number()
            before = LAST_TIME if clock is None else clock
            (late,) = self._db.sql(
                f"SELECT count(*) FROM islands WHERE {clock is not None} AND ends < {before}"
            ).fetchall()[0]
            self.late.append(late)
            if clock is not None:
                self._db.execute(f"DELETE FROM waiting WHERE seq IN (SELECT seq FROM islands WHERE ends < {clock})")
            times = [time for time in self._stream.times[start : start + size] if time is not None]
            if times:
                newest = max([*times, *([] if newest is None else [newest])])
                clock = newest - self._stream.lateness_us
            yield [] if clock is None else self._told(clock, select, group, where)
        yield self._told(LAST_TIME + 1, select, group, where)

    def _number(self) -> None:
        self._db.execute(ISLANDS.format(gap=self._gap, keys=self._keys))

    def _told(self, clock: int, select: str, group: Sequence[str], where: str) -> list[dict]:
        self._number()
        by = ", ".join(["begins", "ends", self._keys, *group])
        found = self._db.sql(
            f"SELECT begins AS window_start, ends AS window_end, {select} FROM islands"
            f" WHERE ends < {clock} AND ({where}) GROUP BY {by}"
        )
        rows = plain_rows(found.to_arrow_table())
        self._db.execute(f"DELETE FROM waiting WHERE seq IN (SELECT seq FROM islands WHERE ends < {clock})")
        return rows
