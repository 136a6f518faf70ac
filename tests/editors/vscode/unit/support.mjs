// What the unit tests share: the extension's modules, and its grammars as an editor reads them.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

export const extension = process.env.PTL_EXTENSION;
export const root = process.env.PTL_ROOT;
export const build = path.resolve(extension, "../..");
const need = createRequire(path.join(extension, "package.json"));

export const manifest = JSON.parse(fs.readFileSync(path.join(extension, "package.json"), "utf8"));

/** A module of the extension that needs no editor. */
export async function load(name) {
  const result = await need("esbuild").build({
    entryPoints: [path.join(extension, "src", `${name}.ts`)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
  });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString("base64")}`);
}

async function makeRegistry() {
  const oniguruma = need("vscode-oniguruma");
  const wasm = fs.readFileSync(path.join(extension, "node_modules/vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const textmate = need("vscode-textmate");
  const files = new Map(manifest.contributes.grammars.map((grammar) => [grammar.scopeName, grammar.path]));
  // What stands around the injection in an editor; that one comes with Markdown.
  const markdown = { scopeName: "text.html.markdown", patterns: [], repository: {} };
  return new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      if (scope === "text.html.markdown") return markdown;
      if (!files.has(scope)) return null;
      const file = path.join(extension, files.get(scope));
      return textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file);
    },
    getInjections: (scope) =>
      manifest.contributes.grammars.filter((grammar) => grammar.injectTo?.includes(scope)).map((grammar) => grammar.scopeName),
  });
}

let registry;

/** Per line, its tokens `{start, end, scopes}`; `end` of the last rule stack tells what is left open. */
export async function tokenise(scope, text) {
  registry ??= await makeRegistry();
  const grammar = await registry.loadGrammar(scope);
  let stack = null;
  const lines = text.split("\n").map((line) => {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    return result.tokens.map(({ startIndex, endIndex, scopes }) => ({
      start: startIndex,
      end: Math.min(endIndex, line.length),
      scopes: scopes.join(" "),
    }));
  });
  return { lines, depth: stack.depth };
}

/** The scopes of the `nth` place where `piece` stands in `text`. */
export async function scopesOf(scope, text, piece, nth = 0) {
  const { lines } = await tokenise(scope, text);
  let found = -1;
  for (let i = 0; i <= nth; ++i) found = text.indexOf(piece, found + 1);
  const before = text.slice(0, found).split("\n");
  const column = before[before.length - 1].length;
  return lines[before.length - 1].find((token) => token.start <= column && column < token.end).scopes;
}
