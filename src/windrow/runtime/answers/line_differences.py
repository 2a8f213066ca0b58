"""Answers as changes, where each key or each level has windows of its own: what differs from the window before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from windrow.kernels.rounding import alike, numbers_in
from windrow.plan.nodes.clusters import cluster_answer
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.differences import Noise, Told
from windrow.runtime.answers.places import Places
from windrow.runtime.keys import encode_keys
from windrow.runtime.share import Share
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode

WHEN = "when"
"""The column of the block that tells of which instant an answer is."""

Following = Callable[[int, int], int | None]
"""Of a level and the instant of one of its answers, when the next one is due, if it is by now."""


class LineDifferences:
    """Compares the answers of one query, line by line and window by window, and tells what differs.

    What a batch has answered is gathered (`add`, `pass_by`) and compared at its end (`told`), since a line may be
    answered by several spaces. Rows are known by their keys, and clusters by their numbers too. `family` is where the
    last answer of each line is kept.
    """

    def __init__(self, query: QueryPlan, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._query, self._family, self._store = query, family, blocks
        told = [field for field in query.answered if field.name.startswith(("level", "key_", "agg_"))]
        self._kept = pa.schema([field.with_nullable(True) for field in told])
        self._groups = [name for name in self._kept.names if not name.startswith("agg_")]
        self._aggregates = [name for name in self._kept.names if name.startswith("agg_")]
        numbers = {f"agg_{i}" for i, aggregate in enumerate(query.aggregates) if aggregate == cluster_answer("CID")}
        self._known_by = [*self._groups, *(name for name in self._aggregates if name in numbers)]
        apart = {f"key_{i}" for i, key in enumerate(query.keys) if key.sql in query.window.partition}
        self._line = [name for name in self._groups if name == "level" or name in apart]
        self._held = pa.table({name: pa.array([], self._kept.field(name).type) for name in self._kept.names})
        self._when = np.empty(0, np.int64)
        self._stale, self._changed = snapshot is not None and snapshot["rows"] > 0, False
        self._rows: list[tuple[pa.RecordBatch, Places, Noise]] = []
        self._windows: list[tuple[list[pa.Array], Places]] = []

    def add(self, answers: pa.RecordBatch, places: Places, noise: Noise) -> None:
        """Take in answers; `noise` are columns that may be off by rounding, with how far."""
        self._rows.append((answers.select(self._kept.names).cast(self._kept), places, noise))

    def pass_by(self, keys: Sequence[pa.Array], level: int | None, places: Places) -> None:
        """Windows of these keys were due, whatever they hold."""
        levels = [] if level is None else [pa.repeat(pa.scalar(level, pa.int32()), len(places.times))]
        self._windows.append(([*levels, *keys], places))

    def told(self, following: Following | None = None, anew: bool = False) -> Told:
        """What all that has been gathered changes, by time; with `following` windows over time that are empty, too.

        Where it is told `anew`, the whole has what was held of all lines, unless it has gone or changed first.
        """
        self._load()
        if following is not None:
            self._follow(following)
        places = [*(where for _, where, _ in self._rows), *(where for _, where in self._windows)]
        if not any(len(each.times) for each in places):  # windows may have no cluster
            self._rows, self._windows = [], []
            return Told([], None)
        compared = _Compared(self)
        changes, whole = compared.changes(anew)
        self._rows, self._windows = [], []
        self._held, self._when, self._changed = compared.held, compared.when, True
        return Told(*([batch] if batch.num_rows else [] for batch in (changes, whole)))

    def keep(self, share: Share, by: Sequence[int], others: np.ndarray) -> None:
        """Let go of the rows of groups that are not of `share`, by their keys at the places `by`.

        Without such keys all groups are in one shard, or, if they are in the slots `others`, in another.
        """
        self._load()
        count = self._held.num_rows
        keys = [self._held[f"key_{i}"].combine_chunks() for i in by]
        staying = share.has(keys, count) if keys else np.full(count, not len(others))
        if not staying.all():
            self._held, self._when, self._changed = self._held.filter(pa.array(staying)), self._when[staying], True

    def rewind(self, clock: int) -> None:
        """Windows after `clock` are going to be told again; they differ from what was told last."""
        self._load()
        self._when, self._changed = np.minimum(self._when, clock), True

    @property
    def nbytes(self) -> int:
        """What the last answers take."""
        return int(self._held.nbytes) + self._when.nbytes

    def save(self, version: int) -> None:
        if self._changed:
            columns = {name: self._held[name].combine_chunks() for name in self._kept.names}
            self._store.write(self._family, 0, encode(columns | {WHEN: pa.array(self._when)}))
            self._changed = False

    def snapshot(self) -> Snapshot:
        self._load()
        return {"rows": len(self._when)}

    def _follow(self, following: Following) -> None:
        """Note the windows that follow those with an answer: one that holds nothing is not answered, but due."""
        levels = [self._held["level"]] if "level" in self._kept.names else []
        known = [(self._levels_of(levels, len(self._when)), self._when)]
        for answers, places, _ in self._rows:
            own = [answers.column("level")] if levels else []
            known.append((self._levels_of(own, len(places.times)), places.times))
        pairs = np.unique(np.concatenate([np.stack(pair, axis=1) for pair in known]), axis=0)
        due = [(level, next_) for level, time in pairs.tolist() if (next_ := following(level, time)) is not None]
        for level in dict.fromkeys(level for level, _ in due):
            times = np.array([time for other, time in due if other == level])
            self.pass_by([], level if levels else None, Places.of(times, None, None, by_row=False))

    @staticmethod
    def _levels_of(column: list[pa.Array], rows: int) -> np.ndarray:
        return column[0].to_numpy().astype(np.int64) if column else np.zeros(rows, np.int64)

    def _load(self) -> None:
        if self._stale:
            self._stale = False
            batch = decode(self._store.read(self._family, 0))
            self._held = pa.Table.from_batches([batch.select(self._kept.names)])
            self._when = batch.column(WHEN).to_numpy()


class _Compared:
    """One batch's comparison, in numbers: rows are those that were held, then the new ones.

    The first window of each line is compared with what is held of the line, then the second, and so on: that of all
    lines at once.
    """

    def __init__(self, of: LineDifferences) -> None:
        self._of = of
        news = [rows for rows, _, _ in of._rows]
        self._table = pa.concat_tables([of._held, *(pa.Table.from_batches([rows]) for rows in news)]).combine_chunks()
        self._old, count = len(of._when), self._table.num_rows
        one = {name: self._table[name].combine_chunks() for name in self._table.column_names}
        self._group = encode_keys([one[name] for name in of._known_by], count)[0]
        self._place_lines(one, count)
        self._codes = [encode_keys([one[name]], count)[0] for name in of._aggregates]
        self._shown = [np.arange(count) for _ in of._aggregates]
        self._far: list[np.ndarray | None] = [self._noise(name) for name in of._aggregates]
        self._numbers = [None if far is None else numbers_in(one[name]) for name, far in zip(of._aggregates, self._far)]

    def _noise(self, name: str) -> np.ndarray | None:
        """How far each row may be off in a column, if any may."""
        if not any(name in noise for _, _, noise in self._of._rows):
            return None
        parts = [noise.get(name, np.zeros(rows.num_rows)) for rows, _, noise in self._of._rows]
        return np.concatenate([np.zeros(self._old), *parts])

    def _place_lines(self, one: dict[str, pa.Array], count: int) -> None:
        """The line of each row, and of each new row its window: windows are in order of line and place."""
        of, names = self._of, self._of._line
        passed = [windows for windows, _ in of._windows]
        columns = [
            pa.concat_arrays([one[name], *(windows[i].cast(one[name].type) for windows in passed)])
            for i, name in enumerate(names)
        ]
        places = [*(places for _, places, _ in of._rows), *(places for _, places in of._windows)]
        orders, numbers, times = (
            np.concatenate([getattr(each, part) for each in places]) for part in ("orders", "numbers", "times")
        )
        lines = encode_keys(columns, self._old + len(orders))[0]
        self._line = lines[:count]
        keys = np.stack([lines[self._old :], orders, numbers], axis=1)
        windows, which = np.unique(keys, axis=0, return_inverse=True)
        which = which.reshape(-1)
        self._window_line, self._window_time = windows[:, 0], np.zeros(len(windows), np.int64)
        self._window_time[which] = times
        self._window = which[: count - self._old]
        begins = np.concatenate([[True], np.diff(self._window_line) != 0])
        self._turn = np.arange(len(windows)) - np.maximum.accumulate(np.where(begins, np.arange(len(windows)), 0))

    def changes(self, anew: bool) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """What differs, as rows of what is and what was; and the same for who has been told nothing of what was held.

        The latter is nothing, unless it is told `anew`.
        """
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        current = np.full(int(self._group.max(initial=-1)) + 1, -1)
        held = np.arange(self._old)
        current[self._group[held]] = held
        now = np.full(int(max(self._line.max(initial=-1), self._window_line.max(initial=-1))) + 1, -1)
        order = np.argsort(self._turn[self._window], kind="stable")
        turns = np.searchsorted(self._turn[self._window][order], np.arange(int(self._turn.max()) + 2))
        by_turn = np.argsort(self._turn, kind="stable")
        windows_of = np.searchsorted(self._turn[by_turn], np.arange(int(self._turn.max()) + 2))
        for turn in range(int(self._turn.max()) + 1):
            windows = by_turn[windows_of[turn] : windows_of[turn + 1]]
            now[self._window_line[windows]] = windows
            new = self._old + order[turns[turn] : turns[turn + 1]]
            active = np.zeros(len(now), bool)
            active[self._window_line[windows]] = True
            mine = active[self._line[held]]
            before = current[self._group[new]]
            self._steady(new[before >= 0], before[before >= 0])
            current[self._group[new]] = new
            gone = held[mine]
            gone = gone[current[self._group[gone]] == gone]
            current[self._group[gone]] = -1
            differs = self._differs(new, before)
            times = [self._window_time[now[self._line[rows]]] for rows in (gone, new[differs])]
            found.append((np.full(len(gone), -1), gone, times[0]))
            found.append((new[differs], before[differs], times[1]))
            held = np.concatenate([held[~mine], new])
        self._keep(held)
        has, had, at = (np.concatenate(parts) for parts in zip(*found))
        changes = self._in_order(has, had, at)
        if not anew:
            return changes, changes.slice(0, 0)
        untouched = np.setdiff1d(np.arange(self._old), had)
        had = np.where(had < self._old, -1, had)
        there = (has >= 0) | (had >= 0)
        first = np.full(len(untouched), self._window_time.min())
        nothing = np.full(len(untouched), -1)
        sides = ((untouched, has), (nothing, had), (first, at))
        return changes, self._in_order(*(np.concatenate([one, other[there]]) for one, other in sides))

    def _in_order(self, has: np.ndarray, had: np.ndarray, at: np.ndarray) -> pa.RecordBatch:
        by_time = np.argsort(at, kind="stable")
        return self._rows(has[by_time], had[by_time], at[by_time])

    def _steady(self, new: np.ndarray, old: np.ndarray) -> None:
        """What differs from what was told by no more than rounding stays as it was told."""
        for shown, far, numbers in zip(self._shown, self._far, self._numbers):
            if far is not None and numbers is not None:
                same = alike(numbers[shown[old]], numbers[new], far[new])
                shown[new[same]] = shown[old[same]]

    def _differs(self, new: np.ndarray, before: np.ndarray) -> np.ndarray:
        differs = before < 0
        for codes, shown in zip(self._codes, self._shown):
            differs |= codes[shown[new]] != codes[shown[np.maximum(before, 0)]]
        return differs

    def _keep(self, held: np.ndarray) -> None:
        columns = {name: self._table[name].take(pa.array(held)) for name in self._of._groups}
        for name, shown in zip(self._of._aggregates, self._shown):
            columns[name] = self._table[name].take(pa.array(shown[held]))
        self.held = pa.table(columns)
        when = np.concatenate([self._of._when, self._window_time[self._window]])
        self.when = when[held]

    def _rows(self, has: np.ndarray, had: np.ndarray, at: np.ndarray) -> pa.RecordBatch:
        query = self._of._query
        schema = query.changed
        given = pa.array(np.where(has >= 0, has, had))
        columns = [pa.array(at).cast(schema.field(0).type), pa.array(has >= 0), pa.array(had >= 0)]
        columns += [self._table[name].combine_chunks().take(given) for name in self._of._groups]
        for rows in (has, had):
            for name, shown in zip(self._of._aggregates, self._shown):
                places = pa.array(np.where(rows < 0, 0, shown[rows]), mask=rows < 0)
                columns.append(self._table[name].combine_chunks().take(places))
        return pa.record_batch(columns, schema=schema)
