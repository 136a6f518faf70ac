// What a person does in the workbench of VS Code that a browser shows: the hands and eyes of the tests and of the pictures.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const { chromium: browsers } = createRequire(path.join(process.env.NODE_PATH, "index.js"))("playwright-core");
export const patience = Number(process.env.PTL_TEST_PATIENCE || 180_000); // A loaded machine is slow.

/** A browser with one page; `viewport` is its size. */
export async function openBrowser(chromium, viewport) {
  const browser = await browsers.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await (await browser.newContext({ viewport })).newPage();
  page.setDefaultTimeout(patience);
  return { browser, page };
}

/** The workbench on a folder, with a file in the editor. */
export async function openFolder(page, port, workspace, file) {
  const payload = JSON.stringify([["openFile", `vscode-remote://127.0.0.1:${port}${file}`]]);
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(payload)}`);
}

/** Waits until `look` answers something, or says after a while what was there instead. */
export async function until(what, look, limit = patience) {
  const end = Date.now() + limit;
  let last;
  for (;;) {
    try {
      last = await look();
      if (last) return last;
    } catch (error) {
      last = error.message.split("\n")[0];
    }
    if (Date.now() > end) throw new Error(`${what}: not seen in ${limit / 1000} s (${JSON.stringify(last)})`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export class Workbench {
  /** `workspace`: the folder that is open; `results`: where pictures go. */
  constructor(page, workspace, results) {
    this.page = page;
    this.workspace = workspace;
    this.results = results;
  }

  /** The text of an editor as the page shows it; non-breaking spaces stand there for spaces. */
  async text(editor = this.sourceEditor()) {
    return (await editor.locator(".view-line").allInnerTexts()).join("\n").replaceAll("\u00a0", " ");
  }
  sourceEditor() {
    return this.page.locator('.editor-instance[data-uri$="/kernels.ptl"], .monaco-editor[data-uri$="/kernels.ptl"]').last();
  }
  previewEditor() {
    return this.page.locator('.monaco-editor[data-uri^="ptl-ir:"]').last();
  }

  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input").first();
    await input.fill(`>${title}`);
    await this.choose(title);
  }
  async choose(label) {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: label }).first();
    await row.click({ timeout: patience });
  }
  /** From a list that is longer than what the page holds of it. */
  async pick(label) {
    await this.page.locator(".quick-input-widget input").first().fill(label);
    await this.choose(label);
  }
  /** Line and column count from one. What is typed is lost while another part of the page takes the focus, so it is typed again. */
  async goTo(line, column) {
    const there = this.page.locator(".statusbar-item", { hasText: `Ln ${line}, Col ${column}` });
    let tries = 0;
    await until("the cursor is there", async () => {
      if (tries++) await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("Control+G");
      const input = this.page.locator(".quick-input-widget input").first();
      await input.fill(`:${line}:${column}`, { timeout: 5000 });
      await this.page.keyboard.press("Enter");
      await until("it", async () => (await there.count()) > 0, 5000);
      return true;
    });
  }
  /** Puts the cursor at the beginning, or the end, of a piece of the source file. */
  async goToText(piece, after = false, file = "kernels.ptl") {
    await this.page.keyboard.press("Control+1");
    const lines = fs.readFileSync(path.join(this.workspace, file), "utf8").split("\n");
    const line = lines.findIndex((text) => text.includes(piece));
    await this.goTo(line + 1, lines[line].indexOf(piece) + 1 + (after ? piece.length : 0));
  }
  /** The text of the hover at the cursor. Right after an edit a server may leave the IR out, so it is asked again. */
  async hover(what, pattern) {
    const shown = this.page.locator(".monaco-hover:not(.hidden)", { hasText: pattern });
    return until(what, async () => {
      await this.page.keyboard.press("Escape");
      await this.command("Show or Focus Hover");
      await until("it", async () => (await shown.count()) > 0, 3000);
      return shown.first().innerText();
    });
  }
  /** The editor draws lenses anew when one of them says something new, and a click in that moment is lost: so it is
   * made again, as a person would, until `look` sees what comes of it. */
  async clickLens(pattern, what, look) {
    const lens = this.page.locator(".codelens-decoration a", { hasText: pattern }).first();
    let tries = 0;
    return until(what, async () => {
      if (tries++ > 1) await this.renewLenses();
      await lens.click({ timeout: 5000 });
      return until("it", look, 5000);
    });
  }
  /** After edits in quick succession the editor may keep lenses whose commands it has put away ("Actual command not
   * found"), until the text changes. */
  async renewLenses() {
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press("Control+1");
    await this.page.keyboard.type(" ");
    await this.page.keyboard.press("Control+Z");
    await new Promise((done) => setTimeout(done, 1000)); // New ones come after a pause.
  }
  /** Near the beginning of a line: a line is as wide as the widest of all, and a click at its middle would scroll. */
  async clickInPreview(piece) {
    const line = this.previewEditor().locator(".view-line", { hasText: piece }).first();
    for (let left = 3; ; --left) {
      try {
        return await line.click({ position: { x: 60, y: 8 }, timeout: 7000 });
      } catch (error) {
        if (left === 1) throw error;
        // A hover that is still open lies over the line.
        await this.page.mouse.move(2, 2);
        await this.page.keyboard.press("Escape");
      }
    }
  }
  /** Takes back all that was typed since the file was saved: keys that delete would take too much where some were lost. */
  async revert() {
    await this.page.keyboard.press("Control+1");
    await this.command("File: Revert File");
    await until("the file is as it was saved", async () => (await this.page.locator(".tab.active.dirty").count()) === 0);
  }
  /** What a person would tell of the page: the source, the lenses and the notices. */
  async describe() {
    const texts = async (selector) => (await this.page.locator(selector).allInnerTexts()).join("\n  ").replaceAll("\u00a0", " ");
    return `the source:\n${await this.text()}\nlenses:\n  ${await texts(".codelens-decoration a")}\nnotices:\n  ${await texts(".notification-toast")}`;
  }
  /** Saves what the last command changed. */
  async save() {
    await until("the file is changed", async () => (await this.page.locator(".tab.active.dirty").count()) > 0);
    await this.page.keyboard.press("Control+S");
    await until("the file is saved", async () => (await this.page.locator(".tab.active.dirty").count()) === 0);
  }
  async shoot(name) {
    await new Promise((done) => setTimeout(done, 150)); // What appears fades in.
    await this.page.screenshot({ path: path.join(this.results, `${name}.png`) });
  }
}
