// Drives the workbench of VS Code in a browser with the packaged extension, as a person would, and looks at the page.
// usage: node workbench.mjs PORT WORKSPACE RESULTS CHROMIUM
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { openBrowser, openFolder, patience, until, Workbench } from "./person.mjs";
import { testSteps } from "./testing.mjs";

const [port, workspace, results, chromium] = process.argv.slice(2);
const source = path.join(workspace, "kernels.ptl");

const begin = Date.now();
const seconds = () => ((Date.now() - begin) / 1000).toFixed(1);

/** What must be seen, in order; each step leaves a screenshot. */
const steps = {
  async colours(w) {
    await until("the file is open", async () => (await w.text()).includes("pub kernel softmax_rows"));
    await until("the grammar colours it", async () => {
      const classes = await w.sourceEditor().locator(".view-line span span").evaluateAll((spans) => [...new Set(spans.map((span) => span.className))]);
      return classes.filter((name) => name.includes("mtk")).length >= 5;
    });
  },

  async diagnostic(w) {
    await until("an error is underlined", async () => (await w.page.locator(".squiggly-error").count()) > 0);
    await w.command("Problems: Focus on Problems View");
    const row = w.page.locator(".markers-panel .monaco-list-row", { hasText: "the contracted extents differ" });
    await until("the problem is listed", async () => (await row.count()) > 0);
    await until("it has its code", async () => (await row.first().innerText()).includes("E0312"));
  },

  async quickFix(w) {
    await w.page.keyboard.press("Control+J"); // The panel of problems goes away.
    await w.goToText("q @ k");
    const fix = w.page.locator(".action-widget .monaco-list-row", { hasText: "transpose the right side" });
    // The editor drops the question when something else it asked for in that moment is answered: so it is asked again.
    await until("a fix is offered", async () => {
      await w.page.keyboard.press("Escape");
      await w.command("Quick Fix...");
      return until("it", async () => (await fix.count()) > 0, 5000);
    });
    await w.shoot("quickFixOffered");
    for (let i = 0; i < 8 && !/focused/.test(await fix.first().getAttribute("class")); ++i)
      await w.page.keyboard.press("ArrowDown");
    await w.page.keyboard.press("Enter");
    await until("the fix is made", async () => (await w.text()).includes("q @ k.T"));
    await until("the error is gone", async () => (await w.page.locator(".squiggly-error").count()) === 0);
    await w.save();
  },

  async hint(w) {
    await until("a hint shows the shape of `rows`", async () => /let rows ?:? ?f32\[r, C\]/.test(await w.text()));
  },

  async hover(w) {
    await w.goToText("softmax(rows)");
    const text = await w.hover("the hover shows IR", /ptl\./);
    if (!text.includes("f32[r, C]")) throw new Error(`the hover does not show the type: ${text}`);
  },

  async insertHint(w) {
    await w.page.keyboard.press("Escape");
    await w.goToText("let rows");
    await w.command("PTL: Write the Hints of This Line into the Source");
    await w.save();
    await until("the type stands in the file", () => /let rows: f32\[r, C\].* = /.test(fs.readFileSync(source, "utf8")));
    await w.page.keyboard.press("Control+Z");
    await w.save();
    await until("and is taken back", () => fs.readFileSync(source, "utf8").includes("let rows = "));
  },

  async references(w) {
    const places = w.page.locator(".reference-zone-widget .ref-tree .monaco-list-row");
    await w.clickLens(/^1 reference$/, "the lens shows where the function is used", async () =>
      (await places.allInnerTexts()).some((text) => text.includes("softmax(rows)")),
    );
    await w.page.keyboard.press("Escape");
  },

  async peek(w) {
    await w.goToText("softmax(rows)");
    await w.command("PTL: Show IR at Cursor");
    const peek = w.page.locator(".peekview-widget");
    await until("the IR is shown within the source", async () => (await peek.innerText()).includes("ptl."));
  },

  async preview(w) {
    await w.page.keyboard.press("Escape");
    await w.goToText("softmax(rows)");
    await w.command("PTL: Open Preview at Stage");
    await w.choose("Tile IR");
    await until("the preview is open", async () => (await w.text(w.previewEditor())).includes("ptl."));
  },

  async highlight(w) {
    await w.goToText("softmax(rows)");
    const lit = () => w.previewEditor().locator('.view-overlays .cdr[class*="ced-"]').count();
    await until("lines of the preview light up", async () => (await lit()) > 0);
    // And back: a click on a line of the preview lights up the source.
    await w.clickInPreview("ptl.exp");
    const back = () => w.sourceEditor().locator('.view-overlays .cdr[class*="ced-"]').count();
    await until("the source lights up", async () => (await back()) > 0);
  },

  async previewHover(w) {
    await w.clickInPreview("ptl.exp");
    await w.hover("a line of the preview says where it came from", /kernels\.ptl|x\[r, :\]/);
  },

  async fold(w) {
    await w.page.keyboard.press("Escape");
    // Not the number of lines: how many are drawn depends on where the editor has scrolled to.
    const folded = () => w.previewEditor().locator(".codicon-folding-collapsed").count();
    assert.equal(await folded(), 0, "nothing is folded at first");
    await w.command("Fold All");
    await until("regions of the preview are folded", async () => (await folded()) > 0);
    await w.shoot("fold");
    await w.command("Unfold All");
    await until("and unfolded", async () => (await folded()) === 0);
  },

  async goToSource(w) {
    await w.clickInPreview("ptl.exp");
    await w.command("PTL: Go to Source");
    await until("the source has the focus", async () =>
      (await w.page.locator('.monaco-editor.focused[data-uri$="/kernels.ptl"]').count()) > 0,
    );
  },

  async follow(w) {
    const before = await w.text(w.previewEditor());
    if (/rsqrt/.test(before)) throw new Error("the preview has `rsqrt` before the edit");
    await w.goToText("softmax(rows)", true);
    await w.page.keyboard.type(" + rsqrt(rows)");
    await until("the preview follows the edit", async () => {
      await w.previewEditor().hover();
      return /rsqrt/.test(await w.text(w.previewEditor()));
    });
  },

  async stale(w) {
    await w.page.keyboard.type(" +");
    await until("an error in the source is shown", async () => (await w.page.locator(".squiggly-error").count()) > 0);
    await until("the last good preview stays", async () => /rsqrt/.test(await w.text(w.previewEditor())));
    for (let i = 0; i < " + rsqrt(rows) +".length; ++i) await w.page.keyboard.press("Backspace");
    await until("the preview is as before", async () => !/rsqrt/.test(await w.text(w.previewEditor())));
  },

  async compare(w) {
    await w.goToText("softmax(rows)");
    await w.command("PTL: Compare Two Stages");
    await w.choose("Checked tree");
    await w.choose("Tile IR");
    const diff = w.page.locator(".monaco-diff-editor");
    await until("the difference of two stages is shown", async () =>
      (await diff.locator(".line-delete").count()) > 0 && (await diff.locator(".line-insert").count()) > 0,
    );
  },

  async dumpedIr(w) {
    await w.command("View: Close Editor");
    await w.page.keyboard.press("Control+1");
    await w.page.keyboard.press("Control+P");
    await w.page.locator(".quick-input-widget input").first().fill("scale.mlir");
    await w.choose("scale.mlir");
    const editor = w.page.locator('.monaco-editor[data-uri$="/scale.mlir"]').last();
    const line = editor.locator(".view-line", { hasText: "ptl.mul" }).first();
    await until("the dumped IR is open", async () => (await line.count()) > 0);
    await line.click({ position: { x: 90, y: 8 } });
    await w.hover("a line of dumped IR says where it came from", /scale\.ptl/);
    await w.shoot("dumpedIrHover");
    await w.page.keyboard.press("Escape");
    await w.page.keyboard.press("F12");
    await until("its source opens", async () =>
      (await w.page.locator('.monaco-editor.focused[data-uri$="/scale.ptl"]').count()) > 0,
    );
    await w.command("View: Close Editor");
    await w.command("View: Close Editor");
  },

  async runTest(w) {
    await w.goToText('test "twice is a sum"');
    await w.clickLens(/run test/i, "the test runs in a terminal", async () =>
      /passed|1 test|ok/i.test((await w.page.locator(".xterm-rows").first().innerText({ timeout: 5000 })).replaceAll("\u00a0", " ")),
    );
  },

  async chipLens(w) {
    await w.goToText("pub kernel softmax_rows");
    const lens = w.page.locator(".codelens-decoration a", { hasText: /^a3 / }).first();
    await until("a lens says that the kernel fits a chip, and how long it takes", async () => /^a3 ✓ ~?[\d.]+ [µm]s/.test(await lens.innerText()));
    await until("beside it stands what it needs", async () => /^a3: fits · vec [\d.]+\/184 KiB/.test(await lens.getAttribute("title")));
    await w.goToText("softmax(rows)");
    await w.command("PTL: Open Preview at Stage");
    await w.pick("Block IR for a3");
    await until("the block level is open", async () => (await w.text(w.previewEditor())).includes("pto."));
  },

  async lengths(w) {
    await w.goToText("pub kernel softmax_rows");
    const shown = (pattern) => async () => (await w.page.locator(".codelens-decoration a", { hasText: pattern }).count()) > 0;
    await until("assumed lengths are marked", shown(/^for C = 512, R = \d+ \(assumed\)$/));
    const input = w.page.locator(".quick-input-widget input").first();
    await w.clickLens(/^for C = /, "a click asks for lengths", async () => input.isVisible());
    await w.choose("Other lengths…");
    await until("with those that there are", async () => /R = \d+, C = 512/.test(await input.inputValue()) || /R = 1024/.test(await input.inputValue()));
    await input.fill("R = 4096, Q = 3");
    await until("a wrong name is told", async () => /no dimension `Q`/.test(await w.page.locator(".quick-input-widget").innerText()));
    await w.shoot("lengthsAsked");
    await input.fill("R = 4096, C = 256");
    await w.page.keyboard.press("Enter");
    await until("the times are for them", shown(/^for R = 4096, C = 256$/));
    const title = () => w.page.locator(".codelens-decoration a", { hasText: /^a3 ✓/ }).first().innerText();
    await until("and nothing is assumed any more", async () => !(await title()).includes("~"));
  },

  async chooseChips(w) {
    await w.command("PTL: Choose Chips…");
    await until("the chips are listed", async () => {
      const rows = await w.page.locator(".quick-input-list .monaco-list-row").allInnerTexts();
      return ["a2", "a3", "a5", "cpu"].every((name) => rows.some((row) => row.startsWith(name)));
    });
    await w.shoot("chips");
    await w.page.keyboard.press("Escape");
  },

  async overflow(w) {
    // Rows that a loop compares with each other, turn by turn, cannot be done in parts.
    const more = " ; var s = rows ; for _ in 0..2 { s = s - max(s, axis: 0) } ; y[r, :] = s";
    const lens = w.page.locator(".codelens-decoration a", { hasText: /^a3 ✗ vec/ });
    // Keys are lost while another part of the page takes the focus: what was typed is then taken back, and typed again.
    await until("a lens says that it does not fit", async () => {
      await w.revert();
      await w.goToText("softmax(rows)", true);
      await w.page.keyboard.type(more);
      await w.goToText("parallel r in tiles(R, ROWS)", true);
      await w.page.keyboard.press("ArrowLeft");
      await w.page.keyboard.type(" * 64");
      return until("it", async () => (await lens.count()) > 0, patience / 4);
    });
    await until("what does not fit is underlined", async () => (await w.page.locator(".squiggly-error").count()) > 0);
    await w.shoot("overflowShown");
    await w.revert();
    await until("it fits again", async () => (await w.page.locator(".squiggly-error").count()) + (await lens.count()) === 0);
  },

  async memory(w) {
    await w.goToText("pub kernel softmax_rows");
    const boxes = w.page.frameLocator("iframe.webview").last().frameLocator("iframe").locator("svg [data-line]");
    await w.clickLens(/^a3 ✓/, "a picture shows the memory", async () => (await boxes.count()) > 0);
    const paper = w.page.frameLocator("iframe.webview").last().frameLocator("iframe").locator("svg > rect").first();
    assert.notEqual(await paper.evaluate((rect) => getComputedStyle(rect).fill), "rgb(255, 255, 255)", "paper in a dark theme");
    // Any kernel's lens may be the first, so the picture says which line makes a buffer.
    await w.page.keyboard.press("Control+1");
    await w.goTo(Number(await boxes.first().getAttribute("data-line")), 9);
    const lit = w.page.frameLocator("iframe.webview").last().frameLocator("iframe").locator("svg [data-line].here");
    await until("the buffer of the cursor's line lights up", async () => (await lit.count()) > 0);
    await w.shoot("memoryMap");
    await boxes.first().click({ force: true });
    await until("a click on a buffer goes to its line", async () =>
      (await w.page.locator('.monaco-editor.focused[data-uri$="/kernels.ptl"]').count()) > 0,
    );
  },

  async graph(w) {
    await w.goToText("pub kernel softmax_rows");
    await w.clickLens(/^graph$/, "a lens shows the graph", async () => (await w.page.locator("iframe.webview").count()) > 0);
    const inside = w.page.frameLocator("iframe.webview").last().frameLocator("iframe");
    await until("a picture shows the operations of the kernel", async () =>
      (await inside.locator("svg.ptl-graph .op").count()) > 2 && /softmax_rows on a3: /.test(await inside.locator("svg.ptl-graph .title").first().innerHTML()),
    );
    const paper = inside.locator("svg.ptl-graph > rect").first();
    assert.notEqual(await paper.evaluate((rect) => getComputedStyle(rect).fill), "rgb(255, 255, 255)", "paper in a dark theme");
    await w.page.keyboard.press("Control+1");
    // Of a function that is called the lines are its own.
    await w.goToText("let e = exp");
    await until("the operations of the cursor's line light up", async () => (await inside.locator(".here > .op").count()) > 0);
    await w.shoot("graphShown");
    const line = await inside.locator("g[data-line]:has(.output)").first().getAttribute("data-line");
    await inside.locator("g[data-line]:has(.output)").first().click({ force: true });
    await until("a click on a box goes to its line", async () =>
      new RegExp(`Ln ${line}, `).test(await w.page.locator(".statusbar").innerText()),
    );
  },

  async timeline(w) {
    await w.goToText("pub kernel softmax_rows");
    const lens = w.page.locator(".codelens-decoration a", { hasText: /^a3 ✓ ~?[\d.]+ [µm]s · \w+ \d+ %/ });
    await until("a lens says how long the kernel takes", async () => (await lens.count()) > 0);
    await until("hints say what dominates", async () => /a3: ~?[\d.]+ [µm]s · \d+ %/.test(await w.text()));
    const inside = w.page.frameLocator("iframe.webview").last().frameLocator("iframe");
    await w.clickLens(/^timeline$/, "the page tells of the kernel", async () =>
      /^\w+\[.*\] on a3/.test(await inside.locator("#title").innerText({ timeout: 5000 })),
    );
    await w.shoot("timelineShown");
    // The first lane of the first core is right below the ruler.
    const canvas = await inside.locator("#c").boundingBox();
    let found = false;
    for (let x = 120; x < canvas.width && !found; x += 6) {
      await w.page.mouse.click(canvas.x + x, canvas.y + 33);
      found = (await inside.locator("#info h2").count()) > 0;
    }
    await until("a click on a task says what it is", async () => found);
    await until("and goes to its line", async () =>
      (await w.page.locator('.monaco-editor[data-uri$="/kernels.ptl"] .current-line').count()) > 0,
    );
    await until("whose tasks stand out", async () => Number(await inside.locator("body").getAttribute("data-lit")) > 0);
    await w.shoot("timelineTask");
    await inside.locator('nav [data-page="report"]').click();
    await until("the report is a page of the panel", async () => /us|µs/.test(await inside.locator("#text").innerText()));
    await w.shoot("timelineReport");
  },

  ...testSteps,

  async status(w) {
    await w.command("PTL: Show Server Status");
    await until("the status is shown", async () =>
      /version: \d/.test(await w.text(w.page.locator('.monaco-editor[data-uri^="ptl-status:"]').last())),
    );
  },

  async missingServer(w) {
    fs.mkdirSync(path.join(workspace, ".vscode"), { recursive: true }); // The lengths that were chosen are in it.
    fs.writeFileSync(path.join(workspace, ".vscode/settings.json"), '{ "ptl.server.path": "/nowhere/ptl-lsp" }');
    await until("a message says what is wrong and what to do", async () => {
      const text = await w.page.locator(".notification-toast").allInnerTexts();
      return text.some((toast) => /ptl\.server\.path/.test(toast) && /Open Settings/.test(toast));
    });
  },
};

const { browser, page } = await openBrowser(chromium, { width: 1500, height: 950 });
const messages = [];
page.on("console", (message) => messages.push(message.text()));
const workbench = new Workbench(page, workspace, results);
let step = "start";
let status = 0;
try {
  await openFolder(page, port, workspace, source);
  const wanted = process.env.PTL_STEPS?.split(" ") ?? Object.keys(steps);
  for (const [name, run] of wanted.map((each) => [each, steps[each]])) {
    step = name;
    await run(workbench);
    await workbench.shoot(name);
    console.log(`ok ${name} (${seconds()} s)`);
  }
} catch (error) {
  status = 1;
  console.error(`FAILED ${step} (${seconds()} s): ${error.message}`);
  await workbench.describe().then(console.error, () => {});
  await workbench.shoot(`failed-${step}`).catch(() => {});
  fs.writeFileSync(path.join(results, "console.log"), messages.join("\n"));
} finally {
  await browser.close();
}
process.exit(status);
