// Numbers, instants and durations as people read them.
const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function count(value) {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) < 100000 ? NUMBER.format(value) : SHORT.format(value);
}

export function rate(value) {
  if (value === null || value === undefined) return "–";
  return value < 10 && value !== 0 ? value.toFixed(1) : count(value);
}

export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) [value, at] = [value / 1000, at + 1];
  return `${at && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 0) return `-${seconds(-value)}`;
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 120) return `${value < 10 ? +value.toFixed(1) : Math.round(value)} s`;
  if (value < 7200) return `${+(value / 60).toFixed(1)} min`;
  if (value < 172800) return `${+(value / 3600).toFixed(1)} h`;
  return `${SHORT.format(value / 86400)} d`;
}

export function instant(value) {
  if (!value) return "–";
  const text = typeof value === "number" ? new Date(value * 1000).toISOString() : value;
  const [day, time = ""] = text.split("T");
  const clock = time.replace(/(\.\d{3})\d*/, "$1").replace(/(\+00:00|Z)$/, "").replace(/\.000$/, "");
  return day === new Date().toISOString().slice(0, 10) ? clock : `${day} ${clock}`;
}

export function value(own) {
  if (own === null || own === undefined) return "NULL";
  if (typeof own === "number") return Number.isInteger(own) ? String(own) : String(+own.toPrecision(8));
  if (typeof own === "object") return JSON.stringify(own);
  if (typeof own === "string" && /^\d{4}-\d\d-\d\dT/.test(own)) return instant(own);
  return String(own);
}

export function windowLabel(window) {
  if (!window) return "";
  const wide = window.range === null ? "all" : window.kind === "rows" ? `${window.range} rows` : seconds(window.range);
  if (window.slide === null) return `${wide}, each change`;
  return `${wide} every ${window.kind === "rows" && window.slide >= 1 ? `${window.slide} rows` : seconds(window.slide)}`;
}
