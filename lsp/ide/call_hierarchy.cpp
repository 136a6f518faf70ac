#include "lsp/ide/call_hierarchy.h"
#include "lsp/ide/symbol_at.h"

#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl::ide {

static bool isCallableNode(NodeKind kind) {
  return kind == NodeKind::FnDecl || kind == NodeKind::KernelDecl ||
         kind == NodeKind::ProgramDecl || kind == NodeKind::TestDecl ||
         kind == NodeKind::BenchDecl || kind == NodeKind::PropertyDecl;
}

/// The declaration around a node of a place, if it is one that calls.
static std::optional<CallItem> itemAround(const File &file, const Place &place, NodeId node) {
  const Tree &tree = *place.chunk->tree;
  NodeId decl = enclosingDecl(tree, node);
  if (decl == kNoNode || !isCallableNode(tree.kind(decl)))
    return std::nullopt;
  NodeId name = tree.child(decl, 0);
  CallItem item;
  item.name = tree.text(name);
  item.type = tree.is(decl, NodeKind::FnDecl)        ? SymbolType::Fn
              : tree.is(decl, NodeKind::KernelDecl)  ? SymbolType::Kernel
              : tree.is(decl, NodeKind::ProgramDecl) ? SymbolType::Program
                                                     : SymbolType::Word;
  if (item.type == SymbolType::Word)
    item.name = std::string(tree.mainText(decl)) + " " + item.name;
  Span whole = tree.span(decl), own = tree.span(name);
  item.whole = {&file, {place.begin + whole.begin, place.begin + whole.end}};
  item.selection = {&file, {place.begin + own.begin, place.begin + own.end}};
  return item;
}

static CallItem itemOf(const Symbol &symbol) {
  return {symbol.name, symbol.type, symbol.whole, symbol.definition};
}

std::optional<CallItem> callItemAt(Workspace &workspace, File &file, uint32_t offset) {
  auto symbol = symbolAt(workspace, file, offset);
  if (symbol && isCallable(symbol->type))
    return itemOf(*symbol);
  const Place &place = file.document.places()[file.document.placeAt(offset)];
  const Tree &tree = *place.chunk->tree;
  NodeId node = tree.nodeAt(offset - place.begin);
  bool isLabel = tree.is(node, NodeKind::StringLiteral) && tree.parent(node) != kNoNode &&
                 tree.child(tree.parent(node), 0) == node;
  return isLabel ? itemAround(file, place, node) : std::nullopt;
}

/// Whether a name stands where it is called, or is handed to what calls it.
static bool isCalled(const Tree &tree, NodeId node) {
  NodeId parent = tree.parent(node);
  if (tree.is(parent, NodeKind::MemberExpr) && tree.child(parent, 1) == node) {
    node = parent;
    parent = tree.parent(parent);
  }
  return (tree.is(parent, NodeKind::CallExpr) && tree.child(parent, 0) == node) ||
         namesFunction(tree, node);
}

static void addCall(std::vector<Calls> &all, const CallItem &item, Range place) {
  auto known = std::find_if(all.begin(), all.end(), [&](const Calls &calls) {
    return calls.item.selection.file == item.selection.file &&
           calls.item.selection.range == item.selection.range;
  });
  if (known == all.end())
    known = all.insert(all.end(), {item, {}});
  known->places.push_back(place);
}

std::vector<Calls> incomingCalls(Workspace &workspace, File &file, uint32_t offset,
                                 std::span<const std::string> paths) {
  std::vector<Calls> all;
  auto symbol = symbolAt(workspace, file, offset);
  if (!symbol || !isCallable(symbol->type))
    return all;
  for (const Mention &mention : mentions(workspace, *symbol, paths)) {
    const File &caller = *mention.location.file;
    const Place &place = caller.document.places()[mention.place];
    if (!isCalled(*place.chunk->tree, mention.node))
      continue;
    if (auto item = itemAround(caller, place, mention.node))
      addCall(all, *item, mention.location.range);
  }
  return all;
}

std::vector<Calls> outgoingCalls(Workspace &workspace, File &file, uint32_t offset) {
  std::vector<Calls> all;
  auto caller = callItemAt(workspace, file, offset);
  // The item may stand in another file than the place, where it is imported from.
  File *callerFile = caller ? workspace.find(caller->whole.file->path()) : nullptr;
  if (!callerFile)
    return all;
  size_t index = callerFile->document.placeAt(caller->selection.range.begin);
  const Place &place = callerFile->document.places()[index];
  for (const NameUse &use : namesOf(*place.chunk).uses) {
    Range range{place.begin + use.begin, place.begin + use.end};
    bool isInside =
        caller->whole.range.begin <= range.begin && range.end <= caller->whole.range.end;
    if (!isInside || !isCalled(*place.chunk->tree, use.node))
      continue;
    auto callee = resolve(workspace, *callerFile, index, use);
    if (callee && isCallable(callee->type))
      addCall(all, itemOf(*callee), range);
  }
  return all;
}

} // namespace ptl::ide
