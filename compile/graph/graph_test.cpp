// What became which task, which arrays go between tasks, and where the boxes of the picture stand.
#include "compile/graph/graph_json.h"
#include "compile/graph/graph_svg.h"
#include "compile/graph/graph_text.h"
#include "compile/graph/layered_layout.h"
#include "compile/graph/make_graph.h"
#include "frontend/sema/check.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace ptl {
namespace {

constexpr const char *kTwoTasks = "program mlp[B, D, H](x: f16[B, D], v: f16[D, H], w: f16[H, D]) "
                                  "-> (y: f32[B, D]) where D <= 1024, H <= 1024\n"
                                  "{\n"
                                  "    let hidden = x @ v\n"
                                  "    let bent = f16(max(hidden, 0.0))\n"
                                  "    y = bent @ w\n"
                                  "}\n";

/// The graph of the first declaration of a text.
class Graphed {
public:
  Graphed(const std::string &text, const char *target, ExampleSizes sizes = {}) {
    CheckOptions check;
    check.stdPath = PTL_STD_PATH;
    program_ = checkFile(sources_, sources_.add("k.ptl", text), check, sink_);
    if (sink_.hasErrors())
      throw std::runtime_error(sink_.all().front().message);
    CompilerOptions options;
    options.ranges = true;
    if (target != std::string("cpu"))
      options.chip = findMachine(target);
    CompileContext context(*program_, sources_, options, sink_);
    BoundEntry entry;
    entry.binding.decl = program_->modules.front()->callables.front();
    entry.name = entry.binding.decl->name;
    graph = makeGraph({context, entry, "ptl_" + entry.name, nullptr, std::move(sizes)});
  }

  const GraphOp &op(const std::string &name) const {
    auto found = std::find_if(graph->ops.begin(), graph->ops.end(),
                              [&](const GraphOp &each) { return each.op == name; });
    static const GraphOp kNone;
    EXPECT_NE(found, graph->ops.end()) << name;
    return found == graph->ops.end() ? kNone : *found;
  }
  std::string names(const std::vector<uint32_t> &arrays) const {
    std::string text;
    for (uint32_t array : arrays)
      text += (text.empty() ? "" : ", ") + graph->arrays[array].name;
    return text;
  }
  const SourceManager &sources() const { return sources_; }

  std::optional<ProgramGraph> graph;

private:
  SourceManager sources_;
  DiagnosticSink sink_;
  std::unique_ptr<CheckedProgram> program_;
};

TEST(Graph, TasksHaveWhatWasFusedIntoThem) {
  Graphed made(kTwoTasks, "a3");
  ASSERT_TRUE(made.graph);
  const ProgramGraph &graph = *made.graph;
  ASSERT_EQ(graph.tasks.size(), 2u);
  EXPECT_EQ(graph.tasks[0].kernel, "mlp_0");
  EXPECT_EQ(graph.tasks[0].name.substr(0, 6), "hidden");
  EXPECT_EQ(made.names(graph.tasks[0].reads), "x, v");
  EXPECT_EQ(made.names(graph.tasks[1].writes), "y");
  EXPECT_EQ(made.op("matmul").name, "hidden");
  EXPECT_EQ(made.op("matmul").tasks, (std::vector<uint32_t>{0}));
  EXPECT_EQ(made.op("max").tasks, (std::vector<uint32_t>{0}));
  EXPECT_EQ(graph.ops.back().tasks, (std::vector<uint32_t>{1}));
  // What the first leaves is what the second reads.
  ASSERT_EQ(graph.tasks[0].writes.size(), 1u);
  EXPECT_EQ(graph.arrays[graph.tasks[0].writes[0]].kind, GraphArray::Kind::Intermediate);
  EXPECT_EQ(graph.arrays[graph.tasks[0].writes[0]].type, "f16[B, H]");
  EXPECT_NE(
      std::find(graph.tasks[1].reads.begin(), graph.tasks[1].reads.end(), graph.tasks[0].writes[0]),
      graph.tasks[1].reads.end());
}

TEST(Graph, OperandsGoThroughLoopsAndStorage) {
  Graphed made("kernel sums[R, C](x: f32[R, C]) -> (y: f32[R])\n"
               "{\n"
               "    parallel r in tiles(R, 8) {\n"
               "        var total = zeros(f32[r])\n"
               "        for c in tiles(C, 64) {\n"
               "            total = total + sum(exp(x[r, c]), axis: 1, keep: false)\n"
               "        }\n"
               "        y[r] = sqrt(total)\n"
               "    }\n"
               "}\n",
               "a3");
  ASSERT_TRUE(made.graph);
  ASSERT_EQ(made.graph->tasks.size(), 1u);
  EXPECT_EQ(made.graph->tasks[0].kernel, "sums");
  auto number = [&](const std::string &name) {
    return static_cast<uint32_t>(&made.op(name) - made.graph->ops.data());
  };
  auto uses = [&](const std::string &user, const std::string &used) {
    const std::vector<uint32_t> &operands = made.op(user).operands;
    return std::find(operands.begin(), operands.end(), number(used)) != operands.end();
  };
  EXPECT_TRUE(uses("reduce_sum", "exp"));
  EXPECT_TRUE(uses("add", "reduce_sum"));
  EXPECT_TRUE(uses("sqrt", "add"));
  EXPECT_FALSE(uses("sqrt", "exp"));
}

TEST(Graph, BytesAreThoseOfTheSizes) {
  Graphed made(kTwoTasks, "cpu", {{"B", 32}, {"D", 64}, {"H", 128}});
  ASSERT_TRUE(made.graph);
  for (const GraphArray &array : made.graph->arrays)
    if (array.name == "x")
      EXPECT_EQ(array.bytes, 32 * 64 * 2);
  EXPECT_TRUE(made.graph->isLeast);
}

TEST(Graph, TextsLeadToTheSource) {
  Graphed made(kTwoTasks, "a3");
  ASSERT_TRUE(made.graph);
  GraphPicture picture = graphSvg({*made.graph}, made.sources());
  EXPECT_EQ(static_cast<size_t>(std::count(picture.text.begin(), picture.text.end(), '\n')),
            picture.lines.size());
  // Each box with a line of the source has that place beside it.
  size_t row = 0, boxes = 0;
  for (size_t begin = 0; begin < picture.text.size(); ++row) {
    size_t end = picture.text.find('\n', begin);
    std::string line = picture.text.substr(begin, end - begin);
    begin = end + 1;
    size_t at = line.find("data-line=\"");
    if (at == line.npos)
      continue;
    ++boxes;
    ASSERT_FALSE(picture.lines[row].empty()) << line;
    Span span = picture.lines[row].front();
    EXPECT_EQ(std::stoul(line.substr(at + 11)),
              made.sources().file(span.file).lineColumn(span.begin).line);
  }
  EXPECT_GE(boxes, made.graph->ops.size() + made.graph->tasks.size());
  auto document = nlohmann::json::parse(graphDocument({*made.graph}, made.sources()));
  EXPECT_EQ(document["graphs"][0]["ops"].size(), made.graph->ops.size());
  EXPECT_EQ(document["graphs"][0]["ops"][0]["line"], 3);
}

TEST(LayeredLayout, LinesGoDownAndBoxesDoNotOverlap) {
  std::vector<LaidBox> boxes(9, LaidBox{80, 30, 0, 0});
  boxes[4].width = 300;
  std::vector<std::pair<size_t, size_t>> lines = {{0, 3}, {1, 3}, {2, 4}, {3, 4}, {0, 5},
                                                  {4, 6}, {5, 6}, {6, 7}, {0, 7}, {2, 8}};
  LayeredLayout layout = layeredLayout(boxes, lines, {10, 20});
  for (const LaidLine &line : layout.lines) {
    ASSERT_GE(line.points.size(), 2u);
    for (size_t i = 1; i < line.points.size(); ++i)
      EXPECT_LE(line.points[i - 1].y, line.points[i].y);
    EXPECT_NEAR(line.points.front().y, layout.boxes[line.from].y + 30, 0.01);
    EXPECT_NEAR(line.points.back().y, layout.boxes[line.to].y, 0.01);
  }
  for (size_t a = 0; a < boxes.size(); ++a) {
    EXPECT_GE(layout.boxes[a].x, -0.01);
    EXPECT_LE(layout.boxes[a].x + boxes[a].width, layout.width + 0.01);
    for (size_t b = a + 1; b < boxes.size(); ++b) {
      const LaidBox &p = layout.boxes[a], &q = layout.boxes[b];
      bool apart = p.x + p.width <= q.x + 0.01 || q.x + q.width <= p.x + 0.01 ||
                   p.y + p.height <= q.y + 0.01 || q.y + q.height <= p.y + 0.01;
      EXPECT_TRUE(apart) << a << " and " << b;
    }
  }
}

TEST(LayeredLayout, ACircleIsDrawn) {
  LayeredLayout layout = layeredLayout(std::vector<LaidBox>(3, LaidBox{40, 20, 0, 0}),
                                       {{0, 1}, {1, 2}, {2, 0}}, {10, 20});
  EXPECT_GT(layout.lines[2].points.front().y, layout.lines[2].points.back().y);
  EXPECT_TRUE(layeredLayout({}, {}, {10, 20}).boxes.empty());
}

} // namespace
} // namespace ptl
