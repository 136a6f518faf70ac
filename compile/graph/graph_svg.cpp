#include "compile/graph/graph_svg.h"

#include "compile/graph/layered_layout.h"
#include "frontend/base/markup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ptl {

namespace {

// Pixels. Texts have a fixed width per character, so that boxes are as wide as what they say.
constexpr double kChar = 7.23, kSmallChar = 6.63, kPad = 10, kMargin = 20, kHead = 44;
constexpr double kOpHeight = 38, kArrayHeight = 38, kTitle = 52;

/// Number of characters of UTF-8.
double lengthOf(const std::string &text) {
  return static_cast<double>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pixels(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string words(double x, double y, const char *style, const std::string &text) {
  return "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" class=\"" + style + "\">" +
         escapedMarkup(text) + "</text>";
}

std::string rectangle(double x, double y, double width, double height, double radius,
                      const char *style) {
  return "<rect x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" width=\"" + pixels(width) +
         "\" height=\"" + pixels(height) + "\" rx=\"" + pixels(radius) + "\" class=\"" + style +
         "\"/>";
}

/// A line with rounded bends: down, over, down.
std::string curve(const std::vector<LaidPoint> &points, double dx, double dy) {
  std::string path;
  for (size_t i = 0; i < points.size(); ++i) {
    std::string at = pixels(points[i].x + dx) + " " + pixels(points[i].y + dy);
    if (i == 0) {
      path = "M" + at;
      continue;
    }
    double middle = (points[i - 1].y + points[i].y) / 2 + dy;
    path += " C" + pixels(points[i - 1].x + dx) + " " + pixels(middle) + " " +
            pixels(points[i].x + dx) + " " + pixels(middle) + " " + at;
  }
  return path;
}

constexpr const char *kRules =
    R"(.ptl-graph { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.ptl-graph .paper { fill: var(--paper); } .ptl-graph text { fill: var(--ink); } .ptl-graph .dim { fill: var(--dim); font-size: 11px; }
.ptl-graph .strong { font-weight: 600; } .ptl-graph .end { text-anchor: end; } .ptl-graph .title { font-size: 15px; font-weight: 600; }
.ptl-graph .time { text-anchor: end; font-weight: 600; fill: var(--heat); } .ptl-graph .task { fill: var(--box); stroke: var(--frame); }
.ptl-graph .op { fill: var(--op); stroke: var(--frame); } .ptl-graph .input { fill: var(--input); stroke: var(--input-edge); }
.ptl-graph .output { fill: var(--output); stroke: var(--output-edge); } .ptl-graph .array { fill: var(--array); stroke: var(--array-edge); }
.ptl-graph .track { fill: var(--frame); } .ptl-graph .heat { fill: var(--heat); } .ptl-graph path { fill: none; stroke: var(--wire); stroke-width: 1.3; }
.ptl-graph path.inner { opacity: 0.75; } .ptl-graph marker path { fill: var(--wire); stroke: none; } .ptl-graph [data-line] { cursor: pointer; }
.ptl-graph [data-line]:hover > rect.box, .ptl-graph .here > rect.box { stroke: var(--here); stroke-width: 2.5; }
.ptl-graph .near { stroke: var(--here); stroke-width: 2.2; }
</style>
)";

constexpr const char *kLight = "--paper: #ffffff; --ink: #1f2328; --dim: #59636e; --wire: #818b98; "
                               "--frame: #d1d9e0; --box: #f6f8fa; --op: "
                               "#ffffff; --input: #ddf4ff; --input-edge: #54aeff; --output: "
                               "#dafbe1; --output-edge: #4ac26b; --array: #fff8c5; "
                               "--array-edge: #d4a72c; --heat: #bc4c00; --here: #0969da; ";
constexpr const char *kDark = "--paper: #0d1117; --ink: #e6edf3; --dim: #9198a1; --wire: #7d8590; "
                              "--frame: #3d444d; --box: #161b22; --op: "
                              "#21262d; --input: #0c2d6b; --input-edge: #388bfd; --output: "
                              "#033a16; --output-edge: #2ea043; --array: #3b2a00; "
                              "--array-edge: #bb8009; --heat: #f0883e; --here: #58a6ff; ";
/// Within an editor its theme decides, else what the reader prefers.
std::string styleSheet() {
  return std::string("<style>\n.ptl-graph, .vscode-light .ptl-graph { ") + kLight +
         "}\n@media (prefers-color-scheme: dark) { .ptl-graph { " + kDark +
         "} }\n.vscode-dark .ptl-graph, .vscode-high-contrast .ptl-graph { " + kDark + "}\n" +
         kRules;
}

/// Writes one graph after the other.
class Painter {
public:
  explicit Painter(const SourceManager &sources) : sources_(sources) {}
  void paint(const ProgramGraph &graph);
  GraphPicture done();

private:
  /// A task as a box with its operations.
  struct TaskBox {
    std::vector<size_t> ops;
    LayeredLayout inner;
    std::string detail, time;
    double width = 0, height = 0;
  };

  TaskBox taskBox(const ProgramGraph &graph, size_t task) const;
  void line(const std::string &svg, const std::vector<Span> &spans = {});
  std::string group(const ProgramGraph &graph, const std::vector<Span> &spans,
                    const std::string &title, const std::string &about) const;
  void paintTitle(const ProgramGraph &graph);
  void paintTask(const ProgramGraph &graph, size_t number, const TaskBox &box, double x, double y);
  void paintArray(const ProgramGraph &graph, const GraphArray &array, const LaidBox &box);
  static std::string opTitle(const GraphOp &op) {
    return op.name.empty() ? op.op : op.name + " = " + op.op;
  }
  static std::string arrayTitle(const GraphArray &array) {
    return array.bytes ? graphBytes(*array.bytes) + " · " + array.type : array.type;
  }

  const SourceManager &sources_;
  GraphPicture picture_;
  double y_ = kMargin, width_ = 0;
};

} // namespace

std::string graphTime(double us) {
  const char *unit = us >= 1e6 ? "s" : us >= 1e3 ? "ms" : "µs";
  double value = us >= 1e6 ? us / 1e6 : us >= 1e3 ? us / 1e3 : us;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s", value >= 100 ? 0 : value >= 10 ? 1 : 2, value, unit);
  return text;
}

std::string graphBytes(int64_t bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s", value == std::floor(value) ? 0 : 1, value,
                units[unit]);
  return text;
}

void Painter::line(const std::string &svg, const std::vector<Span> &spans) {
  picture_.text += svg + "\n";
  picture_.lines.push_back(spans);
}

/// The beginning of a group that leads to its source.
std::string Painter::group(const ProgramGraph &graph, const std::vector<Span> &spans,
                           const std::string &title, const std::string &about) const {
  std::string place, where;
  for (Span span : spans) {
    if (span.file >= sources_.size())
      continue;
    const SourceFile &file = sources_.file(span.file);
    LineColumn at = file.lineColumn(span.begin);
    std::string name = file.path().substr(file.path().rfind('/') + 1);
    where += "\n" + name + ":" + std::to_string(at.line);
    if (place.empty() && span.file == graph.file)
      place = " data-line=\"" + std::to_string(at.line) + "\" data-place=\"" +
              escapedMarkup(file.path() + ":" + std::to_string(at.line) + ":" +
                            std::to_string(at.column)) +
              "\"";
  }
  std::string all = title + (about.empty() ? "" : "\n" + about) + where;
  // Each group is one line of the text.
  std::string tooltip;
  for (char c : escapedMarkup(all))
    tooltip += c == '\n' ? std::string("&#10;") : std::string(1, c);
  return "<g" + place + "><title>" + tooltip + "</title>";
}

Painter::TaskBox Painter::taskBox(const ProgramGraph &graph, size_t number_) const {
  const GraphTask &task = graph.tasks[number_];
  TaskBox box;
  std::vector<LaidBox> boxes;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const GraphOp &op = graph.ops[i];
    if (std::find(op.tasks.begin(), op.tasks.end(), number_) == op.tasks.end())
      continue;
    box.ops.push_back(i);
    double width =
        std::max(lengthOf(opTitle(op)) * kChar, lengthOf(op.type) * kSmallChar) + 2 * kPad;
    boxes.push_back({std::ceil(width), kOpHeight, 0, 0});
  }
  std::vector<std::pair<size_t, size_t>> lines;
  for (size_t i = 0; i < box.ops.size(); ++i)
    for (uint32_t from : graph.ops[box.ops[i]].operands)
      if (auto found = std::find(box.ops.begin(), box.ops.end(), from);
          found != box.ops.end() && static_cast<size_t>(found - box.ops.begin()) != i)
        lines.emplace_back(found - box.ops.begin(), i);
  box.inner = layeredLayout(std::move(boxes), lines, {16, 20});
  for (const std::string &part :
       {task.kernel, task.task.empty() ? std::string() : "task " + task.task,
        task.tile.empty() ? std::string() : "tile " + task.tile,
        box.ops.size() > 1 ? std::to_string(box.ops.size()) + " fused" : std::string()})
    if (!part.empty())
      box.detail += (box.detail.empty() ? "" : " · ") + part;
  if (task.us)
    box.time =
        graphTime(*task.us) + (task.runs > 1 ? " in " + std::to_string(task.runs) + " runs" : "");
  double head = (lengthOf(task.name) + lengthOf(box.time) + 3) * kChar;
  box.width =
      std::max({box.inner.width, head, lengthOf(box.detail) * kSmallChar, 120.0}) + 2 * kPad;
  box.height = kHead + (box.ops.empty() ? 0 : box.inner.height + 2 * kPad);
  return box;
}

void Painter::paintTask(const ProgramGraph &graph, size_t number_, const TaskBox &box, double x,
                        double y) {
  const GraphTask &task = graph.tasks[number_];
  std::string about = box.detail;
  double share = task.us && graph.us.value_or(0) > 0 ? std::min(1.0, *task.us / *graph.us) : 0;
  if (task.us)
    about += "\n" + box.time + ", " + std::to_string(std::lround(share * 100)) + " % of the whole";
  std::string svg = group(graph, task.spans, task.name, about) +
                    rectangle(x, y, box.width, box.height, 6, "box task") +
                    words(x + kPad, y + 17, "strong", task.name) +
                    words(x + kPad, y + 33, "dim", box.detail);
  if (!box.time.empty())
    svg +=
        words(x + box.width - kPad, y + 17, "time", box.time) +
        rectangle(x + kPad, y + 38, box.width - 2 * kPad, 3, 1.5, "track") +
        rectangle(x + kPad, y + 38, std::max(2.0, (box.width - 2 * kPad) * share), 3, 1.5, "heat");
  line(svg + "</g>", task.spans);
  double left = x + (box.width - box.inner.width) / 2, top = y + kHead + kPad;
  for (const LaidLine &each : box.inner.lines)
    line("<path class=\"inner\" marker-end=\"url(#ptl-tip)\" d=\"" + curve(each.points, left, top) +
         "\"/>");
  for (size_t i = 0; i < box.ops.size(); ++i) {
    const GraphOp &op = graph.ops[box.ops[i]];
    const LaidBox &at = box.inner.boxes[i];
    std::string others = op.tasks.size() > 1 ? "\ncomputed in " + std::to_string(op.tasks.size()) +
                                                   " tasks, each for itself"
                                             : "";
    line(group(graph, op.spans, opTitle(op), op.type + others) +
             rectangle(left + at.x, top + at.y, at.width, at.height, 4, "box op") +
             words(left + at.x + kPad, top + at.y + 16, "strong", opTitle(op)) +
             words(left + at.x + kPad, top + at.y + 31, "dim", op.type) + "</g>",
         op.spans);
  }
}

void Painter::paintArray(const ProgramGraph &graph, const GraphArray &array, const LaidBox &box) {
  static constexpr const char *styles[] = {"box input", "box output", "box array"};
  static constexpr const char *kinds[] = {"input", "output", "intermediate array"};
  size_t kind = static_cast<size_t>(array.kind);
  double x = box.x + kMargin, y = box.y + y_;
  line(group(graph, array.spans, array.name, std::string(kinds[kind]) + ", " + arrayTitle(array)) +
           rectangle(x, y, box.width, box.height, box.height / 2, styles[kind]) +
           words(x + kPad + 6, y + 16, "strong", array.name) +
           words(x + kPad + 6, y + 31, "dim", arrayTitle(array)) + "</g>",
       array.spans);
}

void Painter::paintTitle(const ProgramGraph &graph) {
  std::string title = graph.entry + " on " + graph.target, about;
  bool isAssumed = false;
  for (const ExampleSize &size : graph.sizes) {
    about += (about.empty() ? "for " : ", ") + size.name + " = " + std::to_string(size.value) +
             (size.isAssumed() ? " (assumed)" : "");
    isAssumed |= size.isAssumed();
  }
  if (graph.us)
    title += (graph.isLeast ? ": at least " : ": ") + std::string(isAssumed ? "~" : "") +
             graphTime(*graph.us) + (graph.bound.empty() ? "" : " · " + graph.bound);
  line(words(kMargin, y_ + 16, "title", title) + words(kMargin, y_ + 35, "dim", about));
  width_ = std::max({width_, lengthOf(title) * 9.1, lengthOf(about) * kSmallChar});
  y_ += kTitle;
}

void Painter::paint(const ProgramGraph &graph) {
  paintTitle(graph);
  std::vector<LaidBox> boxes;
  std::vector<TaskBox> tasks;
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    tasks.push_back(taskBox(graph, i));
    boxes.push_back({tasks.back().width, tasks.back().height, 0, 0});
  }
  for (const GraphArray &array : graph.arrays) {
    double width = std::max(lengthOf(array.name) * kChar, lengthOf(arrayTitle(array)) * kSmallChar);
    boxes.push_back({std::ceil(width + 2 * kPad + 12), kArrayHeight, 0, 0});
  }
  std::vector<std::pair<size_t, size_t>> lines;
  size_t first = graph.tasks.size();
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    for (uint32_t array : graph.tasks[i].reads)
      lines.emplace_back(first + array, i);
    for (uint32_t array : graph.tasks[i].writes)
      lines.emplace_back(i, first + array);
  }
  LayeredLayout layout = layeredLayout(std::move(boxes), lines, {28, 34});
  for (const LaidLine &each : layout.lines)
    line("<path marker-end=\"url(#ptl-tip)\" d=\"" + curve(each.points, kMargin, y_) + "\"/>");
  for (size_t i = 0; i < tasks.size(); ++i)
    paintTask(graph, i, tasks[i], layout.boxes[i].x + kMargin, layout.boxes[i].y + y_);
  for (size_t i = 0; i < graph.arrays.size(); ++i)
    paintArray(graph, graph.arrays[i], layout.boxes[first + i]);
  width_ = std::max(width_, layout.width);
  y_ += layout.height + 2 * kMargin;
}

GraphPicture Painter::done() {
  double width = width_ + 2 * kMargin, height = std::max(y_ - kMargin, 2 * kMargin);
  std::string size = pixels(width) + " " + pixels(height);
  std::string head =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ptl-graph\" viewBox=\"0 0 " + size +
      "\" width=\"" + pixels(width) + "\" height=\"" + pixels(height) + "\">\n" + styleSheet() +
      "<defs><marker id=\"ptl-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n";
  // The head is known only now, since it has the size of the whole picture; its lines lead to no source.
  picture_.lines.insert(picture_.lines.begin(),
                        static_cast<size_t>(std::count(head.begin(), head.end(), '\n')), {});
  picture_.text = head + picture_.text + "</svg>\n";
  picture_.lines.emplace_back();
  return std::move(picture_);
}

GraphPicture graphSvg(const std::vector<ProgramGraph> &graphs, const SourceManager &sources) {
  Painter painter(sources);
  for (const ProgramGraph &graph : graphs)
    painter.paint(graph);
  return painter.done();
}

} // namespace ptl
