// The page of a timeline in a webview. Free of the editor, for the tests.

/** A place as the page says it: `PATH:LINE:COLUMN`, counted from 1. */
export interface Place {
  path: string;
  line: number;
  column: number;
}

export function parsePlace(text: unknown): Place | undefined {
  const found = typeof text === "string" ? /^(.+):(\d+):(\d+)$/s.exec(text) : null;
  return found ? { path: found[1], line: Number(found[2]), column: Number(found[3]) } : undefined;
}

/** The page that `ptlc sim --html` writes, allowed to run its own script and nothing else. */
export function timelinePage(page: string): string {
  const nonce = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  const meta = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`;
  // Data comes after the first script tag, and cannot hold one that counts: `<` of `</` is escaped in it.
  return page.replace('<meta charset="utf-8">', () => meta).replace("<script>", () => `<script nonce="${nonce}">`);
}
