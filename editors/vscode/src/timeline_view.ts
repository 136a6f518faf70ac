// When everything of a kernel happens on a chip: the swimlane page in a webview, drawn anew when one stops typing.

import * as vscode from "vscode";

import * as protocol from "./protocol";
import { Server } from "./server";
import { parsePlace, timelinePage } from "./timeline_page";

interface Shown {
  panel: vscode.WebviewPanel;
  source: vscode.Uri;
  entry: string;
  target: string;
  timer?: NodeJS.Timeout;
}

/** A whole run is more than a preview: it waits until one has stopped typing. */
const settleTime = 500;

export class TimelineView implements vscode.Disposable {
  private readonly shown = new Map<string, Shown>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.edited(document.uri)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("ptl.sizes")) for (const each of this.shown.values()) void this.update(each);
      }),
    ];
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
    for (const each of this.shown.values()) each.panel.dispose();
  }

  /** Shows the timeline of the entry that is named, else of that at `position`, beside the source. */
  async show(
    source: vscode.Uri,
    where: { entry?: string; position?: vscode.Position },
    target: string | undefined,
  ): Promise<void> {
    const answer = await this.request({ source, target, ...where });
    const key = `${source.toString()} ${answer.entry} ${answer.target}`;
    let shown = this.shown.get(key);
    if (shown) {
      shown.panel.reveal(undefined, true);
    } else {
      const title = `${answer.entry}: timeline on ${answer.target}`;
      const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      const options = { enableScripts: true, retainContextWhenHidden: true };
      const panel = vscode.window.createWebviewPanel("ptl.timeline", title, column, options);
      const fresh: Shown = { panel, source, entry: answer.entry, target: answer.target };
      this.shown.set(key, fresh);
      panel.webview.onDidReceiveMessage((message: unknown) => void goTo(message));
      panel.onDidDispose(() => {
        clearTimeout(fresh.timer);
        this.shown.delete(key);
      });
      shown = fresh;
    }
    shown.panel.webview.html = timelinePage(answer.page);
  }

  /** The tasks of the cursor's line stand out, in whatever file it is: a callee has tasks, too. */
  private follow({ document, selection }: vscode.TextEditor): void {
    if (document.uri.scheme !== "file" && document.uri.scheme !== "vscode-remote") return;
    const line = `${document.uri.fsPath}:${selection.active.line + 1}`;
    for (const { panel } of this.shown.values()) void panel.webview.postMessage({ line });
  }

  private edited(uri: vscode.Uri): void {
    for (const each of this.shown.values()) {
      if (each.source.toString() !== uri.toString()) continue;
      clearTimeout(each.timer);
      each.timer = setTimeout(() => void this.update(each), settleTime);
    }
  }

  /** What cannot be compiled now leaves the last page as it is. */
  private async update(shown: Shown): Promise<void> {
    const answer = await this.request(shown).catch(() => undefined);
    if (answer) shown.panel.webview.html = timelinePage(answer.page);
  }

  private async request(what: {
    source: vscode.Uri;
    entry?: string;
    position?: vscode.Position;
    target?: string;
  }): Promise<protocol.TimelineResult> {
    const client = this.server.client;
    if (!client) throw new Error("the PTL server does not run");
    return client.sendRequest(protocol.timelineRequest, {
      textDocument: { uri: client.code2ProtocolConverter.asUri(what.source) },
      position: what.position && client.code2ProtocolConverter.asPosition(what.position),
      entry: what.entry,
      target: what.target,
      form: "page",
    });
  }
}

/** A click on a task goes to the line that it is from. */
async function goTo(message: unknown): Promise<void> {
  const place = parsePlace((message as { place?: unknown } | undefined)?.place);
  if (!place) return;
  const at = new vscode.Position(place.line - 1, place.column - 1);
  await vscode.window.showTextDocument(vscode.Uri.file(place.path), {
    viewColumn: vscode.ViewColumn.One,
    preserveFocus: true,
    selection: new vscode.Range(at, at),
  });
}
