// The page around a memory map. Free of the editor, for the tests.

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
}

/** `svg` as the server made it; without one, why there is none. */
export function memoryPage(svg: string | undefined, reason: string, stale: boolean): string {
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
</script>
</body>
</html>
`;
}
