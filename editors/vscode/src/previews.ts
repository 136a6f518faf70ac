// Previews are virtual documents of the scheme `ptl-ir`: their text, folding, hover and the way back to the source.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { LineMap, Range } from "./line_map";
import { formatPreviewUri, parsePreviewName, previewScheme } from "./preview_uri";
import * as protocol from "./protocol";
import { Server } from "./server";

export interface Preview {
  result: protocol.PreviewResult;
  /** What is shown: the result's text, or why there is none. */
  text: string;
  map: LineMap;
}

/** A preview whose text an edit leaves alone still has other places in the source; it is asked for after so long. */
const settleTime = 250;

export function isPreview(document: vscode.TextDocument): boolean {
  return document.uri.scheme === previewScheme;
}

export function sourceOf(uri: vscode.Uri): vscode.Uri | undefined {
  const name = parsePreviewName(uri.path, uri.query);
  return name && vscode.Uri.parse(name.uri);
}

/** The form of a preview's URI that the server reads. */
function wireUri(uri: vscode.Uri): string {
  const name = parsePreviewName(uri.path, uri.query);
  return name ? formatPreviewUri(name) : uri.toString(true);
}

export class Previews
  implements
    vscode.TextDocumentContentProvider,
    vscode.FoldingRangeProvider,
    vscode.HoverProvider,
    vscode.DefinitionProvider,
    vscode.Disposable
{
  readonly onDidChange: vscode.Event<vscode.Uri>;
  /** A preview has a new map or is stale or fresh again; its text may be the same. */
  readonly onDidUpdate: vscode.Event<vscode.Uri>;
  readonly onDidChangeFoldingRanges: vscode.Event<void>;

  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly updated = new vscode.EventEmitter<vscode.Uri>();
  private readonly folded = new vscode.EventEmitter<void>();
  private readonly known = new Map<string, Preview>();
  /** Those that are shown elsewhere than in an editor. */
  private readonly watched = new Map<string, vscode.Uri>();
  /** Requests under way; `again` if something changed since they were sent. */
  private readonly running = new Map<string, { again: boolean }>();
  /** Previews to ask for when their source is left alone for a moment. */
  private readonly due = new Map<string, NodeJS.Timeout>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.onDidChange = this.changed.event;
    this.onDidUpdate = this.updated.event;
    this.onDidChangeFoldingRanges = this.folded.event;
    const selector = { scheme: previewScheme };
    this.subscriptions = [
      this.changed,
      this.updated,
      this.folded,
      vscode.workspace.registerTextDocumentContentProvider(previewScheme, this),
      vscode.languages.registerFoldingRangeProvider(selector, this),
      vscode.languages.registerHoverProvider(selector, this),
      vscode.languages.registerDefinitionProvider(selector, this),
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.closed(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.edited(document)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("ptl.preview.bindings")) this.refreshAll();
      }),
      server.onDidStart((client) => this.connect(client)),
    ];
    if (server.client) this.connect(server.client);
  }

  dispose(): void {
    for (const timer of this.due.values()) clearTimeout(timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** What is shown at `uri`, if it is open. */
  get(uri: vscode.Uri): Preview | undefined {
    return this.known.get(uri.toString());
  }

  /** Asks for a stage of the entry that is named, else of that at `position`. Throws what the server answers. */
  async request(
    source: vscode.Uri,
    stage: string,
    where: { entry?: string; position?: vscode.Position },
  ): Promise<vscode.Uri> {
    const client = this.server.client;
    if (!client) throw new Error("the PTL server does not run");
    const result = await client.sendRequest(protocol.previewRequest, {
      textDocument: { uri: client.code2ProtocolConverter.asUri(source) },
      position: where.position && client.code2ProtocolConverter.asPosition(where.position),
      entry: where.entry,
      stage,
    });
    if (!result) throw new Error("there is no kernel, program or fn here");
    const uri = vscode.Uri.parse(result.uri);
    this.take(uri, result);
    this.changed.fire(uri); // It may be open with an older text.
    return uri;
  }

  /** Keeps a preview up to date that no editor shows. */
  watch(uri: vscode.Uri): void {
    this.watched.set(uri.toString(), uri);
    void this.server.client?.sendNotification(protocol.virtualDocumentOpened, { uri: wireUri(uri) });
  }

  unwatch(uri: vscode.Uri): void {
    this.watched.delete(uri.toString());
    this.forget(uri);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const known = this.get(uri) ?? (await this.fetch(uri));
    return known ? known.text : "";
  }

  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    const folds = this.get(document.uri)?.result.folds ?? [];
    return folds.map(({ start, end }) => new vscode.FoldingRange(start, end));
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const client = this.server.client;
    if (!client) return undefined;
    const hover = await client.sendRequest(protocol.previewHoverRequest, {
      uri: wireUri(document.uri),
      position: client.code2ProtocolConverter.asPosition(position),
    });
    return client.protocol2CodeConverter.asHover(hover);
  }

  provideDefinition(document: vscode.TextDocument, position: vscode.Position): vscode.Location[] {
    return this.sources(document.uri, position.line);
  }

  /** Where a line of a preview came from. */
  sources(uri: vscode.Uri, line: number): vscode.Location[] {
    const sources = this.get(uri)?.map.sourcesOf(line) ?? [];
    return sources.map((source) => new vscode.Location(vscode.Uri.parse(source.uri), toRange(source.range)));
  }

  private connect(client: LanguageClient): void {
    client.onNotification(protocol.virtualDocumentChanged, ({ uri }) => void this.refresh(vscode.Uri.parse(uri)));
    for (const document of vscode.workspace.textDocuments) this.opened(document);
    for (const uri of this.watched.values()) this.watch(uri);
    this.refreshAll();
  }

  private refreshAll(): void {
    for (const uri of this.shown()) void this.refresh(uri);
  }

  /** The previews that somebody looks at. */
  private shown(): vscode.Uri[] {
    const open = vscode.workspace.textDocuments.filter(isPreview).map((document) => document.uri);
    return [...open, ...this.watched.values()];
  }

  private edited(source: vscode.TextDocument): void {
    const uri = source.uri.toString();
    for (const preview of this.shown()) {
      if (!this.get(preview)?.map.uris.includes(uri)) continue;
      const key = preview.toString();
      clearTimeout(this.due.get(key));
      this.due.set(key, setTimeout(() => void this.refresh(preview), settleTime));
    }
  }

  private opened(document: vscode.TextDocument): void {
    if (!isPreview(document)) return;
    void this.server.client?.sendNotification(protocol.virtualDocumentOpened, { uri: wireUri(document.uri) });
    void this.setLanguage(document);
  }

  private closed(document: vscode.TextDocument): void {
    if (!isPreview(document)) return;
    // A change of language closes a document and opens it again.
    if (vscode.workspace.textDocuments.some((other) => other.uri.toString() === document.uri.toString())) return;
    this.forget(document.uri);
  }

  private forget(uri: vscode.Uri): void {
    const key = uri.toString();
    if (this.shown().some((other) => other.toString() === key)) return;
    this.known.delete(key);
    clearTimeout(this.due.get(key));
    this.due.delete(key);
    void this.server.client?.sendNotification(protocol.virtualDocumentClosed, { uri: wireUri(uri) });
  }

  private async setLanguage(document: vscode.TextDocument): Promise<void> {
    const wanted = previewLanguage(this.get(document.uri)?.result.languageId);
    if (wanted && wanted !== document.languageId && (await vscode.languages.getLanguages()).includes(wanted))
      await vscode.languages.setTextDocumentLanguage(document, wanted);
  }

  /** Brings a preview up to date; at most one request for each is under way. */
  private async refresh(uri: vscode.Uri): Promise<void> {
    const key = uri.toString();
    const other = this.running.get(key);
    if (other) {
      other.again = true;
      return;
    }
    const run = { again: true };
    this.running.set(key, run);
    try {
      while (run.again) {
        run.again = false;
        const before = this.get(uri)?.text;
        const now = await this.fetch(uri);
        if (now && now.text !== before) this.changed.fire(uri);
      }
    } finally {
      this.running.delete(key);
    }
  }

  private async fetch(uri: vscode.Uri): Promise<Preview | undefined> {
    const client = this.server.client;
    if (!client) return undefined;
    try {
      const result = await client.sendRequest(protocol.virtualDocumentRequest, { uri: wireUri(uri) });
      return result ? this.take(uri, result) : undefined;
    } catch (error) {
      const text = `// ${error instanceof Error ? error.message : String(error)}\n`;
      const before = this.get(uri)?.result;
      return before
        ? this.take(uri, { ...before, stale: true, note: text })
        : this.take(uri, emptyResult(uri, text));
    }
  }

  private take(uri: vscode.Uri, result: protocol.PreviewResult): Preview {
    clearTimeout(this.due.get(uri.toString()));
    const preview = { result, text: textOf(result), map: new LineMap(result.map, (text) => vscode.Uri.parse(text).toString()) };
    this.known.set(uri.toString(), preview);
    this.updated.fire(uri);
    this.folded.fire();
    return preview;
  }
}

function textOf(result: protocol.PreviewResult): string {
  if (result.text !== "") return result.text;
  const reasons = [...(result.diagnostics ?? [])];
  if (result.error?.message && reasons.length === 0) reasons.push({ message: result.error.message });
  const lines = reasons.map(({ code, message }: { code?: string; message: string }) => `// ${code ? `${code}: ` : ""}${message}\n`);
  return lines.join("") || "// nothing is made of this\n";
}

function emptyResult(uri: vscode.Uri, text: string): protocol.PreviewResult {
  const name = parsePreviewName(uri.path, uri.query);
  const entry = name?.entry ?? "";
  const stage = name?.stage ?? "";
  return { uri: uri.toString(), version: 0, entry, stage, languageId: "", text, map: [], folds: [], stale: true };
}

/** The languages of previews that this extension colours under a name of its own. */
function previewLanguage(id: string | undefined): string | undefined {
  const own: Record<string, string> = { asm: "ptl-asm" };
  return id === undefined ? undefined : (own[id] ?? id);
}

function toRange(range: Range): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}
