import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

import { findTool, Found } from "./find_tool";

export function config(scope?: vscode.ConfigurationScope): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("ptl", scope);
}

export function environment(): Record<string, string> {
  return config().get<Record<string, string>>("server.environment", {});
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

function find(name: string, key: string, beside: string[]): Found {
  return findTool(name, `ptl.${key}`, {
    setting: config().get<string>(key, ""),
    workspace: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    home: os.homedir(),
    searchPath: environment().PATH ?? process.env.PATH ?? "",
    beside,
    isExecutable,
  });
}

/** The programs of a package for one platform: an installation of PTL inside the extension. */
let ownPrograms: string[] = [];

export function useProgramsOf(extension: string): void {
  const folder = path.join(extension, "tools", "bin");
  ownPrograms = fs.existsSync(folder) ? [folder] : [];
  for (const name of ownPrograms.flatMap((own) => fs.readdirSync(own))) {
    const file = path.join(folder, name);
    // Some ways to unpack an extension lose what may be run.
    if (!isExecutable(file)) tryToAllow(file);
  }
}

function tryToAllow(file: string): void {
  try {
    fs.chmodSync(file, 0o755);
  } catch {
    // Then it is not found, and the message says so.
  }
}

export function findServer(): Found {
  return find("ptl-lsp", "server.path", ownPrograms);
}

export function findCompiler(): Found {
  const server = findServer();
  return find("ptlc", "compiler.path", ["path" in server ? path.dirname(server.path) : "", ...ownPrograms]);
}
