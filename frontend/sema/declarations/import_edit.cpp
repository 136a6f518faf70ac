#include "frontend/sema/declarations/import_edit.h"

#include "frontend/syntax/typed_nodes.h"

namespace ptl {

uint32_t firstDeclaration(const Tree &tree) {
  uint32_t begin = tree.token(0).begin;
  unsigned lineEnds = 0;
  auto trivia = tree.triviaBefore(0);
  for (auto each = trivia.rbegin(); each != trivia.rend(); ++each) {
    if (each->kind == TriviaKind::Newline)
      ++lineEnds;
    else if (each->kind != TriviaKind::Whitespace)
      begin = each->begin, lineEnds = 0;
    if (lineEnds > 1)
      break;
  }
  return begin;
}

PlacedText importText(const ImportSites &sites, const std::string &module,
                      const std::string &names) {
  if (sites.names && !names.empty())
    return {*sites.names, ", " + names};
  std::string import = "import " + module + (names.empty() ? "" : ": " + names);
  if (sites.last)
    return {*sites.last, "\n" + import};
  return {sites.first, import + "\n\n"};
}

/// `gelu, silu`, and an empty one for the module itself.
static std::vector<std::string> listsOf(const std::set<std::string> &names) {
  std::vector<std::string> lists;
  std::string list;
  for (const std::string &name : names)
    if (name.empty())
      lists.push_back(name);
    else
      list += (list.empty() ? "" : ", ") + name;
  if (!list.empty())
    lists.push_back(list);
  return lists;
}

std::vector<PlacedText>
importTexts(const ImportNeeds &needs,
            const std::function<ImportSites(const std::string &module)> &sitesFor) {
  std::vector<PlacedText> texts;
  for (const auto &[module, names] : needs)
    for (const std::string &list : listsOf(names))
      texts.push_back(importText(sitesFor(module), module, list));
  for (size_t i = 0; i + 1 < texts.size(); ++i)
    if (texts[i].at == texts[i + 1].at && texts[i].text.ends_with("\n\n"))
      texts[i].text.pop_back();
  return texts;
}

std::vector<TextEdit> importEdits(const Tree &tree, const ImportNeeds &needs) {
  auto sitesFor = [&](const std::string &module) {
    ImportSites sites;
    sites.first = firstDeclaration(tree);
    for (NodeId item : tree.children(tree.root())) {
      if (!tree.is(item, NodeKind::ImportDecl))
        continue;
      ImportDeclView view(tree, item);
      sites.last = tree.span(item).end;
      if (tree.text(view.path()) == module && view.names() != kNoNode)
        sites.names = sites.last;
    }
    return sites;
  };
  std::vector<TextEdit> edits;
  for (const PlacedText &placed : importTexts(needs, sitesFor))
    edits.push_back({{tree.file(), placed.at, placed.at}, placed.text});
  return edits;
}

} // namespace ptl
