// The page around a picture of a preview: a memory map, or the graph of a program. Free of the editor, for the tests.

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
}

/**
 * `svg` with the lines of the source as they are now. A picture is kept while its text stays the same, but edits above it move its lines.
 * `lineOf` says where what stands on a row of the text came from, counted from 1; nothing where it is of no line.
 */
export function withLines(svg: string, lineOf: (row: number) => number | undefined): string {
  return svg
    .split("\n")
    .map((row, number) => {
      const line = row.includes('data-line="') ? lineOf(number) : undefined;
      return line === undefined ? row : row.replace(/data-line="\d+"/, `data-line="${line}"`);
    })
    .join("\n");
}

/**
 * `svg` as the server made it; without one, why there is none. What `line` of the source makes is lit; a message
 * `{line}` lights others. A memory map is made for white paper: its paper and ink become those of the theme; a graph has colours for both.
 */
export function picturePage(svg: string | undefined, reason: string, stale: boolean, line = 0): string {
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
  svg:not(.ptl-graph) { min-width: 440px; }
  svg [data-line] { cursor: pointer; }
  svg:not(.ptl-graph) > rect { fill: var(--vscode-editor-background); }
  svg:not(.ptl-graph) > text { fill: var(--vscode-editor-foreground); }
  svg > line[stroke="#ddd"] { stroke: var(--vscode-editorIndentGuide-background1, #8884); }
  svg > line[stroke="#555"], svg > g:not([data-line]) > line[stroke="#555"] { stroke: var(--vscode-editor-foreground); }
  svg:not(.ptl-graph) [data-line] text { fill: #1a1a1a; }
  svg:not(.ptl-graph) [data-line].here rect { stroke: var(--vscode-focusBorder); stroke-width: 4; }
  body svg.ptl-graph { --paper: var(--vscode-editor-background) !important; --here: var(--vscode-focusBorder) !important; max-width: none; display: block; margin: 0 auto; }
  body.stale svg { opacity: 0.5; }
  .zoom { position: fixed; right: 20px; bottom: 16px; display: flex; gap: 4px; }
  .zoom button { width: 30px; height: 26px; border: 1px solid var(--vscode-widget-border, #8886); border-radius: 4px; cursor: pointer;
    color: var(--vscode-editor-foreground); background: var(--vscode-editorWidget-background); font: 14px var(--vscode-font-family); }
  .zoom button:hover { background: var(--vscode-toolbar-hoverBackground, #8883); }
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
  const graph = document.querySelector("svg.ptl-graph");
  function light(line) {
    const lit = [];
    for (const made of document.querySelectorAll("[data-line]"))
      if (made.classList.toggle("here", Number(made.dataset.line) === line)) lit.push(made);
    if (graph && lit.length > 0) lit[lit.length - 1].scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  window.addEventListener("message", ({ data }) => light(data.line));
  if (graph) {
    const width = graph.viewBox.baseVal.width;
    // A wide graph is shown as a whole as long as one can read it; beyond that one scrolls.
    const fit = () => Math.min(1, Math.max(0.55, (document.body.clientWidth - 16) / width));
    let scale = (editor.getState() || {}).scale || fit();
    const apply = () => {
      graph.setAttribute("width", width * scale);
      graph.removeAttribute("height");
    };
    const zoom = (to) => {
      scale = Math.min(4, Math.max(0.1, to));
      editor.setState({ scale });
      apply();
    };
    const bar = document.createElement("div");
    bar.className = "zoom";
    for (const [label, title, to] of [
      ["−", "Smaller", () => scale / 1.25],
      ["+", "Larger", () => scale * 1.25],
      ["⤢", "Whole width", () => (document.body.clientWidth - 16) / width],
    ]) {
      const button = document.createElement("button");
      button.textContent = label;
      button.title = title;
      button.addEventListener("click", () => zoom(to()));
      bar.append(button);
    }
    document.body.append(bar);
    window.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(scale * Math.exp(-event.deltaY / 400));
    }, { passive: false });
    // What a person chose stays.
    window.addEventListener("resize", () => {
      if ((editor.getState() || {}).scale) return;
      scale = fit();
      apply();
    });
    apply();
  }
  light(${Math.trunc(line)});
</script>
</body>
</html>
`;
}
