import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { build, extension, manifest, root } from "./support.mjs";

const contributes = manifest.contributes;
const source = (name) => fs.readFileSync(path.join(extension, "src", name), "utf8");
const properties = Object.assign({}, ...contributes.configuration.map((group) => group.properties));

function packaged() {
  const script = "import sys, zipfile; print('\\n'.join(zipfile.ZipFile(sys.argv[1]).namelist()))";
  return execFileSync("python3", ["-c", script, process.env.PTL_PACKAGE], { encoding: "utf8" }).trim().split("\n");
}

test("the package holds what it needs and nothing else", () => {
  const files = packaged().filter((file) => file.startsWith("extension/")).map((file) => file.slice("extension/".length));
  const known = /^(package\.json|readme\.md|changelog\.md|license\.txt|(language|preview)-configuration\.json|out\/extension\.js|syntaxes\/[\w.-]+\.json|snippets\/ptl\.json|media\/[\w./-]+\.(svg|png|webp|md))$/i;
  assert.deepEqual(files.filter((file) => !known.test(file)), []);
  const named = [
    manifest.main,
    manifest.icon,
    ...contributes.grammars.map((grammar) => grammar.path),
    ...contributes.snippets.map((snippet) => snippet.path),
    ...contributes.languages.flatMap((language) => [language.configuration, ...Object.values(language.icon ?? {})]),
    ...contributes.walkthroughs.flatMap((walk) => walk.steps.map((step) => step.media.markdown)),
  ].map((file) => path.normalize(file));
  assert.deepEqual(named.filter((file) => !files.includes(file)), []);
  for (const wanted of ["changelog.md", "license.txt"]) assert.ok(files.some((file) => file.toLowerCase() === wanted), wanted);
});

test("the bundle is one file that needs only the editor", () => {
  const bundle = fs.readFileSync(path.join(extension, "out/extension.js"), "utf8");
  const needed = new Set([...bundle.matchAll(/\brequire\("([^"]+)"\)/g)].map((match) => match[1]));
  const builtin = new Set(["child_process", "crypto", "fs", "net", "os", "path", "url", "util", "worker_threads"]);
  const strange = [...needed].filter((name) => name !== "vscode" && !name.startsWith("node:") && !builtin.has(name));
  assert.deepEqual(strange, []);
});

test("every command is registered, and every registered command is declared", () => {
  const declared = contributes.commands.map((command) => command.command).sort();
  const registered = [...source("commands.ts").matchAll(/^\s*"(ptl\.\w+)":/gm)].map((match) => match[1]).sort();
  assert.deepEqual(registered, declared);
});

test("menus and keys name declared commands", () => {
  const declared = new Set(contributes.commands.map((command) => command.command));
  const used = [...Object.values(contributes.menus).flat(), ...contributes.keybindings].filter((item) => item.command);
  assert.deepEqual(used.filter((item) => !declared.has(item.command)), []);
});

test("every setting is described and has a default; those that the code reads exist", () => {
  for (const [key, property] of Object.entries(properties)) {
    assert.ok(property.markdownDescription?.length > 20, key);
    assert.notEqual(property.default, undefined, key);
  }
  for (const file of fs.readdirSync(path.join(extension, "src")))
    for (const [, key] of source(file).matchAll(/config\([^)]*\)\s*\.get<[^>]*(?:<[^>]*>)?>\(\s*"([\w.]+)"/g))
      assert.ok(properties[`ptl.${key}`], `${file}: ptl.${key}`);
});

test("what a folder that is not trusted may not set exists", () => {
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.deepEqual(restricted.filter((key) => !properties[key]), []);
  const runs = Object.keys(properties).filter((key) => /path|arguments|environment/.test(key));
  assert.deepEqual(runs.filter((key) => !restricted.includes(key)), []);
});

test("the stages of the settings are those of the server", () => {
  const stages = [...fs.readFileSync(path.join(root, "compile/stages.def"), "utf8").matchAll(/^STAGE\(\w+, "([\w:]+)".* Shown\(/gm)].map(
    (match) => match[1],
  );
  assert.ok(stages.length > 3);
  assert.deepEqual(properties["ptl.preview.stage"].enum, stages);
});

test("the settings that the server reads exist, and each setting has a reader", () => {
  const server = fs.readFileSync(path.join(root, "lsp/server/capabilities.cpp"), "utf8");
  const read = [...server.matchAll(/take\(settings, "\/([\w/]+)"/g)].map((match) => `ptl.${match[1].replaceAll("/", ".")}`);
  assert.ok(read.length > 3);
  // This client always carries out what a lens names.
  assert.deepEqual(read.filter((key) => !properties[key]), ["ptl.lens.commands"]);
  const all = fs.readdirSync(path.join(extension, "src")).map(source).join("\n");
  const unread = Object.keys(properties).filter((key) => !read.includes(key) && !all.includes(`"${key.slice("ptl.".length)}"`));
  assert.deepEqual(unread, ["ptl.trace.server"]); // The client library reads this one.
});

test("the kinds of tokens that only this server has are declared", () => {
  const header = fs.readFileSync(path.join(root, "lsp/ide/semantic_tokens.h"), "utf8");
  const rows = (macro) =>
    [...header.slice(header.indexOf(`#define ${macro}`)).split("\n\n")[0].matchAll(/\(\w+, "(\w+)"\)/g)].map((match) => match[1]);
  const standard = (
    "namespace class enum interface struct typeParameter type parameter variable property enumMember decorator event function " +
    "method macro label comment string keyword number regexp operator declaration definition readonly static deprecated abstract " +
    "async modification documentation defaultLibrary"
  ).split(" ");
  const own = (macro) => rows(macro).filter((row) => !standard.includes(row)).sort();
  assert.deepEqual(own("PTL_TOKEN_TYPES"), contributes.semanticTokenTypes.map((type) => type.id).sort());
  assert.deepEqual(own("PTL_TOKEN_MODIFIERS"), contributes.semanticTokenModifiers.map((type) => type.id).sort());
});

test("the problem matchers read what the compiler prints", () => {
  const [short, human] = contributes.problemPatterns;
  const file = path.join(root, "tests/editors/vscode/workspace/kernels.ptl");
  const check = (form) => {
    try {
      execFileSync(path.join(build, "bin/ptlc"), ["check", `--diagnostics=${form}`, "--color=never", file], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, PTL_STD: path.join(root, "std") },
      });
    } catch (error) {
      return (error.stdout + error.stderr).split("\n");
    }
    throw new Error("the sample has an error");
  };
  const match = check("short").map((line) => new RegExp(short.regexp).exec(line)).find(Boolean);
  assert.deepEqual([match[short.file], match[short.severity], match[short.code]], [file, "error", "E0312"]);
  const lines = check("human");
  const first = lines.findIndex((line) => new RegExp(human.patterns[0].regexp).test(line));
  const place = new RegExp(human.patterns[1].regexp).exec(lines[first + 1]);
  assert.equal(place[human.patterns[1].file], file);
  assert.ok(Number(place[human.patterns[1].line]) > 1);
});

test("every snippet is PTL without errors of syntax", () => {
  const snippets = JSON.parse(fs.readFileSync(path.join(extension, contributes.snippets[0].path), "utf8"));
  const inside = /^(for|parallel) /;
  for (const [title, { body }] of Object.entries(snippets)) {
    let text = body.join("\n").replace(/\$\{\d+\|([^,|]*)[^}]*\|\}/g, "$1");
    const values = {};
    text = text.replace(/\$\{(\d+):([^{}]*)\}/g, (_, number, value) => (values[number] = value));
    text = text.replace(/\$\{?(\d+)\}?/g, (_, number) => values[number] ?? "").replace(/\$(\d+)/g, (_, number) => values[number]);
    if (inside.test(text)) text = `kernel k[K, M, N](a: f32[M]) -> (c: f32[M])\n{\n${text}\n}`;
    const output = (() => {
      try {
        return execFileSync(path.join(build, "bin/ptlc"), ["check", "--diagnostics=json", "-"], {
          input: `${text}\n`,
          encoding: "utf8",
          stdio: ["pipe", "pipe", "ignore"],
          env: { ...process.env, PTL_STD: path.join(root, "std") },
        });
      } catch (error) {
        return error.stdout;
      }
    })();
    const syntax = JSON.parse(output).diagnostics.filter((diagnostic) => /^E0[01]/.test(diagnostic.code));
    assert.deepEqual(syntax.map((diagnostic) => diagnostic.message), [], `${title}\n${text}`);
  }
});
