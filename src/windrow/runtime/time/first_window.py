"""From which window each query is answered: the first of which its space knows all, also where it came later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.parts import NestedWindow, level_of, levels_of
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.time.history import History
from windrow.runtime.time.kept_ways import Ways, kept_ways
from windrow.storage.blocks import Snapshot


class FirstWindows:
    """The first window of each query, told once, when the query comes, and then kept.

    `known` are those that have been told; `since` is from when on events are cut and kept as `space` has it.
    """

    def __init__(
        self, space: Space, queries: Sequence[QueryPlan], history: History, known: Mapping[str, int], since: int | None
    ) -> None:
        self._history, self._ways = history, kept_ways(space, history)
        anew = {query.need for query in queries if not self._goes_on(query, space)}
        history.begin(space, since, self._ways.values())
        self._firsts: dict[str, int] = {}
        self._needs: dict[TimeWindow, list[str]] = {}
        self._asked: list[tuple[QueryPlan, TimeWindow]] = []
        self._need: dict[tuple[str, TimeWindow], str] = {}
        self.keeps_otherwise = False
        """Whether panes begin anew to keep what is asked for: what is folded is of no use."""
        for query in queries:
            assert isinstance(query.window, TimeWindow)
            for part in space.parts_of(query.window):
                need = self._need[query.name, part] = query.need_of(part)
                if query.need in anew or need not in known:
                    self._firsts[need] = history.first_window(part.closes, kept_for(query, self._ways))
                else:
                    self._firsts[need] = known[need]
                self.keeps_otherwise |= query.need in anew and need in known
                self._needs.setdefault(part, []).append(need)
                self._asked.append((query, part))

    def _goes_on(self, query: QueryPlan, space: Space) -> bool:
        """Whether panes have kept what a query asks for already, and where they keep it now no less is known."""
        alone = [partial for partial in query.partials if self._ways[partial] == (space.kept(partial),)]
        younger = (self._history.is_younger(space.kept(one), space.not_kept(one)) for one in alone)
        return self._history.has(kept_for(query, self._ways)) and not any(younger)

    def of_query(self, query: QueryPlan, part: TimeWindow) -> int:
        """The number of the first window of `part` that `query` is answered for.

        Where an answer is made of those of several levels, all finer ones must know the same instant: one that began
        to know all later than a coarser one, whose edges others had, would have nothing there, and be taken for empty.
        """
        first = self._firsts[self._need[query.name, part]]
        if query.joins_levels:
            assert isinstance(query.window, NestedWindow)
            for finer in levels_of(query.window, grow=False)[: level_of(query.window, part)]:
                known = self._firsts[self._need[query.name, finer]]
                first = max(first, part.first_over(finer.end(known) - 1) if known > BEFORE_ALL else first)
        return first

    def of_window(self, window: TimeWindow) -> int:
        """The number of the first window that anybody is answered for."""
        first = min(self._firsts[need] for need in self._needs[window])
        return BEFORE_ALL if first == BEFORE_ALL else window.number_from(first)

    def rewind(self, stop: int) -> None:
        """Panes from `stop` on are gone, and come again: windows over them are answered again."""
        for query, part in self._asked:
            need, known = query.need_of(part), self._history.first_window(part.closes, kept_for(query, self._ways))
            self._firsts[need] = max(known, min(self._firsts[need], part.closes.first_from(stop)))

    def snapshot(self) -> dict[str, int]:
        return self._firsts


def kept_for(query: QueryPlan, ways: Ways) -> list[tuple[Partial, ...]]:
    """What panes keep for a query, each partial in one way or in two."""
    return [ways[partial] for partial in query.partials]


def first_window(query: QueryPlan, part: TimeWindow, space: Space, kept: Snapshot) -> int:
    """The number of the first window of `part` that `query` is told, where its stream was left as `kept` has it.

    A space of it answers what its history has in full; no window is answered that had ended by the clock.
    """
    aside = kept["aside"]
    away = aside["parts"].get(space.name)
    back = away["state"] if away is not None and away["moves"] == aside["moves"] else {}
    state = kept["spaces"].get(space.name) or back
    history = History(state.get("history"))
    first = FirstWindows(space, [query], history, state.get("firsts", {}), kept["newest"] + 1).of_query(query, part)
    window, clock = part.closes, kept["clock"]
    after = window.last_ended(clock) + 1 if clock is not None else first
    return max(first, after)
