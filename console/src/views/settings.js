// Versions, places and choices; the look of the page, and its token.
import { get } from "../api.js";
import { fill, h } from "../dom.js";
import { instant } from "../format.js";
import { askToken } from "../main.js";

export function settings({ body, state, setTheme, toast }) {
  const facts = h("div", {});
  const themes = ["auto", "light", "dark"].map((name) => h("button", { "aria-pressed": String(state.theme === name), onclick: (event) => { setTheme(name); for (const own of themes) own.setAttribute("aria-pressed", String(own === event.target)); } }, name));
  const keys = [["1 – 6", "the views"], ["/", "filter"], ["p", "pause or go on, in a query"], ["Ctrl Enter", "preview, in the editor"], ["Ctrl Space", "complete, in the editor"]];
  body.append(facts, h("section", { class: "panel" }, h("h2", {}, "This page"), h("div", { class: "bar" }, h("div", { class: "tabs", role: "group", "aria-label": "Theme" }, themes), h("button", { class: "plain", onclick: () => askToken() }, "Token …"), h("a", { href: "/docs", target: "_blank", rel: "noopener" }, "Over HTTP")), h("dl", { class: "kv" }, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]))));
  const list = (title, own) => h("section", { class: "panel" }, h("h2", {}, title), h("dl", { class: "kv" }, Object.entries(own).map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))])));
  get("/jobs").then(({ jobs }) => fill(facts, jobs.map((job) => [list("Job", { running: job.running ? "yes" : "no", since: instant(job.since), checkpoint: job.checkpoint || "none", queries: job.queries }), list("Versions", job.versions), list("Settings", job.settings)]))).catch((error) => toast(error.message));
  return {};
}
