import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { load } from "./support.mjs";

const { LineMap, runs } = await load("line_map");
const { formatPreviewUri, parsePreviewName } = await load("preview_uri");
const { findTool } = await load("find_tool");
const { statusText } = await load("show_status");
const { blockAt } = await load("blocks");
const { picturePage, withLines } = await load("picture_page");
const { readSizes, sizesText, withSizes } = await load("sizes");
const { readOutcome, testBlocks } = await load("test_results");
const coverage = await load("coverage");
const { namesOfLines } = await load("inline_names");
const { parsePlace, timelinePage } = await load("timeline_page");

const range = (line, from, endLine, to) => ({ start: { line, character: from }, end: { line: endLine, character: to } });
const at = (line, character) => range(line, character, line, character);
const file = "file:///a.ptl";

// 0: the kernel, 1 and 2: `x[r] + 1`, 3: `x[r]`, 4: a store, 5: another file.
const kernel = range(0, 0, 6, 1);
const sum = range(2, 15, 2, 23);
const load1 = range(2, 15, 2, 19);
const store = range(2, 8, 2, 23);
const map = new LineMap([
  { line: 0, sources: [{ uri: file, range: kernel }] },
  { line: 1, sources: [{ uri: file, range: sum }] },
  { line: 2, sources: [{ uri: file, range: sum }] },
  { line: 3, sources: [{ uri: file, range: load1 }] },
  { line: 4, sources: [{ uri: file, range: store }] },
  { line: 5, sources: [{ uri: "file:///b.ptl", range: sum }, { uri: file, range: store }] },
]);

test("a cursor finds the lines of the smallest range around it", () => {
  assert.deepEqual(map.linesOf(file, at(2, 16)), [3]);
  assert.deepEqual(map.linesOf(file, at(2, 21)), [1, 2]);
  assert.deepEqual(map.linesOf(file, at(2, 9)), [4, 5]);
});

test("a selection finds all that came from inside it", () => {
  assert.deepEqual(map.linesOf(file, range(2, 15, 2, 23)), [1, 2, 3]);
  assert.deepEqual(map.linesOf(file, range(0, 0, 7, 0)), [0, 1, 2, 3, 4, 5]);
});

test("a selection inside one expression finds that expression", () => {
  assert.deepEqual(map.linesOf(file, range(2, 16, 2, 17)), [3]);
});

test("a cursor beside an expression finds what begins on its line", () => {
  assert.deepEqual(map.linesOf(file, at(2, 2)), [1, 2, 3, 4, 5]);
  assert.deepEqual(map.linesOf(file, at(0, 3)), [0]);
});

test("a line that produced nothing finds nothing, not the kernel around it", () => {
  assert.deepEqual(map.linesOf(file, at(4, 3)), []);
  assert.deepEqual(map.linesOf("file:///c.ptl", at(2, 16)), []);
});

test("a line of a preview finds its sources, innermost first", () => {
  assert.deepEqual(map.sourcesOf(5).map(({ uri }) => uri), ["file:///b.ptl", file]);
  assert.deepEqual(map.sourcesOf(9), []);
});

test("there and back: each line is among those of its own sources", () => {
  for (let line = 0; line < 6; ++line)
    for (const source of map.sourcesOf(line)) assert.ok(map.linesOf(source.uri, source.range).includes(line));
});

test("names of sources are compared in one form", () => {
  const mapped = new LineMap([{ line: 1, sources: [{ uri: "file:///a%2Eptl", range: sum }] }], decodeURIComponent);
  assert.deepEqual(mapped.linesOf(file, at(2, 16)), [1]);
});

test("runs joins neighbours", () => {
  assert.deepEqual(runs([1, 2, 3, 7, 9, 10]), [{ first: 1, last: 3 }, { first: 7, last: 7 }, { first: 9, last: 10 }]);
  assert.deepEqual(runs([]), []);
});

const name = {
  title: "a b.ptl.sum & more.tile.mlir",
  uri: "file:///home/u%26v/a%20b.ptl",
  entry: "sum & more = 1",
  stage: "tile",
  rest: [["C", "512"]],
};

test("a preview's name survives its URI", () => {
  const uri = formatPreviewUri(name);
  assert.match(uri, /^ptl-ir:\/a%20b\.ptl\.sum%20%26%20more\.tile\.mlir\?uri=file%3A%2F%2F%2Fhome%2Fu%2526v%2F/);
  const [, path, query] = /^ptl-ir:([^?]*)\?(.*)$/.exec(uri);
  assert.deepEqual(parsePreviewName(path, query), name);
});

test("a preview's name survives an editor that decodes the query once", () => {
  const simple = { ...name, entry: "softmax_rows" };
  const [, path, query] = /^ptl-ir:([^?]*)\?(.*)$/.exec(formatPreviewUri(simple));
  assert.deepEqual(parsePreviewName(decodeURIComponent(path), decodeURIComponent(query)), simple);
});

test("what is no preview's name is refused", () => {
  assert.equal(parsePreviewName("/a", "uri=file:///a&entry=f"), undefined);
  assert.equal(parsePreviewName("/a", ""), undefined);
});

const places = (over) => ({
  setting: "",
  workspace: "/ws",
  home: "/home/me",
  searchPath: ["/bin", "/opt/bin"].join(path.delimiter),
  isExecutable: (tool) => ["/opt/bin/ptl-lsp", "/ws/build/bin/ptl-lsp", "/home/me/ptl-lsp", "/next/ptlc"].includes(tool),
  ...over,
});

test("the server is found by setting, then on the PATH", () => {
  const find = (over) => findTool("ptl-lsp", "ptl.server.path", places(over));
  assert.deepEqual(find({}), { path: "/opt/bin/ptl-lsp" });
  assert.deepEqual(find({ setting: "${workspaceFolder}/build/bin/ptl-lsp" }), { path: "/ws/build/bin/ptl-lsp" });
  assert.deepEqual(find({ setting: "build/bin/ptl-lsp" }), { path: "/ws/build/bin/ptl-lsp" });
  assert.deepEqual(find({ setting: "~/ptl-lsp" }), { path: "/home/me/ptl-lsp" });
  assert.match(find({ setting: "/nowhere/x" }).problem, /`ptl\.server\.path` names `\/nowhere\/x`/);
  assert.match(find({ searchPath: "/bin" }).problem, /not on the PATH.*`\.\/dev vsix`.*`ptl\.server\.path`/);
});

test("what came with the extension is found before the PATH, and after the setting", () => {
  const find = (over) => findTool("ptl-lsp", "ptl.server.path", places({ beside: ["/next"], ...over }));
  assert.deepEqual(find({ isExecutable: () => true }), { path: "/next/ptl-lsp" });
  assert.deepEqual(find({ isExecutable: () => true, setting: "/mine/ptl-lsp" }), { path: "/mine/ptl-lsp" });
  assert.deepEqual(find({ isExecutable: (file) => file === "/opt/bin/ptl-lsp" }), { path: "/opt/bin/ptl-lsp" });
});

test("the compiler is found beside the server first", () => {
  assert.deepEqual(findTool("ptlc", "ptl.compiler.path", places({ beside: ["/next"] })), { path: "/next/ptlc" });
});

test("a status is readable, short things first", () => {
  const documents = [{ uri: "file:///a.ptl", lines: 3 }, { uri: "file:///b.ptl", lines: 5 }];
  const text = statusText({ documents, worker: { state: "idle", cache: { entries: 2 } }, version: "0.1.0", note: null });
  const expected = `version: 0.1.0
note: null
documents:
  - uri: file:///a.ptl
    lines: 3
  - uri: file:///b.ptl
    lines: 5
worker:
  state: idle
  cache:
    entries: 2
`;
  assert.equal(text, expected);
});

test("the block at a line", () => {
  const lines = ['test "a \\" b" {', "    x", "}", "", 'bench "fast" {', "    y", "}"];
  const find = (line, kind) => blockAt((i) => lines[i], line, kind);
  assert.equal(find(0, "test"), 'a \\" b');
  assert.equal(find(1, "test"), 'a \\" b');
  assert.equal(find(2, "test"), 'a \\" b');
  assert.equal(find(3, "test"), "");
  assert.equal(find(5, "bench"), "fast");
  assert.equal(find(5, "test"), "");
});

test("the page of a memory map holds the picture, and runs no script but its own", () => {
  const svg = '<svg><g data-line="3"></g></svg>';
  const page = picturePage(svg, "", false);
  assert.ok(page.includes(svg));
  const nonce = /script-src 'nonce-(\w+)'/.exec(page)[1];
  assert.ok(nonce.length >= 20 && page.includes(`<script nonce="${nonce}">`));
  assert.ok(!page.includes("the last that did"));
  assert.ok(picturePage(svg, "", true).includes("the last that did"));
  const none = picturePage(undefined, "// E0421: <b> & more", true);
  assert.ok(none.includes("E0421: &lt;b&gt; &amp; more") && !none.includes("<svg>"));
});

test("a picture leads to the lines where its source is now", () => {
  const svg = '<svg>\n<g data-line="3"><title>a</title></g>\n<g data-line="9"></g>\n<path/></svg>';
  const moved = withLines(svg, (row) => (row === 1 ? 5 : undefined));
  assert.equal(moved, svg.replace('data-line="3"', 'data-line="5"'));
});

test("the page of a timeline is that of the compiler, allowed to run its own script and nothing else", () => {
  const own = path.join(process.env.PTL_ROOT, "runtime/sim/time/swimlane.html");
  const data = '{"title":"k on a3: <\\/script>","end":1}';
  const page = timelinePage(fs.readFileSync(own, "utf8").replace("/*DATA*/", () => data));
  const nonce = /script-src 'nonce-(\w+)'/.exec(page)[1];
  assert.ok(nonce.length >= 20);
  assert.deepEqual(page.match(/<script[^>]*>/g), [`<script nonce="${nonce}">`]);
  assert.ok(page.includes(`const D=${data};`) && page.includes("default-src 'none'"));
  assert.ok(!/https?:/.test(page), "nothing comes from elsewhere");
});

test("places of a timeline lead to lines", () => {
  assert.deepEqual(parsePlace("/a b/k.ptl:12:5"), { path: "/a b/k.ptl", line: 12, column: 5 });
  for (const wrong of ["", "k.ptl", "k.ptl:3", ":1:2", undefined, 7]) assert.equal(parsePlace(wrong), undefined);
});

test("lengths are read and written", () => {
  assert.deepEqual(readSizes(" R = 768, C=2048; ", ["R", "C"]), { R: 768, C: 2048 });
  assert.equal(sizesText({ R: 768, C: 2048 }), "R = 768, C = 2048");
  assert.match(readSizes("R = many", ["R"]), /no `NAME = LENGTH`/);
  assert.match(readSizes("N = 4", ["R", "C"]), /no dimension `N`; there are R, C/);
  assert.match(readSizes("R = 99999999999999999999", ["R"]), /too large/);
});

test("lengths of one entry take the place of its own only", () => {
  const before = { R: 1, "a.R": 2, "ab.R": 3, a: { C: 4 }, "a.last": 5 };
  const dims = [{ name: "R" }, { name: "C" }];
  assert.deepEqual(withSizes(before, "a", dims, { R: 7 }), { R: 1, "ab.R": 3, "a.last": 5, "a.R": 7 });
  assert.deepEqual(withSizes(before, "a", dims, {}), { R: 1, "ab.R": 3, "a.last": 5 });
});

test("tests and properties of a text are found", () => {
  const text = 'test "a \\"b\\"" {\n    x\n}\n// test "no" {\nproperty "p"[R: 0..3] {\n    y\n}\nbench "c" {\n}\ntest "short" { z }\ntest "open" {\n';
  assert.deepEqual(
    testBlocks(text).map(({ name, kind, line, endLine }) => [name, kind, line, endLine]),
    [['a "b"', "test", 0, 2], ["p", "property", 4, 6], ["short", "test", 9, 9], ["open", "test", 10, 10]],
  );
});

test("what a run says is put to its tests", () => {
  const at = (line) => ({ file: "/a.ptl", begin: { line, column: 5 }, end: { line, column: 9 }, severity: "error" });
  const said = "got 1.5, expected 2.5 at [0]; 1 of 2 elements are wrong";
  const diagnostics = [
    { ...at(7), code: "E0810", message: `\`wrong\` failed on \`cpu\`: ${said}`, notes: [] },
    { ...at(7), code: "E0810", message: `\`wrong\` failed on \`reference\`: ${said}`, notes: [] },
    { ...at(9), code: "E0810", message: "`p` failed on `cpu`: `i < 77` does not hold: `i` is 77", notes: ["with N = 78"] },
  ];
  const outcome = readOutcome(JSON.stringify({ diagnostics }), ["ok", "wrong", "p"]);
  assert.deepEqual([...outcome.passed], [["ok", true], ["wrong", false], ["p", false]]);
  const [wrong] = outcome.failures.get("wrong");
  assert.equal(outcome.failures.get("wrong").length, 1);
  assert.equal(wrong.text, `${said} (cpu, reference)`);
  assert.deepEqual([wrong.actual, wrong.expected, wrong.place.line, wrong.place.column], ["1.5", "2.5", 6, 4]);
  assert.equal(outcome.failures.get("p")[0].text, "`i < 77` does not hold: `i` is 77 (cpu), with N = 78");
  assert.deepEqual(outcome.failures.get("p")[0].dims, { N: 78 });
  assert.equal(wrong.dims, undefined);
  const broken = readOutcome(JSON.stringify({ diagnostics: [{ ...at(1), code: "E0107", message: "expected `(`" }] }), ["ok"]);
  assert.deepEqual([broken.passed.size, broken.problems[0].text], [0, "expected `(`"]);
  assert.deepEqual(readOutcome("not JSON", ["ok"]), { passed: new Map(), failures: new Map(), problems: [] });
});

function counted(...counts) {
  const at = (line, from, to) => ({ begin: { line, column: from }, end: { line, column: to } });
  const [first, second, then] = counts;
  const entry = {
    name: "twice",
    kind: "kernel",
    at: at(1, 8, 13),
    count: first,
    extents: [{ dims: { N: first }, count: first }],
    statements: [{ ...at(2, 5, 40), count: first }, { ...at(3, 9, 20), count: second }],
    branches: [{ ...at(3, 12, 15), arms: [{ name: "then", count: then }, { name: "else", count: 0 }] }],
  };
  const skipped = { ...entry, name: "by_hand", skipped: "it is written at block level", count: 0, statements: [], branches: [], extents: [] };
  return { file: "/a.ptl", entries: [entry, skipped] };
}

test("coverage of several runs is added, and summed up", () => {
  const document = (file) => JSON.stringify({ version: 1, executor: "reference", files: [file] });
  const all = new Map();
  coverage.addCoverage(all, coverage.readCoverage(document(counted(2, 0, 0))));
  assert.deepEqual(coverage.sums(all.get("/a.ptl")).statements, { covered: 1, total: 2 });
  coverage.addCoverage(all, coverage.readCoverage(document(counted(3, 4, 1))));
  const file = all.get("/a.ptl");
  assert.deepEqual(coverage.sums(file), {
    statements: { covered: 2, total: 2 },
    branches: { covered: 1, total: 2 },
    entries: { covered: 1, total: 1 },
  });
  assert.deepEqual(file.entries[0].statements.map(({ count }) => count), [5, 4]);
  assert.deepEqual(file.entries[0].extents, [{ dims: { N: 2 }, count: 2 }, { dims: { N: 3 }, count: 3 }]);
  assert.equal(coverage.titleOf(file.entries[0]), "twice: N = 2, 3");
  assert.equal(coverage.titleOf(file.entries[1]), "by_hand: not counted, it is written at block level");
  // A branch belongs to the smallest statement around it.
  assert.deepEqual(coverage.branchesOf(file.entries[0]).map((own) => own.length), [0, 1]);
  // A file that was changed is not mixed with what it was.
  const changed = counted(1, 1, 1);
  changed.entries[0].statements.pop();
  coverage.addCoverage(all, [changed]);
  assert.equal(all.get("/a.ptl").entries[0].count, 1);
  assert.deepEqual([coverage.readCoverage("not JSON"), coverage.readCoverage('{"version":2}')], [[], []]);
});

test("many extents are shortened", () => {
  const entry = counted(1, 1, 1).entries[0];
  entry.extents = [9, 3, 1, 2, 8, 4, 5, 6, 7, 300].map((N) => ({ dims: { N }, count: 1 }));
  assert.equal(coverage.titleOf(entry), "twice: N = 1, 2, 3, 4, 5, 6 … 300");
});

test("names whose values stand at the ends of lines", () => {
  const text = ["fn f(q: f32) {", "}", "kernel k[N](x: f32[N]) -> (y: f32[N])", "{", "    parallel r in tiles(N, 64) {",
    '        let part: f32[r] = x[r] // of "x"', "        y[r] = part + 1.0", "        let (a, b) = two(y)", "        expect(a == b.c)"];
  const names = (line) => namesOfLines((at) => text[at], line).map(({ line, column, name }) => {
    assert.equal(text[line].slice(column, column + name.length), name);
    return `${line}:${name}`;
  });
  assert.deepEqual(names(8), ["2:kernel", "2:k", "2:N", "2:x", "2:f32", "2:y", "4:r", "5:part", "6:y", "7:a", "7:b", "8:expect", "8:a", "8:b"]);
  assert.deepEqual(names(0), ["0:fn", "0:f", "0:q", "0:f32"]);
});
