// Events that no window took: how many by cause, and the latest with what they held.
import { get } from "../api.js";
import { fill, h } from "../dom.js";
import { count } from "../format.js";
import { rowsTable } from "../table.js";

export function rejected({ body, toast }) {
  let timer = 0;
  async function look() {
    try {
      const { streams } = await get("/rejected");
      fill(body, streams.map(section));
      if (!streams.length) fill(body, h("p", { class: "soft" }, "No stream has been read yet."));
    } catch (error) {
      toast(error.message);
    }
  }
  function section(stream) {
    const counts = Object.entries(stream.counts).filter(([, number]) => number);
    const kept = stream.rows && stream.rows.length ? rowsTable(stream.rows.slice(-200).reverse()).element : null;
    const how = h("p", { class: "soft" }, stream.rows ? "None of them has come since the page was opened." : "The events themselves are kept where the script asks for it: ", stream.rows ? null : h("code", {}, "CREATE SINK bad USING json OPTIONS (path 'out/bad') FOR REJECTED"));
    return h("section", { class: "panel" }, h("div", { class: "card-head" }, h("strong", {}, stream.stream), counts.length ? counts.map(([cause, number]) => h("span", { class: "mark" }, `${count(number)} ${cause}`)) : h("span", { class: "mark good" }, "none rejected")), kept || how);
  }
  look();
  timer = setInterval(look, 3000);
  return { close: () => clearInterval(timer) };
}
