// What the server is asked. The token comes in the fragment of the address, which is sent nowhere.
const KEY = "windrow-token";

export function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found) {
    sessionStorage.setItem(KEY, found);
    history.replaceState(null, "", location.pathname + "#/");
  }
}

export const token = () => sessionStorage.getItem(KEY) || "";
export const setToken = (text) => sessionStorage.setItem(KEY, text.trim());

export class Refused extends Error {
  constructor(status, error) {
    super(error.message);
    Object.assign(this, { status, code: error.code, hint: error.hint, error });
  }
}

export async function ask(verb, path, body, options = {}) {
  const headers = { ...options.headers };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["Content-Type"] = "application/sql";
  const answer = await fetch(path, { method: verb, headers, body, signal: options.signal, cache: "no-store" });
  if (options.raw && answer.ok) return answer;
  const text = await answer.text();
  let told = {};
  try {
    told = JSON.parse(text);
  } catch {
    told = { error: { code: "REQUEST", message: text || answer.statusText } };
  }
  if (!answer.ok) throw new Refused(answer.status, told.error || { message: answer.statusText });
  return told;
}

export const get = (path, options) => ask("GET", path, undefined, options);
export const post = (path, body, options) => ask("POST", path, body, options);

// Server-sent events by fetch, which can carry the token; goes on where it left off.
export function follow(path, onEvent, onState) {
  const ended = new AbortController();
  let last = null;
  (async () => {
    while (!ended.signal.aborted) {
      try {
        const headers = { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) };
        const answer = await ask("GET", path, undefined, { headers, signal: ended.signal, raw: true });
        onState("live");
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          const parts = (rest + value).split("\n\n");
          rest = parts.pop();
          for (const part of parts) {
            const own = Object.fromEntries(part.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
            if (own.id) last = own.id;
            if (own.data) onEvent(own.event, JSON.parse(own.data));
          }
        }
      } catch (error) {
        if (ended.signal.aborted) return;
        onState(error instanceof Refused ? error.message : "stale");
        if (error instanceof Refused && error.status === 404) last = null;
      }
      await new Promise((go) => setTimeout(go, 1000));
    }
  })();
  return () => ended.abort();
}
