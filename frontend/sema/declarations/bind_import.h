// Binds the names of an import. It is generic, because a full check binds declarations while an
// editor's index binds syntax.
#pragma once

#include "frontend/sema/declarations/check_module.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

/// `Bound` has a member `span`. `isExported` says whether the module exports a name, and reports it
/// if not.
template <typename Bound, typename IsExported>
void bindNames(const Tree &tree, NodeId node, const ImportRequest &request,
               StringMap<Bound> &modules, StringMap<Bound> &names, Bound bound,
               DiagnosticSink &sink, IsExported isExported) {
  auto bind = [&](StringMap<Bound> &map, const std::string &name, Span span) {
    bound.span = span;
    auto [slot, isNew] = map.try_emplace(name, bound);
    if (!isNew)
      sink.report(DiagId::DuplicateImport, span, {name})
          .label(slot->second.span, "first imported here");
  };
  NodeId list = ImportDeclView(tree, node).names();
  if (list == kNoNode)
    return bind(modules, request.bound, request.span);
  for (NodeId nameNode : tree.children(list)) {
    std::string name(tree.text(nameNode));
    if (!name.empty() && isExported(name, tree.span(nameNode)))
      bind(names, name, tree.span(nameNode));
  }
}

} // namespace ptl
