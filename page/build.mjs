// Builds the pages: src/main.ts and src/report.css become the script and the style sheet of a report, src/live those of the live page.
//
//   node build.mjs            writes ../python/plimsoll/{reports,web}/page (committed, so that users need no Node)
//   node build.mjs DIR        writes DIR, for the test that compares them
//
// NOTICE names the licence of what is bundled.
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../python/plimsoll/reports/page");
const live = process.argv[2] ?? join(here, "../python/plimsoll/web/page");

/** One script and one style sheet, called `name`, in `folder`. */
async function bundled(name, script, style, folder) {
  await mkdir(folder, { recursive: true });
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: { script, style },
    outdir: folder,
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022", "chrome108", "firefox108", "safari16"],
    charset: "utf8",
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
    write: false,
  });
  await Promise.all(outputFiles.map(({ path, text }) => writeFile(join(folder, `${name}${path.endsWith(".css") ? ".css" : ".js"}`), text)));
}

await bundled("report", "src/main.ts", "src/report.css", out);
await bundled("live", "src/live/main.ts", "src/live/live.css", live);

const echarts = join(here, "node_modules/echarts");
const notice = await readFile(join(echarts, "NOTICE"), "utf8");
const { version } = JSON.parse(await readFile(join(echarts, "package.json"), "utf8"));
await writeFile(
  join(out, "NOTICE"),
  `report.js, and live.js of the live page, contain Apache ECharts ${version} with ZRender, under the Apache License, Version 2.0 (LICENSE-echarts beside this file).\n\n${notice.trim()}\n`,
);
await copyFile(join(echarts, "LICENSE"), join(out, "LICENSE-echarts"));
