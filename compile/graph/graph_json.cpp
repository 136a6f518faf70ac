
#include "compile/graph/graph_json.h"

#include <nlohmann/json.hpp>

namespace ptl {

using Json = nlohmann::ordered_json;

/// The outermost range in the file of the entry, or the innermost of all.
static Json graphPlaceJson(const std::vector<Span> &spans, FileId file,
                           const SourceManager &sources) {
  const Span *best = spans.empty() ? nullptr : &spans.front();
  for (const Span &span : spans)
    if (span.file == file) {
      best = &span;
      break;
    }
  if (!best || best->file >= sources.size())
    return Json::object();
  const SourceFile &source = sources.file(best->file);
  LineColumn begin = source.lineColumn(best->begin), end = source.lineColumn(best->end);
  return {{"file", source.path()},
          {"line", begin.line},
          {"column", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

static Json graphArrayJson(const GraphArray &array) {
  static constexpr const char *kinds[] = {"input", "output", "intermediate"};
  std::string formula = std::to_string(array.factor);
  for (const std::string &length : array.lengths)
    formula += "*" + length;
  Json json = {{"kind", kinds[static_cast<size_t>(array.kind)]},
               {"name", array.name},
               {"type", array.type},
               {"formula", formula}};
  if (array.bytes)
    json["bytes"] = *array.bytes;
  return json;
}

static Json graphTaskJson(const GraphTask &task, double whole) {
  Json json = {{"name", task.name},
               {"kind", task.isGrid ? "grid" : "operation"},
               {"reads", task.reads},
               {"writes", task.writes}};
  for (const auto &[key, text] :
       {std::pair("kernel", &task.kernel), {"task", &task.task}, {"tile", &task.tile}})
    if (!text->empty())
      json[key] = *text;
  if (task.us) {
    json["us"] = *task.us;
    json["share"] = whole > 0 ? *task.us / whole : 0.0;
  }
  if (task.runs)
    json["runs"] = task.runs;
  return json;
}

static Json oneGraphJson(const ProgramGraph &graph, const SourceManager &sources) {
  auto placed = [&](Json json, const std::vector<Span> &spans) {
    json.update(graphPlaceJson(spans, graph.file, sources));
    return json;
  };
  Json arrays = Json::array(), tasks = Json::array(), ops = Json::array(), sizes = Json::array();
  for (const GraphArray &array : graph.arrays)
    arrays.push_back(placed(graphArrayJson(array), array.spans));
  for (const GraphTask &task : graph.tasks)
    tasks.push_back(placed(graphTaskJson(task, graph.us.value_or(0)), task.spans));
  for (const GraphOp &op : graph.ops) {
    Json json = {{"op", op.op}, {"type", op.type}, {"operands", op.operands}, {"tasks", op.tasks}};
    if (!op.name.empty())
      json["name"] = op.name;
    ops.push_back(placed(std::move(json), op.spans));
  }
  for (const ExampleSize &size : graph.sizes)
    sizes.push_back({{"name", size.name}, {"value", size.value}, {"why", size.why}});
  Json json = {{"entry", graph.entry}, {"target", graph.target}, {"sizes", std::move(sizes)}};
  if (graph.us) {
    json["us"] = *graph.us;
    json["least"] = graph.isLeast;
    json["bound"] = graph.bound;
  }
  json["ops"] = std::move(ops);
  json["tasks"] = std::move(tasks);
  json["arrays"] = std::move(arrays);
  return json;
}

std::string graphDocument(const std::vector<ProgramGraph> &graphs, const SourceManager &sources) {
  Json list = Json::array();
  for (const ProgramGraph &graph : graphs)
    list.push_back(oneGraphJson(graph, sources));
  return Json{{"graphs", std::move(list)}}.dump(2) + "\n";
}

} // namespace ptl
