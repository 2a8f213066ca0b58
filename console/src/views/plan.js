// The shared plan as a graph: streams, panes, windows, queries and sinks; a click shows what explain says.
import dagre from "@dagrejs/dagre";
import { get } from "../api.js";
import { fill, h, setText } from "../dom.js";
import { count, rate } from "../format.js";

const KINDS = { stream: "stream", panes: "panes", window: "window", changes: "operators", answers: "answers as a stream", query: "query", sink: "sink" };
const MOST_NODES = 400;

export function plan({ body, actions, state, toast }) {
  const graph = h("div", { class: "graph", style: { "max-height": "62vh" } });
  const heading = h("h2", {}, "Explanation");
  const detail = h("pre", { class: "detail mono" });
  const legend = h("div", { class: "legend" }, Object.entries({ stream: "--s2", panes: "--s0", window: "--s4", query: "--s1", sink: "--s3", changes: "--s5" }).map(([kind, own]) => h("span", { style: { "--c": `var(${own})` } }, KINDS[kind])));
  const again = h("button", { class: "plain", onclick: () => load() }, "Refresh");
  actions.append(again);
  body.append(h("section", { class: "panel" }, graph, legend), h("section", { class: "panel" }, heading, detail));
  let labels = [];

  async function load() {
    let told;
    try { told = await get("/plan"); } catch (error) { toast(error.message); return; }
    setText(detail, told.text);
    const layout = new dagre.graphlib.Graph().setGraph({ rankdir: innerWidth < 760 ? "TB" : "LR", nodesep: 14, ranksep: 84, marginx: 16, marginy: 16 }).setDefaultEdgeLabel(() => ({}));
    const nodes = told.nodes.slice(0, MOST_NODES);
    const known = new Set(nodes.map((node) => node.id));
    for (const node of nodes) layout.setNode(node.id, { width: Math.min(260, Math.max(96, Math.max(node.title.length * 8, (node.subtitle || "").length * 6.6) + 34)), height: node.subtitle ? 50 : 36 });
    const edges = told.edges.filter((edge) => known.has(edge.from) && known.has(edge.to));
    for (const edge of edges) layout.setEdge(edge.from, edge.to);
    dagre.layout(layout);
    const { width, height } = layout.graph();
    labels = [];
    const svg = h("svg:svg", { width: width || 100, height: height || 60, role: "img", "aria-label": "the plan as a graph" },
      edges.map((edge) => {
        const points = layout.edge(edge.from, edge.to).points;
        const [first, ...rest] = points;
        const middle = points[Math.floor(points.length / 2)];
        const text = h("svg:text", { class: "edge-label", x: middle.x, y: middle.y - 5, "text-anchor": "middle" });
        labels.push({ edge, text });
        const bent = `M${first.x},${first.y} ${rest.map((point, at) => (at + 1 < rest.length ? `Q${point.x},${point.y} ${(point.x + rest[at + 1].x) / 2},${(point.y + rest[at + 1].y) / 2}` : `L${point.x},${point.y}`)).join(" ")}`;
        return [h("svg:path", { class: "edge", d: bent, "stroke-width": Math.min(6, 1.2 + Math.log2(edge.shared || 1)) }), text];
      }),
      nodes.map((node) => box(node, layout.node(node.id))));
    fill(graph, svg, told.nodes.length > MOST_NODES ? h("p", { class: "soft", style: { padding: "0 12px" } }, `${count(told.nodes.length - MOST_NODES)} more nodes are not drawn; the explanation has all.`) : null);
    update();
  }

  function box(node, { x, y, width, height }) {
    const [left, top] = [x - width / 2, y - height / 2];
    const cut = (text, wide) => (text.length > wide ? `${text.slice(0, wide - 1)}…` : text);
    const choose = () => {
      graph.querySelector(".chosen")?.classList.remove("chosen");
      own.classList.add("chosen");
      setText(heading, `${KINDS[node.kind] || node.kind}: ${node.title}`);
      setText(detail, node.detail || "Nothing more is known of it.");
    };
    const own = h("svg:g", { class: "node", tabindex: 0, role: "button", "aria-label": `${node.kind} ${node.title}`, onclick: choose, onkeydown: (event) => event.key === "Enter" && choose() },
      h("svg:rect", { x: left, y: top, width, height, rx: 8 }),
      h("svg:rect", { class: `stripe stripe-${node.kind}`, x: left, y: top + 8, width: 4, height: height - 16, rx: 2 }),
      h("svg:text", { x: left + 16, y: top + (node.subtitle ? 21 : height / 2 + 5) }, cut(node.title, 28)),
      node.subtitle ? h("svg:text", { class: "sub", x: left + 16, y: top + 38 }, cut(node.subtitle, 36)) : null,
      h("svg:title", {}, `${node.title} ${node.subtitle || ""}`));
    return own;
  }

  function update() {
    if (!state.overview) return;
    const rates = new Map(state.overview.streams.map((stream) => [`stream ${stream.name}`, stream.events_per_second]));
    const rows = new Map(state.overview.queries.map((query) => [`query ${query.name}`, query.rows_per_second]));
    const taken = new Map();
    for (const stream of state.overview.streams) {
      const batches = stream.batches || 1;
      for (const [kind, seconds] of [["query", stream.query_seconds], ["sink", stream.sink_seconds]])
        for (const [name, spent] of Object.entries(seconds || {})) taken.set(`${kind} ${name}`, spent / batches);
    }
    const time = (key) => (taken.get(key) >= 0.0005 ? `${Math.round(taken.get(key) * 1000)} ms` : "");
    for (const { edge, text } of labels) {
      const query = edge.from.startsWith("query ") && edge.to.startsWith("sink ") ? edge.from.slice("query ".length) : null;
      const moved = rates.get(edge.from) ? `${rate(rates.get(edge.from))}/s` : query !== null && rows.get(edge.from) ? `${rate(rows.get(edge.from))} rows/s` : edge.shared > 1 ? `×${edge.shared}` : "";
      const spent = query === null ? time(edge.to) : time(`sink ${query}`);
      setText(text, [moved, spent].filter(Boolean).join(" · "));
    }
  }
  load();
  return { update };
}
