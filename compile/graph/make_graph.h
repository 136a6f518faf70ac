// Makes the graph of an entry, with its cost.
#pragma once

#include "compile/compile_context.h"
#include "compile/graph/program_graph.h"

#include <string>

namespace ptl {

struct GraphQuestion {
  const CompileContext &context;
  const BoundEntry &entry;
  std::string symbol;        ///< of its function, from which kernels' names are derived
  const MachineCosts *costs; ///< of the context's chip; null: times are unknown
  ExampleSizes sizes;
};

/// Compiles the entry as far as the graph needs. Nothing after an error, which is reported.
std::optional<ProgramGraph> makeGraph(const GraphQuestion &question);

} // namespace ptl
