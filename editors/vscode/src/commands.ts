// What the commands of package.json do. The lenses of the server call some with [uri, name, stage].

import * as vscode from "vscode";
import { InlayHintRequest, InlayHintResolveRequest, LanguageClient } from "vscode-languageclient/node";

import { blockAt } from "./blocks";
import { Choices } from "./choices";
import { config } from "./config";
import { isPicture, PictureView } from "./picture_view";
import { parsePreviewName } from "./preview_uri";
import { isPreview, Previews, sourceOf } from "./previews";
import * as protocol from "./protocol";
import { Server } from "./server";
import { runBlock } from "./tasks";
import { TimelineView } from "./timeline_view";

interface Subject {
  source: vscode.Uri;
  entry?: string;
  position?: vscode.Position;
}

export class Commands {
  constructor(
    private readonly server: Server,
    private readonly previews: Previews,
    private readonly pictures: PictureView,
    private readonly timelines: TimelineView,
    private readonly choices: Choices,
  ) {}

  /** All commands by name. */
  register(): vscode.Disposable[] {
    const table: Record<string, (...args: never[]) => unknown> = {
      "ptl.showPreview": (uri?: unknown, entry?: unknown, stage?: unknown) => this.showPreview(uri, entry, stage),
      "ptl.showPreviewAt": (uri?: unknown, entry?: unknown) => this.showPreviewAt(uri, entry),
      "ptl.showMemory": (uri?: unknown, entry?: unknown, target?: unknown) => this.showMemory(uri, entry, target),
      "ptl.showGraph": (uri?: unknown, entry?: unknown, target?: unknown) => this.showGraph(uri, entry, target),
      "ptl.showTimeline": (uri?: unknown, entry?: unknown, target?: unknown) => this.showTimeline(uri, entry, target),
      "ptl.switchStage": () => this.switchStage(),
      "ptl.compareStages": (uri?: unknown, entry?: unknown) => this.compareStages(uri, entry),
      "ptl.peekPreview": () => this.peekPreview(),
      "ptl.goToSource": () => this.goToSource(),
      "ptl.insertHint": () => this.insertHint(),
      "ptl.runTest": (uri?: unknown, name?: unknown) => this.runBlock("test", uri, name),
      "ptl.runBench": (uri?: unknown, name?: unknown) => this.runBlock("bench", uri, name),
      "ptl.chooseTargets": () => this.choices.chooseTargets(),
      "ptl.chooseSizes": (uri?: unknown, entry?: unknown) => this.chooseSizes(uri, entry),
      "ptl.restartServer": () => this.server.restart(),
      "ptl.showStatus": () => this.server.showStatus(),
      "ptl.openLog": () => this.server.openLog(),
    };
    return Object.entries(table).map(([name, run]) =>
      vscode.commands.registerCommand(name, async (...args: never[]) => {
        try {
          return await run(...args);
        } catch (error) {
          void vscode.window.showErrorMessage(`PTL: ${error instanceof Error ? error.message : String(error)}`);
          return undefined;
        }
      }),
    );
  }

  private async showPreview(uri: unknown, entry: unknown, stage: unknown): Promise<void> {
    const subject = findSubject(uri, entry);
    if (subject) await this.open(subject, typeof stage === "string" ? stage : defaultStage(subject.source));
  }

  /** What stands in the memories of a chip while the kernel runs. */
  private async showMemory(uri: unknown, entry: unknown, target: unknown): Promise<void> {
    const subject = findSubject(uri, entry);
    const chip = subject && (typeof target === "string" ? target : await this.pickTarget());
    if (chip) await this.open(subject, `memory:svg@${chip}`);
  }

  /** The tensor graph, what of it became which kernel, and the arrays between them. */
  private async showGraph(uri: unknown, entry: unknown, target: unknown): Promise<void> {
    const subject = findSubject(uri, entry);
    const machine = subject && (typeof target === "string" ? target : ((await this.pickTarget()) ?? "cpu"));
    if (machine) await this.open(subject, `graph:svg@${machine}`);
  }

  /** When everything of a kernel happens on a chip. */
  private async showTimeline(uri: unknown, entry: unknown, target: unknown): Promise<void> {
    const subject = findSubject(uri, entry);
    const chip = subject && (typeof target === "string" ? target : await this.pickTarget());
    if (subject) await this.timelines.show(subject.source, subject, chip);
  }

  private async chooseSizes(uri: unknown, entry: unknown): Promise<void> {
    const subject = findSubject(uri, entry);
    if (subject) await this.choices.chooseSizes(subject.source, subject);
  }

  private async showPreviewAt(uri: unknown, entry: unknown): Promise<void> {
    const subject = findSubject(uri, entry);
    const stage = subject && (await this.pickStage("The stage to show"));
    if (stage) await this.open(subject, stage.id);
  }

  private async switchStage(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const subject = editor && findSubject(undefined, undefined);
    const stage = subject && (await this.pickStage("The stage to show instead"));
    if (!stage) return;
    if (isPicture(stage.id)) return this.open(subject, stage.id);
    const uri = await this.previews.request(subject.source, stage.id, subject);
    await vscode.window.showTextDocument(uri, { viewColumn: editor.viewColumn, preview: true });
  }

  private async compareStages(uri: unknown, entry: unknown): Promise<void> {
    const subject = findSubject(uri, entry);
    const before = subject && (await this.pickStage("Compare this stage …"));
    const after = before && (await this.pickStage(`Compare ${before.title} with …`, before.id));
    if (!after) return;
    const left = await this.previews.request(subject.source, before.id, subject);
    const right = await this.previews.request(subject.source, after.id, subject);
    const name = parsePreviewName(left.path, left.query)?.entry ?? "";
    await vscode.commands.executeCommand("vscode.diff", left, right, `${name}: ${before.title} ↔ ${after.title}`);
  }

  /** What the expression at the cursor became, in a peek view within the source. */
  private async peekPreview(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const subject = findSubject(undefined, undefined);
    if (!editor || !subject) return;
    const uri = await this.previews.request(subject.source, defaultStage(subject.source), subject);
    const lines = this.previews.get(uri)?.map.linesOf(subject.source.toString(), editor.selection) ?? [];
    const places = (lines.length > 0 ? lines : [0]).map((line) => new vscode.Location(uri, new vscode.Position(line, 0)));
    await vscode.commands.executeCommand(
      "editor.action.peekLocations",
      editor.document.uri,
      editor.selection.active,
      places,
      "peek",
    );
  }

  private async goToSource(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !isPreview(editor.document)) return;
    const place = this.previews.sources(editor.document.uri, editor.selection.active.line)[0];
    const source = place?.uri ?? sourceOf(editor.document.uri);
    if (!source) return;
    const open = vscode.window.visibleTextEditors.find((other) => other.document.uri.toString() === source.toString());
    const viewColumn = open?.viewColumn ?? vscode.ViewColumn.Beside;
    await vscode.window.showTextDocument(source, { viewColumn, selection: place?.range });
  }

  /** Writes what the inlay hints of the cursor's line show into the source. */
  private async insertHint(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return;
    const client = this.needClient();
    const { document, selection } = editor;
    const line = document.lineAt(selection.active.line);
    const hints = await client.sendRequest(InlayHintRequest.type, {
      textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
      range: client.code2ProtocolConverter.asRange(line.range),
    });
    // Servers may answer for more than the range that was asked for.
    const here = (hints ?? []).filter((hint) => hint.position.line === line.lineNumber);
    // The edits of a hint come only when it is resolved.
    const whole = await Promise.all(here.map((hint) => client.sendRequest(InlayHintResolveRequest.type, hint)));
    const edits = await client.protocol2CodeConverter.asTextEdits(whole.flatMap((hint) => hint.textEdits ?? []));
    if (edits.length === 0) {
      void vscode.window.showInformationMessage("This line has no hint that can be written into the source.");
      return;
    }
    const change = new vscode.WorkspaceEdit();
    change.set(document.uri, edits);
    await vscode.workspace.applyEdit(change);
  }

  private async runBlock(command: "test" | "bench", uri: unknown, name: unknown): Promise<void> {
    // A lens names the block; from the palette it is the one at the cursor.
    if (typeof uri === "string") {
      await runBlock(command, vscode.Uri.parse(uri), typeof name === "string" ? name : "");
      return;
    }
    const editor = vscode.window.activeTextEditor;
    if (!editor) return;
    const { document, selection } = editor;
    await runBlock(command, document.uri, blockAt((line) => document.lineAt(line).text, selection.active.line, command));
  }

  private async open(subject: Subject, stage: string): Promise<void> {
    const uri = await this.previews.request(subject.source, stage, subject);
    if (isPicture(stage)) {
      this.pictures.show(uri);
      return;
    }
    await vscode.window.showTextDocument(uri, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: false,
    });
  }

  private needClient(): LanguageClient {
    const client = this.server.client;
    // `register` shows the message to the user.
    if (!client) throw new Error("the PTL server does not run");
    return client;
  }

  /** The chip of the settings; which one, if there are several. */
  private async pickTarget(): Promise<string | undefined> {
    const stages = await this.needClient().sendRequest(protocol.stagesRequest);
    const targets = [...new Set(stages.flatMap((stage) => stage.target ?? []))];
    return targets.length > 1 ? vscode.window.showQuickPick(targets, { placeHolder: "The chip" }) : targets[0];
  }

  private async pickStage(placeHolder: string, not?: string): Promise<protocol.Stage | undefined> {
    const stages = await this.needClient().sendRequest(protocol.stagesRequest);
    const items = stages
      .filter((stage) => stage.id !== not && !(not !== undefined && isPicture(stage.id)))
      .map((stage) => ({ label: stage.title, description: stage.id, detail: stage.summary, stage }));
    return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDetail: true }))?.stage;
  }
}

function defaultStage(scope: vscode.Uri): string {
  return config(scope).get<string>("preview.stage", "tile");
}

/** What a command is about: what a lens says, else the preview or the source in the editor. */
function findSubject(uri: unknown, entry: unknown): Subject | undefined {
  if (typeof uri === "string")
    return { source: vscode.Uri.parse(uri), entry: typeof entry === "string" ? entry : undefined };
  const editor = vscode.window.activeTextEditor;
  if (!editor) return undefined;
  if (isPreview(editor.document)) {
    const name = parsePreviewName(editor.document.uri.path, editor.document.uri.query);
    return name && { source: vscode.Uri.parse(name.uri), entry: name.entry };
  }
  return { source: editor.document.uri, position: editor.selection.active };
}
