// The page: where one is, what the server tells once a second, and which view shows it.
import "./style.css";
import icon from "./icon.svg";
import { Refused, get, setToken, takeToken, token } from "./api.js";
import { coalesced, fill, h, setText } from "./dom.js";
import { seconds } from "./format.js";
import { editor } from "./views/editor.js";
import { overview } from "./views/overview.js";
import { plan } from "./views/plan.js";
import { query } from "./views/query.js";
import { rejected } from "./views/rejected.js";
import { settings } from "./views/settings.js";

takeToken();

const path = (d) => h("svg:svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, h("svg:path", { d }));
const VIEWS = [
  ["", "Overview", "M2 12l4-5 3 3 5-7", overview],
  ["query", "Query", "M2 4h9M4 8h9M6 12h8", query],
  ["plan", "Plan", "M3 3h4v4H3zM9 9h4v4H9zM7 5h4v4", plan],
  ["editor", "Editor", "M5 4L1.5 8 5 12M11 4l3.5 4-3.5 4", editor],
  ["rejected", "Rejected", "M8 2l6 11H2zM8 6v4M8 12v.01", rejected],
  ["settings", "Settings", "M2 5h7M12 5h2M2 11h2M7 11h7M10 3v4M5 9v4", settings],
];
const OTHER = Object.fromEntries(VIEWS.map(([name, , , make]) => [name, make]));

export const state = { overview: null, history: {}, at: 0, status: "stale", theme: localStorage.getItem("windrow-theme") || "auto", last: localStorage.getItem("windrow-query") || "" };

const dark = matchMedia("(prefers-color-scheme: dark)");
export function setTheme(theme = state.theme) {
  state.theme = theme;
  localStorage.setItem("windrow-theme", theme);
  const now = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
  document.documentElement.dataset.theme = now;
  if (view && view.theme) view.theme();
}
dark.addEventListener("change", () => setTheme());

let view = null;
const links = VIEWS.map(([name, title, d], at) => h("a", { href: `#/${name}`, title: `${title} (${at + 1})` }, path(d), h("span", {}, title), h("kbd", {}, String(at + 1))));
const foot = h("div", { class: "foot" });
const nav = h("nav", { "aria-label": "Views" }, h("div", { class: "brand" }, h("img", { src: icon, alt: "" }), "Windrow"), links, foot);
const title = h("h1", {});
const status = h("span", { class: "pill", role: "status" });
const actions = h("div", { class: "bar", style: { margin: "0" } });
const notice = h("div", {});
const body = h("div", {});
const main = h("main", {}, h("header", { class: "top" }, title, status, h("span", { class: "gap" }), actions), notice, body);
document.getElementById("app").append(nav, main);
setTheme();

export function toast(text) {
  const own = h("div", { class: "toast", role: "alert" }, text);
  document.body.append(own);
  setTimeout(() => own.remove(), 5000);
}

export function go(where) {
  location.hash = `#/${where}`;
}

function route() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const own = name in OTHER ? name : "";
  links.forEach((link, at) => (VIEWS[at][0] === own ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")));
  if (view && view.close) view.close();
  fill(actions);
  fill(body);
  setText(title, VIEWS.find(([other]) => other === own)[1]);
  const argument = rest.length ? decodeURIComponent(rest.join("/")) : "";
  view = OTHER[own]({ body, actions, state, toast, go, setTheme, setTitle: (text) => setText(title, text), argument });
  document.title = `${title.textContent} · Windrow`;
  draw();
}

const draw = coalesced(() => {
  const ended = state.overview && !state.overview.running;
  const own = state.status !== "live" ? "stale" : ended ? "ended" : "live";
  status.className = `pill ${own}`;
  setText(status, own === "live" ? "live" : own === "ended" ? "the job has ended" : state.overview ? `stale since ${seconds((Date.now() - state.at) / 1000)}` : "connecting");
  if (view && view.update && state.overview) view.update();
});

let asking = false;
async function look() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    const since = Math.max(0, ...Object.values(state.history).map((own) => (own.length ? own[own.length - 1][0] : 0)));
    const told = await get(`/overview?since=${since}`);
    if (state.overview && state.overview.epoch !== told.epoch) state.history = {};
    for (const [name, more] of Object.entries(told.history)) {
      const own = (state.history[name] ||= []);
      own.push(...more);
      if (own.length > 900) own.splice(0, own.length - 900);
    }
    Object.assign(state, { overview: told, at: Date.now(), status: "live" });
    if (notice.firstChild) fill(notice);
  } catch (error) {
    state.status = "stale";
    if (error instanceof Refused && error.status === 401) askToken(error.message);
    else if (state.overview && !notice.firstChild) fill(notice, h("div", { class: "notice", role: "alert" }, "The server does not answer. What is shown is the last that it told; the page goes on when it is back."));
  } finally {
    asking = false;
    draw();
  }
}

export function askToken(why) {
  if (document.querySelector("dialog[open]")) return;
  const input = h("input", { class: "text", type: "password", "aria-label": "token", value: token(), style: { width: "100%" } });
  const dialog = h("dialog", {}, h("form", { method: "dialog", onsubmit: () => { setToken(input.value); look(); } }, h("h1", {}, "Token"), h("p", { class: "soft" }, why || "It is part of the address that was printed when the job started."), input, h("div", { class: "bar" }, h("button", { class: "main" }, "Use it"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export function confirmed(heading, text, word) {
  return new Promise((done) => {
    const dialog = h("dialog", {}, h("form", { method: "dialog" }, h("h1", {}, heading), h("p", {}, text), h("div", { class: "bar" }, h("button", { class: "plain", value: "no" }, "Cancel"), h("button", { class: "plain danger", value: "yes" }, word))));
    dialog.addEventListener("close", () => { done(dialog.returnValue === "yes"); dialog.remove(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, .cm-editor, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = Number(event.key) - 1;
  if (at >= 0 && at < VIEWS.length) go(VIEWS[at][0]);
  else if (event.key === "/") { const filter = document.querySelector("input[type=search]"); if (filter) { filter.focus(); event.preventDefault(); } }
  else if (view && view.key) view.key(event.key);
});
addEventListener("hashchange", route);
document.addEventListener("visibilitychange", look);
route();
look();
setInterval(look, 1000);
get("/jobs").then(({ jobs: [job] }) => setText(foot, `${job.versions.windrow} · ${job.kind === "job" ? "job on Spark" : "sample streams"}`)).catch(() => {});
