// Write a query: words completed, mistakes underlined as check finds them, answers over recent events, then add it.
import { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, linter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { get, post } from "../api.js";
import { CHARTS, describe } from "../charts.js";
import { fill, h, setText } from "../dom.js";
import { count } from "../format.js";
import { rowsTable } from "../table.js";

const FIRST = `SELECT symbol, AVG(price) AS mean, COUNT(*) AS n
FROM ticks [RANGE 20 SECONDS SLIDE 2 SECONDS]
GROUP BY symbol`;
const DIALECT = SQLDialect.define({
  keywords: "select from where group by having order limit as and or not null case when then else end cast distinct join left right full outer on union all minus intersect except with range slide rows offset second seconds minute minutes hour hours day days millisecond milliseconds partition session levels emit changes cluster create sink stream table view using options insert into between like in is over desc asc timestamp lateness interval",
  builtin: "count sum avg min max stddev variance median first last",
  types: "timestamp string double int bigint boolean date decimal float",
  identifierQuotes: "`",
});
const COLORS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--s0)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--s4)" },
  { tag: tags.number, color: "var(--s1)" },
  { tag: [tags.standard(tags.name), tags.typeName], color: "var(--s2)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--soft)", fontStyle: "italic" },
]);
const LOOK = EditorView.theme({
  "&": { backgroundColor: "var(--panel)", color: "var(--ink)", fontSize: "14px" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)", padding: "10px 0" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", border: "1px solid var(--line)", color: "var(--ink)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--accent)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1.5px", textUnderlineOffset: "3px" },
});

let kept = null;

export function editor({ body, actions, state, toast, go }) {
  let words = { streams: [], tables: [], words: [], aggregates: [], functions: [], windows: [] };
  get("/catalog").then((told) => { words = told; if (kept === null && told.streams.length && !told.streams.some((own) => own.name === "ticks")) replace(`SELECT COUNT(*) AS n\nFROM ${told.streams[0].name} [RANGE 1 MINUTE SLIDE 10 SECONDS]`); sources(); }).catch((error) => toast(error.message));
  const name = h("input", { class: "text", "aria-label": "Name of the query", placeholder: "name", value: "my_query", style: { width: "150px" } });
  const preview = h("button", { class: "plain", onclick: look, title: "Ctrl Enter" }, "Preview");
  const add = h("button", { class: "main", onclick: added }, "Add to the job");
  const mistakes = h("div", { class: "mistakes", "aria-live": "polite" });
  const found = h("div", {});
  const side = h("div", {});
  const place = h("div", { class: "editor" });
  body.append(h("div", { class: "split" }, h("div", {}, h("section", { class: "panel" }, h("div", { class: "bar" }, h("label", { class: "soft" }, "as ", name), h("span", { class: "gap" }), preview, add), place, mistakes), found), h("section", { class: "panel" }, h("h2", {}, "Streams"), side)));

  function script(text) {
    if (/\binsert\s+into\b/i.test(text)) return { text, shift: 0 };
    const own = /^[a-z_][a-z0-9_]*$/i.test(name.value.trim()) ? name.value.trim() : `\`${name.value.trim().replaceAll("`", "``")}\``;
    const head = `CREATE SINK ${own} USING answers; INSERT INTO ${own} `;
    return { text: head + text, shift: head.length };
  }

  const check = linter(async (view) => {
    const text = view.state.doc.toString();
    if (!text.trim()) { fill(mistakes); return []; }
    try {
      const own = script(text);
      const told = await post("/check", own.text);
      const all = told.mistakes.map((one) => ({ ...one, from: clamp((one.from ?? own.shift) - own.shift, text), to: clamp((one.to ?? own.text.length) - own.shift, text) }));
      fill(mistakes, all.map((one) => h("button", { class: "mistake", onclick: () => { view.dispatch({ selection: { anchor: one.from, head: one.to } }); view.focus(); } }, `${one.message}${one.line ? ` (line ${text.slice(0, one.from).split("\n").length})` : ""}`, one.hint ? h("small", {}, one.hint) : null)));
      add.disabled = all.length > 0;
      return all.map((one) => ({ from: one.from, to: Math.max(one.to, Math.min(one.from + 1, text.length)), severity: "error", message: one.message + (one.hint ? `\n${one.hint}` : ""), source: one.code }));
    } catch (error) {
      fill(mistakes, h("div", { class: "mistake" }, error.message));
      return [];
    }
  }, { delay: 250 });

  function complete(context) {
    const word = context.matchBefore(/[\w.[]*/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    const text = context.state.doc.toString();
    const near = [...words.streams, ...words.tables].filter((own) => new RegExp(`\\b${own.name}\\b`).test(text));
    const columns = (near.length ? near : words.streams).flatMap((own) => own.columns.map((column) => ({ label: column.name, type: "property", detail: `${own.name} · ${column.type}`, boost: 3 })));
    const unique = [...new Map(columns.map((own) => [own.label, own])).values()];
    return { from: word.from, validFor: /^[\w[]*$/, options: [
      ...unique,
      ...words.streams.map((own) => ({ label: own.name, type: "class", detail: "stream", boost: 2 })),
      ...words.tables.map((own) => ({ label: own.name, type: "class", detail: "table", boost: 2 })),
      ...words.aggregates.map((own) => ({ label: own, type: "function", detail: "aggregate", apply: `${own}(`, boost: 1 })),
      ...words.windows.map((own) => ({ label: own, type: "keyword", detail: "window" })),
      ...words.words.map((own) => ({ label: own, type: "keyword" })),
      ...words.functions.map((own) => ({ label: own, type: "function", apply: `${own}(` })),
    ] };
  }

  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: kept ?? FIRST,
      extensions: [
        lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(), lintGutter(), check, LOOK,
        sql({ dialect: DIALECT, upperCaseKeywords: true }), syntaxHighlighting(COLORS), autocompletion({ override: [complete] }), placeholder("SELECT ..."),
        keymap.of([{ key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => { look(); return true; } }, ...completionKeymap, indentWithTab, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "Query", spellcheck: "false" }),
        EditorView.updateListener.of((change) => { if (change.docChanged) { kept = view.state.doc.toString(); later(); } }),
      ],
    }),
  });
  window.windrowEditor = view;

  function replace(text) { view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }); }

  let timer = 0;
  function later() { clearTimeout(timer); timer = setTimeout(look, 900); }

  let asked = 0;
  let chart = null;
  async function look() {
    const number = ++asked;
    try {
      const told = await post("/preview", script(view.state.doc.toString()).text);
      if (number !== asked) return;
      const drawn = h("div", {});
      const meta = `${count(told.count)} rows from ${count(told.events)} recent events, in ${told.seconds} s`;
      fill(found, h("section", { class: "panel" }, h("div", { class: "bar" }, h("h2", { style: { margin: 0 } }, "Preview"), h("span", { class: "soft" }, meta)), told.note ? h("div", { class: "notice" }, told.note) : null, drawn, h("div", { style: { height: "12px" } }), rowsTable([...told.rows].reverse()).element));
      const shape = describe(told.rows, view.state.doc.toString());
      if (chart) chart.close();
      chart = shape.ways.length ? CHARTS[shape.ways[0]](drawn) : null;
      if (chart) chart.draw(told.rows, shape, shape.numbers[0]);
    } catch (error) {
      if (number === asked) fill(found, error.code === "QUERY" || error.code === "NOT_SUPPORTED" ? [] : h("div", { class: "notice" }, error.message, error.hint ? h("div", {}, error.hint) : null));
    }
  }

  async function added() {
    add.disabled = true;
    try {
      const { added: names } = await post("/queries", script(view.state.doc.toString()).text);
      toast(`${names.join(", ")} runs`);
      go(`query/${encodeURIComponent(names[0])}`);
    } catch (error) {
      toast([error.message, error.hint].filter(Boolean).join("\n"));
    } finally {
      add.disabled = false;
    }
  }

  function sources() {
    fill(side, [...words.streams, ...words.tables].map((own) => h("div", { style: { "margin-bottom": "14px" } }, h("strong", {}, own.name), own.time ? h("span", { class: "soft" }, ` by ${own.time}${own.lateness ? `, ${own.lateness} s late` : ""}`) : null, h("div", { class: "mono" }, own.columns.map((column) => h("div", {}, h("button", { class: "word", onclick: () => { view.dispatch(view.state.replaceSelection(column.name)); view.focus(); } }, column.name), h("span", { class: "soft" }, ` ${column.type}`)))))));
  }
  name.addEventListener("input", () => view.dispatch({ changes: [] }));
  later();
  return { close: () => { clearTimeout(timer); if (chart) chart.close(); view.destroy(); } };
}

const clamp = (at, text) => Math.max(0, Math.min(at, text.length));
