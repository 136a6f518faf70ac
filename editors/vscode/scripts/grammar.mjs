// Writes syntaxes/ptl.tmLanguage.json from the tables of the compiler, so that no word is listed twice:
//   frontend/lex/tokens.def   keywords, grouped by the comments there
//   frontend/parse/*.cpp      contextual words
//   machines/schema.json  names of the memories
//   words.json                element types and built-in operations (`ptl-tblgen -gen-words`)
// usage: node grammar.mjs [--words FILE] [--root FOLDER] [--out FILE | --check FILE]
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

const here = import.meta.url.slice("file://".length);
const { values } = parseArgs({
  options: {
    root: { type: "string", default: path.resolve(path.dirname(decodeURI(here)), "../../..") },
    words: { type: "string" },
    out: { type: "string" },
    check: { type: "string" },
  },
});
const root = values.root;
const read = (file) => fs.readFileSync(path.join(root, file), "utf8");
const words = JSON.parse(fs.readFileSync(values.words ?? path.join(root, "build/ir/ops/words.json"), "utf8"));

/** Keywords by the comment that stands above their group. */
function keywordGroups() {
  const groups = {};
  let group;
  for (const line of read("frontend/lex/tokens.def").split("\n")) {
    const comment = /^\/\/ (.*?)\.?$/.exec(line);
    if (comment) group = comment[1];
    const keyword = /^KEYWORD\(\w+, "(\w+)"\)/.exec(line);
    if (keyword) (groups[group] ??= []).push(keyword[1]);
  }
  return groups;
}

/** Words that the parser asks for by position. */
function contextualWords(known) {
  const folder = path.join(root, "frontend/parse");
  const found = new Set();
  for (const file of fs.readdirSync(folder).filter((name) => /^parse_\w+\.cpp$/.test(name) && !/_test/.test(name)))
    for (const [, word] of fs.readFileSync(path.join(folder, file), "utf8").matchAll(/Word\("([a-z]\w+)"/g))
      if (!known.has(word)) found.add(word);
  return [...found];
}

/** The memories of the machines. */
function placeNames() {
  const enums = /"place": \{"enum": (\[[^\]]*\])/.exec(read("machines/schema.json"));
  if (!enums) throw new Error("machines/schema.json no longer lists the places");
  return JSON.parse(enums[1]);
}

const alternatives = (list) => [...list].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).join("|");
const word = (list) => `(?<![\\w.])(?:${alternatives(list)})\\b`;

const groups = keywordGroups();
const literals = ["true", "false", "inf", "nan"];
const operators = ["and", "or", "not"];
const declarations = groups.Declarations;
const statements = groups.Statements;
const inside = groups["Inside expressions and headers"].filter((w) => ![...literals, ...operators].includes(w));
if (!declarations || !statements || inside.length === 0) throw new Error("tokens.def no longer has the groups of keywords");
const builtins = new Set(Object.values(words.groups).flat());
const storage = ["let", "var", "const"];
const contextual = contextualWords(new Set([...builtins, ...words.elementTypes, "elif"]));
const places = `@\\s*(?:${alternatives(placeNames())})\\b`;
const introduces = declarations.filter((w) => ["fn", "kernel", "program", "schedule", "struct", "type", "const"].includes(w));

const rules = {
  comments: {
    patterns: [
      { name: "comment.line.documentation.ptl", match: "(///).*$", captures: { 1: { name: "punctuation.definition.comment.ptl" } } },
      { name: "comment.line.double-slash.ptl", match: "(//).*$", captures: { 1: { name: "punctuation.definition.comment.ptl" } } },
      { include: "#block-comment" },
    ],
  },
  "block-comment": {
    name: "comment.block.ptl",
    begin: "/\\*",
    end: "\\*/",
    patterns: [{ include: "#block-comment" }],
  },
  strings: {
    name: "string.quoted.double.ptl",
    begin: '"',
    end: '"|$',
    patterns: [{ name: "constant.character.escape.ptl", match: "\\\\(?:u\\{[0-9A-Fa-f]+\\}|.)" }],
  },
  numbers: {
    patterns: [
      { name: "constant.numeric.size.ptl", match: "\\b[0-9][0-9_]*(?:KiB|MiB|GiB|TiB)\\b" },
      { name: "constant.numeric.hex.ptl", match: "\\b0[xX][0-9a-fA-F_]+\\b" },
      { name: "constant.numeric.binary.ptl", match: "\\b0[bB][01_]+\\b" },
      {
        name: "constant.numeric.float.ptl",
        match: "\\b[0-9][0-9_]*(?:\\.[0-9][0-9_]*(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)",
      },
      { name: "constant.numeric.integer.ptl", match: "\\b[0-9][0-9_]*\\b" },
      { name: "constant.language.ptl", match: word(literals) },
    ],
  },
  imports: {
    begin: "(?<![\\w.])(import)\\b",
    end: "$",
    beginCaptures: { 1: { name: "keyword.control.import.ptl" } },
    patterns: [{ include: "#comments" }, { include: "#strings" }, { name: "entity.name.namespace.ptl", match: "[A-Za-z_]\\w*(?=\\s*(?:[.:]|$))" }],
  },
  declarations: {
    match: `(?<![\\w.])(${alternatives(introduces)})\\s+([A-Za-z_]\\w*)`,
    captures: { 1: { name: "storage.type.$1.ptl" }, 2: { name: "entity.name.function.ptl" } },
  },
  blocks: {
    match: '(?<![\\w.])(test|property|bench)\\s*("(?:[^"\\\\]|\\\\.)*")',
    captures: { 1: { name: "storage.type.$1.ptl" }, 2: { name: "string.quoted.double.ptl entity.name.section.ptl" } },
  },
  bindings: {
    match: "(?<![\\w.])(let|var)\\s+([A-Za-z_]\\w*)",
    captures: { 1: { name: "storage.type.ptl" }, 2: { name: "variable.other.definition.ptl" } },
  },
  keywords: {
    patterns: [
      { name: "storage.type.ptl", match: word(storage) },
      { name: "storage.modifier.ptl", match: word(declarations.filter((w) => !storage.includes(w))) },
      { name: "keyword.control.ptl", match: word(statements.filter((w) => !storage.includes(w))) },
      { name: "keyword.other.ptl", match: word(inside) },
      { name: "keyword.operator.word.ptl", match: word(operators) },
      // A contextual word is a keyword where something other than an operator or a bracket follows.
      { name: "keyword.other.contextual.ptl", match: `${word(contextual)}(?=\\s+[\\w@{]|\\s*$)` },
    ],
  },
  types: {
    patterns: [
      { name: "storage.modifier.place.ptl", match: places },
      { name: "support.type.element.ptl", match: word(words.elementTypes) },
    ],
  },
  calls: {
    patterns: [
      { name: "support.function.builtin.ptl", match: `${word(builtins)}(?=\\s*\\()` },
      {
        match: "\\b([A-Za-z_]\\w*)(?=\\s*\\()",
        captures: { 1: { name: "entity.name.function.call.ptl" } },
      },
      { name: "variable.parameter.named.ptl", match: "\\b[A-Za-z_]\\w*(?=\\s*:(?!=))" },
      { match: "\\.([A-Za-z_]\\w*)", captures: { 1: { name: "variable.other.member.ptl" } } },
    ],
  },
  punctuation: {
    patterns: [
      { name: "keyword.operator.arrow.ptl", match: "->" },
      { name: "keyword.operator.range.ptl", match: "\\.\\." },
      { name: "keyword.operator.ptl", match: "\\*\\*|<<=?|>>=?|[-+*/%@&|^=!<>]=|[-+*/%@&|^~=<>]" },
      { name: "punctuation.separator.ptl", match: "[,;:]" },
    ],
  },
};

const grammar = {
  information_for_contributors: "Written by scripts/grammar.mjs from the tables of the compiler.",
  name: "PTL",
  scopeName: "source.ptl",
  patterns: ["comments", "strings", "imports", "declarations", "blocks", "bindings", "numbers", "types", "keywords", "calls", "punctuation"].map(
    (name) => ({ include: `#${name}` }),
  ),
  repository: rules,
};
const text = JSON.stringify(grammar, null, 2) + "\n";

if (values.check) {
  if (fs.readFileSync(values.check, "utf8") !== text) {
    console.error(`${values.check} is not what scripts/grammar.mjs writes now: run \`npm run grammar\` in editors/vscode`);
    process.exit(1);
  }
} else {
  fs.writeFileSync(values.out ?? path.join(root, "editors/vscode/syntaxes/ptl.tmLanguage.json"), text);
}
