// Debugging of tests: `ptlc debug --dap` steps through them on the reference executor.

import * as path from "node:path";
import * as vscode from "vscode";

import { blockAt } from "./blocks";
import { config, environment, findCompiler } from "./config";
import { namesOfLines } from "./inline_names";

export interface Ending {
  passed: boolean;
  failures: { text: string; location?: vscode.Location }[];
}

/** How sessions ended that somebody waits for, by the number that their configuration carries. */
const waiting = new Map<number, (ending: Ending) => void>();
let lastRun = 0;

interface Message {
  type?: string;
  event?: string;
  body?: { exitCode?: number; category?: string; output?: string; line?: number; source?: { path?: string } };
}

class Watcher implements vscode.DebugAdapterTracker {
  private readonly ending: Ending = { passed: false, failures: [] };

  constructor(private readonly run: number) {}

  onDidSendMessage(message: Message): void {
    if (message.type !== "event") return;
    const { body } = message;
    if (message.event === "exited") this.ending.passed = body?.exitCode === 0;
    if (message.event === "output" && body?.category === "stderr" && body.output) {
      const at = body.source?.path && new vscode.Position((body.line ?? 1) - 1, 0);
      const location = at && body.source?.path ? new vscode.Location(vscode.Uri.file(body.source.path), at) : undefined;
      this.ending.failures.push({ text: body.output.trim(), location });
    }
  }

  onWillStopSession(): void {
    this.end();
  }
  onExit(): void {
    this.end();
  }

  private end(): void {
    waiting.get(this.run)?.(this.ending);
    waiting.delete(this.run);
  }
}

/** Steps through one block; the answer comes when the session ends, nothing if it does not begin. */
export async function debugTest(file: vscode.Uri, test: string, dims: Record<string, number>): Promise<Ending | undefined> {
  const run = ++lastRun;
  const end = new Promise<Ending>((done) => waiting.set(run, done));
  const begun = await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(file), {
    type: "ptl",
    request: "launch",
    name: test,
    program: file.fsPath,
    test,
    dims,
    run,
  });
  // A session that did not begin never ends, so nobody may wait for it.
  if (begun) return end;
  waiting.delete(run);
  return undefined;
}

/** What a configuration leaves out: the file in the editor, the test at the cursor, paths and constants of the settings. */
function complete(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!configuration.type && editor?.document.languageId === "ptl")
    Object.assign(configuration, { type: "ptl", request: "launch", name: "PTL test" });
  if (configuration.program === undefined && editor?.document.languageId === "ptl") {
    configuration.program = editor.document.uri.fsPath;
    const { document, selection } = editor;
    configuration.test ??= blockAt((line) => document.lineAt(line).text, selection.active.line, "test");
  }
  if (typeof configuration.program !== "string") {
    void vscode.window.showErrorMessage("PTL: `program` in the configuration must name the file whose test is debugged.");
    return undefined;
  }
  const scope = vscode.Uri.file(configuration.program);
  configuration.importPaths ??= config(scope).get<string[]>("importPaths", []);
  configuration.defines ??= config(scope).get<Record<string, number>>("defines", {});
  return configuration;
}

export function registerDebugger(): vscode.Disposable[] {
  return [
    vscode.debug.registerDebugConfigurationProvider("ptl", {
      resolveDebugConfiguration: (_folder, configuration) => complete(configuration),
    }),
    vscode.debug.registerDebugAdapterDescriptorFactory("ptl", {
      createDebugAdapterDescriptor: (session) => {
        const compiler = findCompiler();
        if (!("path" in compiler)) throw new Error(compiler.problem);
        const program = String(session.configuration.program);
        const cwd = session.workspaceFolder?.uri.fsPath ?? path.dirname(program);
        return new vscode.DebugAdapterExecutable(compiler.path, ["debug", "--dap"], { cwd, env: environment() });
      },
    }),
    vscode.debug.registerDebugAdapterTrackerFactory("ptl", {
      createDebugAdapterTracker: (session) =>
        typeof session.configuration.run === "number" ? new Watcher(session.configuration.run) : undefined,
    }),
    vscode.languages.registerInlineValuesProvider("ptl", {
      provideInlineValues: (document, _view, context) => {
        const lines = namesOfLines((line) => document.lineAt(line).text, context.stoppedLocation.end.line);
        return lines.map(
          ({ line, column, name }) =>
            new vscode.InlineValueVariableLookup(new vscode.Range(line, column, line, column + name.length), name, true),
        );
      },
    }),
  ];
}
