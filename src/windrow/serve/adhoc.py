"""SELECTs over the current answers, by DuckDB: it sees them and nothing else, and ends in time."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Semaphore, Timer

import duckdb
import pyarrow as pa

from windrow.errors import AskError

SECONDS, ROWS, AT_ONCE = 5.0, 10_000, 2
LARGEST_TEXT = 64 << 10

LOCKED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "python_enable_replacements": "false",
    "max_memory": "256MB",
    "max_temp_directory_size": "0KB",
    "threads": "1",
}
"""No file, no address, no extension, no variable of this process; little memory, and nothing spilled to disk."""


class AdHoc:
    """Runs SELECTs over tables, a few at a time, each in a database of its own that is gone afterwards."""

    def __init__(self, seconds: float = SECONDS, rows: int = ROWS) -> None:
        self._seconds, self._rows, self._free = seconds, rows, Semaphore(AT_ONCE)

    def select(self, text: str, tables: Mapping[str, pa.Table]) -> tuple[pa.Table, bool]:
        """The rows of a SELECT, and whether there were more than are told."""
        if len(text) > LARGEST_TEXT:
            raise AskError(f"the SELECT is longer than {LARGEST_TEXT:,} characters")
        if not self._free.acquire(timeout=self._seconds):
            raise AskError("other SELECTs are under way\nhint: try again")
        try:
            return self._selected(text, tables)
        finally:
            self._free.release()

    def _selected(self, text: str, tables: Mapping[str, pa.Table]) -> tuple[pa.Table, bool]:
        connection = duckdb.connect(":memory:", config=dict(LOCKED))
        timer = Timer(self._seconds, connection.interrupt)
        timer.daemon = True
        try:
            connection.execute("SET TimeZone = 'UTC'")
            statement = _only_select(connection, text)
            for name, table in tables.items():
                connection.register(name, table)
            connection.execute("SET lock_configuration = true")
            timer.start()
            reader = connection.sql(statement).to_arrow_reader(1024)
            parts, count = [], 0
            for part in reader:
                parts.append(part)
                count += part.num_rows
                if count > self._rows:
                    break
            found = pa.Table.from_batches(parts, reader.schema)
            return found.slice(0, self._rows), count > self._rows
        except duckdb.InterruptException:
            raise AskError(f"the SELECT took longer than {self._seconds:g} seconds, and was ended") from None
        except (duckdb.Error, pa.ArrowException) as error:
            if "INTERRUPT" in str(error).upper():
                raise AskError(f"the SELECT took longer than {self._seconds:g} seconds, and was ended") from None
            raise AskError(_shown(error, tables)) from None
        finally:
            timer.cancel()
            connection.close()


def _only_select(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    """The one statement that a text has, if it is a SELECT."""
    statements = connection.extract_statements(text)
    if len(statements) != 1:
        raise AskError(f"one SELECT is needed, and there are {len(statements)} statements")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise AskError(f"only a SELECT can be asked, and this is {statements[0].type.name}")
    return statements[0]


def _shown(error: Exception, tables: Mapping[str, pa.Table]) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    known = ", ".join(tables) or "none"
    return f"{lines[0]}\nhint: the tables are the current answers: {known}"
