"""A table in a notebook that changes as batches are committed: `job.watch("vwap")`."""

from __future__ import annotations

import json
from typing import Any

from windrow.current.answers import Answers
from windrow.current.html import MOST_ROWS
from windrow.errors import SettingsError

_SCRIPT = """
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
    el.replaceChildren(table, note);
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
    return json.dumps({"names": rows.column_names, "rows": cells, "note": note})


def _plain(value: Any) -> Any:
    finite = isinstance(value, float) and abs(value) < float("inf")
    return value if value is None or finite or isinstance(value, bool | int | str) else str(value)
