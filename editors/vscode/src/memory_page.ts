// The page around a memory map. Free of the editor, for the tests.

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
}

/** `svg` as the server made it; without one, why there is none. The buffers that `line` of the source makes are lit; a message
 * `{line}` lights others. The picture is made for white paper: its paper and ink become those of the theme. */
export function memoryPage(svg: string | undefined, reason: string, stale: boolean, line = 0): string {
  const nonce = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join("");
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  const body = svg ?? `<pre>${escaped(reason)}</pre>`;
  const note = stale && svg !== undefined ? "<p>The source does not compile for the chip now; this is the last that did.</p>" : "";
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>
  body { padding: 8px; }
  svg { max-width: 100%; height: auto; border-radius: 4px; }
  svg [data-line] { cursor: pointer; }
  svg > rect { fill: var(--vscode-editor-background); }
  svg > text { fill: var(--vscode-editor-foreground); }
  svg > line[stroke="#ddd"] { stroke: var(--vscode-editorIndentGuide-background1, #8884); }
  svg > line[stroke="#555"], svg > g:not([data-line]) > line[stroke="#555"] { stroke: var(--vscode-editor-foreground); }
  svg [data-line] text { fill: #1a1a1a; }
  svg [data-line].here rect { stroke: var(--vscode-focusBorder); stroke-width: 4; }
  body.stale svg { opacity: 0.5; }
</style>
</head>
<body class="${note ? "stale" : ""}">
${note}${body}
<script nonce="${nonce}">
  const editor = acquireVsCodeApi();
  document.addEventListener("click", (event) => {
    const made = event.target.closest("[data-line]");
    if (made) editor.postMessage({ line: Number(made.dataset.line) });
  });
  function light(line) {
    for (const made of document.querySelectorAll("[data-line]"))
      made.classList.toggle("here", Number(made.dataset.line) === line);
  }
  window.addEventListener("message", ({ data }) => light(data.line));
  light(${Math.trunc(line)});
</script>
</body>
</html>
`;
}
