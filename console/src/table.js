// Rows as a table: sorted by a click, filtered by words, with numbers to the right.
import { h } from "./dom.js";
import { value } from "./format.js";

const MOST = 300;

export function rowsTable(rows, onSort) {
  const head = h("tr", {});
  const body = h("tbody", {});
  const note = h("caption", { style: { "caption-side": "bottom", padding: "6px" }, class: "soft" });
  const element = h("div", { class: "scroll" }, h("table", {}, note, h("thead", {}, head), body));
  let columns = "";
  let sort = null;
  let filter = "";
  let held = rows;

  function show(next, words = filter) {
    [held, filter] = [next, words];
    const names = next.length ? Object.keys(next[0]) : [];
    if (names.join("\0") !== columns && names.length) {
      columns = names.join("\0");
      head.replaceChildren(...names.map((name) => h("th", { class: numeric(next, name) ? "num" : "" }, h("button", { onclick: () => sorted(name) }, name))));
    }
    let fitting = filter ? next.filter((row) => Object.values(row).some((own) => value(own).toLowerCase().includes(filter.toLowerCase()))) : next;
    if (sort) fitting = [...fitting].sort((a, b) => compare(a[sort.name], b[sort.name]) * sort.way);
    const lines = fitting.slice(0, MOST);
    lines.forEach((row, at) => line(row, at, names));
    while (body.children.length > lines.length) body.lastChild.remove();
    note.textContent = fitting.length > MOST ? `${fitting.length - MOST} more rows are not drawn` : next.length ? "" : "no row";
  }

  function line(row, at, names) {
    let own = body.children[at];
    if (!own || own.children.length !== names.length) {
      const fresh = h("tr", {}, names.map(() => h("td", {})));
      if (own) own.replaceWith(fresh);
      else body.append(fresh);
      own = fresh;
    }
    names.forEach((name, place) => {
      const cell = own.children[place];
      const text = value(row[name]);
      const kind = name === "op" ? (row.op === "+" ? "plus" : "minus") : row[name] === null ? "null" : typeof row[name] === "number" ? "num" : "";
      if (cell.className !== kind) cell.className = kind;
      if (cell.textContent !== text) { cell.textContent = text; cell.title = text.length > 40 ? text : ""; }
    });
  }

  function sorted(name) {
    sort = sort && sort.name === name ? (sort.way === 1 ? { name, way: -1 } : null) : { name, way: 1 };
    for (const own of head.children) {
      const title = own.firstChild.textContent.replace(/ [↑↓]$/, "");
      own.firstChild.textContent = sort && sort.name === title ? `${title} ${sort.way > 0 ? "↑" : "↓"}` : title;
      own.setAttribute("aria-sort", sort && sort.name === title ? (sort.way > 0 ? "ascending" : "descending") : "none");
    }
    show(held);
    if (onSort) onSort();
  }
  show(rows);
  return { element, show };
}

const numeric = (rows, name) => rows.some((row) => typeof row[name] === "number");

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
}
