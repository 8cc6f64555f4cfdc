// Builds the page of a report: src/main.ts and src/report.css become one script and one style sheet without imports.
//
//   node build.mjs            writes ../python/plimsoll/reports/page (committed, so that users need no Node)
//   node build.mjs DIR        writes DIR, for the test that compares both
//
// NOTICE names the licence of what is bundled.
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../python/plimsoll/reports/page");

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { report: "src/main.ts", style: "src/report.css" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome108", "firefox108", "safari16"],
  charset: "utf8",
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
  write: false,
}).then(({ outputFiles }) =>
  Promise.all(outputFiles.map(({ path, text }) => writeFile(join(out, path.endsWith(".css") ? "report.css" : "report.js"), text))),
);

const echarts = join(here, "node_modules/echarts");
const notice = await readFile(join(echarts, "NOTICE"), "utf8");
const { version } = JSON.parse(await readFile(join(echarts, "package.json"), "utf8"));
await writeFile(
  join(out, "NOTICE"),
  `report.js contains Apache ECharts ${version} with ZRender, under the Apache License, Version 2.0 (LICENSE-echarts beside this file).\n\n${notice.trim()}\n`,
);
await copyFile(join(echarts, "LICENSE"), join(out, "LICENSE-echarts"));
