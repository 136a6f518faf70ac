// A schedule for a declaration with tunables, which sets each to its default: a place to choose
// others.
#include "lsp/ide/actions/refactoring.h"

namespace ptl::ide {

/// The kernel, program or `fn` with tunables whose header holds the cursor.
static NodeId tunedAt(const ActionContext &context) {
  const Tree &tree = context.tree;
  NodeId node = enclosingDecl(tree, tree.nodeAt(context.range.begin));
  bool isCallable = tree.is(node, NodeKind::FnDecl) || tree.is(node, NodeKind::KernelDecl) ||
                    tree.is(node, NodeKind::ProgramDecl);
  if (!isCallable || context.range.begin > signatureEnd(tree, node))
    return kNoNode;
  return CallableView(tree, node).tune() == kNoNode ? kNoNode : node;
}

std::vector<Offer> writeScheduleOffers(const ActionContext &context) {
  NodeId node = tunedAt(context);
  if (node == kNoNode || context.text(CallableView(context.tree, node).name()).empty())
    return {};
  return {{"Write a schedule for `" + context.text(CallableView(context.tree, node).name()) + "`"}};
}

Outcome writeScheduleEdits(const ActionContext &context, int) {
  const Tree &tree = context.tree;
  NodeId node = tunedAt(context);
  if (node == kNoNode)
    return refuse("there are no tunables");
  std::string items;
  for (NodeId param : tree.children(CallableView(tree, node).tune())) {
    if (!tree.is(param, NodeKind::TuneParam))
      continue;
    TuneParamView view(tree, param);
    items += (items.empty() ? " " : ", ") + context.text(view.name()) + " = " +
             context.text(view.value());
  }
  uint32_t end = tree.span(node).end;
  return {{{{end, end},
            "\n\nschedule " + context.text(CallableView(tree, node).name()) + " {" + items + " }"}},
          ""};
}

} // namespace ptl::ide
