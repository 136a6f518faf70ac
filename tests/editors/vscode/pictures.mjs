// Makes the pictures of all views, in a dark and a light theme and in two widths; those that documents show are made small, too.
// usage: node pictures.mjs PORT WORKSPACE RESULTS CHROMIUM SHOWN
import fs from "node:fs";
import path from "node:path";

import { openBrowser, openFolder, until, Workbench } from "./person.mjs";
import { checksEditor, closeCoverage, openChecks } from "./testing.mjs";

const [port, workspace, results, chromium, shown] = process.argv.slice(2);
const themes = ["dark", "light"];
const sizes = { wide: { width: 1400, height: 800 }, narrow: { width: 960, height: 800 } };

/** What documents show: the name of the file there, and the view with its theme and width. */
const documents = {
  error: "error-dark-wide",
  preview: "preview-dark-wide",
  memory: "memory-dark-wide",
  timeline: "timeline-dark-wide",
  graph: "graph-dark-wide",
  tests: "tests-dark-wide",
  coverage: "coverage-dark-wide",
  debug: "debug-dark-wide",
};

const webview = (w) => w.page.frameLocator("iframe.webview").last().frameLocator("iframe");
const beside = async (w, stage) => {
  await w.goToText("softmax(rows)");
  await w.command("PTL: Open Preview at Stage");
  await w.pick(stage);
};

/** Each view is brought about, and put away again by `put`. */
const views = {
  async error(w) {
    await until("an error is underlined", async () => (await w.page.locator(".squiggly-error").count()) > 0);
    await until("lenses say how long kernels take", async () => (await w.page.locator(".codelens-decoration a", { hasText: /^a3 ✓/ }).count()) > 1);
    // Lenses that appear later would move the lines below a hover.
    await until("lenses say how often things are used", async () => (await w.page.locator(".codelens-decoration a", { hasText: /references?$/ }).count()) > 2);
    await w.goToText("q @ k");
    await w.hover("the error is explained", /contracted/);
  },
  async hover(w) {
    await w.goToText("softmax(rows)");
    await w.hover("the hover shows IR", /ptl\./);
  },
  async preview(w) {
    await beside(w, "Tile IR");
    await until("the preview is open", async () => (await w.text(w.previewEditor())).includes("ptl."));
    await w.goToText("exp(x");
    await until("lines light up", async () => (await w.previewEditor().locator('.view-overlays .cdr[class*="ced-"]').count()) > 0);
  },
  async memory(w) {
    await w.goToText("pub kernel softmax_rows");
    await w.command("PTL: Show Memory Map");
    await until("the memory is drawn", async () => (await webview(w).locator("svg [data-line]").count()) > 0);
    await w.goToText("let rows");
  },
  async timeline(w) {
    await w.goToText("pub kernel softmax_rows");
    await w.command("PTL: Show Timeline on a Chip");
    await until("the timeline is drawn", async () => /on a3/.test(await webview(w).locator("#title").innerText({ timeout: 5000 })));
    await w.goToText("softmax(rows)");
  },
  async graph(w) {
    await w.goToText("pub kernel softmax_rows");
    await w.command("PTL: Show Graph of Tasks and Data");
    await until("the graph is drawn", async () => (await webview(w).locator("svg.ptl-graph .op").count()) > 2);
    await w.goToText("let e = exp");
  },
  async tests(w) {
    await openChecks(w);
    await w.command("Testing: Focus on Test Explorer View");
    await w.page.keyboard.press("Control+1");
    await w.command("Test: Run Tests in Current File");
    await until("a failure stands in its line", async () => /with N = 78/.test((await w.page.locator(".part.editor, .part.panel").allInnerTexts()).join(" ").replaceAll("\u00a0", " ")));
  },
  async coverage(w) {
    await openChecks(w);
    await w.command("Test: Run Tests with Coverage in Current File");
    await until("what tests executed is marked", async () => (await checksEditor(w).locator(".coverage-deco-gutter").count()) > 0);
    await w.page.keyboard.press("Control+J");
  },
  async debug(w) {
    await openChecks(w, "y[r] = part");
    await w.command("Debug: Toggle Breakpoint");
    await w.goToText("x + x + 1.0", false, "checks.ptl");
    await w.command("Test: Debug Test at Cursor");
    await until("the run stops", async () => /twice/.test((await w.page.locator(".debug-call-stack .monaco-list-row").allInnerTexts()).join(" ")));
    await until("with values", async () => /tile 0/.test((await w.page.locator(".debug-variables .monaco-list-row").allInnerTexts()).join(" ")));
  },
};

/** What views leave behind is put away. Commands are there only while there is something for them. */
const commands = (...names) => async (w) => {
  for (const name of names) await w.command(name);
};
const leaving = {
  tests: commands("Test: Clear All Results"),
  async coverage(w) {
    await closeCoverage(w);
    await w.command("Test: Clear All Results");
  },
  debug: commands("Debug: Stop", "Remove All Breakpoints", "Test: Clear All Results"),
};

/** Where the mouse shows nothing. It stays there while a hover is open, which a movement would close. */
const restMouse = (page) => page.mouse.move(2, 500);

/** Back to the source alone. */
async function put(w, view) {
  await w.page.keyboard.press("Escape");
  await leaving[view]?.(w);
  await w.command("View: Close All Editors");
  if (await w.page.locator(".part.panel.bottom").isVisible()) await w.command("View: Toggle Panel Visibility");
  await w.command("View: Show Explorer");
  await w.page.keyboard.press("Control+P");
  await w.page.locator(".quick-input-widget input").first().fill("kernels.ptl");
  await w.choose("kernels.ptl");
  await until("the source is there", async () => /kernel/.test(await w.text()));
  await restMouse(w.page);
}

async function save(page, name) {
  if (!/^(error|hover)-/.test(name)) await restMouse(page);
  await new Promise((done) => setTimeout(done, 600)); // What appears fades in, and layouts follow.
  await page.screenshot({ path: path.join(results, `${name}.png`) });
  for (const [document, view] of Object.entries(documents)) {
    if (view !== name) continue;
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 70 });
    fs.writeFileSync(path.join(shown, `${document}.webp`), Buffer.from(data, "base64"));
  }
}

const { browser, page } = await openBrowser(chromium, sizes.wide);
const w = new Workbench(page, workspace, results);
let status = 0;
try {
  await openFolder(page, port, workspace, path.join(workspace, "kernels.ptl"));
  await until("the file is open", async () => (await w.text()).includes("pub kernel softmax_rows"), 60_000);
  await restMouse(page);
  const wanted = process.env.PTL_STEPS ? process.env.PTL_STEPS.split(" ") : Object.keys(views);
  for (const theme of themes) {
    // The window opens dark, by its settings, and shows another theme until it has read them.
    if (theme === "light") await w.command("Toggle between Light/Dark Themes");
    await until("the theme is taken", async () => (await page.locator(`.monaco-workbench[class*="${theme}_modern"]`).count()) > 0);
    for (const name of wanted) {
      try {
        await views[name](w);
      } catch (error) {
        // The others are made all the same.
        status = 1;
        console.error(`FAILED ${name}, ${theme}: ${error.message}`);
        await page.screenshot({ path: path.join(results, `failed-${name}-${theme}.png`) });
        await put(w, name).catch(() => {});
        continue;
      }
      for (const [width, viewport] of Object.entries(sizes)) {
        await page.setViewportSize(viewport);
        await save(page, `${name}-${theme}-${width}`);
      }
      await page.setViewportSize(sizes.wide);
      await put(w, name);
      console.log(`ok ${name}, ${theme}`);
    }
  }
} catch (error) {
  status = 1;
  console.error(`FAILED: ${error.message}`);
  await page.screenshot({ path: path.join(results, "failed.png") }).catch(() => {});
} finally {
  await browser.close();
}
process.exit(status);
