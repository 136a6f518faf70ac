// The connection to `ptl-lsp`: starting, restarting, and what the status item says of it.

import * as vscode from "vscode";
import {
  LanguageClient,
  LanguageClientOptions,
  ResolveCodeLensSignature,
  ServerOptions,
  State,
  StaticFeature,
} from "vscode-languageclient/node";

import { config, environment, findServer } from "./config";
import * as protocol from "./protocol";
import { statusText } from "./show_status";

const statusUri = vscode.Uri.parse("ptl-status:/PTL server status.yaml");

export class Server implements vscode.Disposable {
  /** Undefined unless it runs. */
  get client(): LanguageClient | undefined {
    return this.current?.state === State.Running ? this.current : undefined;
  }
  /** Fires when a server runs that did not before. */
  readonly onDidStart: vscode.Event<LanguageClient>;

  private current: LanguageClient | undefined;
  private transition: Promise<void> = Promise.resolve();
  private readonly started = new vscode.EventEmitter<LanguageClient>();
  private readonly log = vscode.window.createOutputChannel("PTL");
  private readonly trace = vscode.window.createOutputChannel("PTL Trace");
  private readonly status = vscode.languages.createLanguageStatusItem("ptl.status", [
    { language: "ptl" },
    { scheme: "ptl-ir" },
  ]);

  private readonly documents: vscode.Disposable;
  private readonly statusChanged = new vscode.EventEmitter<vscode.Uri>();
  private statusText = "";

  constructor() {
    this.documents = vscode.workspace.registerTextDocumentContentProvider(statusUri.scheme, {
      onDidChange: this.statusChanged.event,
      provideTextDocumentContent: () => this.statusText,
    });
    this.onDidStart = this.started.event;
    this.status.name = "PTL";
    this.status.command = { command: "ptl.showStatus", title: "Details" };
    this.show("busy");
  }

  /** Starts, or stops and starts again; calls while that goes on wait for it. */
  restart(): Promise<void> {
    const next = async (): Promise<void> => {
      await this.stop();
      await this.start();
    };
    // A start that failed must not keep later ones from being tried.
    this.transition = this.transition.then(next, next);
    return this.transition;
  }

  openLog(): void {
    this.log.show(true);
  }

  async showStatus(): Promise<void> {
    const client = this.client;
    if (!client) {
      await this.explainMissing("The PTL server does not run");
      return;
    }
    this.statusText = statusText(await client.sendRequest(protocol.statusRequest));
    this.statusChanged.fire(statusUri);
    await vscode.window.showTextDocument(statusUri, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }

  dispose(): void {
    void this.stop();
    for (const item of [this.log, this.trace, this.status, this.started, this.documents, this.statusChanged]) item.dispose();
  }

  private async start(): Promise<void> {
    const found = findServer();
    if ("problem" in found) {
      this.show("error", found.problem);
      void this.explainMissing(found.problem);
      return;
    }
    const run = {
      command: found.path,
      args: config().get<string[]>("server.arguments", ["--stdio"]),
      options: { env: { ...process.env, ...environment() } },
    };
    // The server has no mode for debugging of its own.
    const server: ServerOptions = { run, debug: run };
    const client = new LanguageClient("ptl", "PTL", server, this.clientOptions());
    client.registerFeature(asksHoverIr);
    client.onNotification(protocol.serverStatus, (status) => this.show(status.health, status.message));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.show("ok");
        this.started.fire(client);
      } else if (newState === State.Stopped) {
        this.show("error", "the server has stopped");
      }
    });
    this.current = client;
    this.show("busy");
    try {
      await client.start();
    } catch (error) {
      this.show("error", `${found.path} does not start: ${String(error)}`);
      void this.explainMissing(`The PTL server \`${found.path}\` does not start`);
    }
  }

  private async stop(): Promise<void> {
    const client = this.current;
    // Whoever asks for the client meanwhile finds that none runs.
    this.current = undefined;
    if (client?.needsStop()) await client.stop().catch(() => client.dispose());
  }

  private clientOptions(): LanguageClientOptions {
    return {
      documentSelector: [
        { language: "ptl", scheme: "file" },
        { language: "ptl", scheme: "untitled" },
        { language: "mlir", scheme: "file" },
      ],
      synchronize: { configurationSection: "ptl" },
      initializationOptions: config(),
      outputChannel: this.log,
      traceOutputChannel: this.trace,
      markdown: { isTrusted: { enabledCommands: ["ptl.showPreview", "ptl.peekPreview"] } },
      middleware: { resolveCodeLens },
      diagnosticPullOptions: { onChange: true },
    };
  }

  private show(health: "busy" | protocol.ServerStatus["health"], message?: string): void {
    const severities = {
      busy: vscode.LanguageStatusSeverity.Information,
      ok: vscode.LanguageStatusSeverity.Information,
      warning: vscode.LanguageStatusSeverity.Warning,
      error: vscode.LanguageStatusSeverity.Error,
    };
    this.status.busy = health === "busy";
    this.status.severity = severities[health];
    this.status.text = health === "busy" ? "ptl-lsp starts" : `ptl-lsp: ${health}`;
    this.status.detail = message;
  }

  private async explainMissing(problem: string): Promise<void> {
    const settings = "Open Settings";
    const retry = "Try Again";
    const log = "Open Log";
    const choice = await vscode.window.showErrorMessage(
      `${problem}. Colours and snippets work; diagnostics, hints and previews need the server.`,
      settings,
      retry,
      log,
    );
    if (choice === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "ptl.server.path");
    else if (choice === retry) await this.restart();
    else if (choice === log) this.openLog();
  }
}

/** Hovers have no IR then: HoverIr asks for it while they are shown. */
const asksHoverIr: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), ptl: { hoverIr: true } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

/** A lens of a chip gets the text beside it; one that only counts gets what a click on it shows here: the places. */
async function resolveCodeLens(
  lens: vscode.CodeLens,
  token: vscode.CancellationToken,
  next: ResolveCodeLensSignature,
): Promise<vscode.CodeLens | null | undefined> {
  const resolved = await next(lens, token);
  const data = (resolved as { data?: unknown } | undefined)?.data;
  // The protocol has no tooltips of lenses, so the server sends the text beside the command.
  if (resolved?.command && isWithTooltip(data)) resolved.command.tooltip = data.tooltip;
  const uri = data; // Of the file.
  // What shows places differs between editors, so the server leaves the command open.
  if (resolved?.command?.command === "" && typeof uri === "string") {
    const { line, character } = resolved.range.start;
    const place = { lineNumber: line + 1, column: character + 1 };
    resolved.command.command = "editor.action.findReferences";
    resolved.command.arguments = [vscode.Uri.parse(uri), place];
  }
  return resolved;
}

function isWithTooltip(data: unknown): data is { tooltip: string } {
  return typeof data === "object" && data !== null && "tooltip" in data && typeof data.tooltip === "string";
}
