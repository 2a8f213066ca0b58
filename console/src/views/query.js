// One query: its newest windows as a table and a chart, and the drawing of its panes, windows and clock.
import { ask, follow, get } from "../api.js";
import { CHARTS, describe } from "../charts.js";
import { coalesced, fill, h, later, setText } from "../dom.js";
import { count, instant, windowLabel } from "../format.js";
import { confirmed } from "../main.js";
import { rowsTable } from "../table.js";
import { timeline } from "../timeline.js";

const MOST_ROWS = 20000;

export function query({ body, actions, state, toast, go, setTitle, argument }) {
  const names = () => (state.overview ? state.overview.queries.filter((own) => !own.stopped).map((own) => own.name) : []);
  const name = argument || state.last;
  if (!name) {
    fill(body, h("p", { class: "soft" }, "Choose a query in the overview."));
    return { update: () => { if (names().length) go(`query/${encodeURIComponent(names()[0])}`); } };
  }
  state.last = name;
  localStorage.setItem("windrow-query", name);
  setTitle(name);
  let facts = null;
  let history = [];
  let newest = [];
  let about = { batch: null, clock: null, cut: 0 };
  let paused = false;
  let chart = null;
  let shape = { ways: [], numbers: [] };
  let way = null;
  let column = null;
  let columnKey = "";

  const pick = h("select", { "aria-label": "Query", onchange: () => go(`query/${encodeURIComponent(pick.value)}`) });
  const label = h("span", { class: "pill plain" });
  const stream = h("span", { class: "pill" }, "connecting");
  const pause = h("button", { class: "plain", onclick: () => setPaused(!paused), title: "p" }, "Pause");
  const filter = h("input", { type: "search", placeholder: "Filter rows  /", "aria-label": "Filter rows", oninput: later(() => table.show(newest, filter.value), 100) });
  const save = h("button", { class: "plain", onclick: download }, "Download CSV");
  const drop = h("button", { class: "plain danger", onclick: dropped }, "Drop …");
  actions.append(pick, label, stream, pause, drop);

  const canvas = h("canvas", { class: "timeline", role: "img", "aria-label": "Panes, windows, clock and lateness" });
  const drawing = timeline(canvas);
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": "Chart" });
  const columns = h("select", { "aria-label": "Column", onchange: () => { column = columns.value; draw(); } });
  const place = h("div", {});
  const meta = h("span", { class: "soft" });
  const table = rowsTable([]);
  const text = h("pre", { class: "mono", style: { margin: 0, "white-space": "pre-wrap" } });
  const chartPanel = h("section", { class: "panel" }, h("div", { class: "bar" }, h("h2", { style: { margin: 0 } }, "Chart"), h("span", { class: "gap" }), columns, tabs), place);
  body.append(
    h("section", { class: "panel" }, h("h2", {}, "How its windows slide"), canvas),
    chartPanel,
    h("section", { class: "panel" }, h("div", { class: "bar" }, h("h2", { style: { margin: 0 } }, "Current answer"), meta, h("span", { class: "gap" }), filter, save), table.element),
    h("section", { class: "panel" }, h("h2", {}, "As it is written"), text),
  );

  const draw = coalesced(() => {
    const rows = history.length ? history : newest;
    const next = describe(rows, facts && facts.text);
    shape = next;
    if (!next.ways.includes(way)) way = next.ways[0] || null;
    if (!next.numbers.includes(column)) column = next.numbers[0] || null;
    const key = next.ways.join() + way;
    if (tabs.dataset.key !== key) {
      tabs.dataset.key = key;
      tabs.hidden = next.ways.length < 2;
      fill(tabs, next.ways.length > 1 ? next.ways.map((own) => h("button", { "aria-pressed": String(own === way), onclick: () => { way = own; draw(); } }, own)) : []);
      if (chart) chart.close();
      chart = way ? CHARTS[way](place) : null;
    }
    const known = next.numbers.join();
    if (columnKey !== known) { columnKey = known; fill(columns, next.numbers.map((own) => h("option", { value: own, selected: own === column }, own))); }
    columns.hidden = next.numbers.length < 2 || way === "changes" || way === "plane";
    chartPanel.hidden = !way;
    if (chart && rows.length) chart.draw(rows, next, column);
    table.show(newest, filter.value);
    const cut = about.cut ? `, ${count(about.cut)} more are not kept` : "";
    setText(meta, about.batch === null ? "none yet" : `${count(newest.length)} ${newest.length === 1 ? "row" : "rows"}${cut} · batch ${about.batch} · clock ${instant(about.clock)}`);
  });

  async function current() {
    const told = await get(`/answers/${encodeURIComponent(name)}`);
    [newest, about] = [told.rows, told];
  }

  let waiting = null;
  async function take(event, told) {
    waiting = waiting && event !== "answer" ? { ...told, rows: [...waiting.rows, ...told.rows] } : told;
    if (paused) return;
    await refresh(event);
  }

  let fetching = false;
  async function refresh(event) {
    if (!waiting) return;
    const told = waiting;
    waiting = null;
    const changes = told.rows.length && "op" in told.rows[0];
    if (event === "answer") history = told.rows.length && !changes && !history.length ? told.rows : history;
    else history = history.length + told.rows.length > MOST_ROWS ? [...history, ...told.rows].slice(-MOST_ROWS) : [...history, ...told.rows];
    if (changes || event === "answer") {
      if (fetching) return;
      fetching = true;
      try { await current(); } catch (error) { toast(error.message); } finally { fetching = false; }
    } else {
      const time = told.rows.length && "window_end" in told.rows[0] ? told.rows.reduce((most, row) => (row.window_end > most ? row.window_end : most), "") : null;
      newest = time && !("level" in told.rows[0]) ? told.rows.filter((row) => row.window_end === time) : told.rows;
      about = { batch: told.batch, clock: told.clock, cut: told.cut };
    }
    draw();
  }

  function setPaused(next) {
    paused = next;
    setText(pause, paused ? "Go on" : "Pause");
    pause.setAttribute("aria-pressed", String(paused));
    if (!paused) refresh("change");
  }

  async function download() {
    try {
      const answer = await ask("GET", `/answers/${encodeURIComponent(name)}`, undefined, { headers: { Accept: "text/csv" }, raw: true });
      const link = h("a", { href: URL.createObjectURL(await answer.blob()), download: `${name}.csv` });
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) { toast(error.message); }
  }

  async function dropped() {
    if (!(await confirmed(`Drop ${name}?`, facts ? facts.lost : "It answers no more.", "Drop"))) return;
    try {
      await ask("DELETE", `/queries/${encodeURIComponent(name)}`);
      state.last = "";
      localStorage.removeItem("windrow-query");
      toast(`${name} is dropped`);
      go("");
    } catch (error) { toast([error.message, error.hint].filter(Boolean).join("\n")); }
  }

  let end = () => {};
  (async () => {
    try {
      facts = await get(`/queries/${encodeURIComponent(name)}`);
      setText(text, facts.text || "(the text is not known here)");
      const told = await get(`/answers/${encodeURIComponent(name)}/history`);
      history = told.rows.slice(-MOST_ROWS);
      await current();
      draw();
    } catch (error) {
      fill(body, h("div", { class: "notice bad" }, error.message, error.hint ? h("div", {}, error.hint) : null));
      if (error.status === 404) state.last = "";
      return;
    }
    end = follow(`/answers/${encodeURIComponent(name)}/changes`, take, (own) => {
      stream.className = `pill ${own === "live" ? "live" : "stale"}`;
      setText(stream, own === "live" ? "answers come in" : own);
    });
  })();

  function update() {
    const known = names();
    if (pick.dataset.known !== known.join("\0")) { pick.dataset.known = known.join("\0"); fill(pick, known.map((own) => h("option", { value: own, selected: own === name }, own))); }
    const own = state.overview.queries.find((one) => one.name === name);
    if (!own || !own.window) return;
    setText(label, windowLabel(own.window));
    const figures = state.overview.streams.find((one) => one.name === own.run);
    drawing.set({ window: own.window, points: state.history[own.run] || [], lateness: figures ? figures.lateness : 0 });
  }
  return { update, theme: () => { tabs.dataset.key = ""; draw(); }, key: (key) => key === "p" && setPaused(!paused), close: () => { end(); if (chart) chart.close(); } };
}
