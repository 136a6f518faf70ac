// The steps of workbench.mjs about tests: run, looked at line by line, debugged.
import assert from "node:assert/strict";

import { until } from "./person.mjs";

const plain = (texts) => texts.join("\n").replaceAll("\u00a0", " ");

/** Puts `checks.ptl` into the editor, with the cursor at a piece of it. */
export async function openChecks(w, piece) {
  await w.page.keyboard.press("Control+1"); // The file opens where the cursor is.
  await w.page.keyboard.press("Control+P");
  await w.page.locator(".quick-input-widget input").first().fill("checks.ptl");
  await w.choose("checks.ptl");
  if (piece) await w.goToText(piece, false, "checks.ptl");
}
export const checksEditor = (w) => w.page.locator('.monaco-editor[data-uri$="/checks.ptl"]').last();

/** Coverage is put away by a button of its view alone: the palette has no command for it. */
export async function closeCoverage(w) {
  await w.command("Focus on Test Coverage View");
  const header = w.page.locator(".pane-header", { hasText: /test coverage/i }).last();
  await header.hover();
  await header.locator('[aria-label="Clear Coverage"]').click();
}

export const testSteps = {
  async testView(w) {
    await openChecks(w);
    await w.command("Testing: Focus on Test Explorer View");
    const tree = w.page.locator(".test-explorer .monaco-list-row");
    await until("the files with tests are listed", async () => (await tree.allInnerTexts()).some((row) => row.includes("checks.ptl")));
    await w.page.keyboard.press("Control+1");
    await w.command("Test: Run Tests in Current File");
    await until("a failure stands in its line, with values", async () => /\d\.\d+ != \d\.\d+/.test(await w.text(checksEditor(w)) + (await w.page.locator(".monaco-editor").allInnerTexts()).join(" ").replaceAll("\u00a0", " ")));
    await until("and the shrunk case", async () => /with N = 78/.test((await w.page.locator(".part.editor, .part.panel").allInnerTexts()).join(" ").replaceAll("\u00a0", " ")));
    await w.shoot("testFailure");
    await w.command("View: Show Explorer");
    await w.command("View: Close Editor");
  },

  async testCoverage(w) {
    await openChecks(w);
    await w.command("Test: Run Tests with Coverage in Current File");
    const mark = (kind) => checksEditor(w).locator(`.coverage-deco-gutter.coverage-deco-${kind}`);
    await until("what tests executed is marked", async () => (await mark("hit").count()) > 0);
    await until("and what they did not", async () => (await mark("miss").count()) > 0);
    await w.shoot("coverageInline");
    await w.command("Focus on Test Coverage View");
    const rows = w.page.locator(".test-coverage-tree .monaco-list-row, .part.sidebar .monaco-list-row");
    await until("a list says how much of the file", async () => /checks\.ptl/.test(plain(await rows.allInnerTexts())));
    await until("and with which extents", async () => {
      const seen = plain(await rows.allInnerTexts());
      if (/twice: N = 1, 100/.test(seen)) return true;
      await rows.filter({ hasText: "checks.ptl" }).last().click();
      await w.page.keyboard.press("ArrowRight");
      await new Promise((done) => setTimeout(done, 500));
      throw new Error(seen);
    });
    await w.shoot("coverageView");
    await closeCoverage(w);
    await until("the marks go", async () => (await mark("hit").count()) === 0);
    await w.command("View: Show Explorer");
    await w.command("View: Close Editor");
  },

  async testDebug(w) {
    await openChecks(w, "let part");
    await w.command("Debug: Toggle Breakpoint");
    await until("a breakpoint is set", async () => (await checksEditor(w).locator(".codicon-debug-breakpoint").count()) > 0);
    await w.goToText("x + x + 1.0", false, "checks.ptl");
    await w.command("Test: Debug Test at Cursor");
    const calls = w.page.locator(".debug-call-stack .monaco-list-row");
    const variables = w.page.locator(".debug-viewlet .debug-variables .monaco-list-row, .debug-variables .monaco-list-row");
    await until("the run stops in the kernel", async () => /twice\[N = 100\][\s\S]*test "wrong"/.test(plain(await calls.allInnerTexts())));
    const values = async () => plain(await variables.allInnerTexts());
    await until("the tile is shown", async () => /r\s*[:=]\s*0\.\.64 \(tile 0\)/.test(await values()));
    await w.command("Debug: Step Over");
    await until("what a statement computed is shown", async () => /part\s*[:=]\s*\[[\d.]+, /.test(await values()));
    await until("in its line, too", async () => /let part.*part = \[[\d.]+, /.test((await w.text(checksEditor(w))).replaceAll("\u2009", " ")));
    await w.shoot("debugTile");
    await w.command("Debug: Continue");
    await until("the next tile is shorter", async () => /r\s*[:=]\s*64\.\.100 \(tile 1\)/.test(await values()));
    await w.command("Debug: Continue");
    const failure = w.page.locator(".exception-widget");
    await until("the run stops where the test fails", async () => /got [\d.]+, expected [\d.]+/.test(plain(await failure.allInnerTexts())));
    await w.shoot("debugFailure");
    await w.command("Debug: Continue");
    await until("and ends", async () => (await w.page.locator(".debug-toolbar").count()) === 0 || !(await w.page.locator(".debug-toolbar").isVisible()));
    assert.ok(!/passed/.test(plain(await w.page.locator(".repl .monaco-list-row").allInnerTexts())), "the test has failed");
    await w.command("Remove All Breakpoints");
    await w.command("View: Show Explorer");
    await w.command("View: Close Editor");
  },
};
