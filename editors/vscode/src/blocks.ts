// The `test`, `property` and `bench` blocks of a text, for commands that are called without a lens.

const kinds: Record<string, "test" | "bench"> = { test: "test", property: "test", bench: "bench" };

/** The name of the last block of a kind that begins at or above a line; empty if there is none: all of them. */
export function blockAt(lines: (line: number) => string, line: number, kind: "test" | "bench"): string {
  for (let at = line; at >= 0; --at) {
    const match = /^(test|property|bench)\s+"((?:[^"\\]|\\.)*)"/.exec(lines(at));
    if (match) return kinds[match[1]] === kind ? match[2] : "";
    if (at < line && /^\}/.test(lines(at))) return "";
  }
  return "";
}
