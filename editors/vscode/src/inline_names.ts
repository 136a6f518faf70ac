// Whose values stand at the ends of lines while a run stands still. Free of the editor, for the tests.

export interface NameInLine {
  line: number;
  column: number;
  name: string;
}

const head = /^(?:pub\s+)?(?:fn|kernel|program|test|property|bench)\b/;
const binders = [/\b(?:let|var)\s+([^=]*)/, /\b(?:for|parallel)\s+(.*?)\bin\b/, /^\s*([A-Za-z_]\w*)\s*(?:\[.*\])?\s*[-+*/]?=(?!=)/];

/** Of the declaration around a line: the names that each line before it binds, and all that stand in the line itself. */
export function namesOfLines(lineAt: (line: number) => string, stopped: number): NameInLine[] {
  let first = stopped;
  while (first > 0 && !head.test(lineAt(first))) --first;
  const found: NameInLine[] = [];
  for (let line = first; line <= stopped; ++line) {
    const text = lineAt(line).replace(/\/\/.*$|"(?:[^"\\]|\\.)*"/g, (other) => " ".repeat(other.length));
    const parts = line === first || line === stopped ? [{ text, from: 0 }] : boundIn(text);
    const seen = new Set<string>();
    for (const part of parts)
      for (const match of part.text.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)) {
        if (seen.has(match[0])) continue;
        seen.add(match[0]);
        found.push({ line, column: part.from + match.index, name: match[0] });
      }
  }
  return found;
}

function boundIn(text: string): { text: string; from: number }[] {
  return binders.flatMap((binder) => {
    const match = binder.exec(text);
    if (!match?.[1]) return [];
    return [{ text: match[1].replace(/:.*$/, ""), from: match.index + match[0].indexOf(match[1]) }];
  });
}
