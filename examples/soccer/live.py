"""Plays a game as it would come, and shows its answers on a page: the pitch, heat maps, running, possession, shots.

python examples/soccer/live.py                    (in this process; then open the address that it prints)
python examples/soccer/live.py --spark --minutes 10
python examples/soccer/live.py --pace 5           (five seconds of the game in each)
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from board import Board
from compare import compared, told
from game import SCHEMA, Game
from queries import PLACES, queries
from run import HITS, declared, replayed

import windrow

PAGE = Path(__file__).with_name("page.html")
ASKED = queries() | HITS | PLACES
WARM = 6
"""So many seconds are worked off before the game begins: what is compiled and loaded is there then."""


class Page:
    """Serves the page, and sends whoever looks at it what is new, as server-sent events."""

    def __init__(self, port: int, pace: float) -> None:
        self.board, self.pace, self.began = Board(), pace, 0.0
        self._readers: list[Queue[str]] = []
        self._lock = threading.Lock()
        self._end: dict[str, float] | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def newest(self) -> float:
        """Up to which second of the game there are answers."""
        return self.board.newest

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def told(self, name: str, rows: pa.Table) -> None:
        """Rows of a query."""
        with self._lock:
            self.board.told(name, rows)

    def publish(self, end: dict[str, float] | None = None) -> None:
        """Send what is new to all that look; `end` is what came of the comparison with what happened."""
        with self._lock:
            self._end = end
            text = self._text(self.board.news())
            for reader in self._readers:
                reader.put(text)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _text(self, what: dict[str, Any]) -> str:
        late_ms = max(0.0, time.time() - self.began - what["newest"] / self.pace) * 1000
        return json.dumps(what | {"pace": self.pace, "late_ms": round(late_ms), "end": self._end})

    def _listen(self) -> Queue[str]:
        """All that there is, and then what is new."""
        with self._lock:
            reader: Queue[str] = Queue()
            reader.put(self._text(self.board.whole()))
            self._readers.append(reader)
            return reader

    def _handler(page) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path not in ("/", "/board"):
                    self.send_error(404)
                    return
                self.send_response(200)
                kind = "text/html; charset=utf-8" if self.path == "/" else "text/event-stream"
                self.send_header("Content-Type", kind)
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                if self.path == "/":
                    self.wfile.write(PAGE.read_bytes())
                else:
                    self._send_all()

            def _send_all(self) -> None:
                reader = page._listen()
                try:
                    while True:
                        try:
                            text = f"data: {reader.get(timeout=5)}\n\n"
                        except Empty:
                            text = ": nothing new\n\n"
                        self.wfile.write(text.encode())
                        self.wfile.flush()
                except OSError:  # who looked has gone
                    with page._lock:
                        page._readers.remove(reader)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


class Told(Protocol):
    """Who is told of a game that is played: a page, or who measures."""

    pace: float
    began: float
    """The wall clock at the beginning of the game, in seconds."""

    @property
    def newest(self) -> float: ...

    def told(self, name: str, rows: pa.Table) -> None: ...

    def publish(self) -> None: ...


def play(game: Game, page: Told) -> None:
    """In this process: a fifth of a second at a time, each when it is its time."""
    replayed(game.readings(0, WARM), ASKED)
    page.began = time.time()

    def pieces() -> Iterator[pa.RecordBatch]:
        for number, piece in enumerate(game.pieces(5), 1):
            page.publish()
            time.sleep(max(0.0, page.began + number / 5 / page.pace - time.time()))
            yield piece

    replayed(pa.RecordBatchReader.from_batches(SCHEMA, pieces()), ASKED, told=page.told)


def play_on_spark(game: Game, page: Told, folder: Path, spark: object = None) -> None:
    """As one job on Spark: a file of each half second, written when it is over, and answers as they come."""
    (folder / "readings").mkdir()
    _write(game.readings(0, WARM), folder, 0)
    session = declared(folder, spark, files_a_batch=None)
    for name, text in ASKED.items():
        session.query(name, text)
    job = session.start(str(folder / "checkpoint"), {name: windrow.sink("answers") for name in ASKED})
    updates = {name: job.subscribe(name) for name in ASKED}
    while not _take(updates, page):
        assert not job.wait(0.1), "the job has ended"
    page.began = time.time() - WARM / page.pace
    threading.Thread(target=_write_paced, args=(game, folder, page), daemon=True).start()
    while page.newest < game.truth.seconds - 1:
        assert not job.wait(0.05), "the job has ended"
        _take(updates, page)
    job.stop()


def _take(updates: dict[str, Any], page: Told) -> bool:
    """Whether anything is new."""
    found = False
    for name, own in updates.items():
        while (update := own.next(timeout=0)) is not None:
            page.told(name, update.table)
            found = True
    if found:
        page.publish()
    return found


def _write_paced(game: Game, folder: Path, page: Told) -> None:
    for number, piece in enumerate(game.pieces(2, WARM), 1):
        time.sleep(max(0.0, page.began + (WARM + number / 2) / page.pace - time.time()))
        _write(pa.Table.from_batches([piece]), folder, number)


def _write(readings: pa.Table, folder: Path, number: int) -> None:
    """A file that is there whole or not at all."""
    hidden = folder / f".{number:05d}.parquet"
    pq.write_table(readings, hidden)
    os.replace(hidden, folder / "readings" / f"{number:05d}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--pace", type=float, default=1, help="seconds of the game in each second")
    parser.add_argument("--port", type=int, default=8190)
    parser.add_argument("--spark", action="store_true")
    given = parser.parse_args()
    game, page = Game(round(given.minutes * 60)), Page(given.port, given.pace)
    print(f"{page.address}  (getting ready ...)", flush=True)
    if given.spark:
        with tempfile.TemporaryDirectory() as folder:
            play_on_spark(game, page, Path(folder))
    else:
        play(game, page)
    figures = compared(game, page.board.answers())
    page.publish(figures)
    print(told(figures))
    print("the page stays until Ctrl-C")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        page.close()


if __name__ == "__main__":
    main()
