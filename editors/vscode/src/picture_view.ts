// Pictures of previews, drawn anew as one types: the memory map of a kernel on a chip, the graph of a program.

import * as vscode from "vscode";

import { picturePage, withLines } from "./picture_page";
import { parsePreviewName } from "./preview_uri";
import { Preview, Previews } from "./previews";

/** What a picture is called in titles. */
function kindOf(stage: string): string | undefined {
  return { "memory:svg": "memory", "graph:svg": "graph" }[stage.split("@")[0]];
}

/** Stages whose text is a picture. */
export function isPicture(stage: string): boolean {
  return kindOf(stage) !== undefined;
}

export class PictureView implements vscode.Disposable {
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
    const title = name ? `${name.entry}: ${kindOf(name.stage) ?? "picture"} on ${name.stage.split("@")[1] ?? "cpu"}` : "PTL: picture";
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel("ptl.picture", title, where, { enableScripts: true });
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
    if (panel && preview) panel.webview.html = pageOf(uri, preview, this.lines.get(uri.toString()) ?? 0);
  }

  /** What the line of the cursor makes lights up. */
  private follow({ document, selection }: vscode.TextEditor): void {
    for (const [key, panel] of this.panels) {
      const { path, query } = vscode.Uri.parse(key);
      if (parsePreviewName(path, query)?.uri !== document.uri.toString()) continue;
      this.lines.set(key, selection.active.line + 1);
      void panel.webview.postMessage({ line: selection.active.line + 1 });
    }
  }

  /** A click on a box goes to the line that makes it. */
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

function pageOf(uri: vscode.Uri, { result, text, map }: Preview, line: number): string {
  const source = parsePreviewName(uri.path, uri.query)?.uri;
  const lineOf = (row: number) => {
    const place = map.sourcesOf(row).find((each) => each.uri === (source && vscode.Uri.parse(source).toString()));
    return place && place.range.start.line + 1;
  };
  return picturePage(result.text === "" ? undefined : withLines(result.text, lineOf), text, result.stale, line);
}
