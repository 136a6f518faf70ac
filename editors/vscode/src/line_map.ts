// Which lines of a preview belong to which ranges of the source, looked up both ways.

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Source {
  uri: string;
  range: Range;
}

export interface MapEntry {
  line: number;
  sources: Source[];
}

export function compare(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

function contains(outer: Range, inner: Range): boolean {
  return compare(outer.start, inner.start) <= 0 && compare(inner.end, outer.end) <= 0;
}

/** Orders ranges of which one contains the other: negative if `a` is inside `b`. */
function compareExtent(a: Range, b: Range): number {
  return (
    a.end.line - a.start.line - (b.end.line - b.start.line) ||
    a.end.character - a.start.character - (b.end.character - b.start.character)
  );
}

function sameRange(a: Range, b: Range): boolean {
  return compare(a.start, b.start) === 0 && compare(a.end, b.end) === 0;
}

export class LineMap {
  private readonly byLine = new Map<number, Source[]>();
  private readonly byUri = new Map<string, { line: number; range: Range }[]>();

  /** `normalise` brings URIs into the form that look-ups use. */
  constructor(entries: MapEntry[], normalise: (uri: string) => string = (uri) => uri) {
    for (const { line, sources } of entries) {
      const known = this.byLine.get(line) ?? [];
      for (const source of sources) {
        const uri = normalise(source.uri);
        known.push({ uri, range: source.range });
        const places = this.byUri.get(uri) ?? [];
        places.push({ line, range: source.range });
        this.byUri.set(uri, places);
      }
      this.byLine.set(line, known);
    }
  }

  get uris(): string[] {
    return [...this.byUri.keys()];
  }

  sourcesOf(line: number): Source[] {
    return this.byLine.get(line) ?? [];
  }

  /**
   * The lines, ascending, of what is selected: all that came from inside a selection; for a cursor, or when nothing
   * did, those of the smallest range around it; else those of what begins on its line.
   */
  linesOf(uri: string, selection: Range): number[] {
    const places = this.byUri.get(uri) ?? [];
    const cursor = compare(selection.start, selection.end) === 0;
    let found = cursor ? [] : places.filter((place) => contains(selection, place.range));
    if (found.length === 0) found = smallest(places.filter((place) => contains(place.range, selection)), selection);
    if (found.length === 0) found = places.filter((place) => place.range.start.line === selection.start.line);
    return [...new Set(found.map((place) => place.line))].sort((a, b) => a - b);
  }
}

/**
 * Of ranges around a selection, those of least extent. One that only spans many lines around the selection, such as a
 * whole kernel, is no answer while something begins on the line of the selection.
 */
function smallest<T extends { range: Range }>(around: T[], selection: Range): T[] {
  let best: Range | undefined;
  for (const { range } of around) if (!best || compareExtent(range, best) < 0) best = range;
  if (!best || (best.start.line !== selection.start.line && best.start.line !== best.end.line)) return [];
  const least = best;
  return around.filter(({ range }) => sameRange(range, least));
}

/** Ascending lines as runs of neighbours. */
export function runs(lines: number[]): { first: number; last: number }[] {
  const result: { first: number; last: number }[] = [];
  for (const line of lines) {
    const run = result[result.length - 1];
    if (run && run.last + 1 === line) run.last = line;
    else result.push({ first: line, last: line });
  }
  return result;
}
