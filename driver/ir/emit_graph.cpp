#include "driver/ir/emit_graph.h"

#include "compile/graph/graph_text.h"
#include "compile/graph/make_graph.h"
#include "driver/ir/command_options.h"

namespace ptl {

std::optional<std::vector<ProgramGraph>> graphsOf(Session &session, const CompileContext &context,
                                                  const Target &target,
                                                  const std::vector<ManifestEntry> &entries) {
  std::optional<MachineCosts> costs;
  if (target.isChip())
    costs = findCosts(target.machine->name, session.machines()->ownFiles());
  std::vector<ProgramGraph> graphs;
  for (const ManifestEntry &entry : entries)
    for (const ManifestVariant &variant : entry.variants) {
      BoundEntry bound{entry.decl->name, bindingOf(session, entry, variant), {}};
      if (session.failed())
        return std::nullopt;
      std::optional<ProgramGraph> graph =
          makeGraph({context, bound, variant.symbol, costs ? &*costs : nullptr,
                     exampleSizes(session.options(), *entry.decl)});
      if (!graph)
        return std::nullopt;
      graphs.push_back(std::move(*graph));
    }
  return graphs;
}

} // namespace ptl
