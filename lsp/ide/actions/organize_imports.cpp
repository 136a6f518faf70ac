// The imports of a file in order: the library first, then other modules, then files; one import
// with names per module; nothing that is not used. Imports with comments stay as they are.

#include "lsp/ide/actions/organize_imports.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ptl::ide {
namespace {

struct Import {
  Range line; ///< in the document, with its line end
  std::string path;
  bool hasNames = false;
  std::vector<std::string> names;
};

/// Whether comments stand directly above an import.
bool hasCommentAbove(const Tree &tree, NodeId node) {
  const Node &own = tree.node(node);
  for (const Trivia &trivia : tree.triviaBefore(own.firstToken))
    if (trivia.kind >= TriviaKind::LineComment &&
        tree.fileText()
                .substr(trivia.end, tree.token(own.firstToken).begin - trivia.end)
                .find("\n\n") == std::string_view::npos)
      return true;
  return false;
}

/// Whether an import stands alone on its lines, without comments in it or behind it.
bool isAlone(const Tree &tree, NodeId node) {
  const Node &own = tree.node(node);
  for (TokenIndex i = own.firstToken + 1; i < own.endToken; ++i)
    for (const Trivia &trivia : tree.triviaBefore(i))
      if (trivia.kind >= TriviaKind::LineComment)
        return false;
  for (const Trivia &trivia : tree.triviaBefore(own.endToken)) {
    if (trivia.kind == TriviaKind::Newline)
      return true;
    if (trivia.kind >= TriviaKind::LineComment)
      return false;
  }
  return tree.tokenKind(own.endToken) == TokenKind::EndOfFile;
}

/// Whether nothing is lost when an import is written anew elsewhere. A comment above the first
/// token is that of the file itself and belongs to no import.
bool isPlain(const Tree &tree, NodeId node, bool isFirst) {
  bool isOfFile = isFirst && tree.node(node).firstToken == 0;
  return isAlone(tree, node) && (isOfFile || !hasCommentAbove(tree, node));
}

Import importOf(const Tree &tree, NodeId node, uint32_t begin) {
  Import import;
  Span span = tree.span(node);
  std::string_view text = tree.fileText();
  size_t end = std::min(text.find('\n', span.end), text.size() - 1);
  import.line = {begin + span.begin, begin + static_cast<uint32_t>(end) + 1};
  import.path = std::string(tree.text(tree.child(node, 0)));
  NodeId names = tree.child(node, 1);
  import.hasNames = names != kNoNode;
  if (import.hasNames)
    for (NodeId name : tree.children(names))
      import.names.emplace_back(tree.text(name));
  return import;
}

std::vector<Import> importsOf(const File &file) {
  std::vector<Import> imports;
  for (const Place &place : file.document.places()) {
    const Tree &tree = *place.chunk->tree;
    if (!place.chunk->hasImports || place.chunk->syntax.hasErrors())
      continue;
    for (NodeId item : tree.children(tree.root()))
      if (tree.is(item, NodeKind::ImportDecl) && isPlain(tree, item, imports.empty()))
        imports.push_back(importOf(tree, item, place.begin));
  }
  return imports;
}

/// The names that the last diagnostics found unused, by where they stand.
std::set<uint32_t> unusedIn(const Workspace &workspace, const File &file) {
  std::set<uint32_t> unused;
  for (const Diagnostic &diagnostic : file.unusedImports.all())
    if (Location at = workspace.locate(diagnostic.span); at.file == &file)
      unused.insert(at.range.begin);
  return unused;
}

std::tuple<int, std::string, bool> orderOf(const Import &import) {
  int group = import.path.starts_with("\"") ? 2 : import.path.starts_with("std") ? 0 : 1;
  return {group, import.path, import.hasNames};
}

void removeUnused(const std::set<uint32_t> &unused, const std::string &text, Import &import) {
  auto isUnused = [&](size_t from) { return unused.contains(static_cast<uint32_t>(from)); };
  size_t at = import.line.begin;
  if (!import.hasNames) {
    for (size_t i = at; i < import.line.end; ++i)
      if (isUnused(i))
        import.path.clear();
    return;
  }
  // The path may be quoted and then contain a colon itself, so the names are looked for behind it.
  at = text.find(import.path, import.line.begin) + import.path.size();
  std::vector<std::string> kept;
  for (const std::string &name : import.names) {
    at = text.find(name, at);
    if (at == text.npos || !isUnused(at))
      kept.push_back(name);
    at = std::min(at, text.size() - name.size()) + name.size();
  }
  import.names = kept;
}

std::string textOf(std::vector<Import> imports) {
  std::stable_sort(imports.begin(), imports.end(),
                   [](const Import &a, const Import &b) { return orderOf(a) < orderOf(b); });
  std::vector<Import> merged;
  for (Import &import : imports) {
    bool isEmpty = import.path.empty() || (import.hasNames && import.names.empty());
    if (isEmpty)
      continue;
    if (!merged.empty() && orderOf(merged.back()) == orderOf(import))
      merged.back().names.insert(merged.back().names.end(), import.names.begin(),
                                 import.names.end());
    else
      merged.push_back(import);
  }
  std::string text;
  for (Import &import : merged) {
    text += "import " + import.path;
    std::sort(import.names.begin(), import.names.end());
    import.names.erase(std::unique(import.names.begin(), import.names.end()), import.names.end());
    for (size_t i = 0; i < import.names.size(); ++i)
      text += (i ? ", " : ": ") + import.names[i];
    text += "\n";
  }
  return text;
}

} // namespace

std::vector<Edit> organizeImports(const Workspace &workspace, const File &file) {
  std::vector<Import> imports = importsOf(file);
  if (imports.empty())
    return {};
  std::string before = file.document.text({0, imports.back().line.end});
  std::string old;
  for (const Import &import : imports) {
    // Imports that share a line with something else are left alone.
    bool isOwnLine = import.line.begin == 0 || before[import.line.begin - 1] == '\n';
    if (!isOwnLine ||
        before.substr(import.line.begin, import.line.end - import.line.begin).find(';') !=
            std::string::npos)
      return {};
    old += before.substr(import.line.begin, import.line.end - import.line.begin);
  }
  std::set<uint32_t> unused = unusedIn(workspace, file);
  std::vector<Import> wanted = imports;
  for (Import &import : wanted)
    removeUnused(unused, before, import);
  std::string text = textOf(wanted);
  if (!old.ends_with("\n") && text.ends_with("\n"))
    text.pop_back();
  if (text == old)
    return {};
  std::vector<Edit> edits;
  for (size_t i = 0; i < imports.size(); ++i)
    edits.push_back({imports[i].line, i == 0 ? text : ""});
  return edits;
}

} // namespace ptl::ide
