#include "lsp/ide/completion.h"
#include "lsp/ide/describe_signature.h"

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/type_string.h"
#include "frontend/syntax/typed_nodes.h"
#include "lsp/ide/completion_items.h"
#include "lsp/ide/completion_parts.h"

#include <algorithm>

namespace ptl::ide {

// ---- By site ------------------------------------------------------------------------------------

void Collector::collect() {
  switch (context.site) {
  case Site::Nothing:
    return;
  case Site::Declaration:
    if (followsHead())
      namedWords({"where", "tune", "on", "at", "from"});
    words(WordGroup::Declaration, 4);
    return snippets(Site::Declaration);
  case Site::DeclarationWord:
    return namedWords({"fn", "kernel", "program", "struct", "type", "const", "manual", "extern"});
  case Site::Statement:
    words(WordGroup::Statement, 4);
    snippets(Site::Statement);
    return expression();
  case Site::Expression:
    return expression();
  case Site::Argument:
    arguments();
    return expression();
  case Site::Member:
    return members();
  case Site::Tag:
    return tags();
  case Site::Type:
    return types();
  case Site::Place:
    return words(WordGroup::Place, 0);
  case Site::Layout:
    return words(WordGroup::Layout, 0);
  case Site::Header:
    return namedWords({"where", "tune", "on", "at", "from"});
  case Site::Constraint:
    return words(WordGroup::Constraint, 0);
  case Site::Core:
    return words(isInProgram(tree, context.begin) ? WordGroup::Level : WordGroup::Core, 0);
  case Site::Unit:
    return units();
  case Site::Machine:
    return machines();
  case Site::Level:
    return words(WordGroup::Level, 0);
  case Site::LoopWord:
    return namedWords({"pipeline", "unroll", "checkpoint", "step", "as"});
  case Site::Operator:
    return namedWords({"and", "or", "step", "else"});
  case Site::ImportPath:
    return importSites();
  case Site::ImportFile:
    for (const std::string &path : importFiles(file))
      add({.label = path, .kind = CompletionKind::File});
    return;
  case Site::ImportName:
    return importNames();
  case Site::ScheduleTarget:
    return scheduleTargets();
  case Site::ScheduleWord:
    return namedWords({"on", "when"});
  case Site::ScheduleItem:
    return scheduleItems();
  }
}

/// Whether the chunk before ends with a head whose body is still missing.
bool Collector::followsHead() const {
  if (index == 0)
    return false;
  const Tree &before = *file.document.places()[index - 1].chunk->tree;
  auto items = before.children(before.root());
  if (items.empty())
    return false;
  NodeKind kind = before.kind(items.back());
  bool isCallable =
      kind == NodeKind::FnDecl || kind == NodeKind::KernelDecl || kind == NodeKind::ProgramDecl;
  NodeId body = isCallable ? CallableView(before, items.back()).body() : kNoNode;
  return isCallable && !before.is(body, NodeKind::Block);
}

// ---- Results ------------------------------------------------------------------------------------

Completions completionsAt(Workspace &workspace, File &file, uint32_t offset) {
  offset = std::min(offset, file.document.size());
  size_t index = file.document.placeAt(offset);
  // Behind the last line of a chunk stands what follows on it.
  const Place *place = &file.document.places()[index];
  CompletionContext context = completionContext(*place->chunk, offset - place->begin);
  Completions result;
  Collector collector(workspace, file, index, context);
  collector.collect();
  result.replace = {place->begin + context.begin, place->begin + context.end};
  result.items = std::move(collector.items);
  size_t shown = std::min(result.items.size(), kMaxCompletions);
  std::partial_sort(result.items.begin(), result.items.begin() + static_cast<ptrdiff_t>(shown),
                    result.items.end(), [](const CompletionItem &a, const CompletionItem &b) {
                      return std::tuple(a.rank - a.score, std::string_view(a.label)) <
                             std::tuple(b.rank - b.score, std::string_view(b.label));
                    });
  if (result.items.size() > kMaxCompletions) {
    result.items.resize(kMaxCompletions);
    result.isIncomplete = true;
  }
  for (CompletionItem &item : result.items)
    collector.complete(item);
  // More names of other files appear with more letters.
  result.isIncomplete |= collector.hidesImports || collector.isTruncated;
  return result;
}

std::string documentation(Workspace &workspace, const DocSource &source) {
  switch (source.kind) {
  case DocSource::Kind::None:
    return "";
  case DocSource::Kind::Op: {
    std::string text;
    for (const OpRecord *op : findOps(source.name))
      text += (text.empty() ? "" : "\n\n---\n\n") + opMarkdown(*op, source.name);
    return text;
  }
  case DocSource::Kind::Declaration: {
    File *module = workspace.find(source.path);
    DeclSite site = module ? module->index.find(source.space, source.name) : DeclSite();
    return site ? declarationMarkdown(*site.tree, site.node, module->index.name) : "";
  }
  case DocSource::Kind::Word: {
    const Word *word = findWord(source.name);
    return word ? std::string(word->help) : "";
  }
  }
  return "";
}

} // namespace ptl::ide
