// Runs the unit tests: bundles every test/*.test.ts for Node and hands them to its own test runner.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const out = await mkdtemp(join(tmpdir(), "plimsoll-page-"));
const tests = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => join("test", name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
await rm(out, { recursive: true });
process.exit(status ?? 1);
