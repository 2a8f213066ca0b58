// Streams with their rate, clock and delay; queries with their newest answer. History is there when the page opens.
import { h, setText } from "../dom.js";
import { bytes, count, instant, rate, seconds, windowLabel } from "../format.js";
import { css, sparkline } from "../spark.js";

const MOST = 100;

export function overview({ body, state, go }) {
  const cards = h("div", { class: "cards" });
  const filter = h("input", { type: "search", placeholder: "Filter queries  /", "aria-label": "Filter queries", oninput: () => { shown = MOST; update(); } });
  const rows = h("tbody", {});
  const more = h("button", { class: "plain", onclick: () => { shown += MOST; update(); } });
  const total = h("span", { class: "soft" });
  const head = ["query", "window", "newest answer", "rows", "rows/s", "sink", ""];
  const table = h("table", {}, h("thead", {}, h("tr", {}, head.map((name, at) => h("th", { class: at === 3 || at === 4 ? "num" : at === 5 ? "hide-small" : "" }, name)))), rows);
  body.append(cards, h("section", { class: "panel" }, h("div", { class: "bar" }, h("h2", { style: { margin: "0" } }, "Queries"), total, h("span", { class: "gap" }), filter), h("div", { class: "scroll" }, table), h("div", { class: "bar", style: { margin: "10px 0 0" } }, more)));
  const known = new Map();
  const visible = new Set();
  const seen = new IntersectionObserver((entries) => { // of many streams, those on the screen are drawn
    for (const entry of entries) (entry.isIntersecting ? visible.add(entry.target) : visible.delete(entry.target));
    update();
  }, { rootMargin: "200px" });
  const lines = new Map();
  let shown = MOST;

  function card(name) {
    const own = { clock: h("span", { class: "clock" }), mark: h("span", { class: "mark" }), big: h("span", {}), canvas: h("canvas", { class: "spark", role: "img", "aria-label": `events a second of ${name}` }), delays: h("canvas", { class: "spark", role: "img", "aria-label": `delay of ${name}` }), facts: {} };
    const fact = (title) => { own.facts[title] = h("dd", {}); return h("div", {}, h("dt", {}, title), own.facts[title]); };
    own.delayTitle = h("span", { class: "soft" });
    own.element = h("section", { class: "panel" }, h("div", { class: "card-head" }, h("strong", {}, name), own.mark, own.clock), h("div", { class: "big" }, own.big, h("small", {}, " events/s")), own.canvas, own.delayTitle, own.delays, h("dl", { class: "facts", style: { margin: "0" } }, ["behind", "lateness", "lag", "events", "rejected", "state"].map(fact)));
    return own;
  }

  // A frame makes so many cards or lines, and the next one goes on: of a thousand, none keeps the page from answering.
  const [MOST_CARDS, MOST_LINES] = [10, 40];
  let asked = 0;
  function again() {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(update);
  }

  function update() {
    updateStreams();
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(updateQueries);
  }

  function updateStreams() {
    const told = state.overview;
    if (!told) return;
    let made = 0;
    for (const stream of told.streams) {
      if (!known.has(stream.name) && ++made > MOST_CARDS) break;
      if (!known.has(stream.name)) { known.set(stream.name, card(stream.name)); cards.append(known.get(stream.name).element); seen.observe(known.get(stream.name).element); }
      const own = known.get(stream.name);
      if (!visible.has(own.element)) continue;
      const points = state.history[stream.name] || [];
      const recent = points.slice(-10).map((point) => point[2]);
      setText(own.big, rate(recent.length ? recent.reduce((a, b) => a + b, 0) / recent.length : null));
      setText(own.clock, instant(stream.clock));
      const busy = points.length ? points[points.length - 1][8] : null;
      own.mark.className = stream.bottleneck ? "mark" : "mark good";
      setText(own.mark, stream.waiting ? "waiting for input" : stream.bottleneck ? `busiest${busy ? `: ${busy}` : ""}` : "");
      own.mark.hidden = !own.mark.textContent;
      sparkline(own.canvas, points.map((point) => point[2]), css("--s0"));
      sparkline(own.delays, points.map((point) => point[5]), css("--s1"));
      setText(own.delayTitle, stream.delay ? `delay p50 ${seconds(stream.delay.p50)}, p99 ${seconds(stream.delay.p99)}` : "delay: nothing has waited yet");
      const counts = Object.entries(stream.rejected).filter(([, number]) => number);
      setText(own.facts.behind, seconds(stream.behind));
      setText(own.facts.lateness, seconds(stream.lateness));
      setText(own.facts.events, count(stream.events));
      setText(own.facts.rejected, counts.length ? counts.map(([cause, number]) => `${count(number)} ${cause}`).join(", ") : "none");
      setText(own.facts.state, stream.state_bytes ? bytes(stream.state_bytes) : "–");
      const lags = Object.values(stream.lag || {});
      setText(own.facts.lag, lags.length ? `${count(lags.reduce((a, b) => a + b, 0))} messages` : stream.waiting ? "none" : "–");
    }
    for (const [name, own] of known) if (!told.streams.some((stream) => stream.name === name)) { seen.unobserve(own.element); visible.delete(own.element); own.element.remove(); known.delete(name); }
  }

  function updateQueries() {
    const told = state.overview;
    if (!told) return;
    let made = 0;
    const wanted = filter.value.trim().toLowerCase();
    const fitting = told.queries.filter((query) => query.name.toLowerCase().includes(wanted) || query.stream.toLowerCase().includes(wanted));
    setText(total, `${count(told.queries.length)}${fitting.length < told.queries.length ? `, ${count(fitting.length)} fit` : ""}`);
    const drawn = fitting.slice(0, shown);
    const names = new Set(drawn.map((query) => query.name));
    for (const [name, line] of lines) if (!names.has(name)) { line.element.remove(); lines.delete(name); }
    drawn.forEach((query, at) => {
      if (!lines.has(query.name) && ++made > MOST_LINES) return;
      if (!lines.has(query.name)) lines.set(query.name, line(query.name));
      const own = lines.get(query.name);
      if (rows.children[at] !== own.element) rows.insertBefore(own.element, rows.children[at] || null);
      setText(own.cells[1], windowLabel(query.window));
      setText(own.cells[2], query.newest ? `${instant(query.newest.at)} · ${count(query.newest.rows)} ${query.newest.rows === 1 ? "row" : "rows"}${query.newest.cut ? `, ${count(query.newest.cut)} cut` : ""}` : query.stopped ? "" : "none yet");
      setText(own.cells[3], count(query.rows));
      setText(own.cells[4], rate(query.rows_per_second));
      setText(own.cells[5], query.sink || "");
      setText(own.cells[6].firstChild, query.stopped ? "stopped" : "");
      own.cells[6].firstChild.hidden = !query.stopped;
      own.cells[6].title = query.stopped || "";
    });
    more.hidden = fitting.length <= shown;
    setText(more, `${count(fitting.length - shown)} more`);
    if (made > MOST_LINES || told.streams.some((stream) => !known.has(stream.name))) again();
  }

  function line(name) {
    const cells = ["", "", "", "num", "num", "hide-small", ""].map((kind) => h("td", { class: kind }));
    cells[0].append(h("a", { href: `#/query/${encodeURIComponent(name)}` }, name));
    cells[6].append(h("span", { class: "mark bad" }));
    return { cells, element: h("tr", { ondblclick: () => go(`query/${encodeURIComponent(name)}`) }, cells) };
  }
  return { update, theme: update, close: () => { cancelAnimationFrame(asked); seen.disconnect(); } };
}
