// Selected code becomes a `fn`: what it uses become parameters, what is used behind it its result.
#include "lsp/ide/actions/extraction.h"

namespace ptl::ide {

std::vector<Offer> extractFnOffers(const ActionContext &context) {
  NodeId around = enclosingDecl(context.tree, context.tree.nodeAt(context.range.begin));
  if (context.range.begin == context.range.end || around == kNoNode)
    return {};
  return {{"Extract `fn`"}};
}

Outcome extractFnEdits(const ActionContext &context, int) {
  Outcome best;
  // The conditions of the caller are repeated only where they are needed.
  for (bool withConditions : {false, true}) {
    Extraction extraction(context);
    if (!extraction.select() || !extraction.analyse())
      return refuse(extraction.reason());
    Outcome outcome{extraction.edits(withConditions), ""};
    if (context.tryEdits(outcome.edits).added.empty())
      return outcome;
    if (!withConditions)
      best = outcome;
  }
  return best;
}

} // namespace ptl::ide
