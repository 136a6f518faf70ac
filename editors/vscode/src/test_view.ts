// The tests of the workspace in the editor's own view: run one, those of a file, or all, on the chosen executors; what fails is
// shown where it does, with the values and the shrunk case.

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

import { config, environment, findCompiler } from "./config";
import { addCoverage, CoveredFile, readCoverage } from "./coverage";
import { coverageOf, detailsOf } from "./coverage_view";
import { debugTest } from "./debug";
import { Failure, Outcome, Place, readOutcome, testBlocks } from "./test_results";

export class TestView implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController("ptl", "PTL");
  private readonly subscriptions: vscode.Disposable[];
  /** The shrunk cases of the last runs, by the path of the file and the name of the test. */
  private readonly cases = new Map<string, Record<string, number>>();
  private readonly covered = new WeakMap<vscode.TestRun, Map<string, CoveredFile>>();

  constructor() {
    const watcher = vscode.workspace.createFileSystemWatcher("**/*.ptl");
    this.controller.resolveHandler = async (item) => {
      if (!item) await this.findAll();
    };
    this.controller.refreshHandler = () => this.findAll();
    const { Run, Debug, Coverage } = vscode.TestRunProfileKind;
    this.controller.createRunProfile("Run", Run, (request, token) => this.run(request, token), true);
    this.controller.createRunProfile("Debug", Debug, (request, token) => this.debug(request, token), true);
    const coverage = this.controller.createRunProfile("Coverage", Coverage, (request, token) => this.run(request, token, true), true);
    coverage.loadDetailedCoverage = (run, file) => {
      const counted = this.covered.get(run)?.get(file.uri.fsPath);
      return Promise.resolve(counted ? detailsOf(counted) : []);
    };
    this.subscriptions = [
      this.controller,
      watcher,
      watcher.onDidCreate((uri) => void this.read(uri)),
      watcher.onDidChange((uri) => void this.read(uri)),
      watcher.onDidDelete((uri) => this.controller.items.delete(uri.toString())),
      vscode.workspace.onDidOpenTextDocument((document) => this.take(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.take(document)),
    ];
    for (const document of vscode.workspace.textDocuments) this.take(document);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  // ---- The tree ----

  private async findAll(): Promise<void> {
    const files = await vscode.workspace.findFiles("**/*.ptl", "**/node_modules/**", 2000);
    await Promise.all(files.map((uri) => this.read(uri)));
  }

  private async read(uri: vscode.Uri): Promise<void> {
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open) this.take(open);
    else this.put(uri, new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)));
  }

  private take(document: vscode.TextDocument): void {
    if (document.languageId === "ptl" && document.uri.scheme === "file") this.put(document.uri, document.getText());
  }

  private put(uri: vscode.Uri, text: string): void {
    const blocks = testBlocks(text);
    if (blocks.length === 0) {
      this.controller.items.delete(uri.toString());
      return;
    }
    let file = this.controller.items.get(uri.toString());
    if (!file) {
      file = this.controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
      this.controller.items.add(file);
    }
    // Items that stay keep their results.
    const ids = new Set<string>();
    for (const block of blocks) {
      const known = file.children.get(block.name);
      const item = known ?? this.controller.createTestItem(block.name, block.name, uri);
      item.description = block.kind === "property" ? "property" : undefined;
      item.range = new vscode.Range(block.line, 0, block.endLine, 0);
      if (!known) file.children.add(item);
      ids.add(block.name);
    }
    file.children.forEach((item) => {
      if (!ids.has(item.id)) file.children.delete(item.id);
    });
  }

  // ---- A run ----

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken, counts = false): Promise<void> {
    const run = this.controller.createTestRun(request);
    if (counts) this.covered.set(run, new Map());
    try {
      for (const [file, tests] of this.chosen(request)) {
        if (token.isCancellationRequested) break;
        for (const test of tests) run.started(test);
        // The name of a block is a filter that others may pass, too: their results are not asked for.
        const isWhole = tests.length === file.children.size;
        if (isWhole) await this.runFile(run, file, tests, undefined, token);
        else for (const test of tests) await this.runFile(run, file, [test], test.id, token);
      }
      for (const counted of this.covered.get(run)?.values() ?? []) run.addCoverage(coverageOf(counted));
    } finally {
      run.end();
    }
  }

  /** One after the other, each in the case that made it fail last, else in the smallest that fails. */
  private async debug(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request);
    try {
      for (const [file, tests] of this.chosen(request))
        for (const test of tests) {
          if (token.isCancellationRequested || !file.uri) return;
          await saved(file.uri);
          run.started(test);
          const stop = token.onCancellationRequested(() => void vscode.debug.stopDebugging());
          const ending = await debugTest(file.uri, test.id, this.cases.get(keyOf(test)) ?? {});
          stop.dispose();
          if (!ending) run.skipped(test);
          else if (ending.passed) run.passed(test);
          else
            run.failed(
              test,
              ending.failures.map(({ text, location }) => Object.assign(new vscode.TestMessage(text), { location })),
            );
        }
    } finally {
      run.end();
    }
  }

  private chosen(request: vscode.TestRunRequest): Map<vscode.TestItem, vscode.TestItem[]> {
    const files = new Map<vscode.TestItem, vscode.TestItem[]>();
    const add = (item: vscode.TestItem): void => {
      if (request.exclude?.includes(item)) return;
      if (!item.parent) {
        item.children.forEach(add);
        return;
      }
      const known = files.get(item.parent) ?? [];
      if (!known.includes(item)) files.set(item.parent, [...known, item]);
    };
    if (request.include) request.include.forEach(add);
    else this.controller.items.forEach(add);
    return files;
  }

  private async runFile(
    run: vscode.TestRun,
    file: vscode.TestItem,
    tests: vscode.TestItem[],
    filter: string | undefined,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const uri = file.uri;
    if (!uri) return;
    await saved(uri);
    const begin = Date.now();
    const counted = this.covered.get(run);
    const { lines, json, problem, coverage } = await runCompiler(uri, filter, token, counted !== undefined);
    if (counted) addCoverage(counted, readCoverage(coverage));
    run.appendOutput(lines.replace(/\r?\n/g, "\r\n"), undefined, tests.length === 1 ? tests[0] : undefined);
    const outcome = readOutcome(
      json,
      tests.map((test) => test.id),
    );
    run.appendOutput(summaryOf(outcome, tests).replace(/\r?\n/g, "\r\n"));
    const time = (Date.now() - begin) / tests.length;
    for (const test of tests) {
      const passed = outcome.passed.get(test.id);
      const shrunk = outcome.failures.get(test.id)?.find((failure) => failure.dims)?.dims;
      if (shrunk) this.cases.set(keyOf(test), shrunk);
      else this.cases.delete(keyOf(test));
      if (token.isCancellationRequested) run.skipped(test);
      else if (passed === true) run.passed(test, time);
      else if (passed === false) run.failed(test, (outcome.failures.get(test.id) ?? []).map(messageOf), time);
      else run.errored(test, outcome.problems.length > 0 ? outcome.problems.map(messageOf) : [new vscode.TestMessage(problem)]);
    }
  }
}

function keyOf(test: vscode.TestItem): string {
  return `${test.uri?.fsPath ?? ""}#${test.id}`;
}

async function saved(uri: vscode.Uri): Promise<void> {
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
  if (document?.isDirty) await document.save();
}

/** A line for each test, and what is wrong below those that failed. */
function summaryOf(outcome: Outcome, tests: vscode.TestItem[]): string {
  return tests
    .filter((test) => outcome.passed.has(test.id))
    .map((test) => {
      const failures = (outcome.failures.get(test.id) ?? []).map(({ text }) => `    ${text}\n`).join("");
      return `${outcome.passed.get(test.id) ? "ok      " : "FAILED  "}${test.id}\n${failures}`;
    })
    .join("");
}

function messageOf(failure: Failure): vscode.TestMessage {
  const message = new vscode.TestMessage(failure.text);
  if (failure.expected !== undefined && failure.actual !== undefined) {
    message.expectedOutput = failure.expected;
    message.actualOutput = failure.actual;
  }
  if (failure.place) message.location = new vscode.Location(vscode.Uri.file(failure.place.file), rangeOf(failure.place));
  return message;
}

function rangeOf({ line, column, endLine, endColumn }: Place): vscode.Range {
  return new vscode.Range(line, column, endLine, endColumn);
}

/** What the compiler prints; `problem` is why there is nothing of a test. */
async function runCompiler(
  file: vscode.Uri,
  filter: string | undefined,
  token: vscode.CancellationToken,
  counts: boolean,
): Promise<{ lines: string; json: string; problem: string; coverage: string }> {
  const compiler = findCompiler();
  if (!("path" in compiler)) return { lines: `${compiler.problem}\n`, json: "", problem: compiler.problem, coverage: "" };
  const counted = counts ? path.join(fs.mkdtempSync(path.join(os.tmpdir(), "ptl-coverage-")), "coverage.json") : undefined;
  const executors = config(file).get<string[]>("test.executors", ["cpu", "reference"]);
  const args = ["test", file.fsPath, "--diagnostics=json", "--color=never", `--executor=${executors.join(",")}`];
  if (filter !== undefined) args.push("--filter", filter);
  if (counted !== undefined) args.push(`--coverage=${counted}`);
  const folder = vscode.workspace.getWorkspaceFolder(file)?.uri.fsPath;
  return new Promise((done) => {
    let lines = "";
    let json = "";
    const child = spawn(compiler.path, args, { cwd: folder, env: { ...process.env, ...environment() } });
    const stop = token.onCancellationRequested(() => child.kill());
    child.stdout.setEncoding("utf8").on("data", (text: string) => (json += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (lines += text));
    const end = (problem: string): void => {
      stop.dispose();
      done({ lines, json, problem: `${problem}${lines === "" ? "" : `: ${lines}`}`, coverage: counted === undefined ? "" : taken(counted) });
    };
    child.on("error", (error) => end(`${compiler.path} does not start: ${error.message}`));
    child.on("close", (code) => end(`ptlc test ended with ${code ?? "a signal"} and said nothing of this test`));
  });
}

/** The text of a file that goes, and its folder with it; empty if there is none. */
function taken(file: string): string {
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  fs.rmSync(path.dirname(file), { recursive: true, force: true });
  return text;
}
