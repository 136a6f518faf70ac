// The graph of a declaration, whose times depend on the sizes that are asked for.
#include "compile/chip/feasibility.h"
#include "compile/graph/graph_svg.h"
#include "compile/graph/graph_text.h"
#include "compile/graph/make_graph.h"
#include "lsp/worker/code.h"

namespace ptl::worker {

const StageText *Code::graph(const ExampleSizes &sizes, const Watch &watch, Timings &timings) {
  std::string key;
  for (const auto &[name, value] : sizes)
    key += " " + name + "=" + std::to_string(value);
  if (auto known = graphs_.find(key); known != graphs_.end())
    return &known->second;
  stopped_ = false;
  if (!context_ || failed_)
    return nullptr;
  watch_ = &watch;
  timings_ = &timings;
  std::vector<ProgramGraph> graphs;
  const MachineCosts *costs = options_.costs ? &*options_.costs : nullptr;
  for (const BoundEntry &entry : entries_)
    if (std::optional<ProgramGraph> graph = timed("graph", [&] {
          return makeGraph({*context_, entry, chipSymbol(entry), costs, sizes});
        }))
      graphs.push_back(std::move(*graph));
  watch_ = nullptr;
  timings_ = nullptr;
  failed_ |= graphs.size() < entries_.size() && !stopped_;
  if (stopped_ || failed_)
    return nullptr;
  GraphPicture picture = graphSvg(graphs, checked_->sources);
  StageText text;
  text.text = std::move(picture.text);
  for (size_t line = 0; line < picture.lines.size(); ++line)
    if (!picture.lines[line].empty())
      text.map.set(line, text.map.intern(picture.lines[line]));
  return &graphs_.emplace(std::move(key), std::move(text)).first->second;
}

} // namespace ptl::worker
