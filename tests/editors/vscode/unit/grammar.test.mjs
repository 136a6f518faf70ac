import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

import { build, root, scopesOf, tokenise } from "./support.mjs";

const sample = `/// Documents \`f\`.
// plain
import std.nn: silu
pub kernel f[R, static C](x: f32[R, C] @gm) -> (y: f16[R, C])
where C <= 192KiB
tune ROWS: [4, 8] = 8
{
    parallel r in tiles(R, ROWS) {
        var m = full(f32[r, 1], -inf) /* a /* nested */ still */
        for j in tiles(C, 1_000) pipeline 2 {
            m = max(m, exp(x[r, j].T) * 1.5e-6) and not true
        }
        y[r, :] = f16(m, round: .even) // "no text"
        print("{ \\" } // text", 0xff)
    }
}
property "it holds"[N: 0..30] { g(inout c) }
`;

const expected = [
  ["/// Doc", 0, "comment.line.documentation"],
  ["// plain", 0, "comment.line.double-slash"],
  ["import", 0, "keyword.control.import"],
  ["nn", 0, "entity.name.namespace"],
  ["pub", 0, "storage.modifier"],
  ["kernel", 0, "storage.type.kernel"],
  ["f[R", 0, "entity.name.function"],
  ["static", 0, "keyword"],
  ["f32", 0, "support.type.element"],
  ["@gm", 0, "storage.modifier.place"],
  ["->", 0, "keyword.operator.arrow"],
  ["where", 0, "keyword.other"],
  ["192KiB", 0, "constant.numeric.size"],
  ["tune", 0, "keyword.other.contextual"],
  ["parallel", 0, "keyword.control"],
  ["tiles", 0, "entity.name.function.call"],
  ["var", 0, "storage.type"],
  ["m =", 0, "variable.other.definition"],
  ["full", 0, "support.function.builtin"],
  ["inf", 0, "constant.language"],
  ["nested", 0, "comment.block"],
  ["still", 0, "comment.block"],
  ["1_000", 0, "constant.numeric.integer"],
  ["pipeline", 0, "keyword.other.contextual"],
  ["max(", 0, "support.function.builtin"],
  [".T", 0, "source.ptl"],
  ["1.5e-6", 0, "constant.numeric.float"],
  ["and not", 0, "keyword.operator.word"],
  ["true", 0, "constant.language"],
  ["f16(m", 0, "support.type.element"],
  ["round", 0, "variable.parameter.named"],
  ['"no text', 0, "comment.line"],
  ["} // text", 0, "string.quoted.double"],
  ['\\"', 0, "constant.character.escape"],
  ["0xff", 0, "constant.numeric.hex"],
  ["property", 0, "storage.type.property"],
  ['"it holds', 0, "string.quoted.double"],
  ["0..30", 0, "constant.numeric.integer"],
  ["..", 0, "keyword.operator.range"],
  ["inout", 0, "keyword.other.contextual"],
];

for (const [piece, nth, scope] of expected)
  test(`\`${piece}\` is ${scope}`, async () => {
    const scopes = await scopesOf("source.ptl", sample, piece, nth);
    assert.ok(scopes.includes(scope), scopes);
  });

test("a fence in Markdown is PTL", async () => {
  const text = "Text\n\n```ptl\nlet x = 1\n```\nlet y\n";
  assert.match(await scopesOf("text.html.markdown", text, "let"), /meta\.embedded\.block\.ptl.*storage\.type/);
  assert.doesNotMatch(await scopesOf("text.html.markdown", text, "let", 1), /ptl/);
});

test("previews are coloured", async () => {
  const mlir = '%2 = ptl.slice %arg0[%c0] : !ptl.array<f32[r:8, 512]> loc("f.ptl":1:2)';
  assert.match(await scopesOf("source.ptl-ir", mlir, "%arg0"), /variable\.other\.value/);
  assert.match(await scopesOf("source.ptl-ir", mlir, "slice"), /keyword\.other\.operation/);
  assert.match(await scopesOf("source.ptl-ir", mlir, "f.ptl"), /comment\.line\.location/);
  const llvm = "  %3 = fadd fast <16 x float> %1, %2 ; sum";
  assert.match(await scopesOf("source.ptl-llvm", llvm, "fadd"), /keyword\.other\.operation/);
  assert.match(await scopesOf("source.ptl-llvm", llvm, "float"), /storage\.type/);
  const asm = "\tvaddps\tzmm0, zmm1, zmmword ptr [rsi + 64]";
  assert.match(await scopesOf("source.ptl-asm", asm, "vaddps"), /operation\.vector/);
  assert.match(await scopesOf("source.ptl-asm", asm, "zmm1"), /register\.vector/);
  assert.match(await scopesOf("source.ptl-asm", asm, "rsi"), /variable\.language\.register/);
});

// The compiler's own tokens say what the grammar has to see.
const wanted = {
  text: /string\.quoted/,
  integer: /constant\.numeric/,
  number: /constant\.numeric/,
  size: /constant\.numeric\.size/,
};
const files = ["examples", "std"].flatMap((folder) =>
  fs.readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".ptl")).map((name) => path.join(folder, name)),
);

function judge(kind, word, scopes) {
  if (wanted[kind]) return wanted[kind].test(scopes);
  if (/^`[a-z]\w*`$/.test(kind)) return /keyword|storage|constant\.language|support\.type/.test(scopes);
  if (kind === "name") return !/comment|string|constant\.numeric|keyword\.control|keyword\.operator/.test(scopes);
  return !/comment|string/.test(scopes) || kind === "end of file";
}

for (const file of files)
  test(`the grammar sees the tokens of ${file}`, async () => {
    const text = fs.readFileSync(path.join(root, file), "utf8");
    const { lines, depth } = await tokenise("source.ptl", text);
    assert.equal(depth, 1, "nothing is left open at the end");
    const ptlc = path.join(build, "bin/ptlc");
    const output = execFileSync(ptlc, ["build", "--emit=tokens", "-o", "-", path.join(root, file)], { encoding: "utf8" });
    let seen = 0;
    const covered = lines.map(() => []);
    for (const row of output.split("\n")) {
      const match = /^(\d+):(\d+) (`[^`]*`|[a-z ]+?)(?: (\S.*))?$/.exec(row);
      if (!match) continue;
      const [line, column] = [Number(match[1]) - 1, Number(match[2]) - 1];
      const token = lines[line]?.find(({ start, end }) => start <= column && column < end);
      if (!token) continue;
      ++seen;
      covered[line].push(column);
      assert.ok(judge(match[3], match[4], token.scopes), `${file}:${line + 1}:${column + 1} ${row}: ${token.scopes}`);
    }
    assert.ok(seen > 20, `${seen} tokens`);
    // And a comment stands only where the compiler has no token.
    lines.forEach((tokens, line) => {
      for (const { start, end, scopes } of tokens)
        if (scopes.includes("comment")) assert.ok(!covered[line].some((at) => start <= at && at < end), `${file}:${line + 1}`);
    });
  });
