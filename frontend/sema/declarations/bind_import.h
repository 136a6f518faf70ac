// Binds the names of an import. It is generic, because a full check binds declarations while an
// editor's index binds syntax.
#pragma once

#include "frontend/sema/declarations/check_module.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

/// Calls `visit(name, span)` for each name that an import lists; false if it lists none, and so binds the module.
template <typename Visit> bool forEachListed(const Tree &tree, NodeId node, Visit visit) {
  NodeId list = ImportDeclView(tree, node).names();
  if (list == kNoNode)
    return false;
  for (NodeId nameNode : tree.children(list))
    if (std::string name(tree.text(nameNode)); !name.empty())
      visit(name, tree.span(nameNode));
  return true;
}

/// `Bound` has a member `span`. `isExported` says whether the module exports a name, and reports it
/// if not; then the name is noted in `failed`.
template <typename Bound, typename IsExported>
void bindNames(const Tree &tree, NodeId node, const ImportRequest &request,
               StringMap<Bound> &modules, StringMap<Bound> &names, FailedImports &failed,
               Bound bound, DiagnosticSink &sink, IsExported isExported) {
  auto bind = [&](StringMap<Bound> &map, const std::string &name, Span span) {
    bound.span = span;
    auto [slot, isNew] = map.try_emplace(name, bound);
    if (!isNew)
      sink.report(DiagId::DuplicateImport, span, {name})
          .label(slot->second.span, "first imported here");
  };
  bool isListed = forEachListed(tree, node, [&](const std::string &name, Span span) {
    if (isExported(name, span))
      bind(names, name, span);
    else
      failed.insert(name);
  });
  if (!isListed)
    bind(modules, request.bound, request.span);
}

} // namespace ptl
