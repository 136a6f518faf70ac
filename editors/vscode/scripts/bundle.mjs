// Bundles the extension into out/extension.js.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "out/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node18",
  external: ["vscode"],
  minify: process.argv.includes("--minify"),
  legalComments: "none",
});
