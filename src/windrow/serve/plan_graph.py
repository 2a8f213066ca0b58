"""The shared plan as a graph: streams, spaces of panes, windows, queries and sinks, and who shares what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from windrow.plan.nodes.stage import StagePlan
from windrow.serve.overview import window_of


class Graph:
    """Nodes by id, each with its kind, title and what explain says of it; edges from one to the next."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: dict[tuple[str, str], dict[str, Any]] = {}

    def node(self, id: str, kind: str, title: str, subtitle: str = "", detail: str = "") -> str:
        self.nodes.setdefault(id, {"id": id, "kind": kind, "title": title, "subtitle": subtitle, "detail": detail})
        return id

    def edge(self, source: str, target: str, shared: int = 1) -> None:
        self.edges.setdefault((source, target), {"from": source, "to": target, "shared": shared})


def plan_graph(plans: Iterable[StagePlan], sinks: Mapping[str, str], text: str) -> dict[str, Any]:
    """What runs, as a graph; `text` is what explain says, a part of which goes with each node."""
    graph = Graph()
    for plan in plans:
        for number, stage in enumerate(plan.stages):
            _stage(graph, plan, stage, number, sinks, text)
    return {"nodes": list(graph.nodes.values()), "edges": list(graph.edges.values()), "text": text}


def _stage(graph: Graph, plan: StagePlan, stage: StagePlan, number: int, sinks: Mapping[str, str], text: str) -> None:
    made = {feed.stream.stream for feed in stage.feeds}
    for stream in stage.streams:
        own = graph.node(
            f"stream {stream.stream}", "stream", shown(stream.stream), "", _part(text, "stream", stream.stream)
        )
        if stream.stream in made:
            graph.nodes[own]["kind"] = "answers"
        for space in stream.spaces:
            queries = stream.queries_of(space)
            title = f"panes shared by {len(queries)}" if len(queries) > 1 else "panes"
            keys = ", ".join(key.sql for key in getattr(space, "keys", ()))
            detail = _part(text, "space", space.name)
            panes = graph.node(f"space {space.name}", "panes", title, f"by {keys}" if keys else "one group", detail)
            graph.edge(own, panes, len(queries))
            for query in queries:
                window = window_of(query)
                label = window_label(window)
                spanned = graph.node(f"window {space.name} {label}", "window", label, "", _window(detail, label))
                graph.edge(panes, spanned)
                graph.edge(spanned, _query(graph, query.name, sinks, text))
    for changing in stage.changing:
        own = graph.node(f"changes {changing.name}", "changes", "operators over changes", f"stage {number + 1}")
        graph.nodes[own]["detail"] = _part(text, "query", changing.name)
        for name in changing.streams:
            graph.edge(graph.node(f"stream {name}", "stream", shown(name)), own)
        graph.edge(own, _query(graph, changing.name, sinks, text))
    for feed in stage.feeds:
        graph.edge(_query(graph, feed.query.name, sinks, text), f"stream {feed.stream.stream}")


def _query(graph: Graph, name: str, sinks: Mapping[str, str], text: str) -> str:
    own = graph.node(f"query {name}", "query", shown(name), "", _part(text, "query", name))
    if name in sinks:
        graph.edge(own, graph.node(f"sink {sinks[name]} {name}", "sink", sinks[name] or "answers"))
    return own


def shown(name: str) -> str:
    """
    >>> shown("#3f2a"), shown("ticks")
    ('answers 3f2a', 'ticks')
    """
    return f"answers {name[1:9]}" if name.startswith("#") else name


def window_label(window: Mapping[str, Any]) -> str:
    """
    >>> window_label({"kind": "time", "range": 90, "slide": 1})
    '90 s every 1 s'
    """
    unit = "" if window["kind"] == "rows" else " s"
    wide = "all" if window["range"] is None else f"{window['range']:g}{unit}"
    return wide if window["slide"] is None else f"{wide} every {window['slide']:g}{unit}"


def _part(text: str, word: str, name: str) -> str:
    """The lines of an explanation that begin with a word and a name, with all that is further in."""
    lines = text.splitlines()
    begin = re.compile(rf"( *){word} {re.escape(name)}(?![\w])")
    for at, line in enumerate(lines):
        found = begin.match(line)
        if found:
            deep = len(found[1])
            end = at + 1
            while end < len(lines) and lines[end].startswith(" " * (deep + 1)):
                end += 1
            return "\n".join(own[deep:] for own in lines[at:end])
    return ""


def _window(detail: str, label: str) -> str:
    """What is said of the windows of a space: how each partial is maintained, and what others would cost."""
    found = re.findall(r"^ {2}window .*\n(?:^ {4,}.*\n?)*", detail, re.MULTILINE)
    return "\n".join(found) or detail
