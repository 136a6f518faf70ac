#include "lsp/ide/explicit_offer.h"

#include "lsp/ide/actions/refactoring.h"

namespace ptl::ide {

/// The part of a declaration that has no value yet, so that it is compiled for each value of it.
static std::string openPart(const CallableDecl &decl) {
  for (const DimParam &dim : decl.dims)
    if (dim.isStatic)
      return "`static " + dim.name + "`";
  if (!decl.typeParams.empty())
    return "the element type `" + decl.typeParams.front()->name + "`";
  return decl.hasPrefix ? "`..`" : "";
}

/// Where the comment of a declaration begins: lines of `///` right before it.
static uint32_t commentStart(std::string_view text, uint32_t begin) {
  while (begin > 0) {
    size_t end = begin - 1, start = text.rfind('\n', end == 0 ? 0 : end - 1);
    start = start == text.npos || end == 0 ? 0 : start + 1;
    std::string_view line = text.substr(start, end - start);
    if (!line.starts_with("///"))
      break;
    begin = static_cast<uint32_t>(start);
  }
  return begin;
}

/// Whether the file has a schedule for a declaration.
static bool hasSchedule(const File &file, std::string_view name) {
  auto isIts = [&](const Tree &tree, NodeId item) {
    return tree.is(item, NodeKind::ScheduleDecl) &&
           tree.text(ScheduleDeclView(tree, item).callee()) == name;
  };
  return std::ranges::any_of(file.document.places(), [&](const Place &place) {
    const Tree &tree = *place.chunk->tree;
    return std::ranges::any_of(tree.children(tree.root()),
                               [&](NodeId item) { return isIts(tree, item); });
  });
}

std::optional<ExplicitOffer> explicitOffer(Workspace &workspace, File &file, Range range) {
  size_t index = file.document.placeAt(range.begin);
  ActionContext context(workspace, file, index, range);
  const Tree &tree = context.tree;
  NodeId node = enclosingDecl(tree, tree.nodeAt(context.range.begin));
  bool isLevel = tree.is(node, NodeKind::KernelDecl) || tree.is(node, NodeKind::ProgramDecl);
  if (!isLevel || context.range.begin > signatureEnd(tree, node))
    return std::nullopt;
  Span span = tree.span(node);
  uint32_t base = file.document.places()[index].begin;
  uint32_t begin = commentStart(context.text(), span.begin);
  for (const CallableDecl *decl : context.check.program->modules.front()->callables) {
    if (decl->syntax != node)
      continue;
    ExplicitOffer offer{decl->name, {base + begin, base + span.end}, ""};
    std::string open = openPart(*decl);
    if (decl->kind == DeclKind::ManualKernel || decl->isBlockLevel)
      return std::nullopt;
    if (decl->hasErrors)
      offer.disabled = "`" + decl->name + "` has errors";
    else if (!open.empty())
      offer.disabled = "`" + decl->name + "` is compiled for each value of " + open +
                       "; `ptlc lower` writes the code for one of them";
    else if (hasSchedule(file, decl->name))
      offer.disabled = "the settings in the schedules of `" + decl->name +
                       "` set would be lost; `ptlc lower` writes the text";
    return offer;
  }
  return std::nullopt;
}

} // namespace ptl::ide
