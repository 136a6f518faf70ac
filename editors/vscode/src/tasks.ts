// Tasks of the type `ptlc`, and the tests and benchmarks that lenses run.

import * as vscode from "vscode";

import { environment, findCompiler } from "./config";

interface Definition extends vscode.TaskDefinition {
  type: "ptlc";
  command: string;
  files?: string[];
  arguments?: string[];
}

const shortMessages = ["--diagnostics=short", "--color=never"];

function makeTask(
  definition: Definition,
  name: string,
  scope: vscode.WorkspaceFolder | vscode.TaskScope,
  compiler: string,
): vscode.Task {
  const files = definition.files ?? ["${relativeFile}"];
  const messages = definition.command === "check" ? shortMessages : [];
  const execution = new vscode.ProcessExecution(
    compiler,
    [definition.command, ...messages, ...(definition.arguments ?? []), ...files],
    { env: environment() },
  );
  const matcher = messages.length > 0 ? "$ptlc" : "$ptlc-human";
  const task = new vscode.Task(definition, scope, name, "ptlc", execution, [matcher]);
  if (definition.command === "check") task.group = vscode.TaskGroup.Build;
  if (definition.command === "test") task.group = vscode.TaskGroup.Test;
  return task;
}

function makeNamedTask(definition: Definition, scope: vscode.WorkspaceFolder | vscode.TaskScope): vscode.Task | undefined {
  const compiler = findCompiler();
  if (!("path" in compiler)) return undefined;
  return makeTask(definition, [definition.command, ...(definition.files ?? ["this file"])].join(" "), scope, compiler.path);
}

export const taskProvider: vscode.TaskProvider = {
  provideTasks() {
    const scope = vscode.workspace.workspaceFolders?.[0] ?? vscode.TaskScope.Workspace;
    return ["check", "test", "bench"]
      .map((command) => makeNamedTask({ type: "ptlc", command }, scope))
      .filter((task) => task !== undefined);
  },
  resolveTask(task) {
    return makeNamedTask(task.definition as Definition, task.scope as vscode.WorkspaceFolder | vscode.TaskScope);
  },
};

/** Runs one `test`, `property` or `bench` block in a terminal. */
export async function runBlock(command: "test" | "bench", file: vscode.Uri, name: string): Promise<void> {
  const compiler = findCompiler();
  if (!("path" in compiler)) {
    void vscode.window.showErrorMessage(compiler.problem);
    return;
  }
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === file.toString());
  if (document?.isDirty) await document.save();
  const scope = vscode.workspace.getWorkspaceFolder(file) ?? vscode.TaskScope.Workspace;
  const filter = name === "" ? [] : ["--filter", name];
  const definition: Definition = { type: "ptlc", command, files: [file.fsPath], arguments: filter };
  const task = makeTask(definition, `${command} ${name}`.trim(), scope, compiler.path);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true };
  await vscode.tasks.executeTask(task);
}
