"""The plan as a picture in a notebook: streams on the left, sinks on the right, what is shared drawn once."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

WIDE, HIGH, BETWEEN, APART, EDGE = 190, 40, 46, 12, 8
MOST_NODES, MOST_TEXT = 120, 25
COLOURS = {
    "stream": "#2a78d6",
    "answers": "#2a78d6",
    "panes": "#1a9e6e",
    "window": "#c77d0a",
    "changes": "#9b59b6",
    "query": "#d2453d",
    "sink": "#7a7f87",
}


def plan_picture(graph: Mapping[str, Any]) -> str:
    """A graph of `plan_graph` as SVG; "" where there is nothing to draw, or too much to look at.

    >>> node = {"id": "stream t", "kind": "stream", "title": "<t>", "subtitle": ""}
    >>> "&lt;t&gt;" in plan_picture({"nodes": [node], "edges": []})
    True
    """
    nodes, edges = graph["nodes"], graph["edges"]
    if not nodes or len(nodes) > MOST_NODES:
        return ""
    columns = _columns([node["id"] for node in nodes], edges)
    filled = defaultdict(list)
    for node in nodes:
        filled[columns[node["id"]]].append(node)
    tallest = max(map(len, filled.values())) * (HIGH + APART)
    places = {}
    for column, own in filled.items():
        above = (tallest - len(own) * (HIGH + APART)) / 2
        for row, node in enumerate(own):
            places[node["id"]] = (EDGE + column * (WIDE + BETWEEN), EDGE + above + row * (HIGH + APART))
    width = 2 * EDGE + (max(columns.values()) + 1) * (WIDE + BETWEEN) - BETWEEN
    drawn = "".join([*(_edge(places, edge) for edge in edges), *(_node(places[node["id"]], node) for node in nodes)])
    label = 'role="img" aria-label="the plan as a graph" style="max-width:100%;color:inherit"'
    size = f'viewBox="0 0 {width} {tallest + EDGE:g}" width="{width}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {label}>{drawn}</svg>'


def _columns(ids: Iterable[str], edges: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How far to the right each node is: one further than all that leads to it."""
    columns = dict.fromkeys(ids, 0)
    edges = list(edges)
    for _ in columns:  # a plan goes one way: no path is longer than there are nodes
        moved = False
        for edge in edges:
            if columns[edge["to"]] <= columns[edge["from"]]:
                columns[edge["to"]], moved = columns[edge["from"]] + 1, True
        if not moved:
            break
    return columns


def _edge(places: Mapping[str, tuple[float, float]], edge: Mapping[str, Any]) -> str:
    (left, top), (right, bottom) = places[edge["from"]], places[edge["to"]]
    begin, end = (left + WIDE, top + HIGH / 2), (right, bottom + HIGH / 2)
    middle = (begin[0] + end[0]) / 2
    curve = f"M{begin[0]:g},{begin[1]:g} C{middle:g},{begin[1]:g} {middle:g},{end[1]:g} {end[0]:g},{end[1]:g}"
    thick = min(6.0, 0.8 + edge.get("shared", 1) ** 0.5 * 0.6)
    return f'<path d="{curve}" fill="none" stroke="currentColor" stroke-opacity=".35" stroke-width="{thick:.1f}"/>'


def _node(place: tuple[float, float], node: Mapping[str, Any]) -> str:
    left, top = place
    colour = COLOURS.get(node["kind"], "#7a7f87")
    subtitle = node.get("subtitle", "")
    middle = top + (17 if subtitle else HIGH / 2 + 4)
    style = 'font-family="system-ui,sans-serif" fill="currentColor"'
    texts = f'<text x="{left + 14:g}" y="{middle:g}" font-size="12.5" {style}>{_cut(node["title"])}</text>'
    if subtitle:
        small = f'font-size="10.5" fill-opacity=".65" {style}'
        texts += f'<text x="{left + 14:g}" y="{top + 32:g}" {small}>{_cut(subtitle)}</text>'
    box = f'x="{left:g}" y="{top:g}" width="{WIDE}" height="{HIGH}" rx="7" fill="{colour}" fill-opacity=".09"'
    stripe = f'<rect x="{left:g}" y="{top + 7:g}" width="4" height="{HIGH - 14}" rx="2" fill="{colour}"/>'
    hint = html.escape(f"{node['kind']}: {node['title']} {subtitle}".strip())
    return f'<g><title>{hint}</title><rect {box} stroke="{colour}" stroke-opacity=".5"/>{stripe}{texts}</g>'


def _cut(text: str) -> str:
    return html.escape(text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…")
