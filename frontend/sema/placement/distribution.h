// The clause `over host by B, chip by D` in the headers of programs, and the levels that it names.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/syntax/typed_nodes.h"

#include <optional>
#include <string_view>
#include <vector>

namespace ptl {

/// The distribution of a type; no node if it has none.
inline NodeId distributionOf(const Tree &tree, NodeId type) {
  return type != kNoNode && tree.is(type, NodeKind::ArrayType)
             ? ArrayTypeView(tree, type).distribution()
             : kNoNode;
}

/// Calls `visit` with each distribution of a header.
template <typename Visit> void forEachDistribution(const Tree &tree, NodeId decl, Visit visit) {
  for (uint32_t slot : {2u, 3u}) {
    NodeId list = tree.child(decl, slot);
    if (list == kNoNode)
      continue;
    for (NodeId item : tree.children(list)) {
      NodeId type = kNoNode;
      if (tree.is(item, NodeKind::Param))
        type = ParamView(tree, item).type();
      else if (tree.is(item, NodeKind::Result))
        type = ResultView(tree, item).type();
      if (NodeId node = distributionOf(tree, type); node != kNoNode)
        visit(node);
    }
  }
}

/// Calls `visit` with the name of each level in a distribution, in order.
template <typename Visit>
void forEachLevelName(const Tree &tree, NodeId distribution, Visit visit) {
  for (NodeId item : tree.children(distribution)) {
    NodeId levels = tree.child(item, 0);
    if (tree.is(levels, NodeKind::NameList))
      for (NodeId name : tree.children(levels))
        visit(name);
    else
      visit(levels);
  }
}

/// The `mesh` of a callable; no node if it has none.
NodeId meshOf(const Tree &tree, NodeId decl);

/// Whether the `mesh` of a callable has an axis of that name.
bool isMeshAxis(const Tree &tree, NodeId decl, std::string_view name);

/// The levels that the header names, outermost first. All must be below that of the program,
/// otherwise an error is reported. The axes of a mesh stand for their level.
std::optional<std::vector<PlacedLevel>> levelsOf(const Tree &tree, const CallableDecl &decl,
                                                 DiagnosticSink &sink);

/// Of an assignment `kept[s, ..] = row` of stage `s`: the placement of the row, whose part alone stores it. Null for other values.
const Placement *storingStage(const PlacedProgram &placed, const PlacedValue &value);
/// The parts that compute a value: those that have it, but for what only a stage stores.
inline const Placement &computedAt(const PlacedProgram &placed, ValueId id) {
  const Placement *ofStage = storingStage(placed, placed.values[id]);
  return ofStage ? *ofStage : placed.values[id].placement;
}

} // namespace ptl
