#include "frontend/sema/expressions/foreign_index.h"

#include "frontend/sema/names/lookup.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <utility>

namespace ptl {

/// `x[:, None]`, reported.
static bool hasForeignAxis(Context &ctx, std::span<const NodeId> indices) {
  bool found = false;
  // Names of other languages count only if the program has no such name itself.
  for (NodeId index : indices) {
    std::string text(ctx.text(index));
    bool isForeign = text == "None" || text == "newaxis" || text == "np.newaxis";
    if (!isForeign || lookupValue(ctx, text.substr(0, text.find('.'))))
      continue;
    ctx.sink.report(DiagId::UnknownName, ctx.span(index), {text})
        .fix(FixId::NewAxis, "an axis of extent 1 is `new`", {{ctx.span(index), "new"}});
    found = true;
  }
  return found;
}

bool isArgumentInIndex(Context &ctx, NodeId index, std::string_view argument) {
  if (!ctx.tree.is(index, NodeKind::SliceIndex))
    return false;
  NodeId start = SliceIndexView(ctx.tree, index).start();
  return start != kNoNode && ctx.tree.is(start, NodeKind::NameExpr) &&
         ctx.text(start) == argument && !lookupValue(ctx, argument);
}

/// `x[r - 1, outside: 0.0]`, reported.
static bool hasArgument(Context &ctx, NodeId node, std::span<const NodeId> indices) {
  auto found = std::ranges::find_if(
      indices, [&](NodeId index) { return isArgumentInIndex(ctx, index, "outside"); });
  if (found == indices.end())
    return false;
  std::string region(ctx.text(IndexExprView(ctx.tree, node).base())), separator = "[";
  for (NodeId index : indices)
    if (index != *found)
      region += std::exchange(separator, ", ") + std::string(ctx.text(index));
  ctx.sink
      .report(DiagId::UnknownName, ctx.span(SliceIndexView(ctx.tree, *found).start()), {"outside"})
      .help("an index has no arguments with names; `outside:` is one of `load`: `load(" + region +
            "], outside: …)`");
  return true;
}

bool reportForeignIndex(Context &ctx, NodeId node, std::span<const NodeId> indices) {
  return hasForeignAxis(ctx, indices) || hasArgument(ctx, node, indices);
}

} // namespace ptl
