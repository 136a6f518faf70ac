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
  private readonly subscription: vscode.Disposable;

  constructor(private readonly previews: Previews) {
    this.subscription = previews.onDidUpdate((uri) => this.update(uri));
  }

  dispose(): void {
    this.subscription.dispose();
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
      this.previews.unwatch(uri);
    });
    this.update(uri);
  }

  private update(uri: vscode.Uri): void {
    const panel = this.panels.get(uri.toString());
    const preview = this.previews.get(uri);
    if (panel && preview) panel.webview.html = pageOf(preview);
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

function pageOf({ result, text }: Preview): string {
  return memoryPage(result.text === "" ? undefined : result.text, text, result.stale);
}
