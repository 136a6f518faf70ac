
#include "compile/graph/graph_html.h"

#include "compile/graph/graph_svg.h"
#include "frontend/base/markup.h"

#include <algorithm>
#include <cmath>

namespace ptl {

static constexpr const char *kPageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>PTL graph</title>
<style>
  :root { color-scheme: light dark; }
  body { margin: 0; padding: 16px; font: 13px system-ui, "DejaVu Sans", sans-serif; background: Canvas; color: CanvasText; }
  .picture { overflow: auto; } svg { max-width: none; display: block; }
  table { border-collapse: collapse; margin: 0 0 24px; } th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid #8884; vertical-align: top; }
  th { font-weight: 600; opacity: 0.75; } td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  h2 { font-size: 15px; margin: 8px 0; } code { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; } tr[data-place] { cursor: pointer; }
  tr[data-place]:hover { background: #8882; }
</style>
</head>
<body>
<div class="picture">
)";

static constexpr const char *kPageScript = R"(<script>
  const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;
  document.addEventListener("click", (event) => {
    const made = event.target.closest("[data-place]");
    if (made && editor) editor.postMessage({ place: made.dataset.place });
  });
</script>
</body>
</html>
)";

static std::string arrayNames(const ProgramGraph &graph, const std::vector<uint32_t> &arrays) {
  std::string text;
  for (uint32_t number : arrays) {
    const GraphArray &array = graph.arrays[number];
    text += (text.empty() ? "" : ", ") + std::string("<code>") + escapedMarkup(array.name) +
            "</code>" + (array.bytes ? " " + graphBytes(*array.bytes) : "");
  }
  return text;
}

static std::string fusedIn(const ProgramGraph &graph, uint32_t task) {
  std::string text;
  for (const GraphOp &op : graph.ops)
    if (std::find(op.tasks.begin(), op.tasks.end(), task) != op.tasks.end())
      text += (text.empty() ? "" : " ") + escapedMarkup(op.op);
  return "<code>" + text + "</code>";
}

static std::string taskTable(const ProgramGraph &graph, const SourceManager &sources) {
  std::string html =
      "<h2>Tasks of " + escapedMarkup(graph.entry) +
      "</h2>\n<table><tr><th>Task</th><th>Kernel</th><th>Tile</th><th>Time</th><th>Share</th>"
      "<th>Operations</th><th>Reads</th><th>Writes</th></tr>\n";
  for (uint32_t i = 0; i < graph.tasks.size(); ++i) {
    const GraphTask &task = graph.tasks[i];
    std::string place;
    for (Span span : task.spans)
      if (place.empty() && span.file == graph.file && span.file < sources.size()) {
        LineColumn at = sources.file(span.file).lineColumn(span.begin);
        place = " data-place=\"" + escapedMarkup(sources.file(span.file).path()) + ":" +
                std::to_string(at.line) + ":" + std::to_string(at.column) + "\"";
      }
    std::string share = task.us && graph.us.value_or(0) > 0
                            ? std::to_string(std::lround(100 * *task.us / *graph.us)) + " %"
                            : "";
    html += "<tr" + place + "><td>" + escapedMarkup(task.name) + "</td><td><code>" +
            escapedMarkup(task.kernel) + "</code></td><td><code>" + escapedMarkup(task.tile) +
            "</code></td><td class=\"number\">" + (task.us ? graphTime(*task.us) : "") +
            "</td><td class=\"number\">" + share + "</td><td>" + fusedIn(graph, i) + "</td><td>" +
            arrayNames(graph, task.reads) + "</td><td>" + arrayNames(graph, task.writes) +
            "</td></tr>\n";
  }
  return html + "</table>\n";
}

GraphPicture graphHtml(const std::vector<ProgramGraph> &graphs, const SourceManager &sources) {
  GraphPicture page = graphSvg(graphs, sources);
  std::string_view head = kPageHead;
  // `lines` has an entry for each line of the text, also for those around the picture.
  page.lines.insert(page.lines.begin(),
                    static_cast<size_t>(std::count(head.begin(), head.end(), '\n')), {});
  std::string tables;
  for (const ProgramGraph &graph : graphs)
    tables += taskTable(graph, sources);
  page.text = kPageHead + page.text + "</div>\n" + tables + kPageScript;
  page.lines.resize(static_cast<size_t>(std::count(page.text.begin(), page.text.end(), '\n')));
  return page;
}

} // namespace ptl
