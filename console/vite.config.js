// One bundle for the wheel: no inline script, nothing from elsewhere, and a hash of what it was built from.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { defineConfig } from "vite";

const here = import.meta.dirname;
const out = join(here, "..", "src", "windrow", "console", "static");

function sources(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? sources(path) : [path];
  });
}

function hash() {
  const files = [...["index.html", "package-lock.json", "vite.config.js"].map((name) => join(here, name)), ...sources(join(here, "src"))];
  const named = files.map((path) => [relative(here, path).split("\\").join("/"), path]).sort(([a], [b]) => (a < b ? -1 : 1));
  const sum = createHash("sha256");
  for (const [name, path] of named) sum.update(name + "\0").update(readFileSync(path)).update("\0");
  return sum.digest("hex");
}

export default defineConfig({
  base: "/static/",
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      output: {
        entryFileNames: "[name]-[hash].js",
        chunkFileNames: "[name]-[hash].js",
        assetFileNames: "[name]-[hash][extname]",
      },
    },
  },
  plugins: [{ name: "note-sources", closeBundle: () => writeFileSync(join(out, "sources.json"), JSON.stringify({ sha256: hash() }) + "\n") }],
});
