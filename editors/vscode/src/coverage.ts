// What `ptlc test --coverage=FILE` counted (docs/schemas/coverage.json). Free of the editor, for the tests.

export interface Point {
  /** Both from one; columns in bytes. */
  line: number;
  column: number;
}

export interface Counted {
  begin: Point;
  end: Point;
  count: number;
}

export interface Branch {
  begin: Point;
  end: Point;
  arms: { name: string; count: number }[];
}

export interface Tried {
  dims: Record<string, number>;
  leading?: number[];
  count: number;
}

export interface Entry {
  name: string;
  kind: string;
  at: { begin: Point; end: Point };
  count: number;
  /** Why it could not be counted. */
  skipped?: string;
  extents: Tried[];
  statements: Counted[];
  branches: Branch[];
}

export interface CoveredFile {
  file: string;
  entries: Entry[];
}

/** The files of a document; none of what is no such document. */
export function readCoverage(json: string): CoveredFile[] {
  try {
    const document = JSON.parse(json) as { version?: number; files?: CoveredFile[] };
    return document.version === 1 ? (document.files ?? []) : [];
  } catch {
    return [];
  }
}

/** Adds what another run of the same files counted. */
export function addCoverage(all: Map<string, CoveredFile>, more: CoveredFile[]): void {
  for (const file of more) {
    const known = all.get(file.file);
    // A file that was changed in between is counted anew.
    if (known && sameText(known, file)) known.entries.forEach((entry, i) => addEntry(entry, file.entries[i]!));
    else all.set(file.file, file);
  }
}

function sameText(a: CoveredFile, b: CoveredFile): boolean {
  const places = (file: CoveredFile): string =>
    JSON.stringify(file.entries.map((entry) => [entry.name, ...entry.statements.map(({ begin, end }) => [begin, end])]));
  return places(a) === places(b);
}

function addEntry(to: Entry, from: Entry): void {
  to.count += from.count;
  to.statements.forEach((statement, i) => (statement.count += from.statements[i]!.count));
  to.branches.forEach((branch, i) => branch.arms.forEach((arm, k) => (arm.count += from.branches[i]!.arms[k]!.count)));
  const key = (tried: Tried): string => JSON.stringify([tried.dims, tried.leading]);
  const known = new Map(to.extents.map((tried) => [key(tried), tried]));
  for (const tried of from.extents) {
    const same = known.get(key(tried));
    if (same) same.count += tried.count;
    else to.extents.push(tried);
  }
}

export interface Sum {
  covered: number;
  total: number;
}

export function sums(file: CoveredFile): { statements: Sum; branches: Sum; entries: Sum } {
  const sum = (counts: number[]): Sum => ({ covered: counts.filter((count) => count > 0).length, total: counts.length });
  const counted = file.entries.filter((entry) => entry.skipped === undefined);
  return {
    statements: sum(counted.flatMap((entry) => entry.statements.map(({ count }) => count))),
    branches: sum(counted.flatMap((entry) => entry.branches.flatMap(({ arms }) => arms.map(({ count }) => count)))),
    entries: sum(counted.map(({ count }) => count)),
  };
}

/** The branches that belong to each statement: those of the smallest that holds them. */
export function branchesOf(entry: Entry): Branch[][] {
  const owned: Branch[][] = entry.statements.map(() => []);
  const before = (a: Point, b: Point): boolean => a.line < b.line || (a.line === b.line && a.column <= b.column);
  for (const branch of entry.branches) {
    let best = -1;
    entry.statements.forEach(({ begin, end }, i) => {
      const holds = before(begin, branch.begin) && before(branch.end, end);
      const outer = entry.statements[best];
      if (holds && (!outer || before(outer.begin, begin))) best = i;
    });
    if (best >= 0) owned[best]!.push(branch);
  }
  return owned;
}

/** `twice: N = 1, 2, 3 … 300`: with which extents an entry was called. */
export function titleOf(entry: Entry): string {
  if (entry.skipped !== undefined) return `${entry.name}: not counted, ${entry.skipped}`;
  const dims = Object.keys(entry.extents[0]?.dims ?? {});
  const parts = dims.map((name) => {
    const values = [...new Set(entry.extents.map((tried) => tried.dims[name] ?? 0))].sort((a, b) => a - b);
    const shown = values.length > 8 ? [...values.slice(0, 6), "…", values.at(-1)] : values;
    return `${name} = ${shown.join(", ").replace(", …, ", " … ")}`;
  });
  return parts.length > 0 ? `${entry.name}: ${parts.join("; ")}` : entry.name;
}
