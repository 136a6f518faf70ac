// The memory map of a kernel on a chip: the picture of a preview in a webview, drawn anew as one types.

import * as vscode from "vscode";

import { memoryPage } from "./memory_page";
import { parsePreviewName } from "./preview_uri";
import { Preview, Previews } from "./previews";

/** Stages whose text is a picture. */
export function isPicture(stage: string): boolean {
  return stage === "memory:svg" || stage.startsWith("memory:svg@");
}

export class MemoryView implements vscode.Disposable {
  private readonly panels = new Map<string, vscode.WebviewPanel>();
  private readonly subscriptions: vscode.Disposable[];
  /** Of the cursor in the source of a panel, from one. */
  private readonly lines = new Map<string, number>();

  constructor(private readonly previews: Previews) {
    this.subscriptions = [
      previews.onDidUpdate((uri) => this.update(uri)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    for (const panel of this.panels.values()) panel.dispose();
  }

  /** Shows the picture of a preview that was asked for, beside the source. */
  show(uri: vscode.Uri): void {
    const key = uri.toString();
    const known = this.panels.get(key);
    if (known) {
      known.reveal(undefined, true);
      return;
    }
    const name = parsePreviewName(uri.path, uri.query);
    const title = name ? `${name.entry}: memory of ${name.stage.split("@")[1] ?? "the chip"}` : "PTL: memory";
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel("ptl.memory", title, where, { enableScripts: true });
    this.panels.set(key, panel);
    this.previews.watch(uri);
    panel.webview.onDidReceiveMessage((message: unknown) => void this.goTo(uri, message));
    panel.onDidDispose(() => {
      this.panels.delete(key);
      this.lines.delete(key);
      this.previews.unwatch(uri);
    });
    this.update(uri);
  }

  private update(uri: vscode.Uri): void {
    const panel = this.panels.get(uri.toString());
    const preview = this.previews.get(uri);
    if (panel && preview) panel.webview.html = pageOf(preview, this.lines.get(uri.toString()) ?? 0);
  }

  /** The buffers that the line of the cursor makes light up. */
  private follow({ document, selection }: vscode.TextEditor): void {
    for (const [key, panel] of this.panels) {
      const { path, query } = vscode.Uri.parse(key);
      if (parsePreviewName(path, query)?.uri !== document.uri.toString()) continue;
      this.lines.set(key, selection.active.line + 1);
      void panel.webview.postMessage({ line: selection.active.line + 1 });
    }
  }

  /** A click on a buffer goes to the line that makes it. */
  private async goTo(uri: vscode.Uri, message: unknown): Promise<void> {
    const line = (message as { line?: unknown } | undefined)?.line;
    const name = parsePreviewName(uri.path, uri.query);
    if (typeof line !== "number" || line < 1 || !name) return;
    const at = new vscode.Position(line - 1, 0);
    await vscode.window.showTextDocument(vscode.Uri.parse(name.uri), {
      viewColumn: vscode.ViewColumn.One,
      selection: new vscode.Range(at, at),
    });
  }
}

function pageOf({ result, text }: Preview, line: number): string {
  return memoryPage(result.text === "" ? undefined : result.text, text, result.stale, line);
}
