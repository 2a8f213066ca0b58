"""A chart and a table in a notebook that change as batches are committed: `job.watch("vwap")`."""

from __future__ import annotations

import json
from typing import Any

from windrow.current.answers import Answers
from windrow.current.chart import lines_of
from windrow.current.html import MOST_ROWS
from windrow.errors import SettingsError

_SCRIPT = """
const COLOURS = ["#2a78d6", "#d2453d", "#1a9e6e", "#c77d0a", "#9b59b6", "#0e8a9e"];
const WIDE = 640, HIGH = 180, EDGE = 8;

function part(name, attributes, text) {
  const own = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) own.setAttribute(key, value);
  if (text !== undefined) own.textContent = text;
  return own;
}

function chart({ value, lines }) {
  const points = lines.flatMap((line) => line.points);
  const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const x = (at) => EDGE + ((at - left) / (right - left || 1)) * (WIDE - 2 * EDGE);
  const y = (at) => HIGH - EDGE - ((at - low) / (high - low || 1)) * (HIGH - 3 * EDGE);
  const own = part("svg", { viewBox: `0 0 ${WIDE} ${HIGH + 18}`, width: WIDE, style: "max-width:100%" });
  const small = { "font-size": 11, fill: "currentColor" };
  const span = `${value}: ${low.toPrecision(4)} to ${high.toPrecision(4)}`;
  own.append(part("text", { x: EDGE, y: 10, ...small }, span));
  lines.forEach((line, number) => {
    const colour = COLOURS[number % COLOURS.length];
    const path = line.points.map(([at, own]) => `${x(at).toFixed(1)},${y(own).toFixed(1)}`).join(" ");
    own.append(part("polyline", { points: path, fill: "none", stroke: colour, "stroke-width": 1.8 }));
    const below = { x: EDGE + (number * WIDE) / COLOURS.length, y: HIGH + 14 };
    own.append(part("text", { ...small, ...below, fill: colour }, line.name));
  });
  return own;
}

function render({ model, el }) {
  const draw = () => {
    const told = JSON.parse(model.get("told"));
    const table = document.createElement("table");
    const line = (cells, kind) => {
      const row = document.createElement("tr");
      for (const cell of cells) {
        const own = document.createElement(kind);
        own.textContent = cell === null ? "NULL" : String(cell);
        own.style.padding = "2px 12px 2px 0";
        own.style.textAlign = typeof cell === "number" ? "right" : "left";
        row.append(own);
      }
      table.append(row);
    };
    line(told.names, "th");
    for (const row of told.rows) line(row, "td");
    const note = document.createElement("div");
    note.textContent = told.note;
    note.style.opacity = 0.7;
    el.replaceChildren(...(told.chart ? [chart(told.chart)] : []), table, note);
  };
  model.on("change:told", draw);
  draw();
}
export default { render };
"""


def watch_answer(answers: Answers, name: str) -> Any:
    """A widget that shows the current answer of a query, and changes with it until its `close`."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise SettingsError(
            f"watching in a notebook needs {error.name}, which is not installed\nhint: pip install 'windrow[notebook]'"
        ) from None

    class AnswerWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """The rows of an answer, and of which batch they are."""

        _esm = _SCRIPT
        told = traitlets.Unicode("{}").tag(sync=True)

        def close(self) -> None:
            self.end()
            super().close()

    widget = AnswerWidget(told=told_of(answers, name))
    _, widget.end = answers.listen(name, lambda update: setattr(widget, "told", told_of(answers, name)), None)
    return widget


def told_of(answers: Answers, name: str) -> str:
    """The current answer as the widget is told it."""
    answer = answers.answer(name)
    rows = answer.table.slice(0, MOST_ROWS)
    cells = [[_plain(value) for value in row.values()] for row in rows.to_pylist()]
    note = f"{name}: {len(answer):,} rows, batch {answer.batch}, clock {answer.clock}"
    return json.dumps({"names": rows.column_names, "rows": cells, "note": note, "chart": lines_of(answers.kept(name))})


def _plain(value: Any) -> Any:
    finite = isinstance(value, float) and abs(value) < float("inf")
    return value if value is None or finite or isinstance(value, bool | int | str) else str(value)
