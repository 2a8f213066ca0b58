// The chart that fits what a query answers: lines over time by group, bars for few rows, a plane for places.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { fill, h } from "./dom.js";
import { value } from "./format.js";
import { css } from "./spark.js";

export const MOST_LINES = 8;
const color = (at) => css(`--s${at % 8}`);
const TIMES = ["window_start", "window_end", "time"];

export function describe(rows, text) {
  const names = rows.length ? Object.keys(rows[0]) : [];
  const kind = (name) => rows.find((row) => row[name] !== null && row[name] !== undefined)?.[name];
  const time = names.includes("window_end") ? "window_end" : names.includes("time") ? "time" : null;
  const numbers = names.filter((name) => typeof kind(name) === "number" && !["level", "window_row", "window_number", "cluster", "other"].includes(name));
  const groups = names.filter((name) => typeof kind(name) === "string" && !TIMES.includes(name) && !["op", "change", "final"].includes(name));
  const place = (way) => names.find((name) => typeof kind(name) === "number" && new RegExp(`^(${way}|c${way}|${way}_mean|mean_${way}|avg_${way}|center_${way}|${way}_center|${way === "x" ? "lon|longitude" : "lat|latitude"})$`, "i").test(name));
  const cluster = names.find((name) => /^cluster/.test(name));
  const ways = [];
  if (place("x") && place("y")) ways.push("plane");
  if (names.includes("op")) ways.push("changes");
  if (numbers.length && time && !names.includes("op")) ways.push("lines");
  if (numbers.length && !names.includes("op")) ways.push("bars");
  if (/\blimit\b/i.test(text || "") && ways.includes("bars")) ways.sort((a, b) => (a === "bars" ? -1 : b === "bars" ? 1 : 0));
  return { names, time, numbers, group: groups[0] || (names.includes("cluster") ? "cluster" : null), x: place("x"), y: place("y"), cluster, level: names.includes("level"), ways };
}

const seconds = (text) => Date.parse(text) / 1000;

// Of all groups those with the largest newest values: they are the busiest, and stay while they are among them.
function busiest(rows, shape, column) {
  const newest = new Map();
  for (const row of rows) newest.set(shape.group ? row[shape.group] : "", row[column]);
  return [...newest].sort((a, b) => (b[1] ?? -Infinity) - (a[1] ?? -Infinity)).slice(0, MOST_LINES).map(([name]) => name).sort((a, b) => (String(a) < String(b) ? -1 : 1));
}

export function linesChart(place) {
  const charts = new Map();
  const legend = h("div", { class: "legend" });
  const multiples = h("div", {});
  fill(place, multiples, legend);

  function draw(rows, shape, column) {
    const levels = shape.level ? [...new Set(rows.map((row) => row.level))].sort((a, b) => a - b) : [null];
    multiples.className = levels.length > 1 ? "multiples" : "";
    const names = shape.group ? busiest(rows, shape, column) : [column];
    for (const level of levels) one(level, rows.filter((row) => level === null || row.level === level), shape, column, names, levels.length > 1);
    for (const [level, own] of charts) if (!levels.includes(level)) { own.chart.destroy(); own.box.remove(); charts.delete(level); }
    const all = shape.group ? new Set(rows.map((row) => row[shape.group])).size : 1;
    fill(legend, names.map((name, at) => h("span", { style: { "--c": color(at) } }, value(name))), all > names.length ? h("em", { class: "soft" }, `the ${names.length} largest of ${all}`) : null);
  }

  function one(level, rows, shape, column, names, small) {
    const times = [...new Set(rows.map((row) => row[shape.time]))].map((text) => [seconds(text), text]).sort((a, b) => a[0] - b[0]);
    const at = new Map(times.map(([, text], place) => [text, place]));
    const data = [times.map(([time]) => time), ...names.map(() => new Array(times.length).fill(null))];
    const place = new Map(names.map((name, number) => [name, number + 1]));
    for (const row of rows) {
      const own = shape.group ? place.get(row[shape.group]) : 1;
      if (own !== undefined && typeof row[column] === "number") data[own][at.get(row[shape.time])] = row[column];
    }
    const key = names.join("\0") + column + document.documentElement.dataset.theme;
    const known = charts.get(level);
    if (known && known.key === key) {
      known.chart.setData(data);
      return;
    }
    if (known) { known.chart.destroy(); known.box.remove(); }
    const box = h("div", {}, small ? h("h2", {}, `level ${level}`) : null);
    multiples.append(box);
    const axis = { stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line") }, font: "11px system-ui" };
    const chart = new uPlot(
      {
        width: Math.max(240, box.clientWidth || place.clientWidth || 600), height: small ? 160 : 300, cursor: { points: { size: 6 } }, legend: { show: false },
        tzDate: (time) => uPlot.tzDate(new Date(time * 1000), "Etc/UTC"),
        scales: { y: { range: (own, low, high) => (low === null ? [0, 1] : low === high ? [low - 1, high + 1] : [low - (high - low) * 0.08, high + (high - low) * 0.08]) } },
        axes: [{ ...axis, values: (own, splits) => splits.map((time) => new Date(time * 1000).toISOString().slice(11, 19)), space: 84 }, { ...axis, size: 62 }],
        series: [{}, ...names.map((name, number) => ({ label: value(name), stroke: color(number), width: 1.8, spanGaps: true, points: { show: times.length < 3 } }))],
      },
      data,
      box,
    );
    charts.set(level, { chart, box, key });
  }
  const resize = new ResizeObserver(() => { for (const { chart, box } of charts.values()) if (box.clientWidth) chart.setSize({ width: box.clientWidth, height: chart.height }); });
  resize.observe(place);
  return { draw, close: () => { resize.disconnect(); for (const { chart } of charts.values()) chart.destroy(); } };
}

export function barsChart(place) {
  const box = h("div", {});
  fill(place, box);
  function draw(rows, shape, column) {
    const ends = rows.map((row) => row[shape.time]).filter(Boolean);
    const newest = ends.length ? ends.reduce((a, b) => (a > b ? a : b)) : null;
    const own = rows.filter((row) => !shape.time || row[shape.time] === newest).filter((row) => typeof row[column] === "number").sort((a, b) => b[column] - a[column]).slice(0, 20);
    const most = Math.max(1e-12, ...own.map((row) => Math.abs(row[column])));
    const [bar, wide] = [26, place.clientWidth || 600];
    const label = Math.min(160, wide * 0.3);
    fill(box, h("svg:svg", { width: wide, height: own.length * bar + 6, role: "img", "aria-label": `${column} of the newest window` }, own.map((row, at) => [
      h("svg:text", { x: label - 8, y: at * bar + 18, "text-anchor": "end", fill: css("--ink"), "font-size": 13 }, shape.group ? value(row[shape.group]) : column),
      h("svg:rect", { x: label, y: at * bar + 5, width: Math.max(2, (Math.abs(row[column]) / most) * (wide - label - 90)), height: bar - 9, rx: 3, fill: row[column] < 0 ? css("--bad") : color(0) }),
      h("svg:text", { x: label + Math.max(2, (Math.abs(row[column]) / most) * (wide - label - 90)) + 8, y: at * bar + 18, fill: css("--soft"), "font-size": 12 }, value(row[column])),
    ])));
  }
  return { draw, close: () => {} };
}

// Places with numbers, where they have been, and hulls where there are some.
export function planeChart(place) {
  const canvas = h("canvas", { class: "drawing", role: "img", "aria-label": "places" });
  fill(place, canvas);
  function draw(rows, shape) {
    const scale = devicePixelRatio || 1;
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    [canvas.width, canvas.height] = [wide * scale, high * scale];
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const points = rows.filter((row) => typeof row[shape.x] === "number" && typeof row[shape.y] === "number");
    if (!points.length) return;
    const [xs, ys] = [points.map((row) => row[shape.x]), points.map((row) => row[shape.y])];
    const [left, right, low, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const by = Math.min((wide - 60) / (right - left || 1), (high - 60) / (top - low || 1));
    const at = (row) => [30 + (row[shape.x] - left) * by, high - 30 - (row[shape.y] - low) * by];
    const name = shape.cluster || shape.group;
    const trails = new Map();
    for (const row of points) { const own = name ? row[name] : 0; if (!trails.has(own)) trails.set(own, []); trails.get(own).push(row); }
    const newest = shape.time ? points.map((row) => row[shape.time]).reduce((a, b) => (a > b ? a : b)) : null;
    let number = 0;
    for (const [own, trail] of trails) {
      const tint = color(typeof own === "number" ? own : number++);
      pen.strokeStyle = pen.fillStyle = tint;
      pen.globalAlpha = 0.4;
      pen.lineWidth = 2;
      pen.beginPath();
      trail.slice(-40).forEach((row, step) => (step ? pen.lineTo(...at(row)) : pen.moveTo(...at(row))));
      pen.stroke();
      pen.globalAlpha = 1;
      const row = trail[trail.length - 1];
      if (newest && row[shape.time] !== newest) continue;
      const hull = Object.values(row).find((cell) => Array.isArray(cell) && cell.length > 2 && Array.isArray(cell[0]));
      if (hull) { pen.globalAlpha = 0.2; pen.beginPath(); hull.forEach(([x, y], step) => pen[step ? "lineTo" : "moveTo"](30 + (x - left) * by, high - 30 - (y - low) * by)); pen.closePath(); pen.fill(); pen.globalAlpha = 1; }
      const [x, y] = at(row);
      pen.beginPath();
      pen.arc(x, y, 6, 0, 7);
      pen.fill();
      pen.fillStyle = css("--ink");
      pen.font = "12px system-ui";
      pen.fillText(value(own), x + 9, y + 4);
    }
  }
  return { draw, close: () => {} };
}

// What came and what went, newest first.
export function changesChart(place) {
  const box = h("div", {});
  fill(place, box);
  function draw(rows, shape) {
    const slots = [...new Set(rows.map((row) => row[shape.time]))].slice(-60);
    const plus = slots.map((time) => rows.filter((row) => row[shape.time] === time && row.op === "+").length);
    const minus = slots.map((time) => rows.filter((row) => row[shape.time] === time && row.op === "-").length);
    const most = Math.max(1, ...plus, ...minus);
    const [wide, half] = [place.clientWidth || 600, 90];
    const step = Math.min(26, (wide - 40) / Math.max(1, slots.length));
    fill(box, h("svg:svg", { width: wide, height: half * 2 + 24, role: "img", "aria-label": "rows that came and went" }, [
      h("svg:text", { x: 4, y: 14, fill: css("--good"), "font-size": 14, "font-weight": 700 }, "+"),
      h("svg:text", { x: 4, y: half * 2, fill: css("--bad"), "font-size": 14, "font-weight": 700 }, "−"),
      h("svg:line", { x1: 20, x2: wide, y1: half, y2: half, stroke: css("--line") }),
      slots.map((time, at) => [
        h("svg:rect", { x: 24 + at * step, y: half - (plus[at] / most) * (half - 12), width: step * 0.7, height: (plus[at] / most) * (half - 12), rx: 2, fill: css("--good") }, h("svg:title", {}, `${time}: ${plus[at]} came`)),
        h("svg:rect", { x: 24 + at * step, y: half, width: step * 0.7, height: (minus[at] / most) * (half - 12), rx: 2, fill: css("--bad") }, h("svg:title", {}, `${time}: ${minus[at]} went`)),
      ]),
    ]));
  }
  return { draw, close: () => {} };
}

export const CHARTS = { lines: linesChart, bars: barsChart, plane: planeChart, changes: changesChart };
