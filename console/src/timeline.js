// The picture that explains sliding windows: events fall into panes, panes fill windows, and the clock closes them.
//
//   events     | a bar for each pane, as high as it has events
//   windows    | one line each: closed ones are answered, open ones fill as the clock moves
//   clock      | a line; what lies between it and the newest event may still come: the lateness
import { css } from "./spark.js";

const SECOND = 1;

export function timeline(canvas) {
  let facts = null;
  let frame = 0;
  let shownClock = null;

  function set(next) {
    facts = next;
    if (!frame) frame = requestAnimationFrame(step);
  }

  function step(now) {
    frame = 0;
    if (!canvas.isConnected || !facts) return;
    draw(now);
    frame = requestAnimationFrame(step);
  }

  function draw() {
    const scale = devicePixelRatio || 1;
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    if (!wide) return;
    if (canvas.width !== Math.round(wide * scale) || canvas.height !== Math.round(high * scale)) [canvas.width, canvas.height] = [Math.round(wide * scale), Math.round(high * scale)];
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, wide, high);
    pen.font = "11px system-ui, sans-serif";
    const { window: own, points, lateness } = facts;
    const clocks = points.filter((point) => point[3] !== null);
    if (!clocks.length || own.kind === "rows" || !own.slide) {
      pen.fillStyle = css("--soft");
      pen.fillText(own.kind === "rows" ? "Windows of rows have no panes in time." : "The clock is not known yet.", 12, 24);
      return;
    }
    const told = clocks[clocks.length - 1][3];
    // the clock is told once a second; between, it is drawn where it goes
    shownClock = shownClock === null || Math.abs(told - shownClock) > 60 ? told : shownClock + (told - shownClock) * 0.08;
    const clock = shownClock;
    const range = own.range || own.slide * 12;
    const span = Math.max(range * 1.35, own.slide * 8) + lateness;
    const right = clock + lateness + span * 0.1;
    const left = right - span;
    const x = (time) => ((time - left) / span) * wide;
    const [top, bars, lanes, foot] = [18, 64, 86, high - 18];
    const first = Math.floor((left - own.offset) / own.slide);
    const last = Math.ceil((right - own.offset) / own.slide);

    // panes: cut where any window begins or ends
    const edges = new Set();
    for (let number = first - Math.ceil(range / own.slide) - 1; number <= last + 1; number++) {
      const end = number * own.slide + own.offset;
      for (const edge of [end, end - range]) if (edge >= left - own.slide && edge <= right + own.slide) edges.add(+edge.toFixed(6));
    }
    const cuts = [...edges].sort((a, b) => a - b);
    const counts = perPane(cuts, clocks, lateness);
    const most = Math.max(1, ...counts);
    for (let at = 0; at + 1 < cuts.length; at++) {
      const [from, to] = [x(cuts[at]), x(cuts[at + 1])];
      const height = (counts[at] / most) * (bars - top);
      pen.fillStyle = css(cuts[at + 1] <= clock ? "--s0" : "--s6");
      pen.globalAlpha = cuts[at + 1] <= clock ? 0.75 : 0.4;
      if (to - from > 1.5) pen.fillRect(from + 0.5, bars - height, Math.max(1, to - from - 1), height);
      pen.globalAlpha = 0.35;
      pen.fillStyle = css("--line");
      if (to - from > 3) pen.fillRect(from, top, 1, bars - top + 6);
      pen.globalAlpha = 1;
    }
    label(pen, "events by pane", 8, 12, "left");

    // windows: the newest that are answered, and those that still fill
    const ended = Math.floor((clock - own.offset) / own.slide);
    const lanesThere = Math.max(4, Math.min(12, Math.floor((foot - lanes) / 11)));
    const open = Math.min(Math.ceil(range / own.slide), Math.ceil(lanesThere * 0.5));
    const chosen = [];
    const every = Math.max(1, Math.ceil(range / own.slide / lanesThere));
    for (let number = ended - (lanesThere - open - 1) * every; chosen.length < lanesThere; number += every) chosen.push(number);
    const tall = (foot - lanes) / lanesThere;
    chosen.forEach((number, lane) => {
      const end = number * own.slide + own.offset;
      const [from, to] = [x(end - range), x(end)];
      const y = lanes + lane * tall + tall * 0.2;
      const thick = Math.max(3, tall * 0.55);
      const answered = end <= clock;
      pen.fillStyle = css(answered ? "--accent-soft" : "--hover");
      round(pen, from, y, to - from, thick);
      pen.fill();
      pen.fillStyle = css(answered ? "--s0" : "--s6");
      pen.globalAlpha = answered ? 0.85 : 0.5;
      const filled = Math.min(to, x(clock));
      if (filled > from) { round(pen, from, y, filled - from, thick); pen.fill(); }
      pen.globalAlpha = 1;
      if (number === ended) { pen.strokeStyle = css("--ink"); pen.lineWidth = 1.2; round(pen, from, y, to - from, thick); pen.stroke(); tag(pen, "newest answer", Math.max(4, from - 6), y + thick - 1); }
    });

    // the clock, and how far events may be late
    pen.fillStyle = css("--warn");
    pen.globalAlpha = 0.13;
    pen.fillRect(x(clock), top - 6, x(clock + lateness) - x(clock), foot - top + 6);
    pen.globalAlpha = 1;
    line(pen, x(clock), top - 8, foot, css("--ink"), []);
    if (lateness) line(pen, x(clock + lateness), top - 8, foot, css("--warn"), [4, 3]);
    label(pen, "clock", x(clock) - 5, 10, "right", "--ink");
    const roomy = x(clock + lateness) < wide - 80;
    if (lateness) label(pen, "newest event", roomy ? x(clock + lateness) + 5 : wide - 4, roomy ? 10 : 24, roomy ? "left" : "right", "--warn");
    for (let time = Math.ceil(left / nice(span)) * nice(span); time < right; time += nice(span)) {
      if (x(time) > 30 && x(time) < wide - 30) label(pen, new Date(time * 1000).toISOString().slice(11, span < 4 ? 23 : 19), x(time), high - 4, "center");
    }
  }
  return { set };
}

// Events are spread evenly over the time by which they have moved the clock.
function perPane(cuts, clocks, lateness) {
  const counts = new Array(Math.max(0, cuts.length - 1)).fill(0);
  for (let at = 1; at < clocks.length; at++) {
    const [from, to, events] = [clocks[at - 1][3] + lateness, clocks[at][3] + lateness, clocks[at][1] - clocks[at - 1][1]];
    if (!(to > from) || events <= 0 || to < cuts[0]) continue;
    for (let pane = 0; pane + 1 < cuts.length; pane++) {
      const shared = Math.min(to, cuts[pane + 1]) - Math.max(from, cuts[pane]);
      if (shared > 0) counts[pane] += (events * shared) / (to - from);
    }
  }
  return counts;
}

function nice(span) {
  for (const step of [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400]) if (span / step <= 8) return step * SECOND;
  return 86400 * 7;
}

function label(pen, text, x, y, align, color = "--soft") {
  pen.fillStyle = css(color);
  pen.textAlign = align;
  pen.fillText(text, x, y);
  pen.textAlign = "left";
}

function tag(pen, text, right, y) {
  const inside = right < 90;
  label(pen, text, inside ? right + 14 : right, y + (inside ? -9 : 0), inside ? "left" : "right", "--ink");
}

function line(pen, x, top, foot, color, dash) {
  pen.strokeStyle = color;
  pen.lineWidth = 1.4;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x, top);
  pen.lineTo(x, foot);
  pen.stroke();
  pen.setLineDash([]);
}

function round(pen, x, y, wide, high) {
  pen.beginPath();
  pen.roundRect(x, y, Math.max(wide, 1), high, Math.min(3, high / 2));
}
