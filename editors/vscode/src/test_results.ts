// The tests of a text, and what `ptlc test --diagnostics=json` says of them. Free of the editor, for the tests.

export interface TestBlock {
  name: string;
  kind: "test" | "property";
  /** Counted from zero, both inclusive. */
  line: number;
  endLine: number;
}

/** The `test` and `property` blocks of a text, as the lines begin; names are as the compiler says them. */
export function testBlocks(text: string): TestBlock[] {
  const blocks: TestBlock[] = [];
  text.split(/\r?\n/).forEach((line, number) => {
    const open = blocks.at(-1);
    if (open?.endLine === -1 && line.startsWith("}")) open.endLine = number;
    const found = /^(test|property)\s+"((?:[^"\\]|\\.)*)"/.exec(line);
    if (!found?.[1] || found[2] === undefined) return;
    if (open?.endLine === -1) open.endLine = number - 1;
    const kind = found[1] === "test" ? "test" : "property";
    blocks.push({ name: found[2].replace(/\\(["\\])/g, "$1"), kind, line: number, endLine: /\}\s*$/.test(line) ? number : -1 });
  });
  const last = blocks.at(-1);
  if (last?.endLine === -1) last.endLine = last.line;
  return blocks;
}

export interface Place {
  file: string;
  /** Counted from zero, in bytes. */
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

export interface Failure {
  /** Without the name of the test: what was found, on which executors, and the shrunk case. */
  text: string;
  expected?: string;
  actual?: string;
  place?: Place;
  /** The shrunk case. */
  dims?: Record<string, number>;
}

export interface Outcome {
  /** By test that was asked for; true: on all executors. Empty if nothing ran. */
  passed: Map<string, boolean>;
  failures: Map<string, Failure[]>;
  /** Why nothing ran, if nothing did. */
  problems: Failure[];
}

interface Diagnostic {
  code: string;
  severity: string;
  message: string;
  file?: string;
  begin?: { line: number; column: number };
  end?: { line: number; column: number };
  notes?: string[];
}

/** `json` are the diagnostics of a run of the tests `asked`. Of a test that passed they say nothing. */
export function readOutcome(json: string, asked: string[]): Outcome {
  const outcome: Outcome = { passed: new Map(), failures: new Map(), problems: [] };
  const diagnostics = readDiagnostics(json);
  if (!diagnostics) return outcome;
  const executors = new Map<string, { failure: Failure; what: string; on: string[]; notes: string[] }>();
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== "error") continue;
    const failed = /^`([\s\S]*?)` failed on `([^`]+)`: ([\s\S]*)$/.exec(diagnostic.message);
    const notes = diagnostic.notes ?? [];
    if (!failed?.[1] || !failed[2] || failed[3] === undefined) {
      outcome.problems.push({ text: [diagnostic.message, ...notes].join("\n"), place: placeOf(diagnostic) });
      continue;
    }
    const [, name, executor, what] = failed;
    const key = JSON.stringify([name, what, diagnostic.begin, notes]);
    const known = executors.get(key);
    if (known) {
      known.on.push(executor);
      continue;
    }
    const values = /\bgot (.+?), expected (.+?) at (\[[^\]]*\])/.exec(what);
    const failure: Failure = { text: what, expected: values?.[2], actual: values?.[1], place: placeOf(diagnostic) };
    executors.set(key, { failure, what, on: [executor], notes });
    outcome.failures.set(name, [...(outcome.failures.get(name) ?? []), failure]);
  }
  for (const { failure, what, on, notes } of executors.values()) {
    // In one line: where a failure is shown beside the source there is room for no more.
    failure.text = [`${what} (${on.join(", ")})`, ...notes].join(", ");
    const dims = dimsOf(notes);
    if (dims) failure.dims = dims;
  }
  // Nothing runs where something is wrong with the file itself.
  if (outcome.problems.length === 0) for (const name of asked) outcome.passed.set(name, !outcome.failures.has(name));
  return outcome;
}

/** The note `with N = 78, C = 2` of the shrunk case. */
function dimsOf(notes: string[]): Record<string, number> | undefined {
  const note = notes.find((text) => /^with \w+ = \d+/.test(text));
  return note === undefined ? undefined : Object.fromEntries([...note.matchAll(/(\w+) = (\d+)/g)].map((match) => [match[1], Number(match[2])]));
}

function readDiagnostics(json: string): Diagnostic[] | undefined {
  try {
    return (JSON.parse(json) as { diagnostics?: Diagnostic[] }).diagnostics;
  } catch {
    return undefined;
  }
}

function placeOf({ file, begin, end }: Diagnostic): Place | undefined {
  if (file === undefined || !begin) return undefined;
  const last = end ?? begin;
  return { file, line: begin.line - 1, column: begin.column - 1, endLine: last.line - 1, endColumn: last.column - 1 };
}
